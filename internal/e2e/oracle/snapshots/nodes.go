package snapshots

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

func (m *maker) daemons() {
	if !m.has(Daemons) {
		return
	}
	m.s.DaemonSets = list(m, "daemon sets", 0, 2, func() *appsv1.DaemonSet {
		name := m.name("ds")
		set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
		template := &set.Spec.Template
		template.Labels = map[string]string{appLabel: name}
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: name}}
		template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: amounts(map[corev1.ResourceName]string{
			corev1.ResourceCPU: choose(m, "daemon cpu", "100m", "500m", "0"), corev1.ResourceMemory: choose(m, "daemon memory", "128Mi", "1Gi", "0"),
		})}}}
		if m.chance("daemon selector", 30) {
			template.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: choose(m, "daemon arch", "amd64", "arm64")}
		}
		if m.chance("daemon affinity", 30) {
			terms := []corev1.NodeSelectorTerm{m.nodeTerm()}
			if m.chance("daemon's second term", 40) {
				terms = append(terms, m.nodeTerm())
			}
			nodeAffinity(&template.Spec).RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
		}
		if m.with(Taints, "daemon tolerates all", 50) {
			template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
		if m.with(Ports, "daemon port", 20) {
			template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
		}
		return set
	})
}

func (m *maker) nodes() {
	if !m.has(Nodes) {
		return
	}
	m.s.Nodes = list(m, "nodes", 0, 6, func() scheduling.Node { return m.node(m.name("node")) })
}

// node returns a node in one of the phases of its life.
func (m *maker) node(name string) scheduling.Node {
	pool := &m.s.NodePools[m.number("node's pool", 0, len(m.s.NodePools)-1)]
	types := m.s.Catalogs[catalogName]
	t := types[m.number("node's type", 0, len(types)-1)]
	if len(t.Offerings) == 0 {
		return m.foreign(name, t, nil)
	}
	o := &t.Offerings[m.number("node's offering", 0, len(t.Offerings)-1)]
	if m.chance("foreign", 20) {
		return m.foreign(name, t, o)
	}
	n := scheduling.Node{Name: name, Pool: pool.Key}
	object := m.object(name, t, o)
	maps.Copy(object.Labels, pool.Object.Spec.Template.Labels)
	object.Labels[v1.NodePoolLabelKey] = pool.Object.Name
	object.Labels["example.com/exampleclass"] = "standard"
	if _, ok := object.Labels[tierKey]; !ok && m.with(CustomLabels, "node tier", 30) {
		object.Labels[tierKey] = choose(m, "tier of node", "gold", "silver")
	}
	object.Spec.Taints = pool.Object.Spec.Template.Spec.Taints
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: maps.Clone(object.Labels)}}
	delete(claim.Labels, corev1.LabelHostname)
	claim.Spec.Taints = pool.Object.Spec.Template.Spec.Taints
	claim.Spec.StartupTaints = pool.Object.Spec.Template.Spec.StartupTaints
	claim.Spec.NodeClassRef = pool.Object.Spec.Template.Spec.NodeClassRef
	claim.Status.Capacity, claim.Status.Allocatable = object.Status.Capacity, object.Status.Allocatable
	n.Claim = claim
	phase := 0
	if !m.fleet || m.chance("not in service", 20) {
		phase = m.number("phase", 0, 6)
	}
	if m.with(NodeStates, "odd state", 20) {
		return m.oddState(n, object, phase)
	}
	switch phase {
	case 4: // not launched yet, or not joined
		return n
	case 5: // joined and registered, but not initialized
		object.Labels[v1.NodeRegisteredLabelKey] = "true"
		object.Spec.Taints = append(append([]corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}, object.Spec.Taints...), claim.Spec.StartupTaints...)
		if m.chance("kubelet has not reported", 50) {
			object.Status.Allocatable, object.Status.Capacity = nil, nil
		}
		n.Object = object
		m.csiNode(name)
		return n
	case 6:
		n.Leaving = true
		object.Spec.Taints = append(append([]corev1.Taint(nil), object.Spec.Taints...), corev1.Taint{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule})
	}
	object.Labels[v1.NodeRegisteredLabelKey], object.Labels[v1.NodeInitializedLabelKey] = "true", "true"
	n.Object = object
	m.csiNode(name)
	m.occupy(&n)
	return n
}

// oddState returns a node in a state between the usual phases.
func (m *maker) oddState(n scheduling.Node, object *corev1.Node, phase int) scheduling.Node {
	n.Object = object
	taint := func(key string, effect corev1.TaintEffect) {
		object.Spec.Taints = append(slices.Clone(object.Spec.Taints), corev1.Taint{Key: key, Effect: effect})
	}
	initialized := true
	switch m.number("state", 0, 6) {
	case 0:
		m.cordon(object)
	case 1: // an initialized node whose kubelet has stopped
		taint(corev1.TaintNodeNotReady, choose(m, "not ready", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute))
	case 2: // its startup taints have come back
		object.Spec.Taints = append(slices.Clone(object.Spec.Taints), n.Claim.Spec.StartupTaints...)
		if m.chance("readiness gate", 50) {
			taint("readiness.k8s.io/network", corev1.TaintEffectNoSchedule)
		}
	case 3: // registered, waiting for a condition, and cordoned
		initialized = false
		object.Labels[v1.NodeRegisteredLabelKey] = "true"
		taint("readiness.k8s.io/network", corev1.TaintEffectNoSchedule)
		if m.chance("cordoned as well", 50) {
			m.cordon(object)
		}
	case 4: // joined but not registered: labels and taints are not synced
		initialized = false
		object.Labels = map[string]string{corev1.LabelHostname: n.Name}
		object.Spec.Taints = []corev1.Taint{{Key: v1.UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}, {Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}}
	case 5: // its kubelet reports less than its type has
		object.Status.Allocatable = shrunken(object.Status.Allocatable)
	case 6: // its zone label is missing
		delete(object.Labels, zoneKey)
	}
	if initialized {
		object.Labels[v1.NodeRegisteredLabelKey], object.Labels[v1.NodeInitializedLabelKey] = "true", "true"
	}
	n.Leaving = phase == 6
	m.csiNode(n.Name)
	if initialized {
		m.occupy(&n)
	}
	return n
}

// cordon marks the node unschedulable. The taint that normally follows a cordon may be missing.
func (m *maker) cordon(object *corev1.Node) {
	object.Spec.Unschedulable = true
	if !m.chance("taint is yet to come", 25) {
		object.Spec.Taints = append(slices.Clone(object.Spec.Taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
}

// shrunken returns three quarters of the amounts.
func shrunken(list corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, quantity := range list {
		quantity.SetMilli(quantity.MilliValue() / 4 * 3)
		out[name] = quantity
	}
	return out
}

// foreign returns a node that no pool owns. It may lack some of the usual labels.
func (m *maker) foreign(name string, t *cloudprovider.InstanceType, o *cloudprovider.Offering) scheduling.Node {
	n := scheduling.Node{Name: name, Object: m.object(name, t, o)}
	if m.chance("no zone label", 15) {
		delete(n.Object.Labels, zoneKey)
	}
	if m.with(CustomLabels, "foreign tier", 30) {
		n.Object.Labels[tierKey] = choose(m, "tier of node", "gold", "silver")
	}
	if m.with(Taints, "foreign taint", 25) {
		n.Object.Spec.Taints = append(n.Object.Spec.Taints, m.taint())
	}
	if m.with(NodeStates, "cordoned", 15) {
		m.cordon(n.Object)
	}
	m.csiNode(name)
	m.occupy(&n)
	return n
}

func (m *maker) object(name string, t *cloudprovider.InstanceType, o *cloudprovider.Offering) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	node.Status.Capacity, node.Status.Allocatable = t.Capacity.DeepCopy(), t.Allocatable()
	labels := t.Requirements
	if o != nil {
		labels = t.MachineRequirements(o)
		node.Status.Capacity, node.Status.Allocatable = t.CapacityOf(o), t.AllocatableOf(o)
	}
	for r := range labels.All {
		if values := r.Values(); !r.Complement() && len(values) == 1 {
			node.Labels[r.Key()] = values[0]
		}
	}
	return node
}

// occupy binds pods to a node: pods of workloads and of DaemonSets, even if they could not be scheduled there now. Mostly they fit.
func (m *maker) occupy(n *scheduling.Node) {
	free := n.Object.Status.Allocatable.DeepCopy()
	add := func(pod *corev1.Pod) {
		crowded := m.chance("overcommitted", 3)
		for name, quantity := range scheduling.PodRequests(pod) {
			left := free[name]
			if left.Cmp(quantity) < 0 && !crowded {
				return
			}
		}
		for name, quantity := range scheduling.PodRequests(pod) {
			left := free[name]
			left.Sub(quantity)
			free[name] = left
		}
		pod.Spec.NodeName = n.Name
		if pod.Status.Phase == "" {
			pod.Status.Phase = corev1.PodRunning
		}
		n.Pods = append(n.Pods, pod)
	}
	for _, set := range m.s.DaemonSets {
		if !m.chance("daemon runs", 60) {
			continue
		}
		yes := true
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name + "-" + n.Name, Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: set.Name, UID: set.UID, Controller: &yes}},
		}, Spec: *set.Spec.Template.Spec.DeepCopy()}
		add(pod)
	}
	least, most := 0, 4
	if m.fleet && m.chance("not empty", 90) {
		least, most = 1, 5
	}
	for _, pod := range list(m, "bound pods", least, most, func() *corev1.Pod {
		t := m.templates[m.number("bound workload", 0, len(m.templates)-1)]
		pod := m.instance(t)
		m.settle(pod, n)
		if m.with(NodeStates, "finished", 5) {
			pod.Status.Phase = choose(m, "finished phase", corev1.PodSucceeded, corev1.PodFailed)
		}
		if m.chance("terminating", 8) {
			pod.DeletionTimestamp = &metav1.Time{Time: m.s.Time}
		}
		return pod
	}) {
		add(pod)
	}
}

// settle binds the claims of a running pod to volumes that its node can use.
func (m *maker) settle(pod *corev1.Pod, n *scheduling.Node) {
	zone := n.Object.Labels[zoneKey]
	for i := range pod.Spec.Volumes {
		name := pod.Name + "-" + pod.Spec.Volumes[i].Name
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			name = c.ClaimName
		}
		for _, claim := range m.s.PersistentVolumeClaims {
			if claim.Namespace != pod.Namespace || claim.Name != name || claim.Spec.VolumeName != "" {
				continue
			}
			var terms [][]string
			if zone != "" && *claim.Spec.StorageClassName != "anywhere" {
				terms = [][]string{{zone}}
			}
			m.bind(claim, terms)
		}
	}
}

// forgetClaimNames changes pods with an affinity that names a node that has not joined yet. Afterwards they name a node that does not
// exist. The Node object will have another name, which is known only in the replay.
func (m *maker) forgetClaimNames() {
	forget := func(pod *corev1.Pod) {
		if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil || pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			return
		}
		for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, f := range term.MatchFields {
				if slices.ContainsFunc(m.s.Nodes, func(n scheduling.Node) bool { return n.Object == nil && n.Name == f.Values[0] }) {
					f.Values[0] = "elsewhere"
				}
			}
		}
	}
	for _, list := range [][]*corev1.Pod{m.s.Pods, m.s.Placeholders} {
		for _, pod := range list {
			forget(pod)
		}
	}
	for i := range m.s.Nodes {
		for _, pod := range m.s.Nodes[i].Pods {
			forget(pod)
		}
	}
}
