package updating

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// memo is the record that Update keeps with a model to determine the effect of a change. It records the class and the node of each pod, and
// which other parts of the model depend on the pods. Each Update changes the record, and only the latest model has it.
type memo struct {
	// index reads rules. It has its own map of the labels that rules ask about, because other goroutines may read the maps of published
	// models. A group of the index keeps its number as long as the pods of at least one kind of pods have the group's rule. groupOf has,
	// for each group of the index, its number in the latest model, or -1 if the model lacks the group. stated has, for each group of the
	// index, the number of kinds of pods with the group's rule.
	index   *topology.Index
	groupOf []int32
	stated  []int32
	// kinds are the kinds of pods. vacant lists the indexes in kinds of entries without members, which can be reused. kindOf maps the
	// Kind.Text of each kind to its index.
	kinds  []podclass.Kind
	vacant []int32
	kindOf map[string]int32
	labels *topology.LabelSets
	// names has the number of pods that request each resource, without resources that count attached volumes. namespaces has the number of
	// pods in each namespace.
	names      map[corev1.ResourceName]int32
	namespaces map[string]int32
	listed     map[string]bool
	keys       map[planning.PodKey]struct{}
	// waiting has the seat of each pod of Model.Pods. ofDaemons has the kind of each DaemonSet of Model.DaemonSets.
	waiting   []seat
	ofDaemons []int32
	// placed, daemons and claimants are indexed like Model.Nodes. They have the seats of all pods of the node, the node's DaemonSet pods,
	// and its pods that use volumes with claims.
	placed    [][]seat
	daemons   [][]*corev1.Pod
	claimants [][]*corev1.Pod
	// order has, for each node of the snapshot, its index in Model.Nodes.
	order []int32
	// fixed are the resources that templates of DaemonSets request.
	fixed map[corev1.ResourceName]struct{}
	// gangs is the result of reading the gangs. It is nil if there are no gangs.
	gangs *model.GangRecord
	// promised means that a node was chosen for a volume that does not exist yet. In this case, the constraints of volumes depend on
	// whether this node exists.
	promised bool
}

// seat records a pod's kind, and the index of its labels in memo.labels. It can be used without reading the pod.
type seat struct{ kind, labels int32 }

// keepMemo adds a memo to a model that was compiled from the whole snapshot.
func keepMemo(c *model.Compiled) {
	m, b, bound := c.Model, c.Book, c.Bound
	s, index := m.Snapshot, b.Rules
	k := &memo{
		index: index, kinds: b.Kinds, kindOf: b.ClassIndex, labels: topology.NewLabelSets(),
		groupOf: make([]int32, len(index.Groups)), stated: make([]int32, len(index.Groups)),
		names: make(map[corev1.ResourceName]int32), namespaces: make(map[string]int32), listed: make(map[string]bool, len(s.Namespaces)),
		keys:    make(map[planning.PodKey]struct{}, len(m.Pods)),
		waiting: make([]seat, len(m.Pods)), ofDaemons: make([]int32, len(m.DaemonSets)),
		placed: make([][]seat, len(m.Nodes)), daemons: make([][]*corev1.Pod, len(m.Nodes)), claimants: make([][]*corev1.Pod, len(m.Nodes)),
		order: make([]int32, len(s.Nodes)),
		fixed: make(map[corev1.ResourceName]struct{}), promised: volumes.NodesChosen(s.PersistentVolumeClaims),
	}
	for i := range k.groupOf {
		k.groupOf[i] = int32(i)
	}
	for i := range k.kinds {
		kd := &k.kinds[i]
		kd.Class, kd.Sample = int32(i), m.Classes[i].Sample
		k.state(kd, 1)
	}
	for _, ns := range s.Namespaces {
		k.listed[ns.Name] = true
	}
	for i := range m.DaemonSets {
		d := &m.DaemonSets[i]
		k.ofDaemons[i] = d.Class
		k.kinds[d.Class].Members++
		template := &d.Object.Spec.Template.Spec
		likeness.ResourceNames(&corev1.Pod{Spec: *template}, k.fixed)
		for c := range template.Containers {
			for name := range template.Containers[c].Resources.Limits {
				k.fixed[name] = struct{}{}
			}
		}
	}
	scratch := make(map[corev1.ResourceName]struct{})
	for i, pod := range m.Pods {
		k.enter(pod)
		k.waiting[i] = k.join(pod, m.PodClass[i])
		k.count(pod, 1, scratch)
	}
	seats := make([]seat, model.CountPods(s)-len(m.Pods))
	for i := range s.Nodes {
		at := m.NodeIndex[s.Nodes[i].Name]
		pods := s.Nodes[i].Pods
		k.order[i] = int32(at)
		k.placed[at], seats = seats[:len(pods):len(pods)], seats[len(pods):]
		k.daemons[at], k.claimants[at] = model.DaemonPodsOf(&s.Nodes[i]), claimPods(pods)
		for j, pod := range pods {
			k.enter(pod)
			k.placed[at][j] = k.join(pod, bound[i][j])
			k.count(pod, 1, scratch)
		}
	}
	// The index gets a copy of the labels that rules ask about, and changes only this copy.
	index.Detach(cloneKeys(m.AskedKeys))
	if c.Gangs != nil {
		k.gangs = c.Gangs
		k.countVariants()
	}
	m.Kept = model.Keep(k)
}

func cloneKeys(keys map[string]bool) map[string]bool {
	out := make(map[string]bool, len(keys))
	for key := range keys {
		out[key] = true
	}
	return out
}

func claimPods(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if likeness.UsesClaims(pod) {
			out = append(out, pod)
		}
	}
	return out
}

// enter records the pod's name. It returns false if there is already a pod with the same name.
func (k *memo) enter(pod *corev1.Pod) bool {
	before := len(k.keys)
	k.keys[planning.KeyOf(pod)] = struct{}{}
	return len(k.keys) > before
}

// join adds the pod to the members of the kind and returns the pod's seat.
func (k *memo) join(pod *corev1.Pod, kind int32) seat {
	k.kinds[kind].Members++
	k.kinds[kind].Note(pod)
	return seat{kind, k.labels.Add(pod, kind)}
}

// leave removes a pod that k.enter and k.join have added. The second argument is the seat that k.join returned.
func (k *memo) leave(pod *corev1.Pod, from seat) {
	delete(k.keys, planning.KeyOf(pod))
	k.kinds[from.kind].Members--
	k.labels.Remove(pod, from.labels)
}

// count adds n to the counts of the resources that the pod requests, and of its namespace.
func (k *memo) count(pod *corev1.Pod, n int32, scratch map[corev1.ResourceName]struct{}) {
	clear(scratch)
	likeness.ResourceNames(pod, scratch)
	for name := range scratch {
		k.names[name] += n
	}
	k.namespaces[pod.Namespace] += n
}

// The method state adds n to the counts in k.stated of the groups whose rules the kind states.
func (k *memo) state(kd *podclass.Kind, n int32) {
	for _, g := range kd.Owns {
		for int(g) >= len(k.stated) {
			k.stated, k.groupOf = append(k.stated, 0), append(k.groupOf, -1)
		}
		k.stated[g] += n
	}
}

// addKind adds a new kind and returns its number.
func (k *memo) addKind(kd podclass.Kind) int32 {
	kd.Class = -1
	n := int32(len(k.kinds))
	if free := len(k.vacant); free > 0 {
		n, k.vacant = k.vacant[free-1], k.vacant[:free-1]
		k.kinds[n] = kd
	} else {
		k.kinds = append(k.kinds, kd)
	}
	k.kindOf[k.kinds[n].Text] = n
	k.state(&k.kinds[n], 1)
	return n
}

// dropKind removes a kind, so that its number can be reused. If another kind now has the same text, kindOf keeps that kind for the text.
func (k *memo) dropKind(n int32) {
	kd := &k.kinds[n]
	if k.kindOf[kd.Text] == n {
		delete(k.kindOf, kd.Text)
	}
	k.state(kd, -1)
	*kd = podclass.Kind{Class: -1}
	k.vacant = append(k.vacant, n)
}

// dropGroups removes the groups that no kind states any more. It returns the kinds whose pods were members of one of these groups.
func (k *memo) dropGroups() (regrouped []int32) {
	x := k.index
	gone := make(map[int32]bool)
	for g, n := range k.stated {
		if n == 0 && x.Groups[g].Kind != topology.Gone {
			gone[int32(g)] = true
			k.groupOf[g] = -1
		}
	}
	if len(gone) == 0 {
		return nil
	}
	x.Drop(gone)
	for n := range k.kinds {
		kd := &k.kinds[n]
		if kd.Members == 0 || !slices.ContainsFunc(kd.In, func(g int32) bool { return gone[g] }) {
			continue
		}
		if k.kindOf[kd.Text] == int32(n) {
			delete(k.kindOf, kd.Text)
		}
		kd.Regroup(nilIfEmpty(slices.DeleteFunc(slices.Clone(kd.In), func(g int32) bool { return gone[g] })))
		regrouped = append(regrouped, int32(n))
	}
	return regrouped
}
