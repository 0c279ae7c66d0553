package rules_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckZeros(t *testing.T) {
	options := func(comment, kind string) string {
		return "package p\n\nimport \"time\"\n\nconst DefaultWait = time.Second\n\ntype Options struct {\n\t// " + comment + "\n\tWait " + kind + "\n}\n"
	}
	const said = "p/p.go:9: p.Options.Wait has a default for 0: make it a pointer, with nil for the default"
	none := func(tree *rules.Tree) []rules.Fault { return rules.CheckZeros(tree, nil) }
	for _, c := range []ruleCase{
		{"0 is a constant", files{"p/p.go": options("Wait is how long to wait; 0 is DefaultWait.", "time.Duration")}, []string{said}},
		{"0 or less is the default", files{"p/p.go": options("Wait is how long to wait; 0 or less is the default.", "time.Duration")}, []string{said}},
		{"zero means somebody's default", files{"p/p.go": options("Wait, in seconds. Zero means the planner's own default.", "int")}, []string{said}},
		{"0 stands for it", files{"p/p.go": options("Wait, where 0 stands for DefaultWait.", "float64")}, []string{said}},
		{"0 is 0", files{"p/p.go": options("Wait is how long to wait; 0 is not at all.", "time.Duration")}, nil},
		{"0 is also the default", files{"p/p.go": options("Wait is at least 0, which is the default.", "time.Duration")}, nil},
		{"a pointer", files{"p/p.go": options("Wait is how long to wait; nil is DefaultWait.", "*time.Duration")}, nil},
		{"text", files{"p/p.go": options("Wait for it; 0 is the default.", "string")}, nil},
		{"in code", files{"p/p.go": options("Wait is how long.", "time.Duration") + "\nfunc (o *Options) fill() {\n\tif o.Wait <= 0 {\n\t\to.Wait = DefaultWait\n\t}\n}\n"},
			[]string{"p/p.go:13: Wait is replaced by a default if it is 0: make it a pointer, and read it with option.Or"}},
		{"code that refuses it", files{"p/p.go": options("Wait is how long.", "time.Duration") + "\nfunc (o *Options) ok() bool {\n\tif o.Wait <= 0 {\n\t\treturn false\n\t}\n\treturn true\n}\n"}, nil},
		{"no package for users", files{"p/internal/q/q.go": options("Wait; 0 is DefaultWait.", "int")}, nil},
		{"tests", files{"p/p_test.go": options("Wait; 0 is DefaultWait.", "int")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, none) })
	}
	excused := ruleCase{files: files{"p/p.go": options("Wait; 0 is DefaultWait.", "int")}, want: []string{
		"internal/rules: p.Options.Other is listed as a field whose default is 0, and its comment does not say so",
	}}
	excused.run(t, func(tree *rules.Tree) []rules.Fault {
		return rules.CheckZeros(tree, map[string]string{"p.Options.Wait": "a file's format", "p.Options.Other": "?"})
	})
}
