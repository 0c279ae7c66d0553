package e2e_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/provisioning"
)

// approvals are the ConfigMaps of commands in the state.
func approvals(t *testing.T, cluster *harness.Cluster, state reconcilers.ApprovalState) []corev1.ConfigMap {
	t.Helper()
	var list *corev1.ConfigMapList
	cluster.Retry("listing commands", func() (err error) {
		list, err = cluster.Client.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{LabelSelector: reconcilers.ApprovalStateLabelKey + "=" + string(state)})
		return err
	})
	return list.Items
}

// TestApproval: an empty node goes once the ConfigMap of its command has the digest as an annotation, not before, and although the
// controller is killed between: its successor proposes nothing twice.
func TestApproval(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	options := hasty()
	options.Batch = &provisioning.BatchOptions{Idle: 200 * time.Millisecond, Max: time.Second}
	options.Disruption.ApprovalNamespace = metav1.NamespaceDefault
	options.Disruption.Approval = disruption.ApprovalPolicy{Wait: new(time.Hour), Every: new(200 * time.Millisecond)}
	first := startController(t, cluster, options)
	cluster.CreateNodePool(fourCores("default", time.Second))
	cluster.CreateDeployment("web", 3, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 3))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(1))
	cluster.Scale("web", 0)
	waiting := func(n int) func() (bool, string) {
		return func() (bool, string) {
			list := approvals(t, cluster, reconcilers.ApprovalWaiting)
			return len(list) == n, fmt.Sprintf("%d commands wait", len(list))
		}
	}
	cluster.Eventually("a command waits for approval", patience, waiting(1))
	first.kill()
	startController(t, cluster, options)
	time.Sleep(5 * time.Second) // the successor plans meanwhile
	object := approvals(t, cluster, reconcilers.ApprovalWaiting)
	if len(object) != 1 || len(claimsOf(t, cluster)) != 1 || claimsOf(t, cluster)[0].DeletionTimestamp != nil {
		t.Fatalf("%d commands wait after a restart, want one whose node stays", len(object))
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, reconcilers.ApprovedAnnotationKey, object[0].Annotations[reconcilers.ApprovalDigestAnnotationKey])
	cluster.Retry("approving", func() error {
		_, err := cluster.Client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Patch(t.Context(), object[0].Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
	cluster.Eventually("the node is gone", patience, cluster.Empty())
	cluster.Eventually("the ConfigMap says so", patience, func() (bool, string) {
		done := approvals(t, cluster, reconcilers.ApprovalDone)
		return len(done) == 1 && done[0].UID == object[0].UID, fmt.Sprintf("%d commands are done", len(done))
	})
}
