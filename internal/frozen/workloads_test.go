package frozen

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// input is a snapshot by its name.
type input struct {
	name string
	make func() (*scheduling.Snapshot, error)
}

// inputs are the scenarios of docs/benchmarks.md and ordinary clusters: small ones first, which are compared each time.
func inputs() (list []input, small int) {
	scenarios := []string{"a", "b", "c", "d", "f", "fa", "fe", "g", "gpu", "e"}
	add := func(pods int, seed uint64, names ...string) {
		for _, name := range names {
			list = append(list, input{fmt.Sprintf("%s/%d/%d", name, pods, seed), func() (*scheduling.Snapshot, error) {
				return workload.Seeded(name, pods, seed), nil
			}})
		}
	}
	ordinary := func(families string, seed uint64, pods int) {
		for _, rules := range workload.OrdinaryRules() {
			o := workload.Ordinary{Families: strings.Split(families, "+"), Rules: rules, Zones: 3, Seed: seed, Pods: pods}
			list = append(list, input{o.Name(), o.Snapshot})
		}
	}
	add(300, workload.Seed, scenarios[:9]...)
	ordinary("m5", 1, 400)
	small = len(list)
	add(300, workload.Seed, "e")
	for seed := range uint64(3) {
		add(2000, workload.Seed+seed, scenarios...)
	}
	for seed := range uint64(3) {
		ordinary("m5", seed, 0)
		ordinary("c5+m5+r5", seed, 0)
	}
	return list, small
}

// Plans of the scenarios that are measured, and of ordinary clusters.
func TestFrozenWorkloads(t *testing.T) {
	list, small := inputs()
	Check(t, Recording{File: "testdata/workloads.txt", Count: len(list), Short: small, Update: *update, Answer: func(t *testing.T, i int) (string, []byte) {
		s, err := list[i].make()
		if err != nil {
			t.Fatal(err)
		}
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := m.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return list[i].name, encoded(t, plan)
	}})
}

// fleets are those that are measured: both planners see each.
func fleets() (list []input, small int) {
	add := func(f workload.Fleet) {
		list = append(list, input{fmt.Sprintf("fleet/nodes=%d/mixed=%t/seed=%d", f.Nodes, f.Mixed, f.Seed), func() (*scheduling.Snapshot, error) { return f.Snapshot(), nil }})
	}
	ordinary := func(seed uint64, nodes int) {
		for _, rules := range workload.OrdinaryRules() {
			f := workload.OrdinaryFleet{Cluster: workload.Ordinary{Families: []string{"m5", "c5"}, Rules: rules, Zones: 3, Seed: seed}, Nodes: nodes}
			list = append(list, input{f.Name(), f.Snapshot})
		}
	}
	add(workload.Fleet{Nodes: 30, Fill: 0.4})
	add(workload.Fleet{Nodes: 30, Fill: 0.4, Mixed: true})
	ordinary(1, 20)
	small = len(list)
	for seed := range uint64(3) {
		add(workload.Fleet{Nodes: 200, Fill: 0.4, Seed: seed})
		add(workload.Fleet{Nodes: 200, Fill: 0.4, Mixed: true, Seed: seed})
		ordinary(seed, 60)
	}
	return list, small
}

// Commands and verdicts of both planners, as they come, for the fleets that are measured.
func TestFrozenWorkloadFleets(t *testing.T) {
	list, small := fleets()
	planners := []struct {
		name string
		plan func(*testing.T, *disruption.Fleet) (*disruption.Plan, error)
	}{
		{"global", func(t *testing.T, f *disruption.Fleet) (*disruption.Plan, error) {
			return (&disruption.Global{}).Plan(t.Context(), f)
		}},
		{"reference", func(t *testing.T, f *disruption.Fleet) (*disruption.Plan, error) {
			return (&disruption.Reference{}).Plan(t.Context(), f)
		}},
	}
	n := len(planners)
	Check(t, Recording{File: "testdata/fleets.txt", Count: n * len(list), Short: n * small, Update: *update, Answer: func(t *testing.T, i int) (string, []byte) {
		s, err := list[i/n].make()
		if err != nil {
			t.Fatal(err)
		}
		f, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(s)})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := planners[i%n].plan(t, f)
		if err != nil {
			t.Fatal(err)
		}
		return planners[i%n].name + "/" + list[i/n].name, encoded(t, plan)
	}})
}

func encoded(t *testing.T, answer any) []byte {
	t.Helper()
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
