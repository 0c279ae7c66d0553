package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// daemon is a DaemonSet by its representative pod.
type daemon struct {
	set         *appsv1.DaemonSet
	sample      *corev1.Pod
	class       int32
	requests    []int64
	tolerations []corev1.Toleration
	// terms are the alternatives of its node selector and required node affinity; preferences play no part.
	terms []match.Needs
}

// representatives finds, per DaemonSet UID, the newest of its bound pods: admission may have changed them. Pods of leaving
// nodes and pods that are being deleted don't count: a DaemonSet that has no others may have changed since they were made.
func representatives(nodes []Node) map[types.UID]*corev1.Pod {
	out := map[types.UID]*corev1.Pod{}
	for i := range nodes {
		for _, pod := range daemonPods(&nodes[i]) {
			uid, _ := match.DaemonOwner(pod)
			have := out[uid]
			if have == nil || cmp.Or(pod.CreationTimestamp.Compare(have.CreationTimestamp.Time), cmp.Compare(pod.Name, have.Name)) > 0 {
				out[uid] = pod
			}
		}
	}
	return out
}

// daemonPods are the DaemonSet pods of a node that can represent their sets.
func daemonPods(n *Node) []*corev1.Pod {
	if n.Leaving {
		return nil
	}
	var out []*corev1.Pod
	for _, pod := range n.Pods {
		if _, ok := match.DaemonOwner(pod); ok && pod.DeletionTimestamp == nil {
			out = append(out, pod)
		}
	}
	return out
}

// representative is the newest pod of the set with the template's required node affinity (an existing pod's own was
// narrowed to its node), else one made from the template.
func representative(set *appsv1.DaemonSet, newest map[types.UID]*corev1.Pod) *corev1.Pod {
	template := &set.Spec.Template
	if pod := newest[set.UID]; pod != nil && set.UID != "" {
		pod = pod.DeepCopy()
		if pod.Spec.Affinity != nil {
			pod.Spec.Affinity.NodeAffinity = nil
		}
		if t := template.Spec.Affinity; t != nil && t.NodeAffinity != nil {
			if pod.Spec.Affinity == nil {
				pod.Spec.Affinity = &corev1.Affinity{}
			}
			pod.Spec.Affinity.NodeAffinity = t.NodeAffinity.DeepCopy()
		}
		pod.Spec.NodeName = ""
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, controllerTolerations(&pod.Spec)...)
		return pod
	}
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, controllerTolerations(&template.Spec)...)
	pod.Namespace, pod.Labels = set.Namespace, template.Labels
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			limitsToRequests(&list[i].Resources)
		}
	}
	return pod
}

// controllerTolerations are what the DaemonSet controller adds to each of its pods: they come to nodes that are cordoned or
// in distress, where ordinary pods don't.
func controllerTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	taints := []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeMemoryPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodePIDPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
	}
	if spec.HostNetwork {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeNetworkUnavailable, Effect: corev1.TaintEffectNoSchedule})
	}
	out := make([]corev1.Toleration, len(taints))
	for i, t := range taints {
		out[i] = corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpExists, Effect: t.Effect}
	}
	return out
}

// limitsToRequests copies limits to missing requests, as the API server does for pods.
func limitsToRequests(r *corev1.ResourceRequirements) {
	for name, q := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = q.DeepCopy()
		}
	}
}

// daemonMask is where a DaemonSet would run among the machines of a pool: the union over its alternatives of rows x
// slots.
type daemonMask struct {
	daemon   *daemon
	number   int32        // of the daemon, in Model.daemonSets
	variants []bitset.Set // per alternative
	slots    []bitset.Set // per alternative
}

// runsAt reports whether the DaemonSet has a pod on the variant bought in the slot.
func (d *daemonMask) runsAt(variant, slot int) bool {
	for i := range d.variants {
		if d.variants[i].Has(variant) && d.slots[i].Has(slot) {
			return true
		}
	}
	return false
}

// daemonMasks finds the DaemonSets that a pool's machines would carry: those that tolerate its taints and are
// compatible with its template. Each alternative is looked at on its own, and zones count.
func (m *Model) daemonMasks(p *pool, c *market.Catalog) []daemonMask {
	var out []daemonMask
	have := p.template.Merge(m.vocab.FromLabels(map[string]string{labelRegistered: "true", labelInitialized: "true"}))
	for i := range m.daemonSets {
		d := &m.daemonSets[i]
		if match.Untolerated(d.tolerations, p.taints, true) != nil {
			continue
		}
		mask := daemonMask{daemon: d, number: int32(i)}
		for _, term := range d.terms {
			variants, slots, ok := m.daemonTerm(have, term, c)
			if ok {
				mask.variants, mask.slots = append(mask.variants, variants), append(mask.slots, slots)
			}
		}
		if len(mask.variants) > 0 {
			out = append(out, mask)
		}
	}
	return out
}

func (m *Model) daemonTerm(have requirements.Set, term match.Needs, c *market.Catalog) (variants, slots bitset.Set, ok bool) {
	variants, slots = c.AllVariants.Clone(), c.AllSlots.Clone()
	for _, r := range term {
		key := r.Key()
		if have.Has(key) && !match.Meets(have, r) {
			return nil, nil, false
		}
		narrowed := have.Get(key).Intersect(r)
		_, stated := c.TypeKeys[key]
		switch {
		case c.OfferingKeys[key]:
			slots.And(c.SlotMask(narrowed))
		case stated:
			variants.And(c.VariantMask(narrowed))
		case !have.Has(key) && !match.AbsentMeets(r):
			return nil, nil, false
		}
	}
	return variants, slots, !variants.Empty() && !slots.Empty()
}

// tableFor builds the pool's table, or finds the one of a pool with the same catalog and daemons. One without daemons is taken
// over from the previous model, which may be nil: nothing that is noted in it later depends on the model.
func (m *Model) tableFor(p *pool, catalogName string, previous *Model) *table {
	c := m.catalogs[catalogName]
	masks := m.daemonMasks(p, c)
	text := tableText(catalogName, masks)
	if t, ok := m.tables[text]; ok {
		return t
	}
	if len(masks) == 0 && previous != nil && slices.Equal(previous.resources.Names, m.resources.Names) {
		if t := previous.tables[text]; t != nil && t.catalog == c {
			m.tables[text] = t
			return t
		}
	}
	t := &table{catalog: c, inOrder: &purchases{}}
	dims := m.resources.Len()
	alloc, taken := make([]int64, dims), make([]int64, dims)
	for v := range c.Variants {
		m.resources.Capacity(c.Variants[v].Allocatable, alloc)
		m.resources.AttachRoom(alloc, typeLimit(c.Types[c.Variants[v].Type]))
		for _, slots := range slotGroups(masks, v, len(c.Slots)) {
			clear(taken)
			first := 0
			for s := range slots.Members {
				first = s
				break
			}
			var on []int32
			for i := range masks {
				if masks[i].runsAt(v, first) {
					resources.AddScaled(taken, masks[i].daemon.requests, 1)
					on = append(on, masks[i].number)
				}
			}
			t.on = append(t.on, on)
			t.rows = append(t.rows, row{variant: v, slots: slots})
			t.daemons = append(t.daemons, taken...)
			for d := range alloc {
				t.alloc = append(t.alloc, max(alloc[d]-taken[d], -1))
			}
		}
	}
	for r := 1; r < len(t.rows); r++ {
		if c.Variants[t.rows[r].variant].Type == c.Variants[t.rows[r-1].variant].Type {
			t.split = true
		}
	}
	m.tables[text] = t
	return t
}

// slotGroups splits the slots by the set of DaemonSets that run there on the variant; nearly always into one group.
func slotGroups(masks []daemonMask, variant, slots int) []bitset.Set {
	if len(masks) == 0 {
		return []bitset.Set{bitset.Full(slots)}
	}
	var groups []bitset.Set
	var keys []string
	for s := range slots {
		key := make([]byte, 0, len(masks))
		for i := range masks {
			if masks[i].runsAt(variant, s) {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		at := slices.Index(keys, string(key))
		if at < 0 {
			at = len(keys)
			keys = append(keys, string(key))
			groups = append(groups, bitset.New(slots))
		}
		groups[at].Add(s)
	}
	return groups
}

func tableText(catalogName string, masks []daemonMask) string {
	text := []byte(catalogName)
	for i := range masks {
		text = fmt.Appendf(text, "|%p", masks[i].daemon)
		for j := range masks[i].variants {
			text = append(text, profileText(masks[i].variants[j], masks[i].slots[j], nil)...)
		}
	}
	return string(text)
}

// findResidents notes, on the rows of all tables, the DaemonSet pods that topology rules could notice.
func (m *Model) findResidents() {
	if len(m.topology) == 0 {
		return
	}
	classes := make([]int32, len(m.daemonSets))
	for i := range m.daemonSets {
		classes[i] = m.daemonSets[i].class
		if m.classes[classes[i]].topology == nil {
			classes[i] = -1
		}
	}
	sets := map[string]int32{}
	for _, t := range m.tables {
		for r := range t.rows {
			row := &t.rows[r]
			for _, d := range t.on[r] {
				if classes[d] >= 0 {
					row.residents = append(row.residents, classes[d])
				}
			}
			if len(row.residents) == 0 {
				continue
			}
			text := fmt.Sprint(row.residents)
			if _, ok := sets[text]; !ok {
				sets[text] = int32(len(sets) + 1)
			}
			row.resident = sets[text]
		}
	}
}
