package disruption

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// sighting is a fleet as it was when it was planned for, in a form that can be compared: objects that are the same are the same
// pointers, others are compared by what they say.
type sighting struct {
	snapshot   *scheduling.Snapshot
	machines   []cluster.Machine
	candidates []*Candidate
	blocked    map[string]*Block
	executing  map[string]string
	buffered   map[string]bool
	budgets    []Budget
	history    []Disruption
	backOff    map[v1.PoolKey]survey.PoolPause
	refusals   map[survey.RefusalKey]survey.Refusal
	closed     []string
}

func see(f *survey.Fleet) sighting {
	out := sighting{
		snapshot: f.In.View.Snapshot, machines: f.In.View.Machines, candidates: f.Candidates, blocked: f.Blocked,
		executing: maps.Clone(f.In.Executing), buffered: maps.Clone(f.In.Buffered), budgets: slices.Clone(f.In.Budgets), history: slices.Clone(f.In.History),
		backOff: f.In.BackOff.Remembered(), refusals: f.In.Refusals.Remembered(),
	}
	out.closed, _ = f.ClosedNodes()
	return out
}

// same reports whether plans for both must be the same but for what the time decides: see search.until.
func (s *sighting) same(o *sighting) bool {
	if len(s.machines) != len(o.machines) || !s.sameWorld(o) || !s.sameBounds(o) || !s.sameCandidates(o) {
		return false
	}
	for i := range s.machines {
		if !sameMachine(&s.machines[i], &o.machines[i]) || !sameClaim(s.machines[i].Claim, o.machines[i].Claim) ||
			!s.machines[i].LastPodEvent.Equal(o.machines[i].LastPodEvent) || s.machines[i].ProviderID != o.machines[i].ProviderID ||
			!s.machines[i].NominatedUntil.Equal(o.machines[i].NominatedUntil) || !sameNode(&s.snapshot.Nodes[i], &o.snapshot.Nodes[i]) {
			return false
		}
	}
	return samePods(s.snapshot.Pods, o.snapshot.Pods) && samePods(s.snapshot.Placeholders, o.snapshot.Placeholders) &&
		equal(s.snapshot.PodDisruptionBudgets, o.snapshot.PodDisruptionBudgets)
}

// sameWorld reports whether everything is as it was but nodes, pods, and what bounds disruption.
func (s *sighting) sameWorld(o *sighting) bool {
	a, b := s.snapshot, o.snapshot
	if !equal(a.Vocabulary, b.Vocabulary) || !equal(a.Catalogs, b.Catalogs) || !equal(a.NodeOverlays, b.NodeOverlays) || !equal(a.CostModel, b.CostModel) ||
		!slices.EqualFunc(a.NodePools, b.NodePools, samePool) || !equal(a.DaemonSets, b.DaemonSets) || !equal(a.Namespaces, b.Namespaces) ||
		!equal(a.PersistentVolumeClaims, b.PersistentVolumeClaims) || !equal(a.PersistentVolumes, b.PersistentVolumes) || !equal(a.StorageClasses, b.StorageClasses) ||
		!equal(a.CSINodes, b.CSINodes) || !equal(a.VolumeAttachments, b.VolumeAttachments) || !equal(a.DefaultTopologySpread, b.DefaultTopologySpread) ||
		!equal(a.ResourceClaims, b.ResourceClaims) || !equal(a.ResourceClaimTemplates, b.ResourceClaimTemplates) || !equal(a.DeviceClasses, b.DeviceClasses) || !equal(a.ResourceSlices, b.ResourceSlices) ||
		!slices.Equal(a.UnsupportedVolumeTopologyKeys, b.UnsupportedVolumeTopologyKeys) || !slices.Equal(a.UnsupportedVolumeDrivers, b.UnsupportedVolumeDrivers) {
		return false
	}
	return len(a.DefaultTopologySpread) == 0 || // nobody reads these otherwise
		equal(a.Services, b.Services) && equal(a.ReplicaSets, b.ReplicaSets) && equal(a.StatefulSets, b.StatefulSets) && equal(a.ReplicationControllers, b.ReplicationControllers)
}

// sameBounds compares what bounds disruption.
func (s *sighting) sameBounds(o *sighting) bool {
	return maps.Equal(s.executing, o.executing) && maps.Equal(s.buffered, o.buffered) && equal(s.budgets, o.budgets) && equal(s.history, o.history) &&
		maps.Equal(s.backOff, o.backOff) && maps.Equal(s.refusals, o.refusals) && slices.Equal(s.closed, o.closed)
}

// sameCandidates compares what Survey made of the nodes at its time.
func (s *sighting) sameCandidates(o *sighting) bool {
	return slices.EqualFunc(s.candidates, o.candidates, func(a, b *Candidate) bool {
		return a.Name == b.Name && a.Price == b.Price && a.Priced == b.Priced && a.Cost == b.Cost && a.QuietSince.Equal(b.QuietSince) &&
			a.Drifted.Equal(b.Drifted) && equal(a.PodBlock, b.PodBlock)
	}) && maps.EqualFunc(s.blocked, o.blocked, equal[*Block])
}

// equal compares by content, and soon comes to an end where both share what they point to.
func equal[T any](a, b T) bool { return reflect.DeepEqual(a, b) }

func samePool(a, b scheduling.NodePool) bool {
	if a.Key != b.Key || a.Catalog != b.Catalog || a.NotReady != b.NotReady || (a.Object == nil) != (b.Object == nil) {
		return false
	}
	return a.Object == b.Object || sameMeta(&a.Object.ObjectMeta, &b.Object.ObjectMeta) && equal(a.Object.Spec, b.Object.Spec)
}

// sameMeta leaves out what changes with every write.
func sameMeta(a, b *metav1.ObjectMeta) bool {
	x, y := *a, *b
	x.ResourceVersion, y.ResourceVersion, x.Generation, y.Generation, x.ManagedFields, y.ManagedFields = "", "", 0, 0, nil, nil
	return equal(x, y)
}

// sameMachine compares what planners see of a node but for its claim and what time makes of it.
func sameMachine(a, b *cluster.Machine) bool {
	return a.Name == b.Name && a.Pool == b.Pool && a.Phase == b.Phase && a.Marked == b.Marked && a.Leaving == b.Leaving &&
		(a.Claim == nil) == (b.Claim == nil) && sameObject(a.Node, b.Node) && samePods(a.Pods, b.Pods)
}

// sameNode compares what places for pods depend on.
func sameNode(a, b *scheduling.Node) bool {
	return a.Name == b.Name && a.Pool == b.Pool && a.Leaving == b.Leaving && sameObject(a.Object, b.Object) && samePods(a.Pods, b.Pods) &&
		(a.Object != nil || sameClaim(a.Claim, b.Claim))
}

// sameObject compares Nodes, and passes over when their conditions were last looked at.
func sameObject(a, b *corev1.Node) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	if !sameMeta(&a.ObjectMeta, &b.ObjectMeta) || !equal(a.Spec, b.Spec) || !slices.EqualFunc(a.Status.Conditions, b.Status.Conditions, func(x, y corev1.NodeCondition) bool {
		return x.Type == y.Type && x.Status == y.Status
	}) {
		return false
	}
	x, y := a.Status, b.Status
	x.Conditions, y.Conditions, x.Images, y.Images = nil, nil, nil, nil
	return equal(x, y)
}

func sameClaim(a, b *v1.NodeClaim) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return sameMeta(&a.ObjectMeta, &b.ObjectMeta) && equal(a.Spec, b.Spec) && equal(a.Status, b.Status)
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
	return a != nil && b != nil && sameMeta(&a.ObjectMeta, &b.ObjectMeta) && equal(a.Spec, b.Spec) && equal(a.Status, b.Status)
}

// changed are the nodes that have come since, or are not as they were, by name.
func (s *sighting) changed(o *sighting) map[string]bool {
	at := make(map[string]int, len(s.machines))
	for i := range s.machines {
		at[s.machines[i].Name] = i
	}
	out := map[string]bool{}
	for i := range o.machines {
		m := &o.machines[i]
		k, known := at[m.Name]
		if !known || !sameMachine(&s.machines[k], m) || !sameNode(&s.snapshot.Nodes[k], &o.snapshot.Nodes[i]) {
			out[m.Name] = true
		}
	}
	return out
}

// gaveUp is how many pods and placeholders waited that do so no more, and have not come to a node, which would have changed.
func (s *sighting) gaveUp(o *sighting, changed map[string]bool) int {
	gone := map[scheduling.PodKey]bool{}
	for _, list := range [][]*corev1.Pod{s.snapshot.Pods, s.snapshot.Placeholders} {
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
	forget(o.snapshot.Pods)
	forget(o.snapshot.Placeholders)
	for i := range o.snapshot.Nodes {
		if n := &o.snapshot.Nodes[i]; changed[n.Name] {
			forget(n.Pods)
		}
	}
	return len(gone)
}
