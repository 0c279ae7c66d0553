package yamledit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func valueIn(t testing.TB, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return generic(value)
}

// What stays keeps its text, also in another place; what changes keeps its comments.
func TestApply(t *testing.T) {
	for _, test := range []struct{ name, text, want, result string }{
		{"nothing", "# a\na:   'b' # c\n\nd: [1,2]\n", "a: b\nd: [1, 2]\n", "# a\na:   'b' # c\n\nd: [1,2]\n"},
		{"a scalar", "---\n# top\na: \"b\"   # why\nc: d\n", "a: x\nc: d\n", "---\n# top\na: \"x\"   # why\nc: d\n"},
		{"a number", "a:\n  b: 1 # one\n  c: 2\n", "a: {b: 7, c: 2}\n", "a:\n  b: 7 # one\n  c: 2\n"},
		{"an entry goes", "a: 1\n# on b\nb:\n  c: 1\nd: 2\n", "a: 1\nd: 2\n", "a: 1\n# on b\nd: 2\n"},
		{"an entry comes", "a:\n  b: 1\n\n# on z\nz: 1\n", "a: {b: 1, c: {d: [p, q]}}\nz: 1\n", "a:\n  b: 1\n  c:\n    d:\n      - p\n      - q\n\n# on z\nz: 1\n"},
		{
			"what moves keeps its text",
			"spec:\n  # who may run\n  taints:\n  - key: a   # the key\n    effect: 'NoSchedule'\n  labels: {team: web}\n",
			"spec: {template: {spec: {taints: [{key: a, effect: NoSchedule}]}, metadata: {labels: {team: web}}}}\n",
			"spec:\n  template:\n    metadata:\n      labels: {team: web}\n    spec:\n      # who may run\n      taints:\n      - key: a   # the key\n        effect: 'NoSchedule'\n",
		},
		{
			"items of a list that moves", "a:\n- key: x # one\n  values: [ \"p\" ]\n- key: y\n",
			"b: {a: [{key: x, values: [p]}, {key: z}, {key: y}]}\n",
			"b:\n  a:\n  - key: x # one\n    values: [ \"p\" ]\n  - key: z\n  - key: y\n",
		},
		{"an item changes", "a:\n  # first\n  - name: x # n\n    v: 1 # v\n  - name: y\n", "a: [{name: x, v: 2}, {name: y}]\n", "a:\n  # first\n  - name: x # n\n    v: 2 # v\n  - name: y\n"},
		{"the first field of an item goes", "a:\n- b: 1\n  name: x # n\n", "a: [{name: x}]\n", "a:\n- name: x # n\n"},
		{"an item comes and one goes", "a:\n- x\n- y # why\n", "a: [y, z]\n", "a:\n- y # why\n- z\n"},
		{"quantities and durations", "spec:\n  limits:\n    cpu: \"1000\"\n  expireAfter: 720h\n", "spec: {limits: {cpu: 1k}, expireAfter: 720h0m0s, w: 1}\n", "spec:\n  limits:\n    cpu: \"1000\"\n  expireAfter: 720h\n  w: 1\n"},
		{"a label is no quantity", "labels: {a: \"1000\"}\n", "labels: {a: 1k}\n", "labels: {a: 1k}\n"},
		{"a script", "a: |\n  #!/bin/sh\n  # end\n# on b\nb: 1\n", "a: \"#!/bin/sh\\n# end\\n\"\nb: 2\n", "a: |\n  #!/bin/sh\n  # end\n# on b\nb: 2\n"},
		{
			"a long line", "a: {b: 1, c: {d: " + strings.Repeat("x", 60) + "}}\n", "a: {b: 2, c: {d: " + strings.Repeat("x", 60) + "}, e: " + strings.Repeat("y", 60) + "}\n",
			"a:\n  b: 2\n  c: {d: " + strings.Repeat("x", 60) + "}\n  e: " + strings.Repeat("y", 60) + "\n",
		},
		{"flow", "a: {b: 1, c: 'x'} # f\n", "a: {b: 2, c: x}\n", "a: {b: 2, c: 'x'} # f\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := valueIn(t, test.want)
			got, err := Apply([]byte(test.text), want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.result, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{"": "has no value", "a: [": "reading the document", "a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200): "nested deeper than 100"} {
		if _, err := Apply([]byte(text), map[string]any{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	got, err := Apply([]byte("a: &x {b: 1}\nc: *x\n"), map[string]any{"a": 1.0})
	if err != nil || string(got) != "a: 1\n" {
		t.Errorf("anchors: %q, %v", got, err)
	}
}

// Whatever the text and the value are, the result has the value, or there is an error.
func FuzzApply(f *testing.F) {
	f.Add([]byte("# a\na:   'b' # c\n\nd: [1,2]\n"), []byte(`{"a": "x", "d": [1]}`))
	f.Add([]byte("a:\n- b: 1\n  name: x # n\n- |\n  # t\n"), []byte(`{"a": [{"name": "x"}], "z": {"b": 1}}`))
	f.Add([]byte("? [a]\n: b\n"), []byte(`{}`))
	f.Add([]byte("a: &x [*x]\n"), []byte(`[1]`))
	f.Add([]byte("---\na: >-\n  b\n\n  c\n...\n"), []byte(`{"a": "b c", "b": null}`))
	f.Add([]byte("\"a\":\t1\r\nb: 2\r\n"), []byte(`{"a": 1, "b": 3}`))
	f.Fuzz(func(t *testing.T, text, want []byte) {
		var value any
		if len(text) > 4096 || len(want) > 4096 || json.Unmarshal(want, &value) != nil {
			return
		}
		got, err := Apply(text, value)
		if err == nil && !hasValue(got, value) {
			t.Fatalf("%q", got)
		}
	})
}
