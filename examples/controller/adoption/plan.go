package adoption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// Verdict is what happens to an object or an instance when the cluster is taken over.
type Verdict string

const (
	// TakenOver: the object stays unchanged, and the controller manages it from then on.
	TakenOver Verdict = "taken over"
	// Leaving: the object is already being deleted, and its deletion is completed.
	Leaving Verdict = "leaving"
	// Replaced: the object's node would be replaced or removed, within its pool's budgets, for a reason that existed before.
	Replaced Verdict = "would be replaced"
	// Ended: the instance or object would be terminated at once, because nothing in the cluster needs it.
	Ended Verdict = "would be ended"
	// Refused: the controller does not manage the object, or the API server would refuse to write it again.
	Refused Verdict = "refused"
	// Pruned: the object loses fields.
	Pruned Verdict = "would lose fields"
)

// Finding says what happens to one object or instance.
type Finding struct {
	// Kind is NodePool, NodeClaim, Node or Instance, or, for an object of v1alpha5, Provisioner or Machine. Name is the name of the object,
	// or the provider ID of the instance.
	Kind, Name string
	// Pool and Node are the pool and the node that the object belongs to, if known. Pool is the String of the pool's key.
	Pool, Node string
	Verdict    Verdict
	// Reason says why, and what to do; empty if no explanation is needed.
	Reason string
}

// String returns the finding on one line.
func (f Finding) String() string {
	text := fmt.Sprintf("%s/%s: %s", f.Kind, f.Name, f.Verdict)
	if f.Reason != "" {
		text += ": " + f.Reason
	}
	return text
}

// Harmless reports whether no object or instance would be replaced, terminated or refused, or lose fields.
func Harmless(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Verdict != TakenOver && f.Verdict != Leaving })
}

// Plan lists what will happen to every NodePool, NodeClaim, node of a pool, and instance with the cluster's tags: NodePools first,
// each kind sorted by name. It is pure.
func Plan(o Observation, now time.Time) []Finding {
	p := planner{Observation: o, now: now, instances: map[string]bool{}, claimed: map[string]bool{}}
	for _, m := range o.Instances {
		p.instances[m.Status.ProviderID] = true
	}
	for _, c := range o.Claims {
		p.claimed[c.Status.ProviderID] = true
	}
	p.Observation = migrated(o)
	var out []Finding
	for _, pool := range byName(p.Pools) {
		out = append(out, p.pool(pool))
	}
	for _, claim := range byName(p.Claims) {
		out = append(out, p.claim(claim))
	}
	out = append(out, p.nodes()...)
	return append(out, p.orphans()...)
}

type planner struct {
	Observation
	now                time.Time
	instances, claimed map[string]bool
}

// byName sorts by name; among equal names, v1alpha5 objects come last.
func byName[T metav1.Object](list []T) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetName(), b.GetName()), cmp.Compare(a.GetNamespace(), b.GetNamespace()))
	})
}

func (p planner) pool(pool *v1.NodePool) Finding {
	f := Finding{Kind: kindOf(pool, v1.KindNodePool, v1alpha5.KindProvisioner), Name: pool.Name, Pool: pool.Key().String(), Verdict: TakenOver}
	ref := pool.Spec.Template.Spec.NodeClassRef
	checked := pool.DeepCopy()
	checked.Default()
	switch errs := checked.Validate(); {
	case pool.DeletionTimestamp != nil:
		f.Verdict = Leaving
	case !p.Supports(ref):
		f.Verdict, f.Reason = Refused, fmt.Sprintf("its node class is a %s of %s, which this provider does not look after", ref.Kind, ref.Group)
	case len(errs) > 0:
		f.Verdict, f.Reason = Refused, "nothing is launched for it until it is valid: "+errs.ToAggregate().Error()
	case pool.Annotations[v1beta1.KubeletAnnotationKey] != "":
		f.Reason = "annotation " + v1beta1.KubeletAnnotationKey + " counts for nodes launched from now on, though Karpenter 1.1 and later did not heed it: move it to spec.kubelet of its node class, or remove it"
	case pool.Spec.Template.Labels[v1alpha5.ProvisionerNameLabelKey] != "":
		f.Reason = "its nodes bear the label " + v1alpha5.ProvisionerNameLabelKey + " of the first generation"
	}
	return f
}

func (p planner) claim(claim *v1.NodeClaim) Finding {
	key := v1.PoolOf(claim.Labels)
	f := Finding{Kind: kindOf(claim, v1.KindNodeClaim, v1alpha5.KindMachine), Name: claim.Name, Pool: key.String(), Node: claim.Status.NodeName, Verdict: TakenOver}
	ref, id := claim.Spec.NodeClassRef, claim.Status.ProviderID
	pool := p.poolOf(claim)
	switch {
	case claim.DeletionTimestamp != nil:
		f.Verdict = Leaving
	case !p.Supports(ref):
		f.Verdict, f.Reason = Refused, fmt.Sprintf("its node class is a %s of %s, which this provider does not look after", ref.Kind, ref.Group)
	case id == "":
		f.Reason = "it has no instance yet and is launched; one that Karpenter launched for it in its last moments is ended"
	case p.InstancesErr == nil && !p.instances[id]:
		f.Verdict, f.Reason = Ended, "instance "+id+" is gone, or does not bear the tags of this cluster"
	case f.Pool != "" && pool == nil:
		f.Reason = kindOfPool(key) + " " + key.Name + " does not exist: it stays until it is deleted or expires"
	default:
		if reason := p.replacement(claim, pool); reason != "" {
			f.Verdict, f.Reason = Replaced, reason
		}
	}
	return f
}

// poolOf returns the pool that owns the claim, by name and generation, or nil if there is none.
func (p planner) poolOf(claim *v1.NodeClaim) *v1.NodePool {
	key := v1.PoolOf(claim.Labels)
	if i := slices.IndexFunc(p.Pools, func(pool *v1.NodePool) bool { return pool.Key() == key }); i >= 0 {
		return p.Pools[i]
	}
	return nil
}

// kindOf returns the parameter first for an object of v1alpha5, and the parameter later for other objects.
func kindOf(o metav1.Object, later, first string) string {
	if v1.GenerationOf(o) == v1.GenerationV1Alpha5 {
		return first
	}
	return later
}

func kindOfPool(key v1.PoolKey) string {
	if key.Generation == v1.GenerationV1Alpha5 {
		return v1alpha5.KindProvisioner
	}
	return v1.KindNodePool
}

// replacement returns why a claim's node would be replaced, or "" if it would not.
func (p planner) replacement(claim *v1.NodeClaim, pool *v1.NodePool) string {
	claim = claim.DeepCopy()
	if step := disruption.Expire(claim, p.now); step.Removal != nil {
		return string(step.Removal.Reason) + ": " + step.Removal.Detail
	}
	state := disruption.DriftState{Claim: claim.DeepCopy(), Pool: pool, Lookup: p.Lookup}
	if pool != nil {
		state.InstanceTypes = p.Types[pool.Key()]
	}
	if answer, asked := p.Drift[v1.QualifiedName(claim)]; asked {
		state.Provider = &disruption.ProviderDrift{Reason: answer.Reason, Err: answer.Err}
	}
	if _, err := disruption.MarkDrift(claim, state, p.now); err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
		return ""
	}
	if drifted := claim.Conditions().Get(v1.ConditionDrifted); drifted.Status == "True" {
		return "Drifted: " + drifted.Reason
	}
	return ""
}

// nodes returns findings for nodes that belong to a pool and have no claim.
func (p planner) nodes() []Finding {
	var out []Finding
	for _, node := range byName(p.Nodes) {
		pool := v1.PoolOf(node.Labels)
		if pool.IsZero() || p.claimed[node.Spec.ProviderID] {
			continue
		}
		f := Finding{Kind: "Node", Name: node.Name, Pool: pool.String(), Node: node.Name, Verdict: Refused}
		f.Reason = "no NodeClaim has its provider ID: it is left alone while it is ready; delete it to have its pods moved"
		if pool.Generation == v1.GenerationV1Alpha5 {
			f.Reason = "it is of Provisioner " + pool.Name + " of the first generation: it is left alone; roll it, see docs/migration.md"
		}
		out = append(out, f)
	}
	return out
}

// orphans returns the instances with the cluster's tags that belong to no claim.
func (p planner) orphans() []Finding {
	var out []Finding
	for _, m := range slices.SortedFunc(slices.Values(p.Instances), func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) }) {
		if p.claimed[m.Status.ProviderID] || m.DeletionTimestamp != nil || slices.ContainsFunc(p.Claims, func(c *v1.NodeClaim) bool { return c.UID == m.UID && m.UID != "" }) {
			continue
		}
		out = append(out, Finding{
			Kind: "Instance", Name: m.Status.ProviderID, Pool: v1.PoolOf(m.Labels).String(), Verdict: Ended,
			Reason: "it bears the tags of this cluster's nodes and no NodeClaim stands for it, as Karpenter would end it too: remove the tags to keep it",
		})
	}
	return out
}

// migrated returns the observation as it will be after Apply.
func migrated(o Observation) Observation {
	claims := map[string]*v1.NodeClaim{}
	for _, c := range o.Claims {
		claims[v1.QualifiedName(c)] = c
	}
	pools := make([]*v1.NodePool, 0, len(o.Pools))
	for _, pool := range o.Pools {
		step := disruption.UpdateHashes(pool, claimsOf(pool, o.Claims))
		for _, c := range step.Claims {
			claims[v1.QualifiedName(c)] = c
		}
		if step.Pool != nil {
			pool = step.Pool
		}
		pools = append(pools, pool)
	}
	o.Pools = pools
	list := make([]*v1.NodeClaim, 0, len(o.Claims))
	for _, c := range o.Claims {
		c = claims[v1.QualifiedName(c)]
		if h := provisioning.HydrateClaim(c, planner{Observation: o}.poolOf(c)); h != nil {
			c = h
		}
		list = append(list, c)
	}
	o.Claims = list
	return o
}

func claimsOf(pool *v1.NodePool, claims []*v1.NodeClaim) []*v1.NodeClaim {
	var out []*v1.NodeClaim
	for _, c := range claims {
		if v1.PoolOf(c.Labels) == pool.Key() && c.DeletionTimestamp == nil {
			out = append(out, c)
		}
	}
	return out
}
