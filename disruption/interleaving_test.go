package disruption_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// cell is a cluster in which commands of a planner are carried out a step at a time, in any order. Its pods under the
// PodDisruptionBudget "b" are ready or being replaced: those count against it until they are ready again.
type cell struct {
	*world
	rt      *rapid.T
	planner disruption.Planner
	queue   disruption.Queue
	now     time.Time
	// books are the budgets as this test counts them; begun are the nodes whose commands were begun and have not failed.
	books []rule
	begun map[string]bool
	// allowed by the PodDisruptionBudget while all its pods are ready.
	allowed int
	// unready are the evicted pods of the budget that are not ready again.
	unready int
	// claims of replacements by command, with what became of each.
	claims map[string][]disruption.ReplacementState
	// evicted are pods that wait for a place, with their names.
	evicted []*corev1.Pod
	serial  int
	// starts and failures count commands.
	starts, failures int
}

// atWork reports whether the node is being disrupted in any way that can be seen.
func (c *cell) atWork(n *scheduling.Node) bool {
	return c.begun[n.Name] || n.Leaving || n.Claim.DeletionTimestamp != nil
}

// update gives the planner the cluster as it is now; validated is the command it is asked about, which does not stand in its own
// way, nil for none.
func (c *cell) update(t *testing.T, validated *disruption.Command) *disruption.Fleet {
	c.snapshot.Time = c.now
	c.snapshot.Pods = c.evicted
	for _, b := range c.snapshot.PodDisruptionBudgets {
		b.Status.DisruptionsAllowed = int32(max(0, c.allowed-c.unready))
	}
	c.input.Executing = c.queue.Executing()
	if validated != nil {
		maps.DeleteFunc(c.input.Executing, func(_, id string) bool { return id == validated.ID })
	}
	return c.fleet(t)
}

// planMore has the planner look once more, and takes what it finds into the queue.
func (c *cell) planMore(t *testing.T) {
	plan, err := c.planner.Plan(t.Context(), c.update(t, nil))
	if err != nil {
		c.rt.Fatal(err)
	}
	for _, cmd := range plan.Commands {
		c.spares(cmd, "planned")
		e, err := c.queue.Add(cmd)
		if err != nil {
			c.rt.Fatal(err)
		}
		if !cmd.NotBefore.After(cmd.Planned) {
			c.step(t, e) // it is begun as it was planned, at once
		}
	}
}

// spares checks that no member holds pods whose budget lets none go now (DIS-045).
func (c *cell) spares(cmd *disruption.Command, what string) {
	if len(c.snapshot.PodDisruptionBudgets) == 0 || c.allowed > c.unready {
		return
	}
	for i := range c.snapshot.Nodes {
		n := &c.snapshot.Nodes[i]
		if slices.Contains(cmd.Nodes(), n.Name) && slices.ContainsFunc(n.Pods, budgeted) {
			c.rt.Errorf("%s is %s while the budget of pods on %s lets none go", cmd, what, n.Name)
		}
	}
}

func budgeted(p *corev1.Pod) bool { return p.Labels["app"] == "x" }

func (c *cell) nodeOf(name string) *scheduling.Node {
	for i := range c.snapshot.Nodes {
		if c.snapshot.Nodes[i].Name == name {
			return &c.snapshot.Nodes[i]
		}
	}
	return nil
}

// observed is what the execution is told.
func (c *cell) observed(e *disruption.Execution) disruption.Observed {
	o := disruption.Observed{Members: map[string]disruption.MemberState{}, Replacements: c.claims[e.Command().ID], Executing: len(c.queue.Executing())}
	for _, name := range e.Command().Nodes() {
		if n := c.nodeOf(name); n != nil {
			o.Members[name] = disruption.MemberState{Node: n.Object, Claim: n.Claim, Marked: n.Leaving && n.Claim.DeletionTimestamp == nil}
		}
	}
	return o
}

// step advances one execution and does what it asks for.
func (c *cell) step(t *testing.T, e *disruption.Execution) {
	o, before := c.observed(e), e.State()
	if before == disruption.StateValidating {
		f := c.update(t, e.Command())
		cmd, err := c.planner.Validate(t.Context(), f, e.Command())
		if o.Validation = (&disruption.Validation{Command: cmd, Err: err}); err == nil {
			c.spares(cmd, "started")
		} else if rejected := (*disruption.RejectedError)(nil); !errors.As(err, &rejected) {
			c.rt.Fatal(err)
		}
	}
	step := e.Next(o, c.now)
	if (before == disruption.StateDelayed || before == disruption.StateValidating) && hasBegun(e.State()) {
		c.begin(t, e.Command())
	}
	if e.State() == disruption.StateFailed {
		c.failures++
		for _, name := range e.Command().Nodes() {
			delete(c.begun, name)
		}
	}
	for _, effect := range step.Effects {
		c.do(e.Command(), effect)
	}
}

// hasBegun reports whether a command in the state was begun.
func hasBegun(s disruption.State) bool {
	return s != disruption.StateDelayed && s != disruption.StateValidating && s != disruption.StateFailed
}

// begin notes that the command's nodes are being disrupted from now on, and looks whether any budget had room for it.
func (c *cell) begin(t *testing.T, cmd *disruption.Command) {
	f := c.update(t, cmd)
	for _, name := range cmd.Nodes() {
		c.begun[name] = true
		candidate := f.Candidate(name)
		if candidate == nil {
			c.rt.Fatalf("%s is begun and %s is no candidate", cmd, name)
		}
		c.input.History = append(c.input.History, disruption.DisruptionOf(candidate, cmd.Reason, c.now))
	}
	c.starts++
	for i := range c.books {
		if !slices.ContainsFunc(cmd.Nodes(), func(name string) bool { return c.books[i].concerns(c.nodeOf(name)) }) {
			continue
		}
		if why := c.books[i].exceeded(c, cmd.Reason); why != "" {
			c.rt.Fatalf("%s is begun, and %s", cmd, why)
		}
	}
}

// force takes a node away that no budget holds: it has expired, or the provider wants it back. That counts all the same.
func (c *cell) force() {
	n := &c.snapshot.Nodes[rapid.IntRange(0, len(c.snapshot.Nodes)-1).Draw(c.rt, "which")]
	if n.Claim.DeletionTimestamp != nil {
		return
	}
	at := metav1.NewTime(c.now)
	n.Claim.DeletionTimestamp, n.Leaving = &at, true
	c.input.History = append(c.input.History, disruption.Disruption{
		Node: n.Name, Time: c.now, Reason: rapid.SampledFrom([]disruption.Reason{disruption.ReasonExpired, disruption.ReasonInterrupted}).Draw(c.rt, "forced"),
		Pool: n.Pool, Zone: n.Object.Labels[corev1.LabelTopologyZone], Labels: n.Object.Labels, Pods: len(n.Pods), Price: priceOf(n),
	})
}

func (c *cell) do(cmd *disruption.Command, effect disruption.Effect) {
	claims := c.claims[cmd.ID]
	switch x := effect.(type) {
	case disruption.WriteRecord:
		annotate(c.claimed(x.Claim), x.Record)
	case disruption.ClearRecord:
		delete(c.claimed(x.Claim).Annotations, v1.DisruptionCommandAnnotationKey)
	case disruption.TaintNode:
		n := c.nodeOf(x.Node)
		n.Object.Spec.Taints = append(n.Object.Spec.Taints, v1.DisruptedTaint())
	case disruption.UntaintNode:
		c.nodeOf(x.Node).Object.Spec.Taints = nil
	case disruption.SetReason:
		c.claimed(x.Claim).Conditions().Set(v1.ConditionDisruptionReason, metav1.ConditionTrue, string(x.Reason), "", c.now)
	case disruption.ClearReason:
		c.claimed(x.Claim).Conditions().Clear(v1.ConditionDisruptionReason, c.now)
	case disruption.LaunchReplacement:
		for len(claims) < len(cmd.Replacements) {
			claims = append(claims, disruption.ReplacementState{})
		}
		if rapid.IntRange(0, 4).Draw(c.rt, "no capacity") == 0 {
			claims[x.Index].Err = errors.New("no capacity")
		} else {
			c.serial++
			claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("claim-%d", c.serial)}}
			claims[x.Index] = disruption.ReplacementState{Claim: claim.Name, Stored: claim, Known: true}
		}
		c.claims[cmd.ID] = claims
	case disruption.MarkNode:
		c.nodeOf(x.Node).Leaving = true
	case disruption.UnmarkNode:
		c.nodeOf(x.Node).Leaving = false
	case disruption.DeleteMember:
		at := metav1.NewTime(c.now)
		n := c.nodeOf(x.Node)
		n.Claim.DeletionTimestamp, n.Leaving = &at, true
	case disruption.DeleteReplacement:
		for i := range claims {
			if claims[i].Claim == x.Claim {
				claims[i].Stored, claims[i].Known = nil, false
			}
		}
	case disruption.ValidateCommand, disruption.NominateNode, disruption.NoteDisruptions:
	default:
		c.rt.Fatalf("unexpected effect %s", effect)
	}
}

func (c *cell) claimed(name string) *v1.NodeClaim {
	for i := range c.snapshot.Nodes {
		if c.snapshot.Nodes[i].Claim.Name == name {
			return c.snapshot.Nodes[i].Claim
		}
	}
	return &v1.NodeClaim{}
}

// settle has one replacement come up, or vanish.
func (c *cell) settle(e *disruption.Execution) {
	cmd := e.Command()
	for i := range c.claims[cmd.ID] {
		r := &c.claims[cmd.ID][i]
		if r.Stored == nil {
			continue
		}
		if rapid.IntRange(0, 3).Draw(c.rt, "vanishes") == 0 {
			r.Stored, r.Known = nil, false
			return
		}
		if ready := r.Stored.Conditions(); cmd.Replacements[i].Node != nil && !ready.IsTrue(v1.ConditionInitialized) {
			ready.SetTrue(v1.ConditionInitialized, c.now)
			o := cmd.Replacements[i].Node.InstanceTypes[0]
			c.node(fmt.Sprintf("new-%s", r.Claim), o.Name, ofPool(cmd.Replacements[i].Pool.Name), bought(o.CapacityType), labelled(corev1.LabelTopologyZone, o.Zone))
			return
		}
	}
}

// drain evicts a pod of a node that is being deleted, if its budget lets it, or takes the empty node away.
func (c *cell) drain() {
	for i := range c.snapshot.Nodes {
		n := &c.snapshot.Nodes[i]
		if n.Claim.DeletionTimestamp == nil {
			continue
		}
		if len(n.Pods) == 0 {
			c.snapshot.Nodes = slices.Delete(slices.Clone(c.snapshot.Nodes), i, i+1)
			return
		}
		p := n.Pods[0]
		if limited := len(c.snapshot.PodDisruptionBudgets) > 0 && budgeted(p); limited && c.unready >= c.allowed {
			continue // the API refuses
		} else if limited {
			c.unready++
		}
		n.Pods = slices.Clone(n.Pods[1:])
		p = p.DeepCopy()
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		c.evicted = append(c.evicted, p)
		return
	}
}

// DIS-045, DIS-184, DIS-194, DIS-195, DIS-198, DIS-200, DIS-202, DIS-204, DIS-206: in whatever order commands of either planner
// are stepped, their replacements come up or fail, nodes drain, expire or are interrupted, and plans are made meanwhile,
// nothing is begun that takes a budget beyond what it allows, nor pods whose PodDisruptionBudget lets none go.
func TestInterleavings(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{
		"Global":    &disruption.Global{PayBack: new(time.Duration), MinSavingShare: new(float64), CoolDown: new(time.Duration), DrainLimit: new(time.Duration), SpotToSpot: true, SpotToSpotTypes: ptr(1)},
		"Reference": &disruption.Reference{SpotToSpot: true, SpotToSpotTypes: ptr(1)},
	} {
		t.Run(name, func(t *testing.T) {
			starts, failures, held := 0, 0, map[disruption.Unit]int{}
			seeded.Check(t, func(rt *rapid.T) {
				c := &cell{world: drawnWorld(rt), rt: rt, now: now(), claims: map[string][]disruption.ReplacementState{}, begun: map[string]bool{}, planner: planner}
				c.drawBudgets()
				if list := c.snapshot.PodDisruptionBudgets; len(list) > 0 {
					c.allowed = int(list[0].Status.DisruptionsAllowed)
				}
				for range rapid.IntRange(10, 60).Draw(rt, "actions") {
					c.act(t)
				}
				starts, failures = starts+c.starts, failures+c.failures
				for i := range c.books {
					held[c.books[i].unit] += c.books[i].full
				}
			})
			t.Logf("%d commands begun, %d failed; budgets used up, by unit: %v", starts, failures, held)
			if starts == 0 {
				t.Error("the draws are of no use: no command was begun")
			}
		})
	}
}

// act does one thing.
func (c *cell) act(t *testing.T) {
	list := c.queue.Executions()
	action := rapid.SampledFrom([]string{"plan", "step", "step", "step", "settle", "settle", "drain", "ready", "wait", "force"}).Draw(c.rt, "action")
	switch {
	case action == "force":
		if len(c.snapshot.Nodes) > 0 && rapid.IntRange(0, 2).Draw(c.rt, "really") == 0 {
			c.force()
		}
	case action == "wait":
		c.now = c.now.Add(rapid.SampledFrom([]time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second, 5 * time.Minute, 11 * time.Minute}).Draw(c.rt, "time"))
	case action == "drain":
		c.drain()
	case action == "ready":
		c.unready = max(0, c.unready-1)
	case action == "plan" || len(list) == 0:
		c.planMore(t)
	case action == "step":
		c.step(t, rapid.SampledFrom(list).Draw(c.rt, "which"))
	case action == "settle":
		c.settle(rapid.SampledFrom(list).Draw(c.rt, "which"))
	}
}
