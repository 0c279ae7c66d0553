package rules_test

import (
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckOptions(t *testing.T) {
	const inner = "package inner\n\ntype Options struct {\n\tA, B int\n\thidden int\n}\n\nfunc (o *Options) fill() { o.A, o.B = 1, 1 }\n"
	outer := func(body string) string {
		return "package aws\n\nimport \"" + rules.Module + "/aws/inner\"\n\n" + body + "\n"
	}
	const unset = "aws/inner/options.go:4: aws/inner.Options.B is set by nothing outside its package: make it reachable through package aws, or say why not"
	for _, c := range []ruleCase{
		{"a literal", files{"aws/inner/options.go": inner, "aws/x.go": outer("var _ = inner.Options{A: 1}")}, []string{unset}},
		{"a pointer to a literal, another name", files{"aws/inner/options.go": inner,
			"aws/x.go": strings.Replace(outer("var _ = &in.Options{A: 1}"), "import \"", "import in \"", 1)}, []string{unset}},
		{"an assignment", files{"aws/inner/options.go": inner, "aws/x.go": outer("func f(o *inner.Options) { o.A = 1; o.B = 2 }")}, nil},
		{"a flag", files{"aws/inner/options.go": inner, "aws/x.go": outer("func f(o *inner.Options) { flag(&o.A, &o.B) }")}, nil},
		{"as a whole", files{"aws/inner/options.go": inner, "aws/x.go": outer("type Config struct { Inner inner.Options }")}, nil},
		{"as a whole, for itself", files{"aws/inner/options.go": inner, "aws/x.go": outer("type config struct { inner inner.Options }\nvar _ = inner.Options{A: 1}")}, []string{unset}},
		{"tests don't count", files{"aws/inner/options.go": inner, "aws/x.go": outer("var _ = inner.Options{A: 1}"), "aws/x_test.go": outer("var _ = inner.Options{B: 1}")}, []string{unset}},
		{"others' packages", files{"fake/options.go": strings.Replace(inner, "inner", "fake", 1)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, func(tree *rules.Tree) []rules.Fault { return rules.CheckOptions(tree, "aws", nil) })
		})
	}
	excused := ruleCase{files: files{"aws/inner/options.go": inner, "aws/x.go": outer("var _ = inner.Options{A: 1}")}, want: []string{
		"aws/inner/options.go:4: aws/inner.Options.A is set outside its package: take it off the list of those that are not (no)",
		"internal/rules: aws/inner.Options.C is listed as an option that nothing sets, and is no option",
	}}
	excused.run(t, func(tree *rules.Tree) []rules.Fault {
		return rules.CheckOptions(tree, "aws", map[string]string{"aws/inner.Options.A": "no", "aws/inner.Options.B": "yes", "aws/inner.Options.C": "?"})
	})
}
