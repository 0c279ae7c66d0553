package solving

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/drawknife/drawknife/internal/engine/state"
)

// keepTogether ensures that, of the pods that share device claims, either all have a node or none has one. If one of these pods is pending,
// it removes the other pods from their nodes.
func (t Solving) keepTogether() {
	waiting := t.waitingGroups()
	t.Parted = nil
	if len(waiting) == 0 {
		return
	}
	var apart []state.Binding
	for _, b := range t.S.Placed.All {
		if id, _ := t.M.Devices.Follows(t.M.Classes[b.Class].Sample); b.Count > 0 && waiting.Has(id) && (!t.NewOnly || int(b.Host) >= len(t.M.Nodes)+t.Fresh) {
			apart = append(apart, b)
			if t.Parted == nil {
				t.Parted = sets.New[string]()
			}
			t.Parted.Insert(id)
		}
	}
	for _, b := range apart {
		t.Proof = nil
		for range b.Count {
			t.S.TakeOne(b.Host, b.Class)
		}
	}
	t.S.AbandonEmpty()
}

// waitingGroups returns the groups of pods that share claims and have a pending pod.
func (t Solving) waitingGroups() sets.Set[string] {
	x := t.M.Devices
	if x == nil || x.Claims == nil || len(x.Claims.Groups) == 0 {
		return nil
	}
	out := sets.New[string]()
	for class, c := range t.M.Classes {
		if t.S.Waiting[class] > 0 && len(c.Sample.Spec.ResourceClaims) > 0 {
			if id, _ := x.Follows(c.Sample); id != "" {
				out.Insert(id)
			}
		}
	}
	return out
}
