package simulate

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// These reasons for the removal of a node are not conditions of its NodeClaim.
const (
	// poolGone means that the NodePools given by --diff lack this pool, so that its nodes are removed.
	poolGone cloudprovider.DriftReason = "NodePoolGone"
	// nodeClassDrift means that the settings of the pool's node class differ.
	nodeClassDrift cloudprovider.DriftReason = "NodeClassDrift"
)

// poolSet is a set of NodePools with the node classes they refer to, by name.
type poolSet struct {
	pools   []scheduling.NodePool
	classes nodeClasses
}

func (p *poolSet) find(key v1.PoolKey) *scheduling.NodePool {
	i := slices.IndexFunc(p.pools, func(pool scheduling.NodePool) bool { return pool.Key == key })
	if i < 0 {
		return nil
	}
	return &p.pools[i]
}

// class returns the node class of the pool's nodes, or nil if it is not known. Errors are ignored: the older fields of a pool were
// validated when its instance types were made.
func (p *poolSet) class(pool *scheduling.NodePool) *awsv1.EC2NodeClass {
	if p.classes.named(pool) == nil {
		return nil
	}
	class, err := p.classes.effective(pool)
	if err != nil {
		return nil
	}
	return class
}

// difference is the effect of another set of NodePools on a cluster.
type difference struct {
	pools []poolChange
	nodes []nodeChange
	// before and after are the costs of all nodes, including the nodes that are planned for pending pods.
	before, after nodeCost
	// unpriced are the nodes whose price is not known.
	unpriced unpriced
	// workloads are the workloads whose number of pods or whose requests differ.
	workloads []workloadChange
	// evicted is the number of pods that would be evicted because their nodes are removed.
	evicted int
	// judgement is nil without a policy.
	judgement *judgement
	// planBefore and planAfter are plans for pending pods: with the present pools, and with the other pools. In planAfter, the pods of
	// removed nodes are also pending.
	planBefore, planAfter *scheduling.Plan
	// snapshots are the snapshots of planBefore and planAfter.
	snapshots []*scheduling.Snapshot
}

// poolChange is the change of one pool.
type poolChange struct {
	key    v1.PoolKey
	change string // one of "added", "removed", "changed", "unchanged"
	// fields lists the changed fields: those of the NodePool by path ("spec.limits"), those of the node class as "EC2NodeClass NAME: path".
	fields []string
}

// nodeChange is a node that would be removed.
type nodeChange struct {
	node   string
	pool   v1.PoolKey
	reason cloudprovider.DriftReason
	price  nodePrice
}

// planDifference compares the cluster with another set of NodePools, of workloads, or of both: which nodes would drift, and what the cluster
// would cost.
func (s *simulation) planDifference(ctx context.Context, snapshot *scheduling.Snapshot) (int, error) {
	policy, err := s.policy.read()
	if err != nil {
		return 0, err
	}
	s.standIn(snapshot)
	if s.global.withoutDrift() {
		s.note("DriftOff", "ConfigMap %s/%s switches drift off: no node would be replaced for what follows until it is deleted; what it says is what drift would do",
			s.global.from.Namespace, s.global.from.Name)
	}
	old := poolSet{snapshot.NodePools, s.classes}
	next, err := s.readNext(ctx, snapshot)
	if err != nil {
		return 0, err
	}
	after := *next.snapshot
	after.NodePools = next.pools.pools
	if err := s.addCatalogs(&after, s.facts, next.pools.classes); err != nil {
		return 0, err
	}
	prices, err := s.nodePricesOf(snapshot)
	if err != nil {
		return 0, err
	}
	d := difference{pools: comparePools(old, next.pools), unpriced: unpricedOf(snapshot, prices), workloads: compareWorkloads(snapshot, &after)}
	gone, err := d.drift(snapshot, old, next.pools, &after, prices)
	if err != nil {
		return 0, err
	}
	d.evicted = evictedFrom(&after, gone)
	without := withoutNodes(&after, gone)
	first, err := s.solve(ctx, snapshot)
	if err != nil {
		return 0, err
	}
	second, err := s.solve(ctx, without)
	if err != nil {
		return 0, err
	}
	d.planBefore, d.planAfter, d.snapshots = first.plan, second.plan, []*scheduling.Snapshot{snapshot, &after}
	s.addLaunches(&d.before, first.plan)
	s.addLaunches(&d.after, second.plan)
	d.judgement = judge(policy, d.facts(first, second, &after), next.sources)
	s.progress.Stop()
	s.printRemarks()
	if err := s.printDifference(d); err != nil {
		return 0, withStatus(exitOutput, fmt.Errorf("writing the difference: %w", err))
	}
	if status := d.judgement.status(); status != exitPlaced {
		return status, nil
	}
	if len(second.plan.Unschedulable) > len(first.plan.Unschedulable) && !policy.Has("unplacedPods") {
		return exitUnschedulable, nil
	}
	return exitPlaced, nil
}

// drift adds the cost of all nodes to d.before, and the cost of the nodes that stay to d.after. If the other set of pools is used, some
// nodes are removed: drift adds these nodes to d.nodes, and returns their names.
func (d *difference) drift(snapshot *scheduling.Snapshot, old, other poolSet, after *scheduling.Snapshot, prices nodePrices) (map[string]bool, error) {
	gone := make(map[string]bool)
	lookup := snapshot.Vocabulary.Compile()
	for i := range snapshot.Nodes {
		n := &snapshot.Nodes[i]
		d.before.add(prices[n.Name])
		reason, err := driftUnder(n, old, other, after.Catalogs, lookup, snapshot)
		if err != nil {
			return nil, err
		}
		if reason == "" {
			d.after.add(prices[n.Name])
			continue
		}
		gone[n.Name] = true
		d.nodes = append(d.nodes, nodeChange{node: n.Name, pool: n.Pool, reason: reason, price: prices[n.Name]})
	}
	return gone, nil
}

// addLaunches adds the prices of the nodes that a plan launches to the cost.
func (s *simulation) addLaunches(cost *nodeCost, plan *scheduling.Plan) {
	for i := range plan.NewNodes {
		kind := kindOf(&plan.NewNodes[i])
		cost.add(nodePrice{price: kind.price, known: true, estimated: s.assumed.isEstimated(kind.instanceType, kind.capacityType)})
	}
}

// driftUnder returns the reason for which a node is removed if the other set of pools is used, or "" if it stays. A node that has already
// drifted counts as drifted in both sets.
func driftUnder(
	n *scheduling.Node, old, other poolSet, catalogs map[string][]*cloudprovider.InstanceType, lookup *requirements.Lookup, snapshot *scheduling.Snapshot,
) (cloudprovider.DriftReason, error) {
	was := old.find(n.Pool)
	if n.Pool.IsZero() || n.Claim == nil || was == nil || n.Leaving {
		return "", nil
	}
	is := other.find(n.Pool)
	if is == nil {
		return poolGone, nil
	}
	claim, pool := n.Claim.DeepCopy(), is.Object.DeepCopy()
	if claim.Annotations == nil {
		claim.Annotations = make(map[string]string)
	}
	// A claim without a current hash gets the hash of the old pool.
	if claim.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		claim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
		claim.Annotations[v1.NodePoolHashAnnotationKey] = was.Object.Hash()
	}
	pool.Annotations = map[string]string{
		v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion, v1.NodePoolHashAnnotationKey: pool.Hash(),
	}
	if n.Object != nil {
		claim.Labels = n.Object.Labels
	}
	state := disruption.DriftState{Claim: claim, Pool: pool, InstanceTypes: catalogs[is.Catalog], Lookup: lookup}
	step, err := disruption.MarkDrift(claim, state, snapshot.Time)
	if err != nil {
		return "", err
	}
	if condition := claim.Conditions().Get(v1.ConditionDrifted); condition.Status == metav1.ConditionTrue && !step.Ask {
		return cloudprovider.DriftReason(condition.Reason), nil
	}
	before, after := old.class(was), other.class(is)
	if before != nil && after != nil && before.Hash("") != after.Hash("") {
		return nodeClassDrift, nil
	}
	return "", nil
}

// comparePools returns the change of each pool, by key.
func comparePools(old, other poolSet) []poolChange {
	var out []poolChange
	for i := range other.pools {
		is := &other.pools[i]
		c := poolChange{key: is.Key, change: "unchanged"}
		if was := old.find(is.Key); was == nil {
			c.change = "added"
		} else {
			c.fields = changedFields("spec", reflect.ValueOf(was.Object.Spec), reflect.ValueOf(is.Object.Spec))
			if before, after := old.class(was), other.class(is); before != nil && after != nil {
				for _, field := range changedFields("spec", reflect.ValueOf(before.Spec), reflect.ValueOf(after.Spec)) {
					c.fields = append(c.fields, "EC2NodeClass "+after.Name+": "+field)
				}
			}
			if len(c.fields) > 0 {
				c.change = "changed"
			}
		}
		out = append(out, c)
	}
	for i := range old.pools {
		if other.find(old.pools[i].Key) == nil {
			out = append(out, poolChange{key: old.pools[i].Key, change: "removed"})
		}
	}
	slices.SortFunc(out, func(a, b poolChange) int { return a.key.Compare(b.key) })
	return out
}

// changedFields returns the paths of the fields in which two API values differ: the innermost named fields.
func changedFields(path string, a, b reflect.Value) []string {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return nil
	}
	for a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil() {
		a, b = a.Elem(), b.Elem()
	}
	if a.Kind() != reflect.Struct || !strings.HasPrefix(a.Type().PkgPath(), "github.com/drawknife/") {
		return []string{path}
	}
	var out []string
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		switch {
		case !a.Type().Field(i).IsExported():
			return []string{path} // an unexported field: the type has its own text format, such as a duration
		case name == "" || name == "-":
			out = append(out, changedFields(path, a.Field(i), b.Field(i))...)
		default:
			out = append(out, changedFields(path+"."+name, a.Field(i), b.Field(i))...)
		}
	}
	return out
}
