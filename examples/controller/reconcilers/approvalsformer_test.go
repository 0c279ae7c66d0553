package reconcilers

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// noApproval is the controller after approval was switched off.
func noApproval(o *Options) {
	asKarpenter(o)
	o.Disruption.FormerApprovalNamespace = approvalNamespace
}

// ConfigMaps of commands that waited when approval was switched off are deleted, and others with their labels are not; what can't be deleted is
// tried again. Commands go on without approval.
func TestFormerApprovalsAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, node := emptied(t, asksApproval)
		made := w.proposal(ApprovalWaiting)
		other := made.DeepCopy()
		other.Name, other.UID, other.ResourceVersion = "of-somebody", "", ""
		copied := made.DeepCopy()
		copied.Name, copied.UID, copied.ResourceVersion, copied.Immutable = approvalPrefix+"copy", "", "", nil
		unlabelled := made.DeepCopy()
		unlabelled.Name, unlabelled.UID, unlabelled.ResourceVersion, unlabelled.Labels = approvalPrefix+"unlabelled", "", "", nil
		w.create(other, copied, unlabelled)
		tries := 0
		w.faults = func(verb string, o client.Object) error {
			if _, is := o.(*corev1.ConfigMap); is && verb == "delete" {
				if tries++; tries == 1 {
					return errors.New("not now")
				}
			}
			return nil
		}
		w.start(noApproval)
		w.disrupt(5)
		if n := len(w.proposals()); n != 3 || tries != 1 {
			t.Errorf("%d ConfigMaps after %d tries", n, tries)
		}
		time.Sleep(approvalSweep)
		w.disrupt(60)
		left := &corev1.ConfigMapList{}
		if err := w.client.List(t.Context(), left, client.InNamespace(approvalNamespace)); err != nil || len(left.Items) != 3 || tries != 2 {
			t.Errorf("%d ConfigMaps, %d tries, %v; want those of others", len(left.Items), tries, err)
		}
		for i := range left.Items {
			if left.Items[i].UID == made.UID {
				t.Error("the controller's own is left")
			}
		}
		if n := w.allNodes(); len(n) != 0 {
			t.Errorf("node %s is still there", node.Name)
		}
	})
}
