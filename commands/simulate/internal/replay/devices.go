package replay

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// allocator allocates the devices that pods claim when the pods are bound, as kube-scheduler does. It frees devices when no pod uses their
// claim any more.
type allocator struct {
	matcher   scheduling.DeviceMatcher
	classes   map[string]*resourcev1.DeviceClass
	templates map[scheduling.PodKey]*resourcev1.ResourceClaimTemplate
	// backed is the device class that provides each extended resource.
	backed map[corev1.ResourceName]string
	// claims are the claims of the input and of bound pods. An object in the map is never modified, but replaced.
	claims map[scheduling.PodKey]*resourcev1.ResourceClaim
	// created counts the claims that were made for pods.
	created int
	// read contains the specs of claims that are prepared for allocation. The key names the claim or the template, or the extended
	// resources for which the claim was created.
	read map[string]*devices.Claim
	// nodes are the nodes with devices, by name. network contains the devices that several nodes can use; nil if there are no such devices.
	nodes   map[string]*nodeDevices
	network *devices.Usage
}

// nodeDevices are the devices on a node.
type nodeDevices struct {
	usage   *devices.Usage
	matches *devices.Matches
	// sources are the node's own devices, and the devices of the network that the node can use.
	sources []devices.Source
	slices  []*resourcev1.ResourceSlice
}

func newAllocator(s *scheduling.Snapshot, matcher scheduling.DeviceMatcher) *allocator {
	a := &allocator{
		matcher: matcher, classes: map[string]*resourcev1.DeviceClass{}, backed: claimed.BackedResources(s.DeviceClasses),
		templates: map[scheduling.PodKey]*resourcev1.ResourceClaimTemplate{}, claims: map[scheduling.PodKey]*resourcev1.ResourceClaim{},
		read: map[string]*devices.Claim{}, nodes: map[string]*nodeDevices{},
	}
	for _, c := range s.DeviceClasses {
		a.classes[c.Name] = c
	}
	for _, t := range s.ResourceClaimTemplates {
		a.templates[keyOfObject(t)] = t
	}
	for _, c := range s.ResourceClaims {
		if ofPod := metav1.GetControllerOf(c); ofPod == nil || ofPod.Kind != "Pod" { // claims of pods are created again when the pods arrive
			fresh := c.DeepCopy()
			fresh.Status = resourcev1.ResourceClaimStatus{}
			a.claims[keyOfObject(c)] = fresh
		}
	}
	var shared []*resourcev1.ResourceSlice
	for _, slice := range s.ResourceSlices {
		if slice.Spec.NodeName == nil {
			shared = append(shared, slice)
		}
	}
	if len(shared) > 0 {
		a.network = devices.NewUsage(devices.NewInventory(shared))
	}
	return a
}

func keyOfObject(o metav1.Object) scheduling.PodKey {
	return scheduling.PodKey{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// open returns the events that add the objects that exist before the first pod arrives.
func (a *allocator) open(s *scheduling.Snapshot) []cluster.Event {
	var events []cluster.Event
	for _, c := range s.DeviceClasses {
		events = append(events, cluster.Upsert(c))
	}
	for _, t := range s.ResourceClaimTemplates {
		events = append(events, cluster.Upsert(t))
	}
	for _, slice := range s.ResourceSlices {
		if slice.Spec.NodeName == nil {
			events = append(events, cluster.Upsert(slice))
		}
	}
	for _, c := range s.ResourceClaims {
		if fresh := a.claims[keyOfObject(c)]; fresh != nil {
			events = append(events, cluster.Upsert(fresh))
		}
	}
	return events
}

// missing returns the claim or template to which the arrival refers and that does not exist, or "" if all exist.
func (a *allocator) missing(p *Arrival) string {
	for _, name := range p.ClaimTemplates {
		if key := (scheduling.PodKey{Namespace: p.Namespace, Name: name}); a.templates[key] == nil {
			return fmt.Sprintf("ResourceClaimTemplate %s", key)
		}
	}
	for _, name := range p.Claims {
		if key := (scheduling.PodKey{Namespace: p.Namespace, Name: name}); a.claims[key] == nil {
			return fmt.Sprintf("ResourceClaim %s", key)
		}
	}
	return ""
}

// publish adds the devices that the drivers of a new node publish according to its instance type.
func (a *allocator) publish(s *scheduling.Snapshot, node *corev1.Node) []cluster.Event {
	n := &nodeDevices{matches: devices.NewMatches(a.matcher)}
	for _, name := range sortedNames(s.Catalogs) {
		for _, it := range s.Catalogs[name] {
			if it.Name == node.Labels[corev1.LabelInstanceTypeStable] && len(n.slices) == 0 {
				n.slices = publishedSlices(it, node)
			}
		}
	}
	if len(n.slices) == 0 && a.network == nil {
		return nil
	}
	n.usage = devices.NewUsage(devices.NewInventory(n.slices))
	n.sources = []devices.Source{{Usage: n.usage}}
	if a.network != nil {
		n.sources = append(n.sources, devices.Source{Usage: a.network, Reach: a.network.Inventory().Reach(node.Name, node.Labels)})
	}
	a.nodes[node.Name] = n
	var events []cluster.Event
	for _, slice := range n.slices {
		events = append(events, cluster.Upsert(slice))
	}
	return events
}

// withdraw removes the devices of a node that was removed.
func (a *allocator) withdraw(node string) []cluster.Event {
	n := a.nodes[node]
	if n == nil {
		return nil
	}
	delete(a.nodes, node)
	var events []cluster.Event
	for _, slice := range n.slices {
		events = append(events, cluster.Delete(slice))
	}
	return events
}

// wanted is a claim of a pod, prepared for allocation.
type wanted struct {
	object *resourcev1.ResourceClaim
	ready  *devices.Claim
}

// allocate allocates devices of the pod's node for the claims of the pod, and writes the claims into the pod's status. It reports whether
// the node has enough devices. If not, it changes nothing. hosted is the NodeClaim of the node.
func (a *allocator) allocate(pod *corev1.Pod, hosted *v1.NodeClaim) ([]cluster.Event, bool, error) {
	mine, err := a.claimsOf(pod, hosted)
	if err != nil || len(mine) == 0 {
		return nil, err == nil, err
	}
	var lacking []wanted
	for _, w := range mine {
		if w.object.Status.Allocation == nil {
			lacking = append(lacking, w)
		}
	}
	got := map[*resourcev1.ResourceClaim]*resourcev1.AllocationResult{}
	if len(lacking) > 0 {
		n := a.nodes[pod.Spec.NodeName]
		if n == nil {
			return nil, false, nil
		}
		ready := make([]*devices.Claim, len(lacking))
		for i := range lacking {
			ready[i] = lacking[i].ready
		}
		allocation, _ := devices.Allocate(n.sources, ready, n.matches)
		if allocation == nil {
			return nil, false, nil
		}
		for i := range lacking {
			of := allocation.Of(i)
			got[lacking[i].object] = &resourcev1.AllocationResult{Devices: of, NodeSelector: a.nodesOf(of, pod.Spec.NodeName)}
		}
	}
	var events []cluster.Event
	for _, w := range mine {
		object := w.object.DeepCopy()
		if result := got[w.object]; result != nil {
			object.Status.Allocation = result
		}
		object.Status.ReservedFor = append(object.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID})
		a.claims[keyOfObject(object)] = object
		events = append(events, cluster.Upsert(object))
	}
	return events, true, nil
}

// nodesOf returns a selector of the nodes that can use the allocated devices. If all these devices are in a.network and can be used by the
// same nodes, it selects these nodes; nil selects all nodes. Otherwise it selects only the pod's node.
func (a *allocator) nodesOf(result resourcev1.DeviceAllocationResult, node string) *corev1.NodeSelector {
	own := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
		Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
	}}}}}
	if a.network == nil {
		return own
	}
	var out *corev1.NodeSelector
	for i := range result.Results {
		r := &result.Results[i]
		id := devices.ID{Driver: r.Driver, Pool: r.Pool, Device: r.Device}
		if !a.network.Inventory().Has(id) {
			return own
		}
		switch nodes := a.network.Inventory().NodesOf(id); {
		case nodes == nil:
		case out != nil && out.String() != nodes.String():
			return own
		default:
			out = nodes
		}
	}
	return out
}

// claimsOf returns the claims of the pod. It creates claims from templates, and a claim for extended resources that are provided by devices
// on the node.
func (a *allocator) claimsOf(pod *corev1.Pod, hosted *v1.NodeClaim) ([]wanted, error) {
	var out []wanted
	for i := range pod.Spec.ResourceClaims {
		pc := &pod.Spec.ResourceClaims[i]
		switch {
		case pc.ResourceClaimName != nil:
			object := a.claims[scheduling.PodKey{Namespace: pod.Namespace, Name: *pc.ResourceClaimName}]
			if object == nil {
				return nil, fmt.Errorf("pod %s/%s: there is no ResourceClaim %s", pod.Namespace, pod.Name, *pc.ResourceClaimName)
			}
			ready, err := a.ready("claim "+keyOfObject(object).String(), &object.Spec.Devices)
			if err != nil {
				return nil, err
			}
			out = append(out, wanted{object, ready})
		case pc.ResourceClaimTemplateName != nil:
			template := a.templates[scheduling.PodKey{Namespace: pod.Namespace, Name: *pc.ResourceClaimTemplateName}]
			if template == nil {
				return nil, fmt.Errorf("pod %s/%s: there is no ResourceClaimTemplate %s", pod.Namespace, pod.Name, *pc.ResourceClaimTemplateName)
			}
			ready, err := a.ready("template "+keyOfObject(template).String(), &template.Spec.Spec.Devices)
			if err != nil {
				return nil, err
			}
			object := a.made(pod, pc.Name, &template.Spec.Spec)
			out = append(out, wanted{object, ready})
			pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: pc.Name, ResourceClaimName: &object.Name})
		}
	}
	extended, err := a.extendedClaim(pod, hosted)
	if err != nil || extended.object == nil {
		return out, err
	}
	return append(out, extended), nil
}

// extendedClaim returns the claim for the pod's extended resources that are provided by devices, because the node has no device plugin for
// them. It returns an empty value if the pod requests no such resources.
func (a *allocator) extendedClaim(pod *corev1.Pod, hosted *v1.NodeClaim) (wanted, error) {
	var spec resourcev1.ResourceClaimSpec
	text := "extended"
	requests := resources.OfPod(pod)
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		q, plugin := requests[name], hosted.Status.Allocatable[name]
		class := a.backed[name]
		if class == "" || q.Sign() <= 0 || plugin.Sign() > 0 {
			continue
		}
		text += fmt.Sprintf(" %d of %s", q.Value(), class)
		spec.Devices.Requests = append(spec.Devices.Requests, resourcev1.DeviceRequest{
			Name:    fmt.Sprintf("request-%d", len(spec.Devices.Requests)),
			Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: q.Value()},
		})
	}
	if len(spec.Devices.Requests) == 0 {
		return wanted{}, nil
	}
	ready, err := a.ready(text, &spec.Devices)
	if err != nil {
		return wanted{}, err
	}
	object := a.made(pod, "extended-resources", &spec)
	pod.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: object.Name}
	return wanted{object, ready}, nil
}

// ready returns the spec prepared for allocation. It stores the result in a.read, so that each spec is prepared only once.
func (a *allocator) ready(of string, spec *resourcev1.DeviceClaim) (*devices.Claim, error) {
	known := a.read[of]
	if known != nil {
		return known, nil
	}
	made, err := devices.NewClaim(of, spec, a.classes)
	if err != nil {
		return nil, err
	}
	a.read[of] = made
	return made, nil
}

// made creates a claim that belongs to a pod, and is deleted with it.
func (a *allocator) made(pod *corev1.Pod, name string, spec *resourcev1.ResourceClaimSpec) *resourcev1.ResourceClaim {
	controller := true
	object := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name + "-" + name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &controller}},
		},
		Spec: *spec,
	}
	for a.claims[keyOfObject(object)] != nil || slices.ContainsFunc(pod.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool {
		return s.ResourceClaimName != nil && *s.ResourceClaimName == object.Name
	}) {
		object.Name += "-x"
	}
	a.created++
	object.UID = types.UID(fmt.Sprint("claim-", a.created)) // each claim gets a new UID, because a new claim is never the same as a deleted claim
	return object
}

// free is called for a pod that leaves its node. It deletes the claims that were made for the pod, and frees the devices of claims that no
// other pod uses.
func (a *allocator) free(pod *corev1.Pod) []cluster.Event {
	var events []cluster.Event
	for _, key := range heldBy(pod) {
		object := a.claims[key].DeepCopy()
		object.Status.ReservedFor = slices.DeleteFunc(object.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.Name == pod.Name })
		owned := metav1.GetControllerOf(object) != nil
		if len(object.Status.ReservedFor) == 0 {
			a.giveBack(object.Status.Allocation, pod.Spec.NodeName)
			object.Status.Allocation = nil
		}
		if owned {
			delete(a.claims, key)
			events = append(events, cluster.Delete(object))
			continue
		}
		a.claims[key] = object
		events = append(events, cluster.Upsert(object))
	}
	return events
}

func (a *allocator) giveBack(result *resourcev1.AllocationResult, node string) {
	if result == nil {
		return
	}
	for i := range result.Devices.Results {
		r := &result.Devices.Results[i]
		if a.network != nil && a.network.LetGo(r) {
			continue
		}
		if n := a.nodes[node]; n != nil {
			n.usage.LetGo(r)
		}
	}
}

// heldBy returns the claims of a bound pod.
func heldBy(pod *corev1.Pod) []scheduling.PodKey {
	var out []scheduling.PodKey
	for i := range pod.Spec.ResourceClaims {
		if name := pod.Spec.ResourceClaims[i].ResourceClaimName; name != nil {
			out = append(out, scheduling.PodKey{Namespace: pod.Namespace, Name: *name})
		}
	}
	for _, s := range pod.Status.ResourceClaimStatuses {
		out = append(out, scheduling.PodKey{Namespace: pod.Namespace, Name: *s.ResourceClaimName})
	}
	if s := pod.Status.ExtendedResourceClaimStatus; s != nil {
		out = append(out, scheduling.PodKey{Namespace: pod.Namespace, Name: s.ResourceClaimName})
	}
	return out
}
