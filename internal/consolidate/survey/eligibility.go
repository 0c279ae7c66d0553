package survey

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Annotations of old API versions. These annotations are respected on any object.
const (
	// doNotEvictAnnotation with the value "true" on a pod means the same as do-not-disrupt.
	doNotEvictAnnotation = "karpenter.sh/do-not-evict"
	// doNotConsolidateAnnotation with the value "true" on a node keeps it from consolidation.
	doNotConsolidateAnnotation = "karpenter.sh/do-not-consolidate"
)

// look converts a node to a candidate. If the node can't be a candidate, look returns the first block that keeps it from being one.
func (f *Fleet) look(m *cluster.NodeState, n *planning.Node) (*decision.Candidate, *decision.Block) {
	if why := f.notEligible(m); why != nil {
		return nil, why
	}
	p := f.Pools[m.Pool]
	podBlock := f.podBlock(m)
	if podBlock != nil && m.Claim.Spec.TerminationGracePeriod == nil {
		return nil, podBlock // with a termination grace period, the node would still be a candidate for drift
	}
	c := &decision.Candidate{
		Name: m.Name, State: m, Node: n, Pool: p.NodePool, PodBlock: podBlock,
		InstanceType: p.Types[label(m, corev1.LabelInstanceTypeStable)],
		Zone:         label(m, corev1.LabelTopologyZone), CapacityType: label(m, v1.CapacityTypeLabelKey),
		QuietSince: QuietSince(m, f.Now),
	}
	if price, ok := newnodes.NodePrice(f.In.Model, m.Name); ok {
		c.Price, c.Priced = price.Price, true
	}
	for _, pod := range m.Pods {
		if pods.Reschedulable(pod) {
			c.Pods = append(c.Pods, pod)
		}
	}
	slices.SortFunc(c.Pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	c.Cost = pods.RescheduleCost(c.Pods)
	if since, ok := TrueSince(m.Claim, v1.ConditionDrifted); ok {
		c.Drifted = since
	}
	return c, nil
}

// notEligible returns the first block that keeps the node from being a candidate, or nil if there is no such block. It does not check the
// node's pods: see podBlock.
func (f *Fleet) notEligible(m *cluster.NodeState) *decision.Block {
	if id, executing := f.In.Executing[m.Name]; executing {
		return &decision.Block{Code: decision.BlockInFlight, Command: id}
	}
	switch {
	case m.Claim == nil:
		return &decision.Block{Code: decision.BlockUnmanaged}
	case m.Node == nil:
		return &decision.Block{Code: decision.BlockNoNode}
	case m.Phase != cluster.PhaseInitialized:
		return &decision.Block{Code: decision.BlockNotInitialized}
	case m.Leaving || m.Marked:
		return &decision.Block{Code: decision.BlockLeaving}
	case m.Nominated(f.Now):
		return &decision.Block{Code: decision.BlockNominated, Until: m.NominatedUntil}
	case m.Node.Annotations[v1.DoNotDisruptAnnotationKey] == "true":
		return &decision.Block{Code: decision.BlockAnnotation, Key: v1.DoNotDisruptAnnotationKey}
	case m.Pool.IsZero():
		return &decision.Block{Code: decision.BlockNoPool}
	}
	p := f.Pools[m.Pool]
	switch {
	case p == nil:
		return &decision.Block{Code: decision.BlockPoolUnknown, Pool: m.Pool}
	case len(p.Types) == 0:
		return &decision.Block{Code: decision.BlockNoInstanceTypes, Pool: m.Pool}
	}
	return nil
}

// podBlock returns the block of the first pod, by namespace and name, that must not be disrupted. If all pods may be disrupted, it returns
// the block of the first pod that a PodDisruptionBudget protects, or nil. It checks each pod as if no other pod were evicted. Planners that
// remove several nodes count how many pods of each PodDisruptionBudget they would move.
func (f *Fleet) podBlock(m *cluster.NodeState) *decision.Block {
	for _, pod := range m.Pods {
		if !pods.Disruptable(pod, f.Now) {
			return &decision.Block{Code: decision.BlockPod, Pod: KeyOf(pod), Until: pods.ProtectionOf(pod, f.Now).Until}
		}
		if pods.Active(pod) && pod.Annotations[doNotEvictAnnotation] == "true" {
			return &decision.Block{Code: decision.BlockPod, Pod: KeyOf(pod)}
		}
	}
	for _, pod := range m.Pods {
		if why := f.PDBs.BlocksFrom(v1.MarkerOf(m.Pool), pod, f.Now); why != nil {
			return &decision.Block{Code: decision.BlockPodDisruptionBudget, Pod: KeyOf(pod), Budgets: why.Budgets}
		}
	}
	return nil
}

// Moves returns a function that reports whether a pod needs another place when its node in this pool is removed.
func (f *Fleet) Moves(pool v1.PoolKey) func(*corev1.Pod) bool {
	marker := v1.MarkerOf(pool)
	return func(pod *corev1.Pod) bool { return pods.ReschedulableNowFrom(marker, pod, f.PDBs, f.Now) }
}

// Accepts returns the block that keeps the method from disrupting the candidate, or nil if the method accepts it. Accepts does not check
// budgets, and does not look for places for the candidate's pods. If nodes can only be removed together, the method must accept all these
// nodes.
func (f *Fleet) Accepts(c *decision.Candidate, m decision.Method) *decision.Block {
	if tie := f.ties[c.Name]; tie != nil {
		return f.acceptsTied(tie, c, m)
	}
	return f.acceptsAlone(c, m)
}

// acceptsAlone is like Accepts, but ignores the tie of the candidate.
func (f *Fleet) acceptsAlone(c *decision.Candidate, m decision.Method) *decision.Block {
	if c.PodBlock != nil && m.Class() == decision.ClassGraceful {
		return c.PodBlock
	}
	if c.State == nil || c.State.Claim == nil {
		return &decision.Block{Code: decision.BlockUnmanaged}
	}
	if why := f.In.Refusals.Blocks(c.State.Claim.UID, m.Reason(), f.Now); why != nil {
		return why
	}
	if why := f.In.Refusals.BlocksPool(c.Pool.Key, f.Now); why != nil {
		return why
	}
	switch m {
	case decision.MethodEmptiness:
		return f.acceptsEmptiness(c)
	case decision.MethodStaticDrift, decision.MethodDrift:
		return f.acceptsDrift(c, m)
	}
	return f.acceptsConsolidation(c)
}

// acceptsEmptiness returns the block that keeps emptiness from removing the candidate, or nil. It ignores the pool's consolidation policy.
func (f *Fleet) acceptsEmptiness(c *decision.Candidate) *decision.Block {
	switch {
	case c.Pool.Object.IsStatic():
		return &decision.Block{Code: decision.BlockStatic}
	case c.Pool.Object.Spec.Disruption.ConsolidateAfter.IsNever():
		return &decision.Block{Code: decision.BlockNever}
	case f.In.Buffered[c.Name]:
		return &decision.Block{Code: decision.BlockBuffer}
	case !c.Empty():
		return f.Plain(decision.BlockNotEmpty)
	}
	return f.waits(c)
}

// Plain returns a block that has only a code. Nearly every node has such blocks, so the fleet has one shared block for each code.
func (f *Fleet) Plain(code decision.BlockCode) *decision.Block {
	if b := f.plainBlocks[code]; b != nil {
		return b
	}
	return &decision.Block{Code: code}
}

// acceptsDrift returns the block that keeps a drift method from replacing the candidate, or nil. It ignores the pool's consolidation policy
// and consolidateAfter.
func (f *Fleet) acceptsDrift(c *decision.Candidate, m decision.Method) *decision.Block {
	static := c.Pool.Object.IsStatic()
	switch {
	case static && m == decision.MethodDrift:
		return &decision.Block{Code: decision.BlockStatic}
	case !static && m == decision.MethodStaticDrift:
		return f.Plain(decision.BlockNotStatic)
	case c.Drifted.IsZero():
		return f.Plain(decision.BlockNotDrifted)
	}
	return nil
}

// acceptsConsolidation returns the block that keeps consolidation from removing the candidate, or nil. It returns a block for empty nodes,
// so that the method emptiness removes them.
func (f *Fleet) acceptsConsolidation(c *decision.Candidate) *decision.Block {
	disruption := &c.Pool.Object.Spec.Disruption
	switch {
	case c.Pool.Object.IsStatic():
		return &decision.Block{Code: decision.BlockStatic}
	case c.InstanceType == nil:
		return &decision.Block{Code: decision.BlockInstanceTypeUnknown, Key: label(c.State, corev1.LabelInstanceTypeStable)}
	case c.CapacityType == "":
		return &decision.Block{Code: decision.BlockNoLabel, Key: v1.CapacityTypeLabelKey}
	case c.Zone == "":
		return &decision.Block{Code: decision.BlockNoLabel, Key: corev1.LabelTopologyZone}
	case disruption.ConsolidateAfter.IsNever():
		return &decision.Block{Code: decision.BlockNever}
	case c.State.Node.Annotations[doNotConsolidateAnnotation] == "true":
		return &decision.Block{Code: decision.BlockAnnotation, Key: doNotConsolidateAnnotation}
	case c.Empty():
		return &decision.Block{Code: decision.BlockEmpty}
	case disruption.ConsolidationPolicy == v1.ConsolidationPolicyWhenEmpty:
		return &decision.Block{Code: decision.BlockPolicy}
	}
	return f.waits(c)
}

// waits returns the block of a candidate whose consolidateAfter has not passed yet, or nil. If the claim is not initialized, the time of
// consolidateAfter has not started.
func (f *Fleet) waits(c *decision.Candidate) *decision.Block {
	if c.QuietSince.IsZero() {
		return &decision.Block{Code: decision.BlockNotInitialized}
	}
	if quiet := decision.QuietOf(c.Pool.Object, c.QuietSince, f.Now); !quiet.Reached {
		return &decision.Block{Code: decision.BlockQuiet, Until: quiet.Until}
	}
	return nil
}

// Eligible returns the candidates that a method accepts, and the blocks of the other candidates, by name.
func (f *Fleet) Eligible(m decision.Method) (accepted []*decision.Candidate, refused map[string]*decision.Block) {
	refused = map[string]*decision.Block{}
	for _, c := range f.Candidates {
		if c == nil {
			continue
		}
		if why := f.Accepts(c, m); why != nil {
			refused[c.Name] = why
			continue
		}
		accepted = append(accepted, c)
	}
	return accepted, refused
}

// ByMethod has the block of a node for each method, in the order of Methods. The block is nil if the method may remove the node.
type ByMethod [5]*decision.Block

// Indexes of methods in ByMethod.
const (
	Drifting      = 2
	Consolidating = 4
)

// Refuses returns the block that keeps the candidate from each method. Multi-node and single-node consolidation count as one method.
func (f *Fleet) Refuses(c *decision.Candidate) (out ByMethod) {
	for i, m := range decision.Methods() {
		if m == decision.MethodMultiNode {
			continue
		}
		out[i] = f.Accepts(c, m)
	}
	out[Consolidating-1] = out[Consolidating]
	return out
}

// ClosedNodes returns the nodes that accept no pods of removed nodes: nodes that may never become ready, and nodes whose own
// consolidateAfter has not passed. The result coming has the nodes that are not ready yet, except nodes that are being deleted. Plans must
// put no pods on these nodes, but also launch no other nodes for the pods that wait for these nodes.
func (f *Fleet) ClosedNodes() (closed, coming []string) {
	for i := range f.In.View.Nodes {
		m := &f.In.View.Nodes[i]
		unready := m.Claim != nil && m.Phase != cluster.PhaseInitialized
		if p := f.Pools[m.Pool]; unready || (p != nil && ClosedTo(m, p.Object, f.Now)) {
			closed = append(closed, m.Name)
		}
		if unready && !m.Leaving && !m.Marked {
			coming = append(coming, m.Name)
		}
	}
	return closed, coming
}
