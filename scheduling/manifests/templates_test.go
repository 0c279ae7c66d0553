package manifests

import (
	"errors"
	"strings"
	"testing"
)

// Who gives templates learns what to do, and only on lines that have some.
func TestTemplates(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - {name: c, env: [{name: E, value: 'x ${Y} {{ z }}'}]}\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 1\n  template: {spec: {containers: [{name: c}]}}\n"
	for name, c := range map[string]struct{ text, want string }{
		"a template that is no YAML":   {strings.Replace(pod, "name: a", "{{- include \"labels\" . | nindent 2 }}", 1), hintTemplate},
		"a template as a key":          {strings.Replace(pod, "name: a", "name: {{ .Values.name }}", 1), hintTemplate},
		"a template in quotes":         {strings.Replace(pod, "name: a", "name: '{{ .Values.name }}'", 1), hintTemplate},
		"a placeholder as a name":      {strings.Replace(pod, "name: a", "name: ${NAME}", 1), hintPlaceholder},
		"a placeholder as a number":    {strings.Replace(deployment, "replicas: 1", "replicas: ${REPLICAS}", 1), hintPlaceholder},
		"a fault next to placeholders": {strings.Replace(pod, "name: a", "name: A", 1), ""},
		"a fault alone":                {strings.Replace(deployment, "replicas: 1", "replicas: x", 1), ""},
	} {
		_, err := Load([]Source{{Name: "a.yaml", Data: []byte("kind: [\n")}, {Name: "b.yaml", Data: []byte(c.text)}}, Options{})
		var refused *LoadError
		if !errors.As(err, &refused) || len(refused.Problems) < 2 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if first := refused.Problems[0].Message; strings.Contains(first, "looks like") {
			t.Errorf("%s: of another source: %s", name, first)
		}
		got := refused.Problems[1].Message
		if c.want == "" && strings.Contains(got, "looks like") || !strings.HasSuffix(got, c.want) || got == c.want {
			t.Errorf("%s: %q, want the hint %q", name, got, c.want)
		}
	}
	if result, err := Load([]Source{{Name: "a.yaml", Data: []byte(pod)}}, Options{}); err != nil || len(result.Snapshot.Pods) != 1 {
		t.Errorf("templates in values that nobody reads: %v", err)
	}
}
