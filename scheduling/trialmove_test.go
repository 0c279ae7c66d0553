package scheduling_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// Move uses the nodes that Rank names, in its order, and no others.
func TestTrialMoveByRank(t *testing.T) {
	s := cluster(node("a", bound(pod("p"))), node("b"), node("c"), node("d"))
	trial := trialtest.New(compile(t, s).Engine())
	if left := trial.Move(scheduling.Query{}); left != 0 {
		t.Errorf("%d pods wait before anything is hidden", left)
	}
	if err := trial.Rank([]string{"c", "b", "a"}); err != nil {
		t.Fatal(err)
	}
	mark := trial.Mark()
	mustHide(t, trial, "a")
	if left := trial.Move(scheduling.Query{}); left != 0 {
		t.Fatalf("%d pods wait", left)
	}
	wantPlace(t, planOf(t, trial), "p", "on c")
	if got := trial.Receivers(mark); len(got) != 1 || got[0] != "c" {
		t.Errorf("receivers %v, want c", got)
	}
	mustRollback(t, trial, mark)
	if err := trial.Close("c"); err != nil {
		t.Fatal(err)
	}
	mustHide(t, trial, "a")
	trial.Move(scheduling.Query{})
	wantPlace(t, planOf(t, trial), "p", "on b")
	for _, order := range [][]string{{"x"}, {"a", "a"}} {
		if err := trial.Rank(order); err == nil {
			t.Errorf("order %v was taken", order)
		}
	}
}

// Put places pods of hidden nodes where it is told to, if they may go there.
func TestTrialPut(t *testing.T) {
	s := cluster(node("a", bound(pod("p"), pod("q", requests("cpu=3")))), node("b"), node("c", bound(pod("r", requests("cpu=3")))))
	trial := trialtest.New(compile(t, s).Engine())
	key := func(name string) []scheduling.PodKey { return []scheduling.PodKey{{Namespace: "default", Name: name}} }
	if err := trial.Put("b", key("p")); err == nil {
		t.Error("a pod that does not wait was put")
	}
	mustHide(t, trial, "a")
	if err := trial.Put("c", key("q")); !errors.Is(err, scheduling.ErrNoPlace) {
		t.Errorf("a pod was put where it has no room: %v", err)
	}
	if err := trial.Put("b", key("q")); err != nil {
		t.Error(err)
	}
	if err := trial.Put("c", key("p")); err != nil {
		t.Error(err)
	}
	p := planOf(t, trial)
	wantPlace(t, p, "q", "on b")
	wantPlace(t, p, "p", "on c")
}

// Put and PutNew place the snapshot's own waiting pods, too, and so does Scatter; Waiting names them after those of hidden nodes.
func TestTrialPutPodsThatWait(t *testing.T) {
	s := cluster(nodePool("general"), node("a", bound(pod("p"))), node("b"), pod("w", requests("cpu=1500m", "memory=1Gi")), pod("x", requests("cpu=1100m", "memory=1Gi")))
	trial := trialtest.New(compile(t, s).Engine())
	mustHide(t, trial, "a")
	waiting := func(want string) {
		t.Helper()
		if got := trial.Waiting(10); !slices.Equal(got, keysOf(want)) {
			t.Errorf("%v wait, want %s", got, want)
		}
	}
	waiting("p x w")
	if got := trial.Waiting(2); len(got) != 2 {
		t.Errorf("%v, want two", got)
	}
	if err := trial.Put("b", keysOf("w")); err != nil {
		t.Error(err)
	}
	if err := trial.Put("b", keysOf("w")); err == nil {
		t.Error("a pod was put twice")
	}
	waiting("p x")
	mark := trial.Mark()
	if left, err := trial.Scatter(keysOf("x p")); err != nil || len(left) > 0 {
		t.Errorf("scattered: %v left, %v", left, err)
	}
	waiting("")
	mustRollback(t, trial, mark)
	waiting("p x")
	mustHide(t, trial, "b")
	waiting("p x w")
}

// What LaunchSome, LaunchLeast, Launch and Move do can be undone, and done again by PutNew and Put; what they place is what Placed says.
func TestTrialMovesRollBack(t *testing.T) {
	catalog := workload.Catalog()
	nodes := workload.Existing(catalog, 6, 0.6)
	s := workload.Snapshot(catalog, nil, nodes)
	m := compile(t, s)
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
			marks, texts = append(marks, trial.Mark()), append(texts, text(rt, trial.Placed()))
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
			mustRollback(rt, trial, marks[i])
			if got := text(rt, trial.Placed()); got != texts[i] {
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
	small, sound := machineType("small", 0.01, "cpu=4", "memory=1Gi"), machineType("sound", 0.2, "cpu=4", "memory=8Gi")
	set := daemonSet("d", []string{"memory=2Gi"})
	m := compile(t, cluster(small, sound, set, node("a", bound(pod("p", requests("cpu=1")))), node("b", bound(pods("q", 3, requests("cpu=1"))...))))
	w, err := valuing.FindWorth(t.Context(), m.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(m.Engine())
	mark := trial.Mark()
	mustHide(t, trial, "a")
	price, ok := trial.LaunchSome(scheduling.Query{}, w, 3, 1e6)
	if !ok || price != 0.08 {
		t.Fatalf("price %v (%v), want 0.08, of the sound node as spot", price, ok)
	}
	if got := trial.Planned(mark, 0); len(got) != 1 || got[0].InstanceTypes[0].Name != "sound" {
		t.Errorf("planned %+v, want one sound node", got)
	}
}

// Expect makes room for pods and changes nothing else.
func TestTrialExpects(t *testing.T) {
	m := compile(t, cluster(node("a", bound(pods("p", 3, requests("cpu=1"))...)), node("b", allocatable("cpu=8", "memory=8Gi", "pods=10"))))
	trial := trialtest.New(m.Engine())
	trial.Expect(3)
	trial.Expect(-1)
	if err := trial.Rank([]string{"b"}); err != nil {
		t.Fatal(err)
	}
	mark := trial.Mark()
	mustHide(t, trial, "a")
	if left := trial.Move(scheduling.Query{}); left != 0 {
		t.Errorf("%d pods wait", left)
	}
	mustRollback(t, trial, mark)
	if got := text(t, trial.Placed()); got != text(t, trialtest.New(m.Engine()).Placed()) {
		t.Errorf("rolled back: %s", got)
	}
}
