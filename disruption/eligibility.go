package disruption

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Annotations of the first generations that are honoured for as long as somebody bears them.
const (
	// doNotEvictAnnotation "true" on a pod is do-not-disrupt.
	doNotEvictAnnotation = "karpenter.sh/do-not-evict"
	// doNotConsolidateAnnotation "true" on a node keeps it from consolidation.
	doNotConsolidateAnnotation = "karpenter.sh/do-not-consolidate"
)

// look makes the candidate of a node, or says what keeps it from being one: the first that applies.
func (f *picture) look(m *cluster.Machine, n *scheduling.Node) (*Candidate, *Block) {
	if why := f.notEligible(m); why != nil {
		return nil, why
	}
	p := f.pools[m.Pool]
	podBlock := f.podBlock(m)
	if podBlock != nil && m.Claim.Spec.TerminationGracePeriod == nil {
		return nil, podBlock // with a grace period drift may take it all the same
	}
	c := &Candidate{
		Name: m.Name, Machine: m, Node: n, Pool: p.NodePool, PodBlock: podBlock,
		InstanceType: p.types[label(m, corev1.LabelInstanceTypeStable)],
		Zone:         label(m, corev1.LabelTopologyZone), CapacityType: label(m, v1.CapacityTypeLabelKey),
		QuietSince: quietSince(m, f.now),
	}
	if price, ok := f.in.Model.NodePrice(m.Name); ok {
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
	if since, ok := trueSince(m.Claim, v1.ConditionDrifted); ok {
		c.Drifted = since
	}
	return c, nil
}

// notEligible looks at the node alone.
func (f *picture) notEligible(m *cluster.Machine) *Block {
	if id, executing := f.in.Executing[m.Name]; executing {
		return &Block{Code: BlockInFlight, Command: id}
	}
	switch {
	case m.Claim == nil:
		return &Block{Code: BlockUnmanaged}
	case m.Node == nil:
		return &Block{Code: BlockNoNode}
	case m.Phase != cluster.PhaseInitialized:
		return &Block{Code: BlockNotInitialized}
	case m.Leaving || m.Marked:
		return &Block{Code: BlockLeaving}
	case m.Nominated(f.now):
		return &Block{Code: BlockNominated, Until: m.NominatedUntil}
	case m.Node.Annotations[v1.DoNotDisruptAnnotationKey] == "true":
		return &Block{Code: BlockAnnotation, Key: v1.DoNotDisruptAnnotationKey}
	case m.Pool.IsZero():
		return &Block{Code: BlockNoPool}
	}
	p := f.pools[m.Pool]
	switch {
	case p == nil:
		return &Block{Code: BlockPoolUnknown, Pool: m.Pool}
	case len(p.types) == 0:
		return &Block{Code: BlockNoInstanceTypes, Pool: m.Pool}
	}
	return nil
}

// podBlock is the first pod, by namespace and name, that must not be disrupted, else the first that budgets hold. Each
// pod is asked about alone: how many of one budget would have to move is for planners that see several nodes.
func (f *picture) podBlock(m *cluster.Machine) *Block {
	for _, pod := range m.Pods {
		if !pods.Disruptable(pod, f.now) {
			return &Block{Code: BlockPod, Pod: keyOf(pod), Until: pods.ProtectionOf(pod, f.now).Until}
		}
		if pods.Active(pod) && pod.Annotations[doNotEvictAnnotation] == "true" {
			return &Block{Code: BlockPod, Pod: keyOf(pod)}
		}
	}
	for _, pod := range m.Pods {
		if why := f.pdbs.BlocksFrom(v1.MarkerOf(m.Pool), pod, f.now); why != nil {
			return &Block{Code: BlockPodDisruptionBudget, Pod: keyOf(pod), Budgets: why.Budgets}
		}
	}
	return nil
}

// moves reports whether a plan has to find a pod on a node of the pool a place when that goes: nothing keeps it where it is.
func (f *picture) moves(pool v1.PoolKey) func(*corev1.Pod) bool {
	marker := v1.MarkerOf(pool)
	return func(pod *corev1.Pod) bool { return pods.ReschedulableNowFrom(marker, pod, f.pdbs, f.now) }
}

// accepts says what keeps the candidate from the method, budgets and places for its pods aside; nil for nothing.
func (f *picture) accepts(c *Candidate, m Method) *Block {
	if c.PodBlock != nil && m.Class() == ClassGraceful {
		return c.PodBlock
	}
	if c.Machine == nil || c.Machine.Claim == nil {
		return &Block{Code: BlockUnmanaged}
	}
	if why := f.in.Refusals.Blocks(c.Machine.Claim.UID, m.Reason(), f.now); why != nil {
		return why
	}
	if why := f.in.Refusals.BlocksPool(c.Pool.Key, f.now); why != nil {
		return why
	}
	switch m {
	case MethodEmptiness:
		return f.acceptsEmptiness(c)
	case MethodStaticDrift, MethodDrift:
		return f.acceptsDrift(c, m)
	}
	return f.acceptsConsolidation(c)
}

// acceptsEmptiness is why emptiness passes the candidate over, or nil. The consolidation policy does not matter.
func (f *picture) acceptsEmptiness(c *Candidate) *Block {
	switch {
	case c.Pool.Object.IsStatic():
		return &Block{Code: BlockStatic}
	case c.Pool.Object.Spec.Disruption.ConsolidateAfter.IsNever():
		return &Block{Code: BlockNever}
	case f.in.Buffered[c.Name]:
		return &Block{Code: BlockBuffer}
	case !c.Empty():
		return f.plain(BlockNotEmpty)
	}
	return f.waits(c)
}

// plain is a block that says no more than its code: nearly every node has some of these, so the fleet has one of each.
func (f *picture) plain(code BlockCode) *Block {
	if b := f.plainBlocks[code]; b != nil {
		return b
	}
	return &Block{Code: code}
}

// acceptsDrift is why a drift method passes the candidate over, or nil. Consolidation policy and consolidateAfter do not
// matter.
func (f *picture) acceptsDrift(c *Candidate, m Method) *Block {
	static := c.Pool.Object.IsStatic()
	switch {
	case static && m == MethodDrift:
		return &Block{Code: BlockStatic}
	case !static && m == MethodStaticDrift:
		return f.plain(BlockNotStatic)
	case c.Drifted.IsZero():
		return f.plain(BlockNotDrifted)
	}
	return nil
}

// acceptsConsolidation is why consolidation passes the candidate over, or nil. Empty nodes are left to emptiness, so that
// they go under its reason.
func (f *picture) acceptsConsolidation(c *Candidate) *Block {
	disruption := &c.Pool.Object.Spec.Disruption
	switch {
	case c.Pool.Object.IsStatic():
		return &Block{Code: BlockStatic}
	case c.InstanceType == nil:
		return &Block{Code: BlockInstanceTypeUnknown, Key: label(c.Machine, corev1.LabelInstanceTypeStable)}
	case c.CapacityType == "":
		return &Block{Code: BlockNoLabel, Key: v1.CapacityTypeLabelKey}
	case c.Zone == "":
		return &Block{Code: BlockNoLabel, Key: corev1.LabelTopologyZone}
	case disruption.ConsolidateAfter.IsNever():
		return &Block{Code: BlockNever}
	case c.Machine.Node.Annotations[doNotConsolidateAnnotation] == "true":
		return &Block{Code: BlockAnnotation, Key: doNotConsolidateAnnotation}
	case c.Empty():
		return &Block{Code: BlockEmpty}
	case disruption.ConsolidationPolicy == v1.ConsolidationPolicyWhenEmpty:
		return &Block{Code: BlockPolicy}
	}
	return f.waits(c)
}

// waits is the block of a candidate whose consolidateAfter has not passed, or has not begun since the claim does not say that
// the node is initialised.
func (f *picture) waits(c *Candidate) *Block {
	if c.QuietSince.IsZero() {
		return &Block{Code: BlockNotInitialized}
	}
	if quiet := QuietOf(c.Pool.Object, c.QuietSince, f.now); !quiet.Reached {
		return &Block{Code: BlockQuiet, Until: quiet.Until}
	}
	return nil
}

// Eligible are the candidates that a method accepts, and what keeps the others from it, by name.
func (f *picture) Eligible(m Method) (accepted []*Candidate, refused map[string]*Block) {
	refused = map[string]*Block{}
	for _, c := range f.Candidates {
		if c == nil {
			continue
		}
		if why := f.accepts(c, m); why != nil {
			refused[c.Name] = why
			continue
		}
		accepted = append(accepted, c)
	}
	return accepted, refused
}

// byMethod is what keeps a node from each method, in the order of Methods; nil is nothing.
type byMethod [5]*Block

// Places of methods in it.
const (
	drifting      = 2
	consolidating = 4
)

// refuses says what keeps the candidate from each method. What consolidates is one to it, however many nodes go at once.
func (f *picture) refuses(c *Candidate) (out byMethod) {
	for i, m := range Methods() {
		if m == MethodMultiNode {
			continue
		}
		out[i] = f.accepts(c, m)
	}
	out[consolidating-1] = out[consolidating]
	return out
}

// closedNodes are the nodes that take no pods of others: those that may never come up, and those whose own waiting time is
// running. coming are the former, but for those that are on their way out again: places that nobody may rely on yet, and for
// whose pods nothing else is launched.
func (f *picture) closedNodes() (closed, coming []string) {
	for i := range f.in.View.Machines {
		m := &f.in.View.Machines[i]
		unready := m.Claim != nil && m.Phase != cluster.PhaseInitialized
		if p := f.pools[m.Pool]; unready || (p != nil && closedTo(m, p.Object, f.now)) {
			closed = append(closed, m.Name)
		}
		if unready && !m.Leaving && !m.Marked {
			coming = append(coming, m.Name)
		}
	}
	return closed, coming
}
