package sweep_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/commands/sweep"
)

const head = "apiVersion: drawknife.dev/v1\nkind: Sweep\ncommand: plan\n"

func TestParseGrid(t *testing.T) {
	g, err := sweep.ParseGrid([]byte(head + `arguments: [--quiet]
axes:
- name: x
  values: [{name: a, arguments: [a.yaml]}, {name: b, arguments: [b.yaml]}]
- name: y
  values: [{name: "1"}, {name: "2", arguments: [--strict]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []sweep.Cell{
		{Index: 0, Values: []string{"a", "1"}, Arguments: []string{"--quiet", "a.yaml"}},
		{Index: 1, Values: []string{"a", "2"}, Arguments: []string{"--quiet", "a.yaml", "--strict"}},
		{Index: 2, Values: []string{"b", "1"}, Arguments: []string{"--quiet", "b.yaml"}},
		{Index: 3, Values: []string{"b", "2"}, Arguments: []string{"--quiet", "b.yaml", "--strict"}},
	}
	if diff := cmp.Diff(want, g.Cells()); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// Each fault is named with its path.
func TestParseGridRefuses(t *testing.T) {
	const axes = "axes: [{name: x, values: [{name: a}]}]\n"
	many := "axes: ["
	for i := range 6 {
		many += fmt.Sprintf("{name: x%d, values: [", i)
		for j := range 10 {
			many += fmt.Sprintf("{name: v%d},", j)
		}
		many += "]},"
	}
	for text, want := range map[string]string{
		"":   `apiVersion: must be drawknife.dev/v1, not ""`,
		head: "axes: must have at least one axis",
		strings.Replace(head, "Sweep", "Job", 1) + axes:                                `kind: must be Sweep, not "Job"`,
		strings.Replace(head, "command: plan", "", 1) + axes:                           "command: must be the name of a command",
		head + axes + "arguments: plan\n":                                              "arguments",
		head + axes + "argument: [plan]\n":                                             `unknown field "argument"`,
		head + axes + "figures: [summary.]\n":                                          "figures[0]: must be a path of keys",
		head + "axes: [{values: [{name: a}]}]":                                         "axes[0].name: must be given",
		head + "axes: [{name: x, values: []}]":                                         "axes[0].values: must have at least one value",
		head + "axes: [{name: x, values: [{}]}]":                                       "axes[0].values[0].name: must be given",
		head + "axes: [{name: x, values: [{name: a},{name: a}]}]":                      `axes[0].values[1].name: "a" is the name of an earlier value`,
		head + "axes: [{name: x, values: [{name: a}]},{name: x, values: [{name: a}]}]": `axes[1].name: "x" is the name of an earlier axis`,
		head + many + "]":                        "axes: make more than 100000 cells",
		head + axes + strings.Repeat("#", 1<<20): "a grid has at most 1048576 bytes",
	} {
		_, err := sweep.ParseGrid([]byte(text))
		var fault *sweep.GridError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// The shards have each cell once.
func TestShardsAreAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := make([]sweep.Cell, rapid.IntRange(0, 50).Draw(t, "cells"))
		for i := range cells {
			cells[i].Index = i
		}
		shards := rapid.IntRange(1, 60).Draw(t, "shards")
		var all []int
		for i := range shards {
			own := sweep.Shard(cells, i, shards)
			if len(own) > len(cells)/shards+1 {
				t.Fatalf("shard %d of %d has %d of %d cells", i, shards, len(own), len(cells))
			}
			for _, c := range own {
				all = append(all, c.Index)
			}
		}
		slices.Sort(all)
		for i, index := range all {
			if i != index {
				t.Fatalf("cells %v", all)
			}
		}
		if len(all) != len(cells) {
			t.Fatalf("%d of %d cells", len(all), len(cells))
		}
	})
}

// What is accepted has at most the stated number of cells, with a value of each axis.
func FuzzParseGrid(f *testing.F) {
	f.Add([]byte(head + "axes: [{name: x, values: [{name: a, arguments: [b]}]}]\nfigures: [summary.pods]\n"))
	f.Add([]byte(`{"apiVersion":"drawknife.dev/v1","kind":"Sweep","command":"plan","axes":[{"name":"x","values":[{"name":"a"},{"name":"b"}]},{"name":"y","values":[{"name":"a"}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := sweep.ParseGrid(text)
		if err != nil {
			return
		}
		cells := g.Cells()
		if len(cells) == 0 || len(cells) > sweep.MaxCells {
			t.Fatalf("%d cells", len(cells))
		}
		for i, c := range cells {
			if c.Index != i || len(c.Values) != len(g.Axes) {
				t.Fatalf("cell %d: %+v", i, c)
			}
		}
	})
}
