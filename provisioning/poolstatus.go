package provisioning

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// Reasons of a pool's conditions.
const (
	// PoolReasonInvalid: ValidationSucceeded is False because the pool is invalid; the message has the path of the field.
	PoolReasonInvalid = "NodePoolValidationFailed"
	// PoolReasonClassUnsupported: the provider does not launch instances from node classes of that kind.
	PoolReasonClassUnsupported = "NodeClassNotSupported"
	// PoolReasonClassUnknown: the provider does not know yet.
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
	// Class is the current readiness of the pool's node class, from the provider. Nil: it is unknown, and the pool's condition
	// stays (CP-CLASS-04).
	Class *cloudprovider.NodeClassReadiness
	// Usage is the total capacity of the pool's nodes, and Nodes their number. Nil: it is unknown, and the status stays.
	Usage corev1.ResourceList
	Nodes int
	// Health shows whether the pool's launches registered nodes. Nil shows nothing.
	Health *RegistrationHealth
	// Launches shows why the pool's last launch failed. Nil shows nothing.
	Launches *LaunchHealth
}

// PoolStatus returns the pool with the hash of its template and with its status as it should be at the time now: usage, whether it is
// valid, whether its node class is ready, and whether its launches end in nodes. It is nil if nothing changes.
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

// stated returns the pool with an empty list of requirements instead of nil. The CRD requires the field, so that authors of
// manifests state explicitly that any instance is allowed. In Go, a pool without requirements allows any instance.
func stated(pool *v1.NodePool) *v1.NodePool {
	if pool.Spec.Template.Spec.Requirements != nil {
		return pool
	}
	judged := *pool
	judged.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	return &judged
}

// classReady copies the readiness of the node class.
func (s PoolState) classReady(pool *v1.NodePool, now time.Time) {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if !s.Capabilities.SupportsNodeClass(ref) {
		pool.Conditions().SetFalse(v1.ConditionNodeClassReady, PoolReasonClassUnsupported,
			fmt.Sprintf("spec.template.spec.nodeClassRef: kind %s of group %q is none that the provider launches instances from: name one of %v",
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

// shownUsage returns the usage with the entries that operators look for shown as 0 where there is nothing.
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

// longestCondition is the maximum length of a condition's message: a list of all errors of a large pool could make the object too
// large to store.
const longestCondition = 1000

func shortened(message string) string {
	if len(message) <= longestCondition {
		return message
	}
	return strings.ToValidUTF8(message[:longestCondition], "") + "…"
}
