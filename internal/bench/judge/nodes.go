package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// node is an existing or new node, with its free resources.
type node struct {
	name   string
	node   *corev1.Node // labels and taints
	free   amounts
	ports  map[hostPort]bool
	isNew  bool
	option *option // the offering with which a new node is bought
	// zoneless has the pods that the plan places on the node before the node's first pod with a rule about zones.
	zoneless map[string]bool
	// freeAtFirst are the free resources before pods of the plan are bound.
	freeAtFirst  amounts
	portsAtFirst map[hostPort]bool
}

// option is one way in which a pool can buy a node: an instance type and an available offering.
type option struct {
	it       *cloudprovider.InstanceType
	offering *cloudprovider.Offering
	// labels are the labels that a node gets from the pool, the type and the offering. stated has the label keys that the pool, the type or
	// the offering mentions, including keys of labels that the node must not have.
	labels map[string]string
	stated map[string]bool
	room   amounts
}

// pool is a NodePool with the options that it can buy.
type pool struct {
	object  *v1.NodePool
	options map[string][]option // by instance type
}

func (j *Judge) newPool(np *scheduling.NodePool) *pool {
	p := &pool{object: np.Object, options: make(map[string][]option)}
	if np.NotReady != "" || np.Object.DeletionTimestamp != nil || np.Object.Spec.Replicas != nil {
		return p
	}
	template := &np.Object.Spec.Template
	fixed := maps.Clone(template.Labels)
	if fixed == nil {
		fixed = make(map[string]string)
	}
	fixed[v1.NodePoolLabelKey] = np.Object.Name
	fixed[v1.NodeRegisteredLabelKey], fixed[v1.NodeInitializedLabelKey] = "true", "true"
	if ref := template.Spec.NodeClassRef; ref.Kind != "" {
		fixed[ref.Group+"/"+strings.ToLower(ref.Kind)] = ref.Name
	}
	for _, it := range j.s.Catalogs[np.Catalog] {
		for i := range it.Offerings {
			o := option{it: it, offering: &it.Offerings[i], labels: maps.Clone(fixed), stated: make(map[string]bool)}
			if !o.offering.HasRoom() {
				continue
			}
			for key := range fixed {
				o.stated[key] = true
			}
			o.state(it.Requirements.NodeSelectorRequirements())
			o.state(o.offering.Requirements.NodeSelectorRequirements())
			if o.meets(template.Spec.Requirements) {
				o.room = j.vector(allocatable(it, o.offering))
				p.options[it.Name] = append(p.options[it.Name], o)
			}
		}
	}
	return p
}

// state adds the labels that the requirements determine. A requirement with a single value gives the label this value. With DoesNotExist
// the node has no such label. Other requirements leave the label unknown.
func (o *option) state(entries []v1.NodeSelectorRequirementWithMinValues) {
	for _, e := range entries {
		switch {
		case e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1:
			o.labels[e.Key], o.stated[e.Key] = e.Values[0], true
		case e.Operator == corev1.NodeSelectorOpDoesNotExist:
			delete(o.labels, e.Key)
			o.stated[e.Key] = true
		}
	}
}

// meets reports whether the requirements allow the option. If the option does not state a label key, its node may have any value of this
// label.
func (o *option) meets(entries []v1.NodeSelectorRequirementWithMinValues) bool {
	for _, e := range entries {
		value, present := o.labels[e.Key]
		if o.stated[e.Key] && !allows(e, value, present) {
			return false
		}
	}
	return true
}

// allows reports whether a label, or its absence, meets one requirement of a NodeClaim.
func allows(e v1.NodeSelectorRequirementWithMinValues, value string, present bool) bool {
	switch e.Operator {
	case corev1.NodeSelectorOpIn:
		return present && slices.Contains(e.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !present || !slices.Contains(e.Values, value)
	case corev1.NodeSelectorOpExists:
		return present
	case corev1.NodeSelectorOpDoesNotExist:
		return !present
	}
	have, err := strconv.ParseInt(value, 10, 64)
	if !present || err != nil || len(e.Values) != 1 {
		return false
	}
	want, err := strconv.ParseInt(e.Values[0], 10, 64)
	if err != nil {
		return false
	}
	switch string(e.Operator) {
	case "Gt":
		return have > want
	case "Lt":
		return have < want
	case "Gte":
		return have >= want
	case "Lte":
		return have <= want
	}
	return false
}

// launch returns the node that a planned node becomes. It buys the cheapest offering that the node's requirements allow. Of several equally
// cheap offerings, it buys the offering whose instance type has the alphabetically first name.
func (j *Judge) launch(number int, n *NewNode) (*node, error) {
	p := j.pools[n.Pool]
	if p == nil {
		return nil, fmt.Errorf("node %d has NodePool %q, which is not in the workload", number, n.Pool)
	}
	var best *option
	for _, name := range n.InstanceTypes {
		for i := range p.options[name] {
			o := &p.options[name][i]
			if (best == nil || cmp.Or(cmp.Compare(o.offering.Price, best.offering.Price), strings.Compare(o.it.Name, best.it.Name)) < 0) &&
				o.meets(n.Requirements) {
				best = o
			}
		}
	}
	if best == nil {
		return nil, fmt.Errorf("node %d: no available offering of its %d instance types meets its requirements", number, len(n.InstanceTypes))
	}
	labels := maps.Clone(best.labels)
	for _, e := range n.Requirements {
		if !best.stated[e.Key] && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) > 0 {
			labels[e.Key] = slices.Min(e.Values)
		}
	}
	name := fmt.Sprintf("new-%d", number)
	labels[corev1.LabelHostname] = name
	m := &node{name: name, node: &corev1.Node{}, free: slices.Clone(best.room), isNew: true, option: best, ports: make(map[hostPort]bool)}
	m.node.Name, m.node.Labels, m.node.Spec.Taints = name, labels, p.object.Spec.Template.Spec.Taints
	for _, pod := range j.daemons {
		if j.runsOn(pod, m.node) {
			m.free.subtract(j.requests(pod))
		}
	}
	return m, nil
}

// standing returns an existing node of the workload. Its free resources are its allocatable resources minus those that its pods and
// DaemonSet pods use.
func (j *Judge) standing(n *scheduling.Node) *node {
	m := &node{name: n.Name, node: &corev1.Node{}, ports: make(map[hostPort]bool)}
	var room corev1.ResourceList
	if n.Object != nil {
		m.node, room = n.Object.DeepCopy(), n.Object.Status.Allocatable
	} else {
		m.node.Name, m.node.Labels, m.node.Spec.Taints, room = n.Name, maps.Clone(n.Claim.Labels), n.Claim.Spec.Taints, n.Claim.Status.Allocatable
	}
	if m.node.Labels == nil {
		m.node.Labels = make(map[string]string)
	}
	if m.node.Labels[corev1.LabelHostname] == "" {
		m.node.Labels[corev1.LabelHostname] = n.Name
	}
	m.free = j.vector(room)
	bound := make(amounts, len(j.resources)) // the amounts of resources that DaemonSet pods use
	for _, pod := range n.Pods {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		need := j.requests(pod)
		m.free.subtract(need)
		if isDaemon(pod) {
			bound.add(need)
		}
		m.takePorts(pod)
	}
	due := make(amounts, len(j.resources))
	for _, pod := range j.daemons {
		if j.runsOn(pod, m.node) {
			due.add(j.requests(pod))
		}
	}
	for i := range due {
		m.free[i] -= max(0, due[i]-bound[i])
	}
	return m
}

func isDaemon(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
}
