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
	"github.com/drawknife/drawknife/scheduling"
)

// cell is a cluster in which commands of Global are carried out a step at a time, in any order. Its pods under the
// PodDisruptionBudget "b" are ready or being replaced: those count against it until they are ready again.
type cell struct {
	*world
	rt      *rapid.T
	planner *disruption.Global
	queue   disruption.Queue
	now     time.Time
	// limit of nodes of the pool "default" that may go at a time, 0 for none; allowed by the budget while all are ready.
	limit, allowed int
	// unready are the evicted pods of the budget that are not ready again.
	unready int
	// claims of replacements by command, with what became of each.
	claims map[string][]disruption.ReplacementState
	// evicted are pods that wait for a place, with their names.
	evicted []*corev1.Pod
	serial  int
}

// atWork reports whether the node is being disrupted in any way that can be seen.
func (c *cell) atWork(n *scheduling.Node) bool {
	_, busy := c.queue.Executing()[n.Name]
	return busy || n.Leaving || n.Claim.DeletionTimestamp != nil
}

// tell gives the planner the cluster as it is now; validated is the command it is asked about, which does not stand in its own
// way, nil for none.
func (c *cell) tell(t *testing.T, validated *disruption.Command) *disruption.Fleet {
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
	plan, err := c.planner.Plan(t.Context(), c.tell(t, nil))
	if err != nil {
		c.rt.Fatal(err)
	}
	for _, cmd := range plan.Commands {
		c.spares(cmd, "planned")
		if _, err := c.queue.Add(cmd); err != nil {
			c.rt.Fatal(err)
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
		f := c.tell(t, e.Command())
		cmd, err := c.planner.Validate(t.Context(), f, e.Command())
		if o.Validation = (&disruption.Validation{Command: cmd, Err: err}); err == nil {
			c.spares(cmd, "started")
		} else if rejected := (*disruption.RejectedError)(nil); !errors.As(err, &rejected) {
			c.rt.Fatal(err)
		}
	}
	for _, effect := range e.Next(o, c.now).Effects {
		c.do(e.Command(), effect)
	}
}

func (c *cell) do(cmd *disruption.Command, effect disruption.Effect) {
	claims := c.claims[cmd.ID]
	switch x := effect.(type) {
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

// check is what holds in each state: no more nodes of the pool go at a time than its budget says.
func (c *cell) check(after string) {
	if c.limit == 0 {
		return
	}
	var list []string
	for i := range c.snapshot.Nodes {
		if n := &c.snapshot.Nodes[i]; n.Pool.Name == "default" && c.atWork(n) {
			list = append(list, n.Name)
		}
	}
	if len(list) > c.limit {
		c.rt.Fatalf("after %s %d nodes are being disrupted, %v, and %d may be", after, len(list), list, c.limit)
	}
}

// DIS-045, DIS-184, DIS-194, DIS-195, DIS-200, DIS-206: in whatever order commands of Global are stepped, their
// replacements come up or fail, nodes drain, and plans are made meanwhile, no budget is exceeded, and nothing is begun that
// takes pods whose PodDisruptionBudget lets none go.
func TestGlobalInterleavings(t *testing.T) {
	begun, failed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		c := &cell{world: drawnWorld(rt), rt: rt, now: now(), claims: map[string][]disruption.ReplacementState{}}
		c.planner = &disruption.Global{PayBack: -1, MinSavingShare: -1, CoolDown: -1, DrainLimit: -1, SpotToSpot: true, SpotToSpotTypes: 1}
		if list := c.pool("default").Spec.Disruption.Budgets; len(list) > 0 {
			fmt.Sscan(list[0].Nodes, &c.limit)
		}
		if list := c.snapshot.PodDisruptionBudgets; len(list) > 0 {
			c.allowed = int(list[0].Status.DisruptionsAllowed)
		}
		for range rapid.IntRange(5, 40).Draw(rt, "actions") {
			list := c.queue.Executions()
			action := rapid.SampledFrom([]string{"plan", "step", "step", "step", "settle", "drain", "ready", "wait"}).Draw(rt, "action")
			switch {
			case action == "plan" || len(list) == 0:
				c.planMore(t)
			case action == "step":
				e := rapid.SampledFrom(list).Draw(rt, "which")
				before := e.State()
				c.step(t, e)
				if (before == disruption.StateDelayed || before == disruption.StateValidating) && e.State() != before && e.State() != disruption.StateValidating && !e.State().Final() {
					begun++
				}
				if e.State() == disruption.StateFailed {
					failed++
				}
			case action == "settle":
				c.settle(rapid.SampledFrom(list).Draw(rt, "which"))
			case action == "drain":
				c.drain()
			case action == "ready":
				c.unready = max(0, c.unready-1)
			case action == "wait":
				c.now = c.now.Add(20 * time.Second)
			}
			c.check(action)
		}
	})
	t.Logf("%d commands begun, %d failed", begun, failed)
}
