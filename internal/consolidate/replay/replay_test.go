package replay_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/fleettest"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// begun is a replay of the fleet as it is.
func begun(t *testing.T, f *fleettest.Fleet) *replay.Replay {
	t.Helper()
	r, err := replay.New(t.Context(), &reference.Options{}, f.Survey(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// removal is a command that removes the node and puts its pods on others: so many on each, in order.
func removal(t *testing.T, r *replay.Replay, node string, on ...planning.ExistingNode) *decision.Command {
	t.Helper()
	c := r.Pass.Fleet.ByName[node]
	if c == nil {
		t.Fatalf("%s is no candidate: %v", node, r.Pass.Fleet.Blocked[node])
	}
	cmd := reference.NewCommand(decision.MethodSingleNode, []*decision.Candidate{c}, r.Pass.Fleet.Now)
	at := 0
	for _, e := range on {
		for i := range e.Pods {
			e.Pods[i] = survey.KeyOf(c.Pods[at])
			at++
		}
		cmd.Receivers = append(cmd.Receivers, e)
	}
	cmd.ID, cmd.Savings = node, c.Price
	return cmd
}

// taking is a node that takes so many pods.
func taking(name string, n int) planning.ExistingNode {
	return planning.ExistingNode{Name: name, Pods: make([]planning.PodKey, n)}
}

func ids(list []*decision.Command) (out []string) {
	for _, cmd := range list {
		out = append(out, cmd.ID)
	}
	return out
}

// A command is carried out as planned, or changes nothing: its places are gone, pods came, a node of it is gone.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fleettest.Fleet)
		code   decision.BlockCode
	}{
		{"as planned", func(*fleettest.Fleet) {}, ""},
		{"its room is taken", func(f *fleettest.Fleet) {
			f.Snapshot.Nodes[1].Pods = append(f.Snapshot.Nodes[1].Pods, build.Pod("more", build.CPU("2"), build.On("room")))
		}, decision.BlockUnschedulable},
		{"pods came to the node", func(f *fleettest.Fleet) {
			f.Snapshot.Nodes[0].Pods = append(f.Snapshot.Nodes[0].Pods, build.Pod("more", build.CPU("10m"), build.On("goes")))
		}, decision.BlockUnschedulable},
	} {
		t.Run(c.name, func(t *testing.T) {
			fleet := func() *fleettest.Fleet {
				f := fleettest.New()
				f.Node("goes", "c4", fleettest.Pods("p", 2, "1")...)
				f.Node("room", "c4", fleettest.Pods("q", 1, "1")...)
				return f
			}
			planned := begun(t, fleet())
			cmd := removal(t, planned, "goes", taking("room", 2))
			later := fleet()
			c.change(later)
			r := begun(t, later)
			before := slices.Clone(r.Trial.S.Room.Free)
			done, why, err := r.Step(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			if c.code == "" {
				if why != nil || done.ID != "goes" || len(r.Trial.S.Hidden) != 1 {
					t.Errorf("%v, %v", done, why)
				}
				return
			}
			if why == nil || why.Block.Code != c.code || why.Command != "goes" || why.Node != "goes" || why.Category != decision.RejectedScheduling {
				t.Errorf("rejected by %v, want %q", why, c.code)
			}
			if len(r.Trial.S.Hidden) != 0 || !slices.Equal(r.Trial.S.Room.Free, before) {
				t.Error("the trial has changed")
			}
		})
	}
}

// A command that rules forbid for now comes after those that make it possible; what nothing makes possible is the rest.
func TestArrange(t *testing.T) {
	f := fleettest.New()
	f.Sell(build.InstanceType("a", build.CPU("4"), build.OnDemand("a", 0.2)), build.InstanceType("b", build.CPU("4"), build.OnDemand("b", 0.2)))
	spread := build.Spread(corev1.LabelTopologyZone, 1, "app", "x")
	one := func(name string) *corev1.Pod {
		return build.Pod(name, build.CPU("1"), build.Labels("app", "x"), spread)
	}
	f.Node("a1", "a", one("p1"))
	f.Node("a2", "a", one("p2"))
	f.Node("b1", "b", one("p3"))
	f.Node("to-a", "a", fleettest.Pods("q", 1, "1")...)
	f.Node("to-b", "b", fleettest.Pods("r", 1, "1")...)
	r := begun(t, f)
	toA, toB, last := removal(t, r, "b1", taking("to-a", 1)), removal(t, r, "a1", taking("to-b", 1)), removal(t, r, "a2", taking("to-b", 1))
	done, rest, err := r.Arrange(t.Context(), []*decision.Command{toA, toB, last})
	if err != nil || !slices.Equal(ids(done), []string{"a1", "b1", "a2"}) || len(rest) != 0 {
		t.Errorf("done are %v, left %v, %v", ids(done), ids(rest), err)
	}
	r = begun(t, f)
	if done, rest, err = r.Arrange(t.Context(), []*decision.Command{toA}); err != nil || len(done) != 0 || !slices.Equal(ids(rest), []string{"b1"}) {
		t.Errorf("alone, done are %v, left %v, %v", ids(done), ids(rest), err)
	}
}

// Where no order of nodes works, nodes take turns, and the command says in which order pods are put.
func TestTurns(t *testing.T) {
	f := fleettest.New()
	f.Sell(build.InstanceType("a", build.CPU("16"), build.OnDemand("a", 0.8)), build.InstanceType("b", build.CPU("4"), build.OnDemand("b", 0.2)),
		build.InstanceType("c", build.CPU("4"), build.OnDemand("a", 0.2)))
	spread := build.Spread(corev1.LabelTopologyZone, 1, "app", "x")
	f.Node("goes", "a", build.Pods("p", 4, build.CPU("1"), build.Labels("app", "x"), spread)...)
	f.Node("there", "b", fleettest.Pods("q", 1, "1")...)
	f.Node("here", "c", fleettest.Pods("r", 1, "1")...)
	r := begun(t, f)
	done, why, err := r.Step(t.Context(), removal(t, r, "goes", taking("there", 2), taking("here", 2)))
	if err != nil || why != nil {
		t.Fatal(why, err)
	}
	var order []string
	for _, key := range done.Order {
		order = append(order, key.Name)
	}
	if !slices.Equal(order, []string{"p-0", "p-2", "p-3", "p-1"}) {
		t.Errorf("pods are put in the order %v, want the nodes to take turns", order)
	}
}
