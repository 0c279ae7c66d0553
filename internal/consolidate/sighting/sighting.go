// Package sighting answers one question: would a plan see any difference between this fleet and an earlier one, and if so, which nodes have
// changed?
//
// The input is two surveys. A Sighting keeps the data that a plan depends on in a comparable form. Equal pointers mean equal objects. Other
// objects are compared by content, without fields that change with every write, such as resource versions. Comparing two sightings of an
// unchanged fleet takes a few steps for each node. Each changed object takes one step per field.
package sighting

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Sighting is a fleet at the time of planning, in a form that can be compared. Equal pointers mean equal objects. Other objects are
// compared by content.
type Sighting struct {
	Snapshot   *planning.Snapshot
	states     []cluster.NodeState
	candidates []*decision.Candidate
	blocked    map[string]*decision.Block
	executing  map[string]string
	buffered   map[string]bool
	budgets    []decision.Budget
	history    []decision.Disruption
	backOff    map[v1.PoolKey]survey.PoolPause
	refusals   map[survey.RefusalKey]survey.Refusal
	closed     []string
}

// See makes a Sighting of the present fleet.
func See(f *survey.Fleet) Sighting {
	out := Sighting{
		Snapshot: f.In.View.Snapshot, states: f.In.View.Nodes, candidates: f.Candidates, blocked: f.Blocked,
		executing: maps.Clone(f.In.Executing), buffered: maps.Clone(f.In.Buffered), budgets: slices.Clone(f.In.Budgets), history: slices.Clone(f.In.History),
		backOff: f.In.BackOff.Remembered(), refusals: f.In.Refusals.Remembered(),
	}
	out.closed, _ = f.ClosedNodes()
	return out
}

// Same reports whether both fleets must have the same plan, apart from effects of time. For effects of time, see Options.until of package
// global.
func (s *Sighting) Same(o *Sighting) bool {
	if len(s.states) != len(o.states) || !s.SameWorld(o) || !s.sameBounds(o) || !s.sameCandidates(o) {
		return false
	}
	for i := range s.states {
		if !sameState(&s.states[i], &o.states[i]) || !sameClaim(s.states[i].Claim, o.states[i].Claim) ||
			!s.states[i].LastPodEvent.Equal(o.states[i].LastPodEvent) || s.states[i].ProviderID != o.states[i].ProviderID ||
			!s.states[i].NominatedUntil.Equal(o.states[i].NominatedUntil) || !sameNode(&s.Snapshot.Nodes[i], &o.Snapshot.Nodes[i]) {
			return false
		}
	}
	return samePods(s.Snapshot.Pods, o.Snapshot.Pods) && samePods(s.Snapshot.Placeholders, o.Snapshot.Placeholders) &&
		Equal(s.Snapshot.Gangs, o.Snapshot.Gangs) && Equal(s.Snapshot.PodDisruptionBudgets, o.Snapshot.PodDisruptionBudgets)
}

// SameWorld reports whether both fleets are equal except for nodes, pods, and the limits on disruption.
func (s *Sighting) SameWorld(o *Sighting) bool {
	a, b := s.Snapshot, o.Snapshot
	if !Equal(a.Vocabulary, b.Vocabulary) || !Equal(a.Catalogs, b.Catalogs) || !Equal(a.NodeOverlays, b.NodeOverlays) || !Equal(a.CostModel, b.CostModel) ||
		!slices.EqualFunc(a.NodePools, b.NodePools, samePool) || !Equal(a.DaemonSets, b.DaemonSets) || !Equal(a.Namespaces, b.Namespaces) ||
		!Equal(a.PersistentVolumeClaims, b.PersistentVolumeClaims) || !Equal(a.PersistentVolumes, b.PersistentVolumes) || !Equal(a.StorageClasses, b.StorageClasses) ||
		!Equal(a.CSINodes, b.CSINodes) || !Equal(a.VolumeAttachments, b.VolumeAttachments) || !Equal(a.DefaultTopologySpread, b.DefaultTopologySpread) ||
		!Equal(a.ResourceClaims, b.ResourceClaims) || !Equal(a.ResourceClaimTemplates, b.ResourceClaimTemplates) || !Equal(a.DeviceClasses, b.DeviceClasses) || !Equal(a.ResourceSlices, b.ResourceSlices) ||
		!slices.Equal(a.UnsupportedVolumeTopologyKeys, b.UnsupportedVolumeTopologyKeys) || !slices.Equal(a.UnsupportedVolumeDrivers, b.UnsupportedVolumeDrivers) {
		return false
	}
	return len(a.DefaultTopologySpread) == 0 || // the objects that are compared below matter only if there are default spread constraints
		Equal(a.Services, b.Services) && Equal(a.ReplicaSets, b.ReplicaSets) && Equal(a.StatefulSets, b.StatefulSets) && Equal(a.ReplicationControllers, b.ReplicationControllers)
}

// sameBounds compares everything that limits disruption: executing commands, buffered nodes, budgets, history, pauses, refusals and closed
// nodes.
func (s *Sighting) sameBounds(o *Sighting) bool {
	return maps.Equal(s.executing, o.executing) && maps.Equal(s.buffered, o.buffered) && Equal(s.budgets, o.budgets) && Equal(s.history, o.history) &&
		maps.Equal(s.backOff, o.backOff) && maps.Equal(s.refusals, o.refusals) && slices.Equal(s.closed, o.closed)
}

// sameCandidates reports whether the two surveys have equal results for each node.
func (s *Sighting) sameCandidates(o *Sighting) bool {
	return slices.EqualFunc(s.candidates, o.candidates, func(a, b *decision.Candidate) bool {
		return a.Name == b.Name && a.Price == b.Price && a.Priced == b.Priced && a.Cost == b.Cost && a.QuietSince.Equal(b.QuietSince) &&
			a.Drifted.Equal(b.Drifted) && Equal(a.PodBlock, b.PodBlock)
	}) && maps.EqualFunc(s.blocked, o.blocked, Equal[*decision.Block])
}

// Equal reports whether two values have equal content. It is fast if both values point to the same objects.
func Equal[T any](a, b T) bool { return reflect.DeepEqual(a, b) }

func samePool(a, b planning.NodePool) bool {
	if a.Key != b.Key || a.Catalog != b.Catalog || a.NotReady != b.NotReady || (a.Object == nil) != (b.Object == nil) {
		return false
	}
	return a.Object == b.Object || sameMeta(&a.Object.ObjectMeta, &b.Object.ObjectMeta) && Equal(a.Object.Spec, b.Object.Spec)
}

// sameMeta compares metadata without the fields that change with every write.
func sameMeta(a, b *metav1.ObjectMeta) bool {
	x, y := *a, *b
	x.ResourceVersion, y.ResourceVersion, x.Generation, y.Generation, x.ManagedFields, y.ManagedFields = "", "", 0, 0, nil, nil
	return Equal(x, y)
}

// sameState compares the properties of a node that planners use, without the details of its claim and without properties that depend on
// the time.
func sameState(a, b *cluster.NodeState) bool {
	return a.Name == b.Name && a.Pool == b.Pool && a.Phase == b.Phase && a.Marked == b.Marked && a.Leaving == b.Leaving &&
		(a.Claim == nil) == (b.Claim == nil) && sameObject(a.Node, b.Node) && samePods(a.Pods, b.Pods)
}

// sameNode compares the properties of a node that decide which pods fit on it.
func sameNode(a, b *planning.Node) bool {
	return a.Name == b.Name && a.Pool == b.Pool && a.Leaving == b.Leaving && sameObject(a.Object, b.Object) && samePods(a.Pods, b.Pods) &&
		(a.Object != nil || sameClaim(a.Claim, b.Claim))
}

// sameObject compares Nodes, without their images and without the times and texts of their conditions.
func sameObject(a, b *corev1.Node) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	if !sameMeta(&a.ObjectMeta, &b.ObjectMeta) || !Equal(a.Spec, b.Spec) || !slices.EqualFunc(a.Status.Conditions, b.Status.Conditions, func(x, y corev1.NodeCondition) bool {
		return x.Type == y.Type && x.Status == y.Status
	}) {
		return false
	}
	x, y := a.Status, b.Status
	x.Conditions, y.Conditions, x.Images, y.Images = nil, nil, nil, nil
	return Equal(x, y)
}

func sameClaim(a, b *v1.NodeClaim) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return sameMeta(&a.ObjectMeta, &b.ObjectMeta) && Equal(a.Spec, b.Spec) && Equal(a.Status, b.Status)
}

func samePods(a, b []*corev1.Pod) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if a[i] != b[i] && !samePod(a[i], b[i]) {
			return false
		}
	}
	return true
}

func samePod(a, b *corev1.Pod) bool {
	return a != nil && b != nil && sameMeta(&a.ObjectMeta, &b.ObjectMeta) && Equal(a.Spec, b.Spec) && Equal(a.Status, b.Status)
}

// Changed returns the nodes that are new or have changed, by name.
func (s *Sighting) Changed(o *Sighting) map[string]bool {
	at := make(map[string]int, len(s.states))
	for i := range s.states {
		at[s.states[i].Name] = i
	}
	out := map[string]bool{}
	for i := range o.states {
		m := &o.states[i]
		k, known := at[m.Name]
		if !known || !sameState(&s.states[k], m) || !sameNode(&s.Snapshot.Nodes[k], &o.Snapshot.Nodes[i]) {
			out[m.Name] = true
		}
	}
	return out
}

// GaveUp returns the number of pending pods and placeholders that were deleted since the earlier sighting. They are no longer pending, and
// no changed node has them either.
func (s *Sighting) GaveUp(o *Sighting, changed map[string]bool) int {
	gone := map[planning.PodKey]bool{}
	for _, list := range [][]*corev1.Pod{s.Snapshot.Pods, s.Snapshot.Placeholders} {
		for _, pod := range list {
			gone[survey.KeyOf(pod)] = true
		}
	}
	if len(gone) == 0 {
		return 0
	}
	forget := func(list []*corev1.Pod) {
		for _, pod := range list {
			delete(gone, survey.KeyOf(pod))
		}
	}
	forget(o.Snapshot.Pods)
	forget(o.Snapshot.Placeholders)
	for i := range o.Snapshot.Nodes {
		if n := &o.Snapshot.Nodes[i]; changed[n.Name] {
			forget(n.Pods)
		}
	}
	return len(gone)
}
