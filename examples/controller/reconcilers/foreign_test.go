package reconcilers

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

// foreignNode makes a pool of another provider's with a node that is not ready and that a command of its own controller has marked.
func (w *world) foreignNode(claimed bool) (*corev1.Node, *v1.NodeClaim) {
	w.t.Helper()
	pool := build.Pool("theirs")
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "other.test", Kind: "Other", Name: "x"}
	w.create(pool)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign", Finalizers: []string{v1.TerminationFinalizer}, Labels: map[string]string{
		v1.NodePoolLabelKey: "theirs", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
	}}, Spec: corev1.NodeSpec{ProviderID: "other://1", Taints: []corev1.Taint{v1.DisruptedTaint()}}}
	w.create(node)
	if !claimed {
		return node, nil
	}
	claim := build.Claim("foreign")
	claim.Labels = map[string]string{v1.NodePoolLabelKey: "theirs"}
	claim.Annotations = map[string]string{v1.DisruptionCommandAnnotationKey: "{"}
	claim.Finalizers = []string{v1.TerminationFinalizer}
	claim.Spec.NodeClassRef = pool.Spec.Template.Spec.NodeClassRef
	w.create(claim)
	claim.Status.ProviderID, claim.Status.NodeName = "other://1", "foreign"
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		claim.Conditions().SetTrue(kind, time.Now())
	}
	claim.Conditions().Set(v1.ConditionDisruptionReason, metav1.ConditionTrue, "Drifted", "", time.Now())
	if err := w.client.Status().Update(w.t.Context(), claim); err != nil {
		w.t.Fatal(err)
	}
	return node, claim
}

// A claim of an early release names no group of its node class, or no kind: it is this provider's.
func TestReferencesOfEarlyReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		for _, ref := range []v1.NodeClassReference{{Name: "x"}, {Kind: "Other", Name: "x"}, {Group: "other.test", Name: "x"}} {
			if claim := (&v1.NodeClaim{Spec: v1.NodeClaimSpec{NodeClassRef: ref}}); w.claims.foreignClaim(claim) {
				t.Errorf("%+v is taken for another provider's", ref)
			}
		}
	})
}

// PRV-050: nothing of another provider's is written to or deleted: neither its nodes and claims, which this provider's list does not
// know, nor what its controller's commands put on them, nor a node of its that is drained.
func TestObjectsOfOtherProviders(t *testing.T) {
	const drained = "its node is drained"
	for name, act := range map[string]func(*world){
		"commands are looked for": func(w *world) { w.disrupt(5) },
		"garbage is collected": func(w *world) {
			time.Sleep(5 * time.Minute)
			if err := w.garbage.collect(w.t.Context()); err != nil {
				w.t.Error(err)
			}
		},
		drained: func(w *world) {
			w.delete(get(w, &corev1.Node{}, "foreign"))
			w.live(10)
		},
		"a pod of its ends": func(w *world) {
			pod := newPod("a")
			pod.Spec.NodeName = "foreign"
			w.podEvents.seen(pod, nil)
			w.podEvents.store(w.t.Context())
		},
	} {
		for _, claimed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, nil)
					node, claim := w.foreignNode(claimed)
					act(w)
					after := get(w, &corev1.Node{}, "foreign")
					switch {
					case after == nil || len(after.Finalizers) != 1:
						t.Error("its node is gone")
					case (after.DeletionTimestamp != nil) != (name == drained):
						t.Errorf("its node is deleted: %+v", after.DeletionTimestamp)
					case name != drained && after.ResourceVersion != node.ResourceVersion || len(after.Labels) != 3 || !v1.DisruptionTainted(after):
						t.Errorf("its node was written to: %+v", after)
					}
					if claimed {
						if after := get(w, &v1.NodeClaim{}, "foreign"); after == nil || after.DeletionTimestamp != nil || after.ResourceVersion != claim.ResourceVersion {
							t.Errorf("its claim was written to: %+v", after)
						}
					}
				})
			})
		}
	}
}
