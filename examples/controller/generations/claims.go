package generations

import (
	"encoding/json"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// StateAnnotation is an annotation of Machines: JSON with the values of a NodeClaim for which a Machine has no field.
const StateAnnotation = "drawknife.dev/machine-state"

// claimState contains the values of a NodeClaim for which a Machine has no field.
type claimState struct {
	// ExpireAfter is the maximum age of the claim's node, if it differs from that of the Provisioner.
	ExpireAfter *v1.NillableDuration `json:"expireAfter,omitempty"`
	// TerminationGracePeriod is how long the claim's node may drain.
	TerminationGracePeriod *v1.Duration `json:"terminationGracePeriod,omitempty"`
	// MinValues contains the minValues of requirements, by the requirement's index.
	MinValues map[int]int `json:"minValues,omitempty"`
	// LastPodEventTime is when a pod was last bound to the claim's node or removed from it.
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
	// ImageID is the image of the claim's instance.
	ImageID string `json:"imageID,omitempty"`
}

// claim converts a Machine to a NodeClaim. p is its Provisioner, or nil if it does not exist.
func (t *translator) claim(m *v1alpha5.Machine, p *v1alpha5.Provisioner) *v1.NodeClaim {
	options := t.options
	options.Force = true // a Machine that can't be converted is not managed, but it exists
	result := t.read(m, machineKind, options)
	claim, _ := result.Objects[0].Object.(*v1.NodeClaim)
	v1.SetGenerationOf(claim, v1.GenerationV1Alpha5)
	if ref := &claim.Spec.NodeClassRef; ref.Name != "" && ours(*ref) {
		ref.Name = classOfMachine(m).String()
	} else if ref.Name == "" {
		*ref = v1.NodeClassReference{}
	}
	delete(claim.Annotations, v1beta1.KubeletAnnotationKey) // in v1 the node class has the kubelet block
	claim.Spec.ExpireAfter = expireAfter(p)
	claim.Status.Conditions = observed(claim.Status.Conditions, m.Generation)
	var state claimState
	// An unreadable annotation counts as missing: its values are then computed again, or have their defaults.
	if err := json.Unmarshal([]byte(claim.Annotations[StateAnnotation]), &state); err == nil {
		state.give(claim)
	}
	delete(claim.Annotations, StateAnnotation)
	return claim
}

// give copies the values of the state to the claim's fields.
func (s *claimState) give(claim *v1.NodeClaim) {
	if s.ExpireAfter != nil {
		claim.Spec.ExpireAfter = *s.ExpireAfter
	}
	claim.Spec.TerminationGracePeriod = s.TerminationGracePeriod
	for i, n := range s.MinValues {
		if i >= 0 && i < len(claim.Spec.Requirements) {
			claim.Spec.Requirements[i].MinValues = &n
		}
	}
	claim.Status.LastPodEventTime, claim.Status.ImageID = s.LastPodEventTime, s.ImageID
}

// stateOf returns the values of a claim for which a Machine has no field, as JSON, or "" if there are none.
func stateOf(claim *v1.NodeClaim, p *v1alpha5.Provisioner) string {
	state := claimState{
		TerminationGracePeriod: claim.Spec.TerminationGracePeriod, LastPodEventTime: claim.Status.LastPodEventTime, ImageID: claim.Status.ImageID,
	}
	if own := claim.Spec.ExpireAfter; own.String() != expireAfter(p).String() {
		state.ExpireAfter = &own
	}
	for i, r := range claim.Spec.Requirements {
		if r.MinValues != nil {
			if state.MinValues == nil {
				state.MinValues = map[int]int{}
			}
			state.MinValues[i] = *r.MinValues
		}
	}
	text, err := json.Marshal(state)
	if err != nil || string(text) == "{}" {
		return ""
	}
	return string(text)
}

// expireAfter returns the maximum age of a Provisioner's nodes. Machines don't have this field, so the current value of their Provisioner
// applies.
func expireAfter(p *v1alpha5.Provisioner) v1.NillableDuration {
	if p == nil || p.Spec.TTLSecondsUntilExpired == nil {
		return v1.Never()
	}
	seconds := min(*p.Spec.TTLSecondsUntilExpired, int64(math.MaxInt64/time.Second))
	return v1.NewNillableDuration(time.Duration(seconds) * time.Second)
}

// machine converts the claim to a Machine. The result is a changed copy of stored or, if stored is nil, a new Machine of the Provisioner p.
func (t *translator) machine(claim *v1.NodeClaim, stored *v1alpha5.Machine, p *v1alpha5.Provisioner) *v1alpha5.Machine {
	in := claim.DeepCopy()
	v1.SetGenerationOf(in, v1.GenerationV1)
	plainReference(&in.Spec.NodeClassRef)
	if state := stateOf(claim, p); state != "" {
		if in.Annotations == nil {
			in.Annotations = map[string]string{}
		}
		in.Annotations[StateAnnotation] = state
	}
	options := t.options.ProvisionerOptions()
	options.Force = true // the conversion must not fail: the spec was fixed when the claim was created
	if stored != nil {
		out, _ := v1alpha5.MachineFromV1(in, stored.Provenance(), options)
		return out
	}
	out, _ := v1alpha5.MachineFromV1(in, (&v1alpha5.Machine{}).Provenance(), options)
	// As in Karpenter, a new Machine has the kubelet configuration and the template reference of its Provisioner.
	out.Spec.Kubelet = t.kubeletOf(p)
	if p.Spec.ProviderRef != nil {
		ref := *p.Spec.ProviderRef
		if ref.Kind == "" {
			ref.APIVersion, ref.Kind = templateKind.GroupVersion().String(), templateKind.Kind
		}
		out.Spec.MachineTemplateRef = &ref
		return out
	}
	out.Spec.MachineTemplateRef = nil
	if p.Spec.Provider != nil {
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[v1alpha5.ProviderAnnotationKey] = string(p.Spec.Provider.Raw)
	}
	return out
}
