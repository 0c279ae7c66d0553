package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	schedulingpods "github.com/drawknife/drawknife/scheduling/pods"
)

// roll carries out on a world's snapshot what plans and executions ask for, a few seconds at a time: nodes come up in half
// a minute, and a node is gone a while after its claim was deleted; its pods then run on what replaced it.
type roll struct {
	w       *world
	queue   disruption.Queue
	planner disruption.Planner
	// launched are the replacements of each command, and when they were; going is when a node is gone.
	launched map[string][]*scheduling.Node
	ready    map[string]time.Time
	going    map[string]time.Time
	// most were under way at one time; gone in their order.
	most int
	gone []string
}

func newRoll(w *world) *roll {
	return &roll{w: w, planner: &disruption.Reference{}, launched: map[string][]*scheduling.Node{}, ready: map[string]time.Time{}, going: map[string]time.Time{}}
}

func (r *roll) now() time.Time { return r.w.snapshot.Time }

func (r *roll) node(name string) *scheduling.Node {
	for i := range r.w.snapshot.Nodes {
		if r.w.snapshot.Nodes[i].Name == name {
			return &r.w.snapshot.Nodes[i]
		}
	}
	return nil
}

// fleet is the world as a live view has it: pods of nodes that are leaving look for new places.
func (r *roll) fleet(t *testing.T) *disruption.Fleet {
	t.Helper()
	in := r.w.input
	in.View = disruption.ViewOf(r.w.snapshot)
	live := *r.w.snapshot
	live.Nodes = slices.Clone(live.Nodes)
	for i := range live.Nodes {
		if n := &live.Nodes[i]; n.Leaving {
			for _, p := range n.Pods {
				live.Pods = append(live.Pods, schedulingpods.Unbound(p))
			}
			n.Pods = nil
		}
	}
	in.View.Snapshot = &live
	f, err := disruption.Survey(in)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// step plans, begins what was found, and lets every execution do what it can; then the clock goes on.
func (r *roll) step(t *testing.T) {
	t.Helper()
	for range 100 { // a pass that finds something is followed by another at once
		r.w.input.Executing = r.queue.Executing()
		plan, err := r.planner.Plan(context.Background(), r.fleet(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, cmd := range plan.Commands {
			if _, err := r.queue.Add(cmd); err != nil {
				t.Fatal(err)
			}
		}
		if len(plan.Commands) == 0 {
			break
		}
	}
	for _, e := range r.queue.Executions() {
		r.advance(t, e)
	}
	under := map[string]bool{}
	for name := range r.queue.Executing() {
		under[name] = true
	}
	for name := range r.going {
		under[name] = true
	}
	r.most = max(r.most, len(under))
	r.w.snapshot.Time = r.now().Add(5 * time.Second)
	for name, at := range r.going {
		if r.now().Before(at) {
			continue
		}
		delete(r.going, name)
		r.gone = append(r.gone, name)
		r.w.snapshot.Nodes = slices.DeleteFunc(r.w.snapshot.Nodes, func(n scheduling.Node) bool { return n.Name == name })
	}
	for name, at := range r.ready {
		if n := r.node(name); n != nil && !r.now().Before(at) {
			n.Object.Labels[v1.NodeInitializedLabelKey] = "true"
			n.Claim.Conditions().SetTrue(v1.ConditionInitialized, r.now())
			delete(r.ready, name)
		}
	}
}

func (r *roll) advance(t *testing.T, e *disruption.Execution) {
	cmd := e.Command()
	for range 10 {
		o := disruption.Observed{Members: map[string]disruption.MemberState{}, Executing: len(r.queue.Executing())}
		for _, m := range cmd.Members {
			if n := r.node(m.Node); n != nil {
				o.Members[m.Node] = disruption.MemberState{Node: n.Object, Claim: n.Claim, Marked: n.Leaving}
			}
		}
		for _, n := range r.launched[cmd.ID] {
			o.Replacements = append(o.Replacements, disruption.ReplacementState{Claim: n.Claim.Name, Stored: n.Claim, Known: true})
		}
		if e.State() == disruption.StateValidating {
			valid, err := r.planner.Validate(context.Background(), r.fleet(t), cmd)
			o.Validation = &disruption.Validation{Command: valid, Err: err}
		}
		step := e.Next(o, r.now())
		for _, effect := range step.Effects {
			r.do(t, cmd, effect)
		}
		if len(step.Effects) == 0 || step.State.Final() {
			return
		}
	}
}

func (r *roll) do(t *testing.T, cmd *disruption.Command, effect disruption.Effect) {
	switch e := effect.(type) {
	case disruption.WriteRecord:
		for _, m := range cmd.Members {
			if m.Claim == e.Claim {
				annotate(r.node(m.Node).Claim, e.Record)
			}
		}
	case disruption.TaintNode:
		r.node(e.Node).Object.Spec.Taints = append(r.node(e.Node).Object.Spec.Taints, v1.DisruptedTaint())
	case disruption.SetReason:
		for _, m := range cmd.Members {
			if m.Claim == e.Claim {
				r.node(m.Node).Claim.Conditions().Set(v1.ConditionDisruptionReason, metav1.ConditionTrue, string(e.Reason), "x", r.now())
			}
		}
	case disruption.MarkNode:
		r.node(e.Node).Leaving = true
	case disruption.LaunchReplacement:
		name := fmt.Sprintf("new-%s-%d", cmd.ID, e.Index)
		n := r.w.node(name, "c4", labelled(v1.NodeInitializedLabelKey, ""))
		n.Claim.Conditions().Clear(v1.ConditionInitialized, r.now())
		n.Object.Spec.Taints = slices.Clone(r.w.pool("default").Spec.Template.Spec.Taints)
		n.Claim.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: r.w.pool("default").Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
		r.launched[cmd.ID] = append(r.launched[cmd.ID], &scheduling.Node{Name: name, Claim: n.Claim, Object: n.Object})
		r.ready[name] = r.now().Add(30 * time.Second)
	case disruption.NominateNode, disruption.NoteDisruptions, disruption.ValidateCommand:
	case disruption.DeleteMember:
		n := r.node(e.Node)
		n.Claim.DeletionTimestamp = &metav1.Time{Time: r.now()}
		r.going[e.Node] = r.now().Add(time.Minute)
		for _, into := range r.launched[cmd.ID] {
			holding(n.Pods...)(r.node(into.Name))
			n.Pods = nil
		}
	default:
		t.Fatalf("unexpected effect %s", effect)
	}
}

// drift looks at every node's claim, as a controller would.
func (r *roll) drift(t *testing.T) (drifted int) {
	t.Helper()
	pool := r.w.pool("default")
	for i := range r.w.snapshot.Nodes {
		claim := r.w.snapshot.Nodes[i].Claim
		if _, err := disruption.MarkDrift(claim, disruption.DriftState{Claim: claim, Pool: pool, Provider: &disruption.ProviderDrift{}}, r.now().Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if claim.Conditions().IsTrue(v1.ConditionDrifted) {
			drifted++
		}
	}
	return drifted
}

// The flow of a migration (API-246, API-403, API-407, API-409, API-443), checklist rows S0-043, S0-045, S0-046 and S0-048: the taint
// karpenter.sh/legacy is added to a pool; that is static drift of all its nodes; they are rolled one at a time, or all at once, as the pool's budget says, each after its
// replacement is ready, and pods that don't tolerate the taint get places on the new pool.
func TestLegacyTaintRollsAPool(t *testing.T) {
	const nodes = 4
	for budget, most := range map[string]int{"1": 1, "2": 2, "100%": nodes} {
		t.Run("nodes: "+budget, func(t *testing.T) {
			w := newWorld()
			onlyTypes(instanceType("c4", 4, "on-demand=0.2"))(w)
			pool := w.pool("default", budgets(v1.Budget{Nodes: budget}), after("Never"))
			pool.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: pool.Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
			for i := range nodes {
				n := w.node(fmt.Sprintf("old-%d", i), "c4", holding(pods(fmt.Sprint("p", i), 4, "1", func(p *corev1.Pod) {
					p.Spec.Tolerations = []corev1.Toleration{{Key: "karpenter.sh/legacy", Operator: corev1.TolerationOpExists}}
				})...))
				n.Claim.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: pool.Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
			}
			r := newRoll(w)
			if n := r.drift(t); n != 0 {
				t.Fatalf("%d nodes have drifted before anything was changed", n)
			}
			pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "karpenter.sh/legacy", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
			pool.Annotations[v1.NodePoolHashAnnotationKey] = pool.Hash()
			if n := r.drift(t); n != nodes {
				t.Fatalf("S0-046: %d of %d nodes have drifted", n, nodes)
			}
			if c := w.snapshot.Nodes[0].Claim.Conditions().Get(v1.ConditionDrifted); c.Reason != string(disruption.DriftNodePool) {
				t.Errorf("S0-045: drifted for %s", c.Reason)
			}
			for range 500 {
				r.step(t)
				pods := 0
				for i := range w.snapshot.Nodes {
					pods += len(w.snapshot.Nodes[i].Pods)
				}
				if pods != 4*nodes {
					t.Fatalf("%d pods run, want %d all the while", pods, 4*nodes)
				}
				if len(r.gone) == nodes {
					break
				}
			}
			if want := []string{"old-0", "old-1", "old-2", "old-3"}; r.most != most || len(r.gone) != nodes || most == 1 && !slices.Equal(r.gone, want) {
				t.Errorf("%d at a time, %q are gone; want %d, and all, the longest drifted first", r.most, r.gone, most)
			}
			if n := r.drift(t); n != 0 || len(w.snapshot.Nodes) != nodes {
				t.Errorf("in the end %d nodes, %d of them drifted", len(w.snapshot.Nodes), n)
			}
		})
	}
}
