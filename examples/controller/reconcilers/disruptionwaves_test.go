package reconcilers

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/disruption"
)

// inWaves has every empty node go, each by a command and in a wave of its own, in the order of their names.
type inWaves struct {
	disruption.Reference
	plans      int
	restricted []string
}

func (p *inWaves) Plan(ctx context.Context, f *disruption.Fleet) (*disruption.Plan, error) {
	plan, err := p.Reference.Plan(ctx, f)
	if err != nil || len(plan.Commands) == 0 {
		return plan, err
	}
	p.plans++
	all := plan.Commands[0]
	plan.Commands = nil
	for _, m := range all.Members {
		one := *all
		one.ID, one.Members, one.NotBefore = "remove "+m.Node, []disruption.Member{m}, one.Planned
		plan.Commands = append(plan.Commands, &one)
		plan.Waves = append(plan.Waves, disruption.Wave{Commands: []string{one.ID}, Seconds: 30})
	}
	return plan, nil
}

func (p *inWaves) Restrict(ctx context.Context, f *disruption.Fleet, commands []*disruption.Command) (good []*disruption.Command, rejected []*disruption.RejectedError, err error) {
	for _, cmd := range commands {
		p.restricted = append(p.restricted, cmd.Nodes()...)
		still, err := p.Validate(ctx, f, cmd)
		if why, ok := err.(*disruption.RejectedError); ok {
			rejected = append(rejected, why)
		} else if err != nil {
			return nil, nil, err
		} else {
			good = append(good, still)
		}
	}
	return good, rejected, nil
}

// emptyNodes are so many nodes without pods, that pods could not share.
func (w *world) emptyNodes(n int) []*corev1.Node {
	w.t.Helper()
	var list []*corev1.Pod
	for i := range n {
		pod := newPod(fmt.Sprint("web-", i))
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		list = append(list, pod)
		w.create(pod)
	}
	w.plan()
	w.live(8)
	for _, pod := range list {
		w.delete(pod)
	}
	time.Sleep(w.planner.options.nomination())
	nodes := w.allNodes()
	if len(nodes) != n {
		w.t.Fatalf("%d nodes, want %d", len(nodes), n)
	}
	return nodes
}

// anyBudget lets all nodes of the default pool go at once.
func (w *world) anyBudget() {
	w.t.Helper()
	w.change("default", func(p *v1.NodePool) { p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}} })
}

// leaving are the nodes whose claims are being deleted.
func (w *world) leaving() (list []string) {
	w.t.Helper()
	for _, c := range w.allClaims() {
		if c.DeletionTimestamp != nil {
			list = append(list, c.Status.NodeName)
		}
	}
	return list
}

// A wave begins when the nodes of the one before are gone, after its commands were looked at again; nothing else is planned
// meanwhile.
func TestWavesFollowOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := &inWaves{}
		w := newWorld(t, func(o *Options) { o.Disruption.Planner = planner })
		w.anyBudget()
		nodes := w.emptyNodes(3)
		var order []string
		for range 90 {
			w.disrupt(1)
			going := w.leaving()
			if len(going) > 1 {
				t.Fatalf("%v leave at the same time", going)
			}
			if len(going) == 1 && (len(order) == 0 || order[len(order)-1] != going[0]) {
				order = append(order, going[0])
			}
		}
		if len(order) != 3 || len(w.allNodes()) != 0 {
			t.Errorf("of %d nodes %v have left, %d are there", len(nodes), order, len(w.allNodes()))
		}
		if planner.plans != 1 || len(planner.restricted) != 2 {
			t.Errorf("%d plans, and %v were looked at again, want one plan and the two later nodes", planner.plans, planner.restricted)
		}
	})
}

// A wave that something holds up is not waited for longer than its time, and a command that is not good any more is left out: the
// others go on.
func TestWavesGoOnWithoutOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := &inWaves{}
		w := newWorld(t, func(o *Options) { o.Disruption.Planner = planner })
		w.anyBudget()
		nodes := w.emptyNodes(3)
		for range 20 {
			if len(w.leaving()) > 0 {
				break
			}
			w.disrupt(1)
		}
		// A pod comes to the node that is next, and one that can't go keeps the first.
		first := w.leaving()
		if len(first) != 1 {
			t.Fatalf("%v leave", first)
		}
		later := func(i int) string {
			var names []string
			for _, n := range nodes {
				if n.Name != first[0] {
					names = append(names, n.Name)
				}
			}
			return names[i]
		}
		w.occupy("held", first[0])
		w.occupy("late", later(0))
		began := time.Now()
		for len(w.leaving()) < 2 && time.Since(began) < 5*time.Minute {
			w.disrupt(1)
		}
		if took := time.Since(began); took < 40*time.Second || took > 80*time.Second {
			t.Errorf("the next wave has begun after %s, want twice the time that the first was to take", took)
		}
		for _, name := range w.leaving() {
			if name == later(0) {
				t.Error("the node that a pod came to goes too")
			}
		}
	})
}

// API-220: nodes of the first generation that are drained are waited for like others.
func TestWavesOfTheFirstGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFirstWorld(t, nil)
		w.create(wanting(newPod("old"), v1alpha5.ProvisionerNameLabelKey, "default"))
		w.plan()
		w.live(8)
		instance := w.machine()
		cmd := &disruption.Command{ID: "x", Members: []disruption.Member{{
			Node: instance.Status.NodeName, Claim: instance.Name, UID: instance.UID, Pool: newProvisioner("default").Key(),
		}}}
		w.disruptor.waves = waves{under: []*disruption.Command{cmd}, until: time.Now().Add(time.Hour)}
		w.occupy("held", instance.Status.NodeName)
		if w.disruptor.waveUnderWay(time.Now()) {
			t.Error("a node that does not leave is waited for")
		}
		if err := w.disruptor.effect(t.Context(), newCommandRun(disruption.Execute(cmd)), disruption.DeleteMember{Claim: instance.Name, UID: instance.UID, Node: instance.Status.NodeName}); err != nil {
			t.Fatal(err)
		}
		w.live(5)
		if !w.disruptor.waveUnderWay(time.Now()) {
			t.Error("the next wave does not wait for the Machine's node to be drained")
		}
	})
}

// occupy binds a pod to the node that must not be evicted.
func (w *world) occupy(name, node string) {
	w.t.Helper()
	pod := newPod(name)
	pod.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	pod.Spec.NodeName = node
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning}
	w.create(pod)
	w.watch()
}
