package e2e_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/provisioning"
)

// TestDrainSurgesFirst deletes the node of a deployment's only pod: another pod is ready before it goes, so that one serves all
// the while, and the deployment is as it was afterwards.
func TestDrainSurgesFirst(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, reconcilers.Options{Evictor: provisioning.SurgeFirst{}})
	cluster.CreateNodePool(harness.NodePool("default"))
	cluster.CreateDeployment("web", 1, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pod runs", patience, cluster.PodsRun("web", 1))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(1))
	old := cluster.Pods("web")[0]
	if err := cluster.Client.CoreV1().Nodes().Delete(t.Context(), old.Spec.NodeName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// What serves is asked for each time that the cluster is looked at; what is between two looks shows in when pods began and ended.
	served := true
	took := cluster.Eventually("the node is gone", patience, func() (bool, string) {
		ready := 0
		for _, pod := range cluster.Pods("web") {
			if harness.Running(pod) && pod.DeletionTimestamp == nil {
				ready++
			}
		}
		served = served && ready > 0
		return cluster.Node(old.Spec.NodeName) == nil, fmt.Sprint(ready, " pods are ready")
	})
	if !served {
		t.Error("for a while no pod was ready")
	}
	cluster.Eventually("the deployment is as it was", patience, func() (bool, string) {
		d, err := cluster.Client.AppsV1().Deployments(cluster.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		note := d.Annotations[provisioning.SurgeAnnotation]
		return *d.Spec.Replicas == 1 && note == "" && d.Status.ReadyReplicas == 1, fmt.Sprintf("%d replicas, note %q, %d ready", *d.Spec.Replicas, note, d.Status.ReadyReplicas)
	})
	cluster.Eventually("one pod runs", patience, cluster.PodsRun("web", 1))
	if cluster.Pods("web")[0].UID == old.UID {
		t.Error("the pod is where it was")
	}
	cluster.Note("moved in %s", took.Round(time.Millisecond))
}
