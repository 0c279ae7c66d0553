package v1

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/drifthash"
)

// NodePoolHashVersion is the version of Hash, and the value of NodePoolHashVersionAnnotationKey.
const NodePoolHashVersion = "v3"

// Hash is the drift hash of the template: a NodeClaim with another hash of the same version was created before the template changed, and
// has drifted. The hash covers the template without its requirements. Some changes do not affect the hash: the order of taints, zero
// values, the format of durations, and whether the default of expireAfter is written. It is a decimal number and the same in every process.
// It equals version v3 of Karpenter's hash, so no node has to be replaced when nodes are taken over from Karpenter.
func (p *NodePool) Hash() string {
	// The names of these types and fields are part of the hash, and so is the order of the fields: change them only together with
	// NodePoolHashVersion.
	type (
		ObjectMeta struct {
			Labels      map[string]string
			Annotations map[string]string
		}
		Taint struct {
			Key, Value string
			Effect     corev1.TaintEffect
		}
		NodeClassReference    struct{ Kind, Name, Group string }
		Duration              struct{ Duration time.Duration }
		NillableDuration      struct{ Duration *time.Duration }
		NodeClaimTemplateSpec struct {
			Taints                 []Taint
			StartupTaints          []Taint
			NodeClassRef           *NodeClassReference
			TerminationGracePeriod *Duration
			ExpireAfter            NillableDuration
		}
		NodeClaimTemplate struct {
			ObjectMeta ObjectMeta
			Spec       NodeClaimTemplateSpec
		}
	)
	taints := func(from []corev1.Taint) []Taint {
		var projected []Taint
		for _, t := range from {
			projected = append(projected, Taint{t.Key, t.Value, t.Effect})
		}
		return projected
	}
	from := &p.Spec.Template
	class := from.Spec.NodeClassRef
	template := NodeClaimTemplate{
		Spec: NodeClaimTemplateSpec{
			Taints:        taints(from.Spec.Taints),
			StartupTaints: taints(from.Spec.StartupTaints),
			NodeClassRef:  &NodeClassReference{class.Kind, class.Name, class.Group},
		},
	}
	// An empty map counts as nil, because it becomes nil when the object is written and read again.
	if len(from.Labels) > 0 {
		template.ObjectMeta.Labels = from.Labels
	}
	if len(from.Annotations) > 0 {
		template.ObjectMeta.Annotations = from.Annotations
	}
	if grace := from.Spec.TerminationGracePeriod; grace != nil {
		template.Spec.TerminationGracePeriod = &Duration{grace.Duration}
	}
	expireAfter := from.Spec.ExpireAfter
	defaultExpireAfter(&expireAfter)
	if span, ok := expireAfter.Duration(); ok {
		template.Spec.ExpireAfter.Duration = &span
	}
	return drifthash.Of(template)
}
