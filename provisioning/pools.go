package provisioning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// PoolSet has the NodePools of a pass and their instance types, for a Snapshot.
type PoolSet struct {
	// NodePools are all pools that own or may launch nodes, by key. Pools that must not launch now have a reason (NotReady).
	NodePools []scheduling.NodePool
	// Catalogs are the lists of instance types to which NodePools refer. Pools with the same types share a list.
	Catalogs map[string][]*cloudprovider.InstanceType
	// Events report pools without any instance type.
	Events []Event
}

// ResolvePools asks the provider for the instance types of every pool that may launch nodes now. The node class of such a pool has a kind
// that the provider supports, the pool is ready by the conditions that PoolStatus writes, and it is not being deleted. Static pools and
// pools that may not launch are included as owners of their nodes, with their instance types if the provider returns them. A pool whose
// types can't be read launches nothing, and its NotReady is the reason; other pools are not affected. ResolvePools fails only if ctx has
// ended. estimate may be nil; it closes offerings that are probably out of stock. The key of each pool contains the API version in which it
// was created (v1.GenerationOf).
func ResolvePools(ctx context.Context, provider cloudprovider.CloudProvider, pools []*v1.NodePool, estimate *StockEstimate, now time.Time) (*PoolSet, error) {
	switch {
	case provider == nil:
		return nil, option.Missing("ResolvePools", "the provider")
	case slices.Contains(pools, nil):
		return nil, option.Missing("ResolvePools", fmt.Sprintf("pools[%d]", slices.Index(pools, nil)))
	}
	set := &PoolSet{Catalogs: map[string][]*cloudprovider.InstanceType{}}
	capabilities := provider.Describe()
	sorted := slices.SortedFunc(slices.Values(pools), func(a, b *v1.NodePool) int {
		return a.Key().Compare(b.Key())
	})
	for _, pool := range sorted {
		entry := scheduling.NodePool{Key: pool.Key(), Object: pool, NotReady: notReady(pool, capabilities)}
		if capabilities.SupportsNodeClass(pool.Spec.Template.Spec.NodeClassRef) {
			types, err := provider.InstanceTypes(ctx, pool)
			if ctx.Err() != nil {
				return nil, fmt.Errorf("instance types of nodepool %s: %w", v1.QualifiedName(pool), errors.Join(ctx.Err(), err))
			}
			set.add(&entry, types, err, estimate, now)
		}
		set.NodePools = append(set.NodePools, entry)
	}
	return set, nil
}

// notReady returns why the pool must not launch nodes, or "" if it may.
func notReady(pool *v1.NodePool, capabilities cloudprovider.Capabilities) string {
	ref := pool.Spec.Template.Spec.NodeClassRef
	switch {
	case pool.DeletionTimestamp != nil:
		return "it is being deleted"
	case !capabilities.SupportsNodeClass(ref):
		return fmt.Sprintf("its node class is of kind %s in group %q, which the provider does not serve", ref.Kind, ref.Group)
	}
	conditions := pool.Conditions()
	if conditions.IsTrue(v1.ConditionReady) {
		return ""
	}
	for _, kind := range []string{v1.ConditionValidationSucceeded, v1.ConditionNodeClassReady} {
		if conditions.IsTrue(kind) {
			continue
		}
		switch c := conditions.Get(kind); {
		case c.Message != "":
			return c.Message
		case !conditions.Has(kind):
			return "its status has no condition " + kind + " yet: provisioning.PoolStatus computes it, and it has to be written before pools are resolved"
		}
		return "its condition " + kind + " is not True"
	}
	return "its condition Ready is not True"
}

// add sets entry.Catalog, or entry.NotReady if the pool can't launch nodes.
func (s *PoolSet) add(entry *scheduling.NodePool, types []*cloudprovider.InstanceType, err error, stock *StockEstimate, now time.Time) {
	owner := entry.NotReady != "" || entry.Object.Spec.Replicas != nil
	switch {
	case owner && (err != nil || len(types) == 0):
		return // this error does not matter, because plans never launch nodes of this pool
	case cloudprovider.IsUnevaluatedNodePool(err):
		entry.NotReady = "its instance types have yet to be evaluated"
	case err != nil:
		entry.NotReady = fmt.Sprintf("its instance types could not be read: %v", err)
	case len(types) == 0:
		entry.NotReady = "it has no instance types"
	}
	if entry.NotReady != "" && !owner {
		s.Events = append(s.Events, Event{
			Kind: "NodePool", Name: entry.Object.Name, UID: entry.Object.UID, Warning: true, Reason: EventNoCompatibleInstanceTypes,
			Message: entry.NotReady, Every: every(noCompatibleEvery),
		})
		return
	}
	if stock != nil {
		types = stock.Apply(types, now)
	}
	for name, known := range s.Catalogs {
		if slices.Equal(known, types) {
			entry.Catalog = name
			return
		}
	}
	// A catalog has the name of the first pool that uses it.
	entry.Catalog = entry.Key.String()
	s.Catalogs[entry.Catalog] = types
}

// Reasons of a pool's conditions.
const (
	// PoolReasonInvalid: ValidationSucceeded is False because the pool is invalid; the message has the path of the field.
	PoolReasonInvalid = "NodePoolValidationFailed"
	// PoolReasonClassUnsupported: the provider does not launch instances from node classes of the pool's kind.
	PoolReasonClassUnsupported = "NodeClassNotSupported"
	// PoolReasonClassUnknown: the provider does not know yet whether the pool's node class is ready.
	PoolReasonClassUnknown = "NodeClassReadinessUnknown"
)

// PoolState is the observed state of a NodePool. It is not changed.
type PoolState struct {
	// Pool as stored.
	Pool *v1.NodePool
	// Capabilities of the provider.
	Capabilities cloudprovider.Capabilities
	// Lookup is the provider's vocabulary, compiled. Nil means the core vocabulary.
	Lookup *requirements.Lookup
	// Class is the current readiness of the pool's node class, from the provider. nil means that it is unknown; then the pool's condition
	// stays unchanged (CP-CLASS-04).
	Class *cloudprovider.NodeClassReadiness
	// Usage is the total capacity of the pool's nodes, and Nodes their number. Nil means that it is unknown; then the status stays
	// unchanged.
	Usage corev1.ResourceList
	Nodes int
	// Health shows whether the pool's launches registered nodes. With nil, the condition stays unchanged.
	Health *RegistrationHealth
	// Launches shows why the pool's last launch failed. With nil, the condition stays unchanged.
	Launches *LaunchHealth
}

// PoolStatus returns the pool with the hash of its template and with its current status: usage, whether the pool is valid, whether its node
// class is ready, and whether its launches lead to nodes. It returns nil if nothing changes.
func PoolStatus(s PoolState, now time.Time) *v1.NodePool {
	if s.Pool == nil {
		return nil
	}
	pool := s.Pool.DeepCopy()
	pool.Annotations = merged(pool.Annotations, map[string]string{
		v1.NodePoolHashAnnotationKey: pool.Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion,
	})
	s.validate(pool, now)
	s.classReady(pool, now)
	if s.Usage != nil {
		pool.Status.Resources = shownUsage(s.Usage, s.Nodes)
		nodes := int64(s.Nodes)
		pool.Status.Nodes = &nodes
	}
	if s.Health != nil {
		s.Health.Update(pool, now)
	}
	if s.Launches != nil {
		s.Launches.Update(pool, now)
	}
	if apiequality.Semantic.DeepEqual(s.Pool.Annotations, pool.Annotations) && apiequality.Semantic.DeepEqual(s.Pool.Status, pool.Status) {
		return nil
	}
	return pool
}

func (s PoolState) validate(pool *v1.NodePool, now time.Time) {
	lookup := s.Lookup
	if lookup == nil {
		lookup = requirements.CoreVocabulary().Compile()
	}
	problems := append(stated(pool).Validate(), requirements.ValidateNodePool(pool, lookup)...)
	if err := problems.ToAggregate(); err != nil {
		pool.Conditions().SetFalse(v1.ConditionValidationSucceeded, PoolReasonInvalid, shortened(err.Error()), now)
		return
	}
	pool.Conditions().SetTrue(v1.ConditionValidationSucceeded, now)
}

// stated returns the pool, with an empty list of requirements in place of a nil list. The CRD requires the field, so that authors of
// manifests say explicitly that any instance is allowed. But in Go, a pool without requirements allows any instance.
func stated(pool *v1.NodePool) *v1.NodePool {
	if pool.Spec.Template.Spec.Requirements != nil {
		return pool
	}
	judged := *pool
	judged.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	return &judged
}

// classReady copies the readiness of the node class to the pool's condition NodeClassReady. The condition is False if the provider does not
// support the kind of the node class.
func (s PoolState) classReady(pool *v1.NodePool, now time.Time) {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if !s.Capabilities.SupportsNodeClass(ref) {
		pool.Conditions().SetFalse(v1.ConditionNodeClassReady, PoolReasonClassUnsupported,
			fmt.Sprintf("spec.template.spec.nodeClassRef: the provider launches no instances from kind %s of group %q: use one of %v",
				ref.Kind, ref.Group, s.Capabilities.NodeClasses), now)
		return
	}
	if s.Class == nil {
		return
	}
	if s.Class.ObservedGeneration > 0 {
		pool.Status.NodeClassObservedGeneration = s.Class.ObservedGeneration
	}
	reason := s.Class.Reason
	switch s.Class.Status {
	case metav1.ConditionTrue:
		pool.Conditions().SetTrue(v1.ConditionNodeClassReady, now)
	case metav1.ConditionFalse:
		if reason == "" {
			reason = "NodeClassNotReady"
		}
		pool.Conditions().SetFalse(v1.ConditionNodeClassReady, reason, shortened(s.Class.Message), now)
	default:
		pool.Conditions().SetUnknown(v1.ConditionNodeClassReady, PoolReasonClassUnknown, shortened(s.Class.Message), now)
	}
}

// shownUsage returns a copy of the pool's usage. It adds 0 for each resource that operators expect to see and that is missing.
func shownUsage(usage corev1.ResourceList, nodes int) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage} {
		out[name] = resource.Quantity{Format: resource.DecimalSI}
	}
	for name, q := range usage {
		out[name] = q.DeepCopy()
	}
	out[limits.ResourceNodes] = *resource.NewQuantity(int64(nodes), resource.DecimalSI)
	return out
}

// longestCondition is the maximum length of a condition's message. Without this limit, a list of all errors of a large pool could make the
// object too large to store.
const longestCondition = 1000

func shortened(message string) string {
	if len(message) <= longestCondition {
		return message
	}
	return strings.ToValidUTF8(message[:longestCondition], "") + "…"
}
