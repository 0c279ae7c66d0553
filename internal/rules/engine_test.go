package rules_test

import (
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckConsolidate(t *testing.T) {
	tree := files{"internal/consolidate/proof/x.go": imports("proof", "internal/consolidate/global"), "internal/consolidate/global/x.go": "package global"}.parse(t)
	const page = "# P\n\n<!-- consolidate -->\n| Room | Its question |\n|---|---|\n| [global](a/global) | a |\n| [proof](a/proof) | b |\n"
	wantFaults(t, []string{"internal/consolidate/proof/x.go:3: proof must not import global, which is above it (p.md)"}, rules.CheckConsolidate(tree, "p.md", page))
	facade := "must not import scheduling, which is for users: use scheduling/planning and the rooms of internal/engine"
	around := files{
		"internal/consolidate/proof/x.go":  imports("proof", "scheduling"),
		"internal/consolidate/global/x.go": imports("global", "scheduling/planning"), "internal/consolidate/global/x_test.go": imports("global", "scheduling"),
		"disruption/decision/x.go": imports("decision", "scheduling"), "disruption/x.go": imports("disruption", "scheduling"),
	}.parse(t)
	wantFaults(t, []string{"disruption/decision/x.go:3: disruption/decision " + facade, "internal/consolidate/proof/x.go:3: internal/consolidate/proof " + facade},
		rules.CheckConsolidate(around, "p.md", page))
	wantFaults(t, []string{"p.md: no line <!-- consolidate -->"}, rules.CheckConsolidate(tree, "p.md", "# P\n"))
}

func TestCheckEngine(t *testing.T) {
	const page = "# P\n\n<!-- engine -->\n| Room | Its question |\n|---|---|\n| [state](a/state) | a |\n| [packing](a/packing) | b |\n"
	rooms := func(more files) files {
		all := files{
			"internal/engine/state/x.go":        imports("state", "internal/engine/packing"),
			"internal/engine/packing/x.go":      imports("packing", "api/v1"),
			"internal/engine/packing/x_test.go": imports("packing", "internal/engine/state"),
		}
		for name, text := range more {
			all[name] = text
		}
		return all
	}
	many := files{}
	for i := range 25 {
		many[fmt.Sprintf("internal/engine/packing/f%02d.go", i)] = "package packing"
	}
	for name, c := range map[string]struct {
		more files
		page string
		want []string
	}{
		"as it is": {nil, page, nil},
		"no table": {nil, "# P\n", []string{"p.md: no line <!-- engine -->"}},
		"an arrow up": {files{"internal/engine/packing/y.go": imports("packing", "internal/engine/state")}, page,
			[]string{"internal/engine/packing/y.go:3: packing must not import state, which is above it (p.md)"}},
		"a room that is not listed": {files{"internal/engine/lp/x.go": "package lp"}, page, []string{"p.md: the table of rooms lacks lp"}},
		"a room that is gone":       {nil, page + "| [lp](a/lp) | c |\n", []string{"p.md: the table of rooms has lp, which does not exist"}},
		"too many files":            {many, page, []string{"internal/engine/packing/x.go: internal/engine/packing has more than 25 files: split it by question"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantFaults(t, c.want, rules.CheckEngine(rooms(c.more).parse(t), "p.md", c.page))
		})
	}
}
