package scheduling

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
)

// Why pods that claim devices are not planned.
var (
	errNoDeviceMatcher = errors.New("its claims of devices, or their classes, have selectors, and nothing evaluates them: give Compile the option WithDeviceMatcher, with scheduling/dra.New()")
	errUnknownClaims   = errors.New("its claims of devices are not those of any pod of the snapshot")
	errTooManyOverlaps = errors.New("the claims of devices in the cluster overlap in too many ways: use fewer kinds of selectors")
)

// deviceClaims reads which claims pods have.
type deviceClaims struct {
	classes   map[string]*resourcev1.DeviceClass
	claims    map[PodKey]*resourcev1.ResourceClaim
	templates map[PodKey]*resourcev1.ResourceClaimTemplate
	// users counts the pods that name a claim.
	users map[PodKey]int
}

func newDeviceClaims(s *Snapshot, r *likeness.Roster) *deviceClaims {
	c := &deviceClaims{
		classes: deviceClasses(s), claims: make(map[PodKey]*resourcev1.ResourceClaim, len(s.ResourceClaims)),
		templates: make(map[PodKey]*resourcev1.ResourceClaimTemplate, len(s.ResourceClaimTemplates)), users: map[PodKey]int{},
	}
	for _, o := range s.ResourceClaims {
		c.claims[PodKey{o.Namespace, o.Name}] = o
	}
	for _, o := range s.ResourceClaimTemplates {
		c.templates[PodKey{o.Namespace, o.Name}] = o
	}
	for i, pod := range r.Pods {
		if r.Marks[i]&likeness.HasEnded != 0 {
			continue
		}
		for j := range pod.Spec.ResourceClaims {
			if name := pod.Spec.ResourceClaims[j].ResourceClaimName; name != nil {
				c.users[PodKey{pod.Namespace, *name}]++
			}
		}
	}
	return c
}

// key is equal for pods that have the same claims, or such of the same templates.
func (c *deviceClaims) key(pod *corev1.Pod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", pod.Namespace)
	for i := range pod.Spec.ResourceClaims {
		pc := &pod.Spec.ResourceClaims[i]
		fmt.Fprintf(&b, "\n%q", pc.Name)
		if pc.ResourceClaimName != nil {
			fmt.Fprintf(&b, " claim %q %t", *pc.ResourceClaimName, pod.Spec.NodeName == "")
		}
		if pc.ResourceClaimTemplateName != nil {
			fmt.Fprintf(&b, " template %q", *pc.ResourceClaimTemplateName)
		}
	}
	for _, name := range c.unnamed(&pod.Spec) {
		fmt.Fprintf(&b, "\ncontainers name %q", name)
	}
	return b.String()
}

// of are the claims of a pod, each for it alone. The error says why they can't be planned.
func (c *deviceClaims) of(pod *corev1.Pod) ([]*devices.Claim, error) {
	if wrong := c.unnamed(&pod.Spec); len(wrong) > 0 {
		return nil, fmt.Errorf("a container claims the devices of %q, which spec.resourceClaims does not name", wrong[0])
	}
	var out []*devices.Claim
	for i := range pod.Spec.ResourceClaims {
		spec, err := c.specOf(pod, &pod.Spec.ResourceClaims[i])
		if err != nil {
			return nil, err
		}
		claim, err := devices.NewClaim(pod.Spec.ResourceClaims[i].Name, &spec.Devices, c.classes)
		if err != nil {
			return nil, err
		}
		out = append(out, claim)
	}
	return out, nil
}

// specOf finds what one of the pod's claims asks for.
func (c *deviceClaims) specOf(pod *corev1.Pod, pc *corev1.PodResourceClaim) (*resourcev1.ResourceClaimSpec, error) {
	switch {
	case pc.ResourceClaimTemplateName != nil:
		key := PodKey{pod.Namespace, *pc.ResourceClaimTemplateName}
		if t := c.templates[key]; t != nil {
			return &t.Spec.Spec, nil
		}
		return nil, fmt.Errorf("its claim %s of devices is made of the ResourceClaimTemplate %s, which does not exist", pc.Name, key)
	case pc.ResourceClaimName != nil:
		key := PodKey{pod.Namespace, *pc.ResourceClaimName}
		claim := c.claims[key]
		switch {
		case claim == nil:
			return nil, fmt.Errorf("its claim %s of devices is the ResourceClaim %s, which does not exist", pc.Name, key)
		case c.users[key] > 1:
			return nil, fmt.Errorf("its claim %s of devices is the ResourceClaim %s, which %d pods share: that is not planned, give each pod a claim of its own with a template", pc.Name, key, c.users[key])
		case claim.Status.Allocation != nil && pod.Spec.NodeName == "":
			return nil, fmt.Errorf("its claim %s of devices is the ResourceClaim %s, which is allocated already: it can only run where these devices are", pc.Name, key)
		}
		return &claim.Spec, nil
	}
	return nil, fmt.Errorf("its claim %s of devices names neither a ResourceClaim nor a ResourceClaimTemplate", pc.Name)
}

// unnamed are the names of claims of containers that are no claim of the pod.
func (c *deviceClaims) unnamed(spec *corev1.PodSpec) []string {
	var out []string
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			for _, claim := range list[i].Resources.Claims {
				if !slices.ContainsFunc(spec.ResourceClaims, func(pc corev1.PodResourceClaim) bool { return pc.Name == claim.Name }) {
					out = append(out, claim.Name)
				}
			}
		}
	}
	return out
}
