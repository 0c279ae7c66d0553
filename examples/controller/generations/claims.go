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

// StateAnnotation holds, on a Machine, what this controller knows of it and a Machine has no field for, as JSON.
const StateAnnotation = "drawknife.dev/machine-state"

// claimState has the parts of a NodeClaim for which a Machine has no field.
type claimState struct {
	// ExpireAfter is for how long its node may live, where that is not what its Provisioner says.
	ExpireAfter *v1.NillableDuration `json:"expireAfter,omitempty"`
	// TerminationGracePeriod is for how long its node may drain.
	TerminationGracePeriod *v1.Duration `json:"terminationGracePeriod,omitempty"`
	// MinValues of requirements, by their place.
	MinValues map[int]int `json:"minValues,omitempty"`
	// LastPodEventTime is when a pod of its node last came or went.
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
	// ImageID of its machine.
	ImageID string `json:"imageID,omitempty"`
}

// claim is a Machine as a claim. p is its Provisioner, nil if there is none.
func (t *translator) claim(m *v1alpha5.Machine, p *v1alpha5.Provisioner) *v1.NodeClaim {
	options := t.options
	options.Force = true // one that can't be converted is nobody's, but it is there
	result := t.read(m, machineKind, options)
	claim, _ := result.Objects[0].Object.(*v1.NodeClaim)
	v1.SetGenerationOf(claim, v1.GenerationV1Alpha5)
	if ref := &claim.Spec.NodeClassRef; ref.Name != "" && ours(*ref) {
		ref.Name = classOfMachine(m).String()
	} else if ref.Name == "" {
		*ref = v1.NodeClassReference{}
	}
	delete(claim.Annotations, v1beta1.KubeletAnnotationKey) // the node class has the block
	claim.Spec.ExpireAfter = expireAfter(p)
	claim.Status.Conditions = observed(claim.Status.Conditions, m.Generation)
	var state claimState
	// One that can't be read is as good as none: what it held is found out again or was never there.
	if err := json.Unmarshal([]byte(claim.Annotations[StateAnnotation]), &state); err == nil {
		state.give(claim)
	}
	delete(claim.Annotations, StateAnnotation)
	return claim
}

// give puts the state where a claim has it.
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

// stateOf is what of a claim a Machine has no field for; empty for nothing.
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

// expireAfter is how long nodes of a Provisioner may live: Machines don't have the setting, so the current one of their Provisioner
// counts.
func expireAfter(p *v1alpha5.Provisioner) v1.NillableDuration {
	if p == nil || p.Spec.TTLSecondsUntilExpired == nil {
		return v1.Never()
	}
	seconds := min(*p.Spec.TTLSecondsUntilExpired, int64(math.MaxInt64/time.Second))
	return v1.NewNillableDuration(time.Duration(seconds) * time.Second)
}

// machine is the claim as a Machine: the one that is stored or, if that is nil, a new one of the Provisioner p.
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
	options.Force = true // what it says was decided by those who know
	if stored != nil {
		out, _ := v1alpha5.MachineFromV1(in, stored.Provenance(), options)
		return out
	}
	out, _ := v1alpha5.MachineFromV1(in, (&v1alpha5.Machine{}).Provenance(), options)
	// A new one says, as those of earlier releases do, how its kubelet and its instance are set up.
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
