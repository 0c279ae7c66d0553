package launching_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// What LaunchSome, LaunchLeast, Launch and Move do can be undone, and done again by PutNew and Put; what they place is what Placed says.
func TestTrialMovesRollBack(t *testing.T) {
	catalog := workload.Catalog()
	nodes := workload.Existing(catalog, 6, 0.6)
	s := workload.Snapshot(catalog, nil, nodes)
	m := parts.Compile(t, s)
	w, err := valuing.FindWorth(t.Context(), m.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	seeded.Check(t, func(rt *rapid.T) {
		trial := trialtest.New(m.Engine())
		var order []string
		for i := range s.Nodes {
			order = append(order, s.Nodes[i].Name)
		}
		if err := trial.Rank(order); err != nil {
			rt.Fatal(err)
		}
		var marks []trialtest.Mark
		var texts []string
		for range rapid.IntRange(1, 5).Draw(rt, "steps") {
			marks, texts = append(marks, trial.Mark()), append(texts, parts.Text(rt, trial.Placed()))
			name := fmt.Sprintf("node-%05d", rapid.IntRange(0, len(s.Nodes)-1).Draw(rt, "node"))
			if _, err := trial.Hide(name); err != nil {
				continue
			}
			if rapid.Bool().Draw(rt, "move") && trial.Move(scheduling.Query{}) == 0 {
				continue
			}
			floor := w.Waiting(trial.Trial)
			price, ok := 0.0, false
			switch rapid.IntRange(0, 2).Draw(rt, "launch") {
			case 0:
				price, ok = trial.LaunchSome(scheduling.Query{}, w, 5, 1e6)
			case 1:
				price, ok = trial.LaunchLeast(scheduling.Query{}, w, 5, 10, 1e6)
			case 2:
				price, ok = trial.Launch(scheduling.Query{}, 1e6)
			}
			if !ok {
				rt.Fatalf("nothing was launched for the pods of %s", name)
			}
			if price < floor-1e-9 {
				rt.Fatalf("new nodes cost %.4f, and the pods are worth %.4f", price, floor)
			}
			sum := 0.0
			for _, n := range trial.Planned(marks[len(marks)-1], 0) {
				sum += n.InstanceTypes[0].Price
			}
			if sum < price-1e-9 || sum > price+1e-9 {
				rt.Fatalf("planned nodes cost %.4f, and %.4f was said", sum, price)
			}
		}
		replayed(rt, m, s, trial.Placed())
		for i := len(marks) - 1; i >= 0; i-- {
			parts.MustRollback(rt, trial, marks[i])
			if got := parts.Text(rt, trial.Placed()); got != texts[i] {
				rt.Fatalf("step %d is not undone:\n%s\nbefore:\n%s", i, got, texts[i])
			}
		}
	})
}

// replayed puts everything where the plan has it, on a trial of its own.
func replayed(rt *rapid.T, m *scheduling.Model, s *scheduling.Snapshot, p *scheduling.Plan) {
	trial := trialtest.New(m.Engine())
	moved := map[scheduling.PodKey]bool{}
	for _, key := range p.Order {
		moved[key] = true
	}
	for i := range s.Nodes {
		if len(s.Nodes[i].Pods) > 0 && moved[scheduling.PodKey{Namespace: "default", Name: s.Nodes[i].Pods[0].Name}] {
			if _, err := trial.Hide(s.Nodes[i].Name); err != nil {
				rt.Fatal(err)
			}
		}
	}
	for i := range p.Existing {
		if err := trial.Put(p.Existing[i].Name, p.Existing[i].Pods); err != nil {
			rt.Fatal(err)
		}
	}
	for i := range p.NewNodes {
		if err := trial.PutNew(&p.NewNodes[i]); err != nil {
			rt.Fatal(err)
		}
	}
	for i := range p.NewNodes { // the same again, with the nodes opened before the first pod
		empty, number := p.NewNodes[i], trial.NewNodes()
		empty.Pods = nil
		if _, err := trial.Drop(i); err != nil {
			rt.Fatal(err)
		}
		if err := trial.PutNew(&empty); err != nil {
			rt.Fatal(err)
		}
		if err := trial.PutMore(number, p.NewNodes[i].Pods); err != nil {
			rt.Fatal(err)
		}
	}
	if trial.PutMore(trial.NewNodes(), nil) == nil {
		rt.Error("pods were put on a new node that there isn't")
	}
}

// A node that has less memory than its DaemonSets ask for is launched for nobody, not even for pods that ask for none.
func TestLaunchSomeLeavesTooSmallForDaemons(t *testing.T) {
	small, sound := parts.InstanceType("small", 0.01, "cpu=4", "memory=1Gi"), parts.InstanceType("sound", 0.2, "cpu=4", "memory=8Gi")
	set := parts.DaemonSet("d", []string{"memory=2Gi"})
	m := parts.Compile(t, parts.Cluster(small, sound, set, parts.Node("a", parts.Bound(parts.Pod("p", parts.Requests("cpu=1")))), parts.Node("b", parts.Bound(parts.Pods("q", 3, parts.Requests("cpu=1"))...))))
	w, err := valuing.FindWorth(t.Context(), m.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(m.Engine())
	mark := trial.Mark()
	parts.MustHide(t, trial, "a")
	price, ok := trial.LaunchSome(scheduling.Query{}, w, 3, 1e6)
	if !ok || price != 0.08 {
		t.Fatalf("price %v (%v), want 0.08, of the sound node as spot", price, ok)
	}
	if got := trial.Planned(mark, 0); len(got) != 1 || got[0].InstanceTypes[0].Name != "sound" {
		t.Errorf("planned %+v, want one sound node", got)
	}
}
