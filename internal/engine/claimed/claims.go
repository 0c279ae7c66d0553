package claimed

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Reasons why pods that claim devices are not planned.
var (
	errNoDeviceMatcher  = errors.New("its device claims or their device classes have selectors, but Compile has no matcher to evaluate them: give Compile the option WithDeviceMatcher, with scheduling/dra.New()")
	errUnknownClaims    = errors.New("its device claims belong to no pod of the snapshot")
	errNetworkOfDaemon  = errors.New("it is a DaemonSet's pod and claims devices that several nodes can use: only pending pods of other kinds get such devices")
	errNetworkContested = errors.New("it claims devices that several nodes can use, but other pods' claims for devices of one node could match all of these devices: change the selectors of those claims")
	errNetworkNowhere   = errors.New("it claims devices of ResourceSlices that no node can use: the ResourceSlices and their devices set none of nodeName, nodeSelector and allNodes")
	errNetworkElsewhere = errors.New("it claims devices that several nodes can use, but its own rules allow none of these nodes")
)

// maxUsers is the largest number of pods that can use one claim.
const maxUsers = resourcev1.ResourceClaimReservedForMaxSize

// Claims finds the claims of pods.
type Claims struct {
	classes   map[string]*resourcev1.DeviceClass
	claims    map[planning.PodKey]*resourcev1.ResourceClaim
	templates map[planning.PodKey]*resourcev1.ResourceClaimTemplate
	// users has, for each claim, the number of pods that refer to it and have not ended.
	users map[planning.PodKey]int
	// Groups are the groups of pods that share claims.
	Groups deviceGroups
	// network contains the devices that several nodes can use. It is nil if there are no such devices.
	network *deviceNetwork
}

// NewClaims collects the claims of a snapshot.
func NewClaims(s *planning.Snapshot) *Claims {
	c := &Claims{
		classes: deviceClasses(s), claims: make(map[planning.PodKey]*resourcev1.ResourceClaim, len(s.ResourceClaims)),
		templates: make(map[planning.PodKey]*resourcev1.ResourceClaimTemplate, len(s.ResourceClaimTemplates)), users: map[planning.PodKey]int{},
	}
	for _, o := range s.ResourceClaims {
		if o != nil {
			c.claims[planning.PodKey{Namespace: o.Namespace, Name: o.Name}] = o
		}
	}
	for _, o := range s.ResourceClaimTemplates {
		if o != nil {
			c.templates[planning.PodKey{Namespace: o.Namespace, Name: o.Name}] = o
		}
	}
	c.Groups = newDeviceGroups(s, c.claims)
	c.countUsers(s.Pods)
	for i := range s.Nodes {
		c.countUsers(s.Nodes[i].Pods)
	}
	return c
}

func (c *Claims) countUsers(pods []*corev1.Pod) {
	for _, pod := range pods {
		if pod == nil || len(pod.Spec.ResourceClaims) == 0 || likeness.Ended(pod) {
			continue
		}
		for j := range pod.Spec.ResourceClaims {
			if name := pod.Spec.ResourceClaims[j].ResourceClaimName; name != nil {
				c.users[planning.PodKey{Namespace: pod.Namespace, Name: *name}]++
			}
		}
	}
}

// Apart reports whether the pod must be planned separately from other pods that refer to the same claims. It returns true if the pod shares
// claims with other pods, if a claim that was made for the pod is already allocated, or if no claim had to be made from one of the pod's
// templates.
func (c *Claims) Apart(pod *corev1.Pod) bool {
	if len(pod.Spec.ResourceClaims) == 0 {
		return false
	}
	return c.Groups[pod] != nil || slices.ContainsFunc(pod.Spec.ResourceClaims, func(pc corev1.PodResourceClaim) bool {
		return pc.ResourceClaimName == nil && (c.allocated(pod, &pc) != nil || needless(pod, &pc))
	})
}

// key returns the same text for pods with the same claims, or with claims of the same templates.
func (c *Claims) key(pod *corev1.Pod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", pod.Namespace)
	if id, leads := c.Groups.follows(pod); id != "" {
		fmt.Fprintf(&b, " %t in %q", leads, id)
	}
	for i := range pod.Spec.ResourceClaims {
		pc := &pod.Spec.ResourceClaims[i]
		fmt.Fprintf(&b, "\n%q", pc.Name)
		if pc.ResourceClaimName != nil {
			fmt.Fprintf(&b, " claim %q %t", *pc.ResourceClaimName, pod.Spec.NodeName == "")
		}
		if pc.ResourceClaimTemplateName != nil {
			fmt.Fprintf(&b, " template %q", *pc.ResourceClaimTemplateName)
			if claim := c.allocated(pod, pc); claim != nil {
				fmt.Fprintf(&b, " as %q", claim.Name)
			}
			if needless(pod, pc) {
				b.WriteString(" not needed")
			}
		}
	}
	for _, name := range c.unnamed(&pod.Spec) {
		fmt.Fprintf(&b, "\ncontainers name %q", name)
	}
	b.WriteString(c.network.text(pod))
	return b.String()
}

// of returns the pod's claims that need devices of its node. The error says why these claims, or other claims of the pod, can't be planned.
func (c *Claims) of(pod *corev1.Pod) ([]*devices.Claim, error) {
	claims, err := c.all(pod)
	if err != nil {
		return nil, err
	}
	return c.network.of(pod, claims)
}

// all returns the claims for which the pod needs devices. If the pod leads a group, these are the claims of the whole group. If it follows
// another pod, it needs no devices itself.
func (c *Claims) all(pod *corev1.Pod) ([]*devices.Claim, error) {
	if wrong := c.unnamed(&pod.Spec); len(wrong) > 0 {
		return nil, fmt.Errorf("a container claims the devices of %q, which spec.resourceClaims does not name", wrong[0])
	}
	g := c.Groups[pod]
	if g == nil {
		return c.ownClaims(pod, nil)
	}
	if !g.leads(pod) {
		_, err := c.ownClaims(pod, nil)
		return nil, err
	}
	var out []*devices.Claim
	known := map[planning.PodKey]bool{}
	for _, member := range g.pods {
		list, err := c.ownClaims(member, known)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// ownClaims returns the claims for which the pod itself needs devices. It skips the ResourceClaims in the map known, and adds the pod's
// other ResourceClaims to this map. The map may be nil.
func (c *Claims) ownClaims(pod *corev1.Pod, known map[planning.PodKey]bool) ([]*devices.Claim, error) {
	var out []*devices.Claim
	for i := range pod.Spec.ResourceClaims {
		pc := &pod.Spec.ResourceClaims[i]
		if needless(pod, pc) {
			continue
		}
		spec, err := c.specOf(pod, pc)
		if err != nil {
			return nil, err
		}
		if c.allocated(pod, pc) != nil {
			continue
		}
		if pc.ResourceClaimName != nil && known != nil {
			key := planning.PodKey{Namespace: pod.Namespace, Name: *pc.ResourceClaimName}
			if known[key] {
				continue
			}
			known[key] = true
		}
		claim, err := devices.NewClaim(pc.Name, &spec.Devices, c.classes)
		if err != nil {
			return nil, err
		}
		out = append(out, claim)
	}
	return out, nil
}

// needless reports whether the pod's status says that no claim had to be made from the template.
func needless(pod *corev1.Pod, pc *corev1.PodResourceClaim) bool {
	for i := range pod.Status.ResourceClaimStatuses {
		if s := &pod.Status.ResourceClaimStatuses[i]; s.Name == pc.Name {
			return pc.ResourceClaimName == nil && s.ResourceClaimName == nil
		}
	}
	return false
}

// allocated returns the claim object behind one of the pod's claims if its allocated devices decide where the pod can go. This is so if the
// pod is pending, or if the claim was not made from a template and several nodes can use its devices. In all other cases, allocated returns
// nil.
func (c *Claims) allocated(pod *corev1.Pod, pc *corev1.PodResourceClaim) *resourcev1.ResourceClaim {
	claim := c.objectOf(pod, pc)
	if claim == nil || claim.Status.Allocation == nil || pod.Spec.NodeName != "" && (pc.ResourceClaimName == nil || ofOneNode(claim.Status.Allocation)) {
		return nil
	}
	return claim
}

// objectOf returns the claim object behind one of the pod's claims, or nil if the object does not exist yet.
func (c *Claims) objectOf(pod *corev1.Pod, pc *corev1.PodResourceClaim) *resourcev1.ResourceClaim {
	name := pc.ResourceClaimName
	if name == nil {
		for i := range pod.Status.ResourceClaimStatuses {
			if s := &pod.Status.ResourceClaimStatuses[i]; s.Name == pc.Name {
				name = s.ResourceClaimName
			}
		}
	}
	if name == nil {
		return nil
	}
	return c.claims[planning.PodKey{Namespace: pod.Namespace, Name: *name}]
}

// pins returns selectors for the nodes that can use the devices that are already allocated to the pod's claims.
func (c *Claims) pins(pod *corev1.Pod) []*corev1.NodeSelector {
	var out []*corev1.NodeSelector
	for i := range pod.Spec.ResourceClaims {
		if claim := c.allocated(pod, &pod.Spec.ResourceClaims[i]); claim != nil && claim.Status.Allocation.NodeSelector != nil {
			out = append(out, claim.Status.Allocation.NodeSelector)
		}
	}
	if g := c.Groups[pod]; g != nil {
		out = append(out, g.nodes...)
	}
	if c.network != nil {
		out = append(out, c.network.shares[pod].pins...)
	}
	return out
}

// specOf returns the spec of one of the pod's claims, from the ResourceClaim or its template.
func (c *Claims) specOf(pod *corev1.Pod, pc *corev1.PodResourceClaim) (*resourcev1.ResourceClaimSpec, error) {
	switch {
	case pc.ResourceClaimTemplateName != nil:
		key := planning.PodKey{Namespace: pod.Namespace, Name: *pc.ResourceClaimTemplateName}
		if t := c.templates[key]; t != nil {
			return &t.Spec.Spec, nil
		}
		return nil, fmt.Errorf("its claim %s of devices is made of the ResourceClaimTemplate %s, which does not exist", pc.Name, key)
	case pc.ResourceClaimName != nil:
		key := planning.PodKey{Namespace: pod.Namespace, Name: *pc.ResourceClaimName}
		claim := c.claims[key]
		switch {
		case claim == nil:
			return nil, fmt.Errorf("its claim %s of devices is the ResourceClaim %s, which does not exist", pc.Name, key)
		case pod.Spec.NodeName != "" || slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID && pod.UID != "" }):
		case claim.DeletionTimestamp != nil:
			return nil, fmt.Errorf("its claim %s of devices is the ResourceClaim %s, which is being deleted", pc.Name, key)
		case c.users[key] > maxUsers || len(claim.Status.ReservedFor) >= maxUsers:
			return nil, fmt.Errorf("its claim %s of devices is the ResourceClaim %s, which %d pods share: it can serve %d, give some of them another one", pc.Name, key, max(c.users[key], len(claim.Status.ReservedFor)), maxUsers)
		}
		return &claim.Spec, nil
	}
	return nil, fmt.Errorf("its claim %s of devices names neither a ResourceClaim nor a ResourceClaimTemplate", pc.Name)
}

// unnamed returns the claim names that containers of the pod use but that the pod's spec.resourceClaims does not contain.
func (c *Claims) unnamed(spec *corev1.PodSpec) []string {
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
