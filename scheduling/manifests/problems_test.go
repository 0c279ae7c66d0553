package manifests

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/manifesttest"
)

func TestLoadRefusesAndSaysWhere(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		code ProblemCode
		want string
	}{
		"broken YAML": {
			"a: b\n---\nkind: Pod\nmetadata: {name: x\nspec: y\n",
			ProblemMalformed, "in.yaml: document 2, line 4: did not find expected ',' or '}'",
		},
		"bad indentation": {
			"kind: Pod\nmetadata:\n  name: x\n  labels:\n    a: b\n   c: d\n",
			ProblemMalformed, "in.yaml: document 1, line 6: did not find expected key",
		},
		"colon in plain text": {
			"kind: Pod\nmetadata:\n  name: x: y\n",
			ProblemMalformed, "in.yaml: document 1, line 3: mapping values are not allowed in this context",
		},
		"tab": {
			"kind: Pod\nmetadata:\n\tname: x\n",
			ProblemMalformed, "in.yaml: document 1, line 3: found character that cannot start any token",
		},
		"broken JSON": {
			"{\n  \"kind\": \"Pod\", \"apiVersion\": \"v1\",\n  \"metadata\": {,}\n}",
			ProblemMalformed, "in.yaml: document 1, line 3: invalid character ',' looking for beginning of object key string",
		},
		"cut JSON": {
			"{\"kind\": \"Pod\",\n\"metadata\": {\"name\"",
			ProblemMalformed, "in.yaml: document 1, line 2: the text ends in the middle of an object",
		},
		"cut JSON list": {
			"{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [\n{}",
			ProblemMalformed, "in.yaml: document 1, line 2: the text ends in the middle of an object",
		},
		"JSON list without comma": {
			"{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [\n{\"kind\":\"Secret\",\"apiVersion\":\"v1\"}\n{}]}",
			ProblemMalformed, "in.yaml: document 1, item 1, line 3: a comma is missing before '{'",
		},
		"text after JSON": {
			"{\"kind\":\"Secret\",\"apiVersion\":\"v1\"}\nxyz",
			ProblemMalformed, "in.yaml: document 2, line 2: a document must be an object, and can't start with 'x'",
		},
		"list of things": {
			"- a\n- b\n",
			ProblemMalformed, "in.yaml: document 1, line 1: a document must be an object with apiVersion, kind and metadata, not a list",
		},
		"plain text": {
			"# notes\n\nhello\n",
			ProblemMalformed, `in.yaml: document 1, line 3: a document must be an object with apiVersion, kind and metadata, not "hello"`,
		},
		"no kind": {
			"image: x\ntag: y\n",
			ProblemMalformed, "in.yaml: document 1, line 1: kind: must say what kind of object it is",
		},
		"no apiVersion": {
			"kind: Pod\n",
			ProblemMalformed, "in.yaml: document 1, line 1: Pod: apiVersion: must be given",
		},
		"no name": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n",
			ProblemInvalid, "in.yaml: document 1, line 3: Pod: metadata.name: must be given",
		},
		"bad name": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: Web_1\n",
			ProblemInvalid, `in.yaml: document 1, line 4: Pod: metadata.name: "Web_1" must consist of lower-case letters, digits, '-' and '.', and start and end with a letter or digit`,
		},
		"items that are no list": {
			"apiVersion: v1\nkind: List\nitems:\n  a: b\n",
			ProblemMalformed, "in.yaml: document 1, line 4: items must be a list",
		},
		"item that is no object": {
			"apiVersion: v1\nkind: List\nitems:\n- 1\n",
			ProblemMalformed, "in.yaml: document 1, item 1, line 4: each item of a List must be an object",
		},
		"list in a list": {
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: []\n",
			ProblemMalformed, "in.yaml: document 1, item 1, line 4: a List may not be an item of another List",
		},
		"number for text": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    version: 1.5\n",
			ProblemType, "in.yaml: document 1, line 6: Pod default/a: metadata.labels[version]: must be text, not the number 1.5; put it in quotes",
		},
		"text for number": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: three\n",
			ProblemType, `in.yaml: document 1, line 5: Deployment default/a: spec.replicas: must be a whole number, not "three"`,
		},
		"boolean for text": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: n}\nspec:\n  nodeSelector: {fast: yes}\n",
			ProblemType, "in.yaml: document 1, line 5: Pod n/a: spec.nodeSelector[fast]: must be text, not the boolean yes; put it in quotes",
		},
		"object for list": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n    name: x\n",
			ProblemType, "in.yaml: document 1, line 5: Pod default/a: spec.containers: must be a list, not an object",
		},
		"text for object": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: none\n",
			ProblemType, `in.yaml: document 1, line 4: Pod default/a: spec: must be an object, not "none"`,
		},
		"bad quantity": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: x\n    resources:\n      requests:\n        memory: 1GB\n",
			ProblemType, `in.yaml: document 1, line 9: Pod default/a: spec.containers[0].resources.requests[memory]: must be a quantity such as "500m" or "2Gi", not "1GB": ` +
				`quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
		},
		"bad quantity in JSON": {
			"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}, \"spec\": {\n\"containers\": [{\"resources\": {\n\"requests\": {\n\"cpu\": \"many\"}}}]}}",
			ProblemType, `in.yaml: document 1, line 4: Pod default/a: spec.containers[0].resources.requests[cpu]: must be a quantity such as "500m" or "2Gi", not "many": ` +
				`quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
		},
		"bad time": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  creationTimestamp: yesterday\n",
			ProblemType, `in.yaml: document 1, line 5: Pod default/a: metadata.creationTimestamp: must be a time such as "2026-01-31T12:00:00Z", not "yesterday": ` +
				`parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`,
		},
		"kind of an unknown version": {
			"apiVersion: apps/v2\nkind: Deployment\nmetadata: {name: a}\n",
			ProblemVersion, "in.yaml: document 1, line 1: Deployment: apiVersion: kind Deployment is not known in apiVersion apps/v2; convert it to apps/v1",
		},
		"kind of another generation (API-015)": {
			"apiVersion: karpenter.sh/v1alpha5\nkind: NodePool\nmetadata: {name: a}\n",
			ProblemVersion, "in.yaml: document 1, line 1: NodePool: apiVersion: kind NodePool is not known in apiVersion karpenter.sh/v1alpha5; convert it to karpenter.sh/v1",
		},
		"old kind of a later generation (API-015)": {
			"apiVersion: karpenter.sh/v1\nkind: Provisioner\nmetadata: {name: a}\n",
			ProblemVersion, "in.yaml: document 1, line 1: Provisioner: apiVersion: kind Provisioner is not known in apiVersion karpenter.sh/v1; convert it to karpenter.sh/v1alpha5",
		},
		"unknown kind of a known group (API-015)": {
			"apiVersion: karpenter.sh/v1\nkind: NodePond\nmetadata: {name: a}\n",
			ProblemVersion, "in.yaml: document 1, line 1: NodePond: apiVersion: apiVersion karpenter.sh/v1 has no kind NodePond that is known here; skipping it could change the plan, so take it out or convert it",
		},
		"negative replicas": {
			"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n  replicas: -1\n",
			ProblemInvalid, "in.yaml: document 1, line 5: StatefulSet default/a: spec.replicas: must not be negative, but is -1",
		},
		"budget with a selector that is none": {
			"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec:\n  selector:\n    matchExpressions: [{key: app, operator: Near}]\n",
			ProblemInvalid, `in.yaml: document 1, line 5: PodDisruptionBudget default/a: spec.selector: "Near" is not a valid label selector operator`,
		},
		"alias bomb": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n" + manifesttest.AliasBomb(30),
			ProblemTooLarge, "in.yaml: document 1, line %d: the aliases in the document unfold to far more data than the document holds",
		},
	} {
		t.Run(name, func(t *testing.T) {
			refused := refusal(t, Options{}, Source{"in.yaml", []byte(c.text)})
			last := refused.Problems[len(refused.Problems)-1] // "broken YAML" has another document before
			if last.Code != c.code {
				t.Errorf("code %s, want %s", last.Code, c.code)
			}
			want := c.want
			if strings.Contains(want, "%d") {
				want = fmt.Sprintf(want, last.Line)
			}
			if diff := cmp.Diff(want, last.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadRefusesInvalidNodePools(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		path     string
		line     int
		message  string
	}{
		"restricted label": {
			"spec:\n  template:\n", "spec:\n  template:\n    metadata:\n      labels:\n        karpenter.sh/mine: x\n",
			"spec.template.metadata.labels[karpenter.sh/mine]", 8, "restricted",
		},
		"restricted requirement": {
			"karpenter.sh/capacity-type", "karpenter.sh/mine", "spec.template.spec.requirements[0].key", 9, "restricted",
		},
		"In without values": {
			"values: [spot, on-demand]", "values: []", "spec.template.spec.requirements[0].values", 9, "In",
		},
		"negative limit": {
			"spec:\n", "spec:\n  limits:\n    cpu: 10\n    memory: -1Gi\n", "spec.limits[memory]", 7, "negative",
		},
		"weight out of range": {
			"spec:\n", "spec:\n  weight: 1000\n", "spec.weight", 5, "100",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(goodPool, c.from, c.to, 1)
			refused := refusal(t, Options{}, Source{"pool.yaml", []byte(text)})
			for _, p := range refused.Problems {
				if p.Path == c.path && p.Line == c.line && p.Code == ProblemInvalid && strings.Contains(p.Message, c.message) {
					return
				}
			}
			t.Errorf("no problem at %s, line %d, about %q:\n%v", c.path, c.line, c.message, refused)
		})
	}
}

func TestLoadSaysEachThingOnceOfANodePool(t *testing.T) {
	text := strings.Replace(goodPool, "values: [spot, on-demand]", "values: []", 1)
	if got := refusal(t, Options{}, Source{"pool.yaml", []byte(text)}).Problems; len(got) != 1 {
		t.Errorf("%d problems, want 1: %v", len(got), got)
	}
}

func TestLoadRefusesInvalidNodeClasses(t *testing.T) {
	text := strings.Replace(goodNodeClass, "  role: nodes\n", "  role: nodes\n  instanceProfile: p\n", 1)
	refused := refusal(t, Options{}, Source{"class.yaml", []byte(text)})
	if got := refused.Problems[0]; got.Object != "EC2NodeClass default" || got.Code != ProblemInvalid || got.Line == 0 {
		t.Errorf("problem %+v", got)
	}
}

func TestLoadRefusesDuplicates(t *testing.T) {
	refused := refusal(t, Options{},
		Source{"b.yaml", []byte("# comment\n" + simplePod("web", ""))},
		Source{"a.yaml", []byte("kind: Secret\napiVersion: v1\n---\n" + simplePod("web", ""))},
	)
	if len(refused.Problems) != 1 {
		t.Fatalf("problems %v, want one", refused)
	}
	got := refused.Problems[0]
	want := &Problem{
		Position: Position{Source: "b.yaml", Document: 1, Line: 2},
		Code:     ProblemDuplicate, Object: "Pod default/web",
		Message: "is given twice, first in a.yaml: document 2, line 4; remove one of them",
		First:   &Position{Source: "a.yaml", Document: 2, Line: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problem (-want +got):\n%s", diff)
	}
}

func TestTheSameNameElsewhereIsNoDuplicate(t *testing.T) {
	result := load(t, `
		apiVersion: v1
		kind: Service
		metadata: {name: web}
		---
		apiVersion: v1
		kind: Service
		metadata: {name: web, namespace: other}
		---
		apiVersion: v1
		kind: Namespace
		metadata: {name: web}
		`)
	if got := len(result.Snapshot.Services); got != 2 {
		t.Errorf("%d services, want 2", got)
	}
}

func TestAWorkloadOfTwoGroupsIsADuplicate(t *testing.T) {
	const spec = "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: x}]}}}\n"
	refused := refusal(t, Options{}, Source{"a", []byte("apiVersion: apps/v1\n" + spec + "---\napiVersion: extensions/v1beta1\n" + spec)})
	if got := refused.Problems[0].Code; got != ProblemDuplicate {
		t.Errorf("code %s, want %s", got, ProblemDuplicate)
	}
}

func TestLoadReportsAllProblemsTogether(t *testing.T) {
	refused := refusal(t, Options{},
		Source{"c.yaml", []byte("kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {containers: [{resources: {requests: {cpu: -1, memory: -1}}}]}\n")},
		Source{"a.yaml", []byte("x: [\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: b}\nspec: {hostNetwork: 1, hostPID: 2}\n")},
		Source{"b.json", []byte("{\"kind\": \"Pod\"}")},
	)
	var got []string
	for _, p := range refused.Problems {
		got = append(got, fmt.Sprintf("%s:%d %s %s", p.Source, p.Document, p.Code, p.Path))
	}
	want := []string{
		"a.yaml:1 Malformed ",
		"a.yaml:2 WrongType spec.hostNetwork",
		"a.yaml:2 WrongType spec.hostPID",
		"b.json:1 Malformed apiVersion",
		"c.yaml:1 ImpossibleRequest spec.containers[0].resources.requests[cpu]",
		"c.yaml:1 ImpossibleRequest spec.containers[0].resources.requests[memory]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := strings.Count(refused.Error(), "\n"); got != len(want)-1 {
		t.Errorf("the error has %d line ends, want one line a problem:\n%v", got, refused)
	}
}

func TestLoadErrorWorksWithErrorsAs(t *testing.T) {
	_, err := Load([]Source{{"a", []byte("x")}}, onAWS(Options{}))
	var p *Problem
	if !errors.As(fmt.Errorf("loading: %w", err), &p) || p.Source != "a" {
		t.Errorf("errors.As finds no problem in %v", err)
	}
}

func TestLoadBoundsProblems(t *testing.T) {
	text := strings.Repeat("---\nkind: Pod\napiVersion: v1\n", 10)
	refused := refusal(t, Options{Limits: limited(func(l *Limits) { l.Problems = 3 })}, Source{"a", []byte(text)})
	if len(refused.Problems) != 3 || refused.More != 7 {
		t.Errorf("%d problems and %d more, want 3 and 7", len(refused.Problems), refused.More)
	}
	if !strings.HasSuffix(refused.Error(), "\nand 7 more problems") {
		t.Errorf("the error does not say that there are more: %v", refused)
	}
}

// Every one of these takes a look through the source to say where it is; only those that are listed may.
func TestAFileOfNothingButProblems(t *testing.T) {
	const n = 300_000
	refused := refusal(t, Options{}, Source{"a", []byte(`{"apiVersion": "v1", "kind": "List", "items": [` + strings.Repeat("1,\n", n) + `1]}`)})
	if got := len(refused.Problems) + refused.More; got != n+1 {
		t.Errorf("%d problems, want %d", got, n+1)
	}
}

func TestLoadWarnsOfValuesThatAreIgnored(t *testing.T) { // API-027, SCH-012
	result := load(t, strings.Replace(goodPool, "[spot, on-demand]", "[spot, cheap]", 1))
	w := wantWarning(t, result, WarningIgnoredValue)
	if w.Path != "spec.template.spec.requirements[0].values[1]" || w.Line != 9 || !strings.Contains(w.Message, "cheap") {
		t.Errorf("warning %+v", w)
	}
}

func TestLoadBoundsInput(t *testing.T) {
	nested := "{\"kind\": \"Secret\", \"apiVersion\": \"v1\", \"data\":" + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}"
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec: {replicas: 6, template: {spec: {containers: [{name: x}]}}}\n"
	for name, c := range map[string]struct {
		limits  *Limits
		sources []Source
		want    string
	}{
		"bytes": {
			limited(func(l *Limits) { l.Bytes = 10 }), []Source{{"a", []byte("# 3456")}, {"b", []byte("# 3456")}},
			"b: the input is larger than 10 bytes",
		},
		"objects": {
			limited(func(l *Limits) { l.Objects = 2 }), []Source{{"a", []byte(strings.Repeat("---\nkind: A\napiVersion: v1\n", 5))}},
			"a: document 3, line 8: the input has more than 2 objects",
		},
		"depth in JSON": {
			nil, []Source{{"a", []byte(nested)}},
			"a: document 1, line 1: objects and lists are nested more than 128 deep",
		},
		"depth in YAML": {
			limited(func(l *Limits) { l.Depth = 3 }), []Source{{"a", []byte("kind: A\na:\n  b:\n    c:\n      d: 1\n")}},
			"a: document 1, line 5: objects and lists are nested more than 3 deep",
		},
		"replicas": {
			limited(func(l *Limits) { l.Replicas = 10 }), []Source{{"a", fmt.Appendf(nil, deployment, "one")}, {"b", fmt.Appendf(nil, deployment, "two")}},
			"b: document 1, line 4: Deployment default/two: spec.replicas: with 6 pods the workloads of the input have more than the 10 allowed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			refused := refusal(t, Options{Limits: c.limits}, c.sources...)
			if diff := cmp.Diff(c.want, refused.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got := refused.Problems[0].Code; got != ProblemTooLarge {
				t.Errorf("code %s, want %s", got, ProblemTooLarge)
			}
		})
	}
}

func TestManyDocumentsOfAliasesAreBoundedTogether(t *testing.T) {
	// Each unfolds to some 3 MiB, below what one document may.
	doc := "kind: Secret\napiVersion: v1\na: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a,", 3000) + "]\n---\n"
	text := strings.Repeat(doc, 100)
	refused := refusal(t, Options{Limits: limited(func(l *Limits) { l.Bytes = int64(len(text)) })}, Source{"a", []byte(text)})
	if got := refused.Problems[0].Code; got != ProblemTooLarge {
		t.Errorf("problem %v, want %s", refused.Problems[0], ProblemTooLarge)
	}
}

// limited are the default limits with a change.
func limited(change func(*Limits)) *Limits {
	l := DefaultLimits()
	change(&l)
	return &l
}
