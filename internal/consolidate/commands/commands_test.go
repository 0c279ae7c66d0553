package commands_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/commands"
	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/fleettest"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// removal is a step to be taken: nodes by name, and where their pods go.
type removal struct {
	names []string
	where removing.Places
}

// found takes the steps on a trial of the fleet, as a search does.
func found(t *testing.T, f *fleettest.Fleet, terms paying.Terms, list ...removal) *commands.Found {
	t.Helper()
	x := f.Context(t)
	on, err := x.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr := &removing.Trier{
		Context: x, Limits: removing.Limits{MaxMembers: 8, MaxMerged: 8, MaxNewNodes: 4}, Trial: on, Components: components.New(),
		Types: allowedtypes.New(fleettest.Pass(t, x.Fleet, reference.Options{}), false), Conditions: removing.Conditions{Refining: true},
	}
	out := &commands.Found{Context: x, Terms: terms, Trial: on, Start: on.Mark(), Types: tr.Types, Components: tr.Components, Parallelism: 2}
	for _, r := range list {
		st, why, err := tr.Try(t.Context(), removing.Consolidating(fleettest.Candidates(t, x, r.names...), r.where), on.Mark())
		if err != nil || st == nil {
			t.Fatalf("%v: %v, %v", r.names, why, err)
		}
		tr.Accept(st, nil)
		out.Steps = append(out.Steps, st)
	}
	return out
}

// said is a command in a line: nodes, what is launched for them, which nodes take their pods.
func said(cmd *decision.Command) string {
	var b strings.Builder
	b.WriteString(string(cmd.Reason))
	for i := range cmd.Members {
		b.WriteString(" " + cmd.Members[i].Node)
	}
	for i := range cmd.Replacements {
		n := cmd.Replacements[i].Node
		fmt.Fprintf(&b, " + %s %d pods", n.InstanceTypes[0].Name, len(n.Pods))
	}
	for _, e := range cmd.Receivers {
		fmt.Fprintf(&b, " > %s %d pods", e.Name, len(e.Pods))
	}
	fmt.Fprintf(&b, " saves %.2f", cmd.Savings)
	return b.String()
}

func all(list []*decision.Command) []string {
	var out []string
	for _, cmd := range list {
		out = append(out, said(cmd))
	}
	return out
}

// Nodes that share nothing go apart, each with the places of its own pods; those whose pods share a new node go together.
func TestWrite(t *testing.T) {
	f := func(t *testing.T) *fleettest.Fleet {
		f := fleettest.New()
		f.Node("stays", "c8", fleettest.Pods("q", 1, "4")...)
		f.Node("a", "c4", fleettest.Pods("a", 2, "1")...)
		f.Node("b", "c4", fleettest.Pods("b", 1, "1")...)
		f.Node("c", "c8", fleettest.Pods("c", 1, "3")...)
		f.Node("d", "c8", fleettest.Pods("d", 1, "3")...)
		return f
	}
	for _, c := range []struct {
		name  string
		steps []removal
		want  []string
	}{
		{"apart", []removal{{[]string{"a"}, removing.OnlyRoom}, {[]string{"b"}, removing.OnlyRoom}},
			[]string{"Underutilized a > stays 2 pods saves 0.20", "Underutilized b > stays 1 pods saves 0.20"}},
		{"found together, and good apart", []removal{{[]string{"a", "b"}, removing.OnlyRoom}},
			[]string{"Underutilized a > stays 2 pods saves 0.20", "Underutilized b > stays 1 pods saves 0.20"}},
		{"one new node for both", []removal{{[]string{"c", "d"}, removing.OnlyNew}}, []string{"Underutilized c d + c8 2 pods saves 0.40"}},
		{"room and a new node", []removal{{[]string{"a"}, removing.OnlyRoom}, {[]string{"c"}, removing.OnlyNew}},
			[]string{"Underutilized a > stays 2 pods saves 0.20", "Underutilized c + c4 1 pods saves 0.20"}},
		{"none", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, left := commands.Write(found(t, f(t), paying.Terms{}, c.steps...))
			if got := all(list); !slices.Equal(got, c.want) || len(left) > 0 {
				t.Errorf("%q, left %d nodes, want %q", got, len(left), c.want)
			}
		})
	}
}

// A part that is not worth it alone goes with the part that saves most; if even the whole is not worth it, its nodes are left.
func TestWriteJoinsWhatIsNotWorthIt(t *testing.T) {
	f := fleettest.New()
	f.Node("stays", "c16", fleettest.Pods("q", 1, "4")...)
	f.Node("busy", "c2", fleettest.Pods("b", 10, "100m")...)
	f.Node("some", "c4", fleettest.Pods("s", 2, "1")...)
	f.Node("dear", "c16", fleettest.Pods("d", 1, "1")...)
	steps := removal{[]string{"busy", "some", "dear"}, removing.OnlyRoom}
	// An ordinary pod costs 0.02: busy costs 0.22 to disturb and saves 0.2 over two hours.
	list, left := commands.Write(found(t, f, paying.Terms{PayBack: 2 * time.Hour, DisruptionPrice: 0.02}, steps))
	want := []string{"Underutilized dear busy > stays 11 pods saves 0.90", "Underutilized some > stays 2 pods saves 0.20"}
	slices.SortFunc(list, func(a, b *decision.Command) int { return strings.Compare(said(a), said(b)) })
	got := all(list)
	for i := range got { // the members' order is the plan's business
		got[i] = strings.Replace(got[i], "busy dear", "dear busy", 1)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(left) > 0 {
		t.Errorf("%q, left %d, want %q", got, len(left), want)
	}
	list, left = commands.Write(found(t, f, paying.Terms{PayBack: 2 * time.Hour, DisruptionPrice: 1}, steps))
	names := func(list []*searchcontext.Candidate) (out []string) {
		for _, c := range list {
			out = append(out, c.Name)
		}
		slices.Sort(out)
		return out
	}
	if len(list) > 0 || !slices.Equal(names(left), []string{"busy", "dear", "some"}) {
		t.Errorf("%q, left %q", all(list), names(left))
	}
}

// Pods that have places are counted on nodes that are there and on new ones.
func TestPlaces(t *testing.T) {
	on := func(n int) planning.ExistingNode { return planning.ExistingNode{Pods: make([]planning.PodKey, n)} }
	first := &decision.Command{
		Receivers:    []planning.ExistingNode{on(2), on(3)},
		Replacements: []decision.Replacement{{}, {Node: &planning.NewNode{Pods: make([]planning.PodKey, 4)}}},
	}
	if got := commands.Places(first); got != 9 {
		t.Errorf("%d places, want 9", got)
	}
	if got := commands.AllPlaces([]*decision.Command{first, {Receivers: []planning.ExistingNode{on(1)}}}); got != 10 {
		t.Errorf("%d places in both, want 10", got)
	}
}
