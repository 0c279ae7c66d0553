package reconcilers

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// triggers collects the reasons for a pass. Any goroutine may add reasons.
type triggers struct {
	mu      sync.Mutex
	added   map[types.UID]bool
	removed map[types.UID]bool
	wake    chan struct{}
	// standby is true while the process is not the leader. A standby does not plan, so it keeps no triggers: their number would only grow.
	// A new leader plans for everything that is pending.
	standby bool
}

// newTriggers returns the triggers of a process that is not the leader yet.
func newTriggers() triggers {
	return triggers{added: map[types.UID]bool{}, removed: map[types.UID]bool{}, wake: make(chan struct{}, 1), standby: true}
}

// begin triggers a plan for everything that is pending, and collects reasons from now on.
func (t *triggers) begin() {
	t.mu.Lock()
	t.standby = false
	t.mu.Unlock()
	t.add(startTrigger)
}

func (t *triggers) add(uid types.UID) {
	t.mu.Lock()
	if t.standby {
		t.mu.Unlock()
		return
	}
	t.added[uid] = true
	delete(t.removed, uid)
	t.mu.Unlock()
	wake(t.wake)
}

func (t *triggers) forget(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.standby {
		return
	}
	delete(t.added, uid)
	t.removed[uid] = true
}

// drain passes all collected reasons to the batch.
func (t *triggers) drain(batch *provisioning.Batch, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uid := range t.removed {
		batch.Forget(uid)
	}
	for uid := range t.added {
		batch.Trigger(uid, now)
	}
	clear(t.added)
	clear(t.removed)
}

// seen checks whether a change of the cluster is a reason for a pass.
func (p *planner) seen(before, after client.Object) {
	switch object := after.(type) {
	case *corev1.Pod:
		old, _ := before.(*corev1.Pod)
		was := old != nil && pods.Provisionable(old)
		switch is := pods.Provisionable(object); {
		case is && !was:
			p.triggers.add(object.UID)
		case was && !is:
			p.triggers.forget(object.UID)
		}
	case *corev1.Node:
		if old, _ := before.(*corev1.Node); leaves(object) && (old == nil || !leaves(old)) {
			p.triggers.add(object.UID)
		}
	case *v1.NodeClaim:
		old, _ := before.(*v1.NodeClaim)
		if object.DeletionTimestamp != nil && (old == nil || old.DeletionTimestamp == nil) {
			p.triggers.add(object.UID)
		}
		// A request may wait for this node. Until the request is answered, it is not known whether the node is needed.
		if p.requests != nil && initialized(object) && (old == nil || !initialized(old)) {
			p.triggers.add(requestsTrigger)
		}
	case *v1.NodePool:
		// A pool that has just become ready, or was changed, may have capacity for pending pods.
		old, _ := before.(*v1.NodePool)
		if old == nil || old.Generation != object.Generation || !ready(old) && ready(object) {
			p.triggers.add(object.UID)
		}
	case *unstructured.Unstructured:
		// If a group was created or changed, pending pods may have places.
		old, _ := before.(*unstructured.Unstructured)
		if old == nil || old.GetGeneration() != object.GetGeneration() {
			p.triggers.add(object.GetUID())
		}
	case nil:
		switch gone := before.(type) {
		case *corev1.Pod:
			p.triggers.forget(gone.UID)
		case *unstructured.Unstructured: // the group is deleted, so its pods are planned separately from now on
			p.triggers.add(gone.GetUID())
		}
	}
}

// leaves reports whether the node is being deleted or is marked as being disrupted, so that its pods will need other places.
func leaves(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || v1.DisruptionMarked(node)
}

func initialized(claim *v1.NodeClaim) bool {
	return claim.DeepCopy().Conditions().IsTrue(v1.ConditionInitialized)
}

func ready(pool *v1.NodePool) bool { return pool.DeepCopy().Conditions().IsTrue(v1.ConditionReady) }
