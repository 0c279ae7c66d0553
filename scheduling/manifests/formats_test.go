package manifests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"
)

// Objects mean the same in whatever form they come.
func TestFormats(t *testing.T) {
	const (
		a    = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "x"}]}}`
		b    = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "spec": {"containers": [{"name": "x"}]}}`
		bare = `{"metadata": {"name": "%s"}, "spec": {"containers": [{"name": "x"}]}}`
		pod  = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\nspec:\n  containers:\n  - name: x\n"
	)
	item := func(name string) string {
		return "- " + strings.TrimSpace(strings.ReplaceAll(fmt.Sprintf(pod, name), "\n", "\n  ")) + "\n"
	}
	podA, podB := fmt.Sprintf(pod, "a"), fmt.Sprintf(pod, "b")
	for name, text := range map[string]string{
		"YAML documents":             podA + "---\n" + podB,
		"YAML after a separator":     "---\n" + podA + "---\n" + podB + "---\n",
		"separators with comments":   "--- # one\n" + podA + "--- # two\n" + podB,
		"Windows line ends":          strings.ReplaceAll("---\n"+podA+"---\n"+podB, "\n", "\r\n"),
		"a byte order mark":          "\xef\xbb\xbf" + podA + "---\n" + podB,
		"directives":                 "%YAML 1.1\n---\n" + podA + "---\n" + podB,
		"an end mark":                podA + "...\n---\n" + podB + "...\n",
		"old Macintosh line ends":    strings.ReplaceAll("---\n"+podA+"---\n"+podB, "\n", "\r"),
		"JSON documents":             a + "\n" + b,
		"JSON without space between": a + b,
		"JSON between separators":    "---\n" + a + "\n---\n" + b,
		"JSON after YAML":            podA + "---\n" + b,
		"JSON on a separator line":   "--- " + a + "\n--- " + b,
		"flow YAML":                  "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: x}]}}\n---\n" + b,
		"JSON List":                  `{"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [` + a + "," + b + `]}`,
		"JSON List, kind last":       `{"apiVersion": "v1", "items": [` + a + "," + b + `], "kind": "List"}`,
		"two JSON Lists":             `{"apiVersion": "v1", "kind": "List", "items": [` + a + `]}` + "\n" + `{"apiVersion": "v1", "kind": "List", "items": [` + b + `]}`,
		"JSON PodList":               `{"apiVersion": "v1", "kind": "PodList", "items": [` + fmt.Sprintf(bare, "a") + "," + fmt.Sprintf(bare, "b") + `]}`,
		"indented JSON List":         indentJSON(`{"apiVersion": "v1", "kind": "List", "items": [` + a + "," + b + `]}`),
		"YAML List as kubectl":       "apiVersion: v1\nitems:\n" + item("a") + item("b") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n",
		"YAML List, items last":      "apiVersion: v1\nkind: List\nitems:\n" + item("a") + item("b"),
		"YAML List, comments":        "# x\napiVersion: v1\nitems: # here\n# y\n" + item("a") + "\n# z\n\n" + item("b") + "kind: List\n",
		"YAML List, items first":     "items:\n" + item("a") + item("b") + "kind: List\napiVersion: v1\n",
		"indented YAML List":         "apiVersion: v1\nkind: List\nitems:\n  " + strings.ReplaceAll(strings.TrimSpace(item("a")+item("b")), "\n", "\n  ") + "\n",
		"flow YAML List":             "apiVersion: v1\nkind: List\nitems: [" + a + ", " + b + "]\n",
		"YAML PodList":               "apiVersion: v1\nkind: PodList\nitems:\n- " + fmt.Sprintf(bare, "a") + "\n- " + fmt.Sprintf(bare, "b") + "\n",
		"YAML List with anchors": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: &spec\n    containers: [{name: x}]\n" +
			"- apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n  spec: *spec\n",
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, text)
			for _, w := range result.Warnings {
				if name != "YAML List, comments" {
					t.Errorf("unexpected warning: %s", w)
				}
			}
			wantPods(t, result.Snapshot.Pods, "default/a", "default/b")
			for _, p := range result.Snapshot.Pods {
				if len(p.Spec.Containers) != 1 || p.Spec.Containers[0].Name != "x" {
					t.Errorf("pod %s: %+v", p.Name, p.Spec)
				}
			}
		})
	}
}

func indentJSON(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	out, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		panic(err)
	}
	return string(out)
}

func TestListsWithoutItems(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion": "v1", "kind": "List"}`,
		`{"apiVersion": "v1", "kind": "List", "items": null}`,
		`{"apiVersion": "v1", "kind": "PodList", "items": []}`,
		"apiVersion: v1\nkind: List\nitems:\n",
		"apiVersion: v1\nkind: List\nitems: []\n",
	} {
		result := load(t, text)
		wantNoWarnings(t, result)
		wantPods(t, result.Snapshot.Pods)
	}
}

func TestAKindMayEndInList(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion": "example.com/v1", "kind": "AccessList", "spec": {}}`,
		"apiVersion: example.com/v1\nkind: AccessList\nspec: {}\n",
		"apiVersion: example.com/v1\nkind: Shop\nitems:\n- apples\n- pears\n",
	} {
		if got := len(load(t, text).Skipped); got != 1 {
			t.Errorf("%d kinds skipped of %s, want 1", got, text)
		}
	}
}

func TestPagesOfAListAreNamed(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion": "v1", "kind": "PodList", "metadata": {"continue": "x"}, "items": []}`,
		"apiVersion: v1\nkind: PodList\nmetadata: {continue: x}\nitems: []\n",
		"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Secret\nkind: List\nmetadata: {continue: x}\n",
	} {
		wantWarning(t, load(t, text), WarningIncompleteList)
	}
}

// Positions are right in each of the ways in which an object is cut from its source.
func TestPositions(t *testing.T) {
	const bad = "spec: {priority: high}"
	item := "- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  " + bad + "\n"
	for name, c := range map[string]struct {
		text string
		want Position
	}{
		"YAML document":  {"# 1\n---\nkind: Secret\napiVersion: v1\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n" + bad, Position{"in", 2, 0, 9}},
		"Windows":        {strings.ReplaceAll("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"+bad, "\n", "\r\n"), Position{"in", 1, 0, 4}},
		"cut YAML list":  {"apiVersion: v1\nitems:\n- kind: Secret\n  apiVersion: v1\n" + item + "kind: List\n", Position{"in", 1, 2, 8}},
		"YAML list":      {"apiVersion: v1\nkind: List\nx: &x y\nitems:\n- kind: Secret\n  apiVersion: v1\n" + item, Position{"in", 1, 2, 10}},
		"JSON":           {"{\"kind\":\"Secret\",\"apiVersion\":\"v1\"}\n\n" + compactJSON(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"+bad), Position{"in", 2, 0, 3}},
		"JSON list":      {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\n\"items\":[\n{\"kind\":\"Secret\",\"apiVersion\":\"v1\"},\n" + compactJSON(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"+bad) + "]}", Position{"in", 1, 2, 4}},
		"merged mapping": {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nx: &x {priority: high}\nspec:\n  <<: *x\n", Position{"in", 1, 0, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			refused := refusal(t, Options{}, Source{"in", []byte(c.text)})
			if len(refused.Problems) != 1 {
				t.Fatalf("problems %v, want one", refused)
			}
			got := refused.Problems[0]
			if diff := cmp.Diff(c.want, got.Position); diff != "" {
				t.Errorf("position (-want +got):\n%s", diff)
			}
			if got.Path != "spec.priority" || got.Object != "Pod default/a" {
				t.Errorf("problem %+v", got)
			}
		})
	}
}

func compactJSON(t *testing.T, text string) string {
	t.Helper()
	out, err := sigsyaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
