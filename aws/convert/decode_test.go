package convert

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/conversion"
)

// API-014, API-017: documents, JSON objects and lists in one stream, in order, with where they stand.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "# a comment\n---\n...\n---\nnull\n", ""},
		{"documents", "apiVersion: v1\nkind: Pod\n---\n# x\napiVersion: karpenter.sh/v1beta1\nkind: NodePool\n", "Pod in:1 (document 1)\nNodePool in:3 (document 2)"},
		{"JSON one after the other", "{\"apiVersion\": \"v1\",\n\"kind\": \"Pod\"}\n{\"apiVersion\": \"karpenter.sh/v1\", \"kind\": \"NodePool\"}", "Pod in:1 (document 1)\nNodePool in:2 (document 2)"},
		{"YAML that begins like JSON", "{\"apiVersion\": v1, \"kind\": Pod}\n---\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\"} # a comment\n", "Pod in:1 (document 1)\nPod in:2 (document 2)"},
		{"dots between documents", "apiVersion: v1\nkind: Pod\n...\n{apiVersion: v1, kind: Job}\n... # end\n---\napiVersion: v1\nkind: Event\nmetadata:\n  name: ...\n....: a\n...", "Pod in:1 (document 1)\nJob in:4 (document 2)\nEvent in:6 (document 3)"},
		{"a list of anything", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: karpenter.sh/v1alpha5, kind: Provisioner}\n", "Pod in:1 (document 1, item 1)\nProvisioner in:1 (document 1, item 2)"},
		{"a list of one kind", "apiVersion: karpenter.sh/v1alpha5\nkind: ProvisionerList\nitems:\n- {metadata: {name: a}}\n", "Provisioner in:1 (document 1, item 1)"},
		{"a list of nothing", "apiVersion: v1\nkind: List\n", ""},
		{"a byte order mark and line ends of Windows", "\xef\xbb\xbfapiVersion: v1\r\nkind: Pod\r\n---\r\napiVersion: v1\r\nkind: Pod\r\n", "Pod in:1 (document 1)\nPod in:3 (document 2)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			documents, err := Decode(DecodeOptions{}, Source{Name: "in", Data: []byte(c.in)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range documents {
				got = append(got, d.Object.GetObjectKind().GroupVersionKind().Kind+" "+d.Position.String())
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// API-016, API-392: what can't be read is said with file, document, line and field, all of it at once.
func TestDecodeRefuses(t *testing.T) {
	const name = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {"
	for _, c := range []struct {
		name, in string
		options  DecodeOptions
		want     string
	}{
		{"cut short YAML, and another fault", "apiVersion: v1\nkind: Pod\n---\nkind: Pod\nspec:\n  a: [1,\n---\nkind: Pod\n", DecodeOptions{}, "in:6 (document 2): did not find expected node content\nin:7 (document 3): must say what it is: give apiVersion and kind"},
		{"cut short JSON", "{\"kind\": \"Pod\",\n\"spec\": {\n", DecodeOptions{}, "in:3 (document 1): the text ends in the middle of an object"},
		{"no JSON", "{\"kind\": \"Pod\",\n x}\n", DecodeOptions{}, "in:2 (document 1): invalid character 'x' looking for beginning of object key string"},
		{"no object", "- a\n", DecodeOptions{}, "in:1 (document 1): a document is an object with apiVersion, kind and metadata: must be an object, not a list"},
		{"a kind that is no word", "{apiVersion: v1, kind: 3}", DecodeOptions{}, "in:1 (document 1): a document is an object with apiVersion, kind and metadata: kind must be text, not the number 3; put it in quotes"},
		{"an apiVersion that is none", "{apiVersion: a/b/c, kind: Pod}", DecodeOptions{}, "in:1 (document 1): Pod: unexpected GroupVersion string: a/b/c"},
		{"a quantity that takes minutes", name + "limits: {cpu: \"1e-999999999\"}}}", DecodeOptions{}, "in:1 (document 1): NodePool/a: spec.limits[cpu]: \"1e-999999999\" is no quantity that can be read: write at most 64 characters, and an exponent from -30 to 30"},
		{
			"values of the wrong type", name + "weight: x, disruption: {expireAfter: soon}, limits: {cpu: lots}}}", DecodeOptions{},
			"in:1 (document 1): NodePool/a: spec.disruption.expireAfter must be a duration such as \"1h30m\", not \"soon\": \"soon\" is neither a duration nor Never: write it like 90s, 30m or 720h\n" +
				"in:1 (document 1): NodePool/a: spec.limits[cpu] must be a quantity such as \"500m\" or \"2Gi\", not \"lots\": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'\n" +
				"in:1 (document 1): NodePool/a: spec.weight must be a whole number, not \"x\"",
		},
		{"keys that are there twice", "kind: Pod\nkind: Pod\napiVersion: v1\napiVersion: v1\n", DecodeOptions{}, "in:2 (document 1): key \"kind\" already set in map\nin:4 (document 1): key \"apiVersion\" already set in map"},
		{"a value in braces", "kind: NodePool\nmetadata:\n  name: {{name}}\n", DecodeOptions{}, "in:3 (document 1): text that begins with a brace needs quotes; it looks like a template: give what it is rendered to (\"helm template\" does so for charts)"},
		{"unknown fields, strictly", name + "wait: 1, template: {spec: {nodes: 2}}}}", DecodeOptions{Strict: true}, "in:1 (document 1): NodePool/a: unknown field \"spec.template.spec.nodes\"\nin:1 (document 1): NodePool/a: unknown field \"spec.wait\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			documents, err := Decode(c.options, Source{Name: "in", Data: []byte(c.in)})
			var refused *DecodeError
			if !errors.As(err, &refused) || documents != nil {
				t.Fatalf("documents %v, error %v", documents, err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(c.want, ": json: ", ": "), err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := Decode(DecodeOptions{}, Source{Data: make([]byte, MaxBytes+1)}); err == nil {
		t.Error("any size is taken")
	}
}

// API-016: leniently an unknown field is a warning with its path.
func TestDecodeLeniently(t *testing.T) {
	d := decode(t, "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {wait: 1, providerRef: {name: b}}}")
	want := conversion.Warnings{{Code: "W604", Severity: "warn", Object: "Provisioner/a", Path: "spec.wait", Message: "unknown field spec.wait ignored"}}
	if diff := cmp.Diff(want, d[0].Warnings); diff != "" {
		t.Error(diff)
	}
	if r := Rewrite(d, Options{}); !r.Warnings.Has(conversion.CodeUnknownField) || len(r.Objects) != 1 {
		t.Errorf("rewritten: %v", r)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(everything + template + pool("a", "{maxPods: 1}") + betaClass))
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"apps/v1","kind":"Deployment"}]}{"a":`))
	f.Fuzz(func(t *testing.T, data []byte) {
		documents, err := Decode(DecodeOptions{}, Source{Name: "in", Data: data})
		if (err != nil) && documents != nil {
			t.Fatal("documents and an error")
		}
		for _, options := range []Options{{}, {Target: V1Beta1, Workloads: true}, {ReferenceCompat: true, Force: true}} {
			r := Rewrite(documents, options)
			for _, o := range r.Objects {
				if o.Object == nil {
					t.Fatal("nothing was written")
				}
			}
		}
		Read(documents, Options{})
	})
}

// What is no Kubernetes object stops nothing in a folder, where such files lie among manifests; in a source that was named it does.
func TestNoObjectsInFolders(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"dir/values.yaml":         {"replicas: 2\nimage: {tag: a}\n", `convert what "helm template dir" prints`},
		"dir/production-values.y": {"a: b", `convert what "helm template dir" prints`},
		"dir/Chart.yaml":          {"apiVersion: v2\nname: x\nversion: 1.0.0\n", `convert what "helm template dir" prints`},
		"dir/kustomization.yaml":  {"resources: [pool.yaml]", `convert what "kubectl kustomize dir" prints`},
		"dir/patch.yaml":          {"- op: remove\n  path: /spec/weight\n", "it is no object with apiVersion and kind"},
		"dir/list.json":           {"[{\"op\": \"remove\"}]", "it is no object with apiVersion and kind"},
		"dir/settings.yaml":       {"a: b", "it has no apiVersion and kind"},
	} {
		pool := Source{Name: "dir/pool.yaml", Data: []byte(with(aPool, "")), Found: true}
		documents, err := Decode(DecodeOptions{}, Source{Name: name, Data: []byte(c.text), Found: true}, pool)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := Rewrite(documents, Options{})
		if len(r.Objects) != 1 || len(r.Warnings) != 1 || r.Warnings[0].Code != conversion.CodeNoObject || r.Warnings[0].Object != name ||
			!strings.Contains(r.Warnings[0].Message, c.want) {
			t.Errorf("%s: %d objects, %v; want %q", name, len(r.Objects), r.Warnings, c.want)
		}
		if _, err := Decode(DecodeOptions{}, Source{Name: name, Data: []byte(c.text)}, pool); err == nil {
			t.Errorf("%s was named and taken", name)
		}
	}
	for _, meant := range []string{"metadata: {name: x}\nspec: {}", "kind: NodePool\nmetadata: {name: x}", "apiVersion: karpenter.sh/v1\nmetadata: {name: x}"} {
		if _, err := Decode(DecodeOptions{}, Source{Name: "dir/a.yaml", Data: []byte(meant), Found: true}); err == nil {
			t.Errorf("%q was meant as an object, and is left out", meant)
		}
	}
}

// KeepGoing gives what can be read, and an error for each document that can't, with all that is wrong with it.
func TestKeepGoing(t *testing.T) {
	sources := []Source{
		{Name: "a.yaml", Data: []byte(with(aPool, "weight: heavy, limits: 3") + "\n---\n" + strings.Replace(with(aPool, ""), "name: web", "name: kept", 1))},
		{Name: "b.yaml", Data: []byte("{{- if .Values.pools }}\n- a: {{ .b }}\n")},
		{Name: "c.yaml", Data: []byte(strings.Replace(with(aPool, "wait: 1"), "name: web", "name: strict", 1))},
	}
	if _, err := Decode(DecodeOptions{}, sources...); err == nil {
		t.Fatal("the input was taken")
	} else if !strings.Contains(err.Error(), `it looks like a template: give what it is rendered to ("helm template" does so for charts)`) {
		t.Errorf("templates are not recognised: %v", err)
	}
	for strict, want := range map[bool][]string{false: {"kept", "strict"}, true: {"kept"}} {
		documents, err := Decode(DecodeOptions{KeepGoing: true, Strict: strict}, sources...)
		if err != nil {
			t.Fatal(err)
		}
		r := Rewrite(documents, Options{})
		var names []string
		for _, o := range r.Objects {
			names = append(names, o.Object.GetName())
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("strict %v: objects (-want +got):\n%s", strict, diff)
		}
		if got := len(r.ByDocument[0]); got != 2 || r.ByDocument[0][0].Code != conversion.CodeUnreadable || r.ByDocument[0][0].Object != "NodePool/web" {
			t.Errorf("strict %v: the first document has %v", strict, r.ByDocument[0])
		}
		if !strings.Contains(r.ByDocument[2].Err().Error(), "b.yaml") {
			t.Errorf("strict %v: the template has %v", strict, r.ByDocument[2])
		}
	}
	// Input that is too large ends everything all the same.
	huge := Source{Name: "d.yaml", Data: make([]byte, MaxBytes+1)}
	if _, err := Decode(DecodeOptions{KeepGoing: true}, huge); err == nil {
		t.Error("more than MaxBytes was taken")
	}
}
