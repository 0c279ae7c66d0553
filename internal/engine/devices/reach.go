package devices

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Reach says which devices of an Inventory a node can use. A nil Reach means all devices.
type Reach struct {
	devices, pools []bool
}

// Reach returns the devices that a node with this name and these labels can use.
func (inv *Inventory) Reach(node string, of map[string]string) *Reach {
	r := &Reach{devices: make([]bool, len(inv.devices)), pools: make([]bool, len(inv.pools))}
	for i := range inv.devices {
		if inv.devices[i].where.has(node, of) {
			r.devices[i] = true
			r.pools[inv.devices[i].pool] = true
		}
	}
	for i := range inv.pools {
		if p := &inv.pools[i]; p.problem() != "" {
			r.pools[i] = p.has(node, of)
		}
	}
	return r
}

func (r *Reach) device(at int32) bool { return r == nil || r.devices[at] }

func (r *Reach) pool(at int) bool { return r == nil || r.pools[at] }

func (w *where) has(node string, of map[string]string) bool {
	switch {
	case w.node != "":
		return w.node == node
	case w.all:
		return true
	case w.selector != nil:
		return selects(w.selector, node, of)
	}
	return false
}

// has reports whether the node can use any ResourceSlice of the pool. A ResourceSlice with counters is for all nodes. The parameter of has
// the node's labels.
func (p *pool) has(node string, of map[string]string) bool {
	for _, s := range p.slices {
		if len(s.Spec.SharedCounters) > 0 {
			return true
		}
		if !is(s.Spec.PerDeviceNodeSelection) {
			if w := whereOf(s, nil); w.has(node, of) {
				return true
			}
			continue
		}
		for i := range s.Spec.Devices {
			if w := whereOf(s, &s.Spec.Devices[i]); w.has(node, of) {
				return true
			}
		}
	}
	return false
}

func selects(s *corev1.NodeSelector, node string, of map[string]string) bool {
	for i := range s.NodeSelectorTerms {
		term := &s.NodeSelectorTerms[i]
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			continue
		}
		if meets(term.MatchExpressions, labels.Set(of)) && meets(term.MatchFields, labels.Set{metav1.ObjectNameField: node}) {
			return true
		}
	}
	return false
}

func meets(list []corev1.NodeSelectorRequirement, of labels.Set) bool {
	operators := map[corev1.NodeSelectorOperator]selection.Operator{
		corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
		corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
	}
	for i := range list {
		r, err := labels.NewRequirement(list[i].Key, operators[list[i].Operator], list[i].Values)
		if err != nil || !r.Matches(of) {
			return false
		}
	}
	return true
}
