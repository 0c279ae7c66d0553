package rules_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckHiddenCode(t *testing.T) {
	const exits = "package x\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n"
	for _, c := range []ruleCase{
		{"init", files{"fake/x.go": "package fake\n\nfunc init() {}\n"},
			[]string{"fake/x.go:3: init functions run unasked: build what is needed where it is needed"}},
		{"method called init", files{"fake/x.go": "package fake\n\ntype t int\n\nfunc (t) init() {}\n"}, nil},
		{"exit", files{"fake/x.go": exits}, []string{"fake/x.go:5: os.Exit in a library takes the caller down: return an error"}},
		{"exit under another name", files{"fake/x.go": "package x\n\nimport sys \"os\"\n\nfunc f() { sys.Exit(1) }\n"},
			[]string{"fake/x.go:5: os.Exit in a library takes the caller down: return an error"}},
		{"fatal", files{"fake/x.go": "package x\n\nimport \"log\"\n\nfunc f() { log.Fatalf(\"\") }\n"},
			[]string{"fake/x.go:5: log.Fatalf in a library takes the caller down: return an error"}},
		{"panic", files{"fake/x.go": "package x\n\nfunc f() { panic(1) }\n"},
			[]string{"fake/x.go:3: panic in a library takes the caller down: return an error"}},
		{"command", files{"examples/simulate/x.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n"}, nil},
		{"test", files{"fake/x_test.go": exits}, nil},
		{"generator", files{"fake/x.go": "//go:build ignore\n\n" + exits}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckHiddenCode) })
	}
}

func TestCheckPurity(t *testing.T) {
	const clock = "package x\n\nimport \"time\"\n\nvar now = time.Now\n"
	for _, c := range []ruleCase{
		{"clock", files{"scheduling/x.go": clock},
			[]string{"scheduling/x.go:5: scheduling is pure, but uses time.Now: take the time as an argument"}},
		{"files", files{"api/v1/x.go": "package v1\n\nimport _ \"os\"\n"},
			[]string{"api/v1/x.go:3: api/v1 is pure, but imports os: take what is needed as an argument"}},
		{"chance", files{"disruption/x.go": "package disruption\n\nimport _ \"math/rand/v2\"\n"},
			[]string{"disruption/x.go:3: disruption is pure, but imports math/rand/v2: take what is needed as an argument"}},
		{"chance with a seed", files{"internal/engine/x/x.go": "package x\n\nimport \"math/rand/v2\"\n\nvar r = rand.New(rand.NewPCG(1, 2))\n"}, nil},
		{"chance without one", files{"internal/engine/x/x.go": "package x\n\nimport \"math/rand/v2\"\n\nvar n = rand.IntN(2)\n"},
			[]string{"internal/engine/x/x.go:5: internal/engine/x is pure, but uses math/rand/v2.IntN: draw from a generator with a seed"}},
		{"durations are no clock", files{"scheduling/x.go": "package x\n\nimport \"time\"\n\nvar d = time.Second\n"}, nil},
		{"manifests read files", files{"scheduling/manifests/x.go": "package manifests\n\nimport _ \"os\"\n"}, nil},
		{"a cloud has a clock", files{"fake/x.go": clock}, nil},
		{"tests", files{"scheduling/x_test.go": clock}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckPurity) })
	}
}

func TestCheckState(t *testing.T) {
	for _, c := range []ruleCase{
		{"exported", files{"fake/x.go": "package fake\n\nvar Zones = []string{}\n"},
			[]string{"fake/x.go:3: Zones can be changed by anyone: make it a constant or a function"}},
		{"error", files{"fake/x.go": "package fake\n\nimport \"errors\"\n\nvar ErrGone = errors.New(\"gone\")\n"}, nil},
		{"unexported", files{"fake/x.go": "package fake\n\nvar zones = []string{}\n"}, nil},
		{"inside a function", files{"fake/x.go": "package fake\n\nfunc f() { var Zones []string; _ = Zones }\n"}, nil},
		{"constant", files{"fake/x.go": "package fake\n\nconst Zone = \"a\"\n"}, nil},
		{"test", files{"fake/x_test.go": "package fake\n\nvar Zones = []string{}\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckState) })
	}
}
