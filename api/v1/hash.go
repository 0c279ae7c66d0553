package v1

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/drifthash"
)

// NodePoolHashVersion is the version of Hash: what NodePoolHashVersionAnnotationKey holds.
const NodePoolHashVersion = "v3"

// Hash is the drift hash: a NodeClaim that bears another one of the same version was made from a template that has
// changed since, and drifts. It covers the template but for its requirements; the order of taints and zero values don't
// matter, nor does how a duration is written or whether the default of expireAfter is. It is a decimal number and the
// same in every process, and it agrees with version v3 of Karpenter's, so that taking over its nodes replaces none.
func (p *NodePool) Hash() string {
	// The names of these types and fields are hashed too, and the order of the fields counts: they are the contract of
	// version v3 and change with it alone.
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
	// An empty map is the same as none, which it would turn into when the object is written and read again.
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
