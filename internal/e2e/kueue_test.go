package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// Resources that tests of Kueue look at. Other kinds of this API server are called workloads, too.
const (
	kueueWorkloads       = "workloads.kueue.x-k8s.io"
	provisioningRequests = "provisioningrequests"
)

// batchPage is the document whose commands these tests run.
const batchPage = "docs/batch.md"

// TestKueue walks through the document's section on Kueue, with the released Kueue on the control plane and kubelets that are simulated.
func TestKueue(t *testing.T) {
	cluster := batchServer.Start(t, harness.Options{})
	api := newAPI(t, cluster)
	startKueue(t, cluster, api)
	cluster.Note("Kueue is ready")
	options := batchOptions()
	options.Features.ProvisioningRequest = true
	startController(t, cluster, options)
	oneJob(t, cluster, api)
	flavourByFlavour(t, cluster, api)
}

// hurried changes a document's object as a test on the fake cloud needs it, that has less time than a user: jobs run as long as is said.
func hurried(t *testing.T, runs time.Duration) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		set := func(value any, fields ...string) {
			if err := unstructured.SetNestedField(object.Object, value, fields...); err != nil {
				t.Fatal(err)
			}
		}
		switch object.GetKind() {
		case "NodePool":
			set(map[string]any{"group": fake.NodeClassGroup, "kind": fake.NodeClassKind, "name": "default"}, "spec", "template", "spec", "nodeClassRef")
			set("1s", "spec", "disruption", "consolidateAfter")
			set([]any{map[string]any{"nodes": "100%"}}, "spec", "disruption", "budgets")
		case "ProvisioningRequestConfig":
			set(int64(5), "spec", "retryStrategy", "backoffBaseSeconds")
		case "Job":
			set(map[string]any{kubelet.CompletesAfter: runs.String()}, "spec", "template", "metadata", "annotations")
		}
	}
}

// oneJob follows a job from the queue until nothing is left of it.
func oneJob(t *testing.T, cluster *harness.Cluster, api *api) {
	t.Helper()
	const members = 4
	steps := commands(t, batchPage, "### One job")
	for _, step := range steps {
		if strings.HasSuffix(step, "condition=Provisioned") {
			// The job is held until its nodes are there.
			cluster.Eventually("a request is made of the job", patience, func() (bool, string) {
				list, err := api.list(provisioningRequests)
				return err == nil && len(list) == 1, fmt.Sprint(len(list), err)
			})
			if pods := cluster.Pods(""); len(pods) > 0 {
				t.Errorf("%d pods are there before the job has room", len(pods))
			}
		}
		if strings.Contains(step, "delete") {
			ranIn(t, cluster, "train", members, "batch-spot")
			admittedIn(t, api, "train", "spot")
		}
		api.run(step, hurried(t, 5*time.Second))
	}
	for _, resource := range []string{"jobs", "pods", kueueWorkloads, provisioningRequests, "podtemplates"} {
		cluster.Eventually("no "+resource+" are left", patience, func() (bool, string) {
			list, err := api.list(resource)
			return err == nil && len(list) == 0, fmt.Sprint(list, err)
		})
	}
	took := cluster.Eventually("its nodes are gone", patience, cluster.Empty())
	cluster.Note("after %s its nodes are gone", took.Round(time.Millisecond))
}

// flavourByFlavour has a job refused, backing off, and admitted to another flavour.
func flavourByFlavour(t *testing.T, cluster *harness.Cluster, api *api) {
	t.Helper()
	bought := cluster.Bought()
	for _, step := range commands(t, batchPage, "### Flavor by flavor") {
		api.run(step, hurried(t, 10*time.Second))
		switch {
		case strings.HasSuffix(step, "condition=Failed"):
			if n := cluster.Bought() - bought; n > 0 {
				t.Errorf("%d instances are launched for a job that can't have all it needs", n)
			}
			list, err := api.list(provisioningRequests)
			if err != nil || len(list) != 1 {
				t.Fatal(len(list), "requests", err)
			}
			message := fmt.Sprint(conditionOf(&list[0], "Failed")["message"])
			cluster.Note("refused: %s", message)
			if !strings.Contains(message, "of 6 members fit") || !strings.Contains(message, "limit cpu") {
				t.Errorf("the request is refused with %q, want how many fit and which limit is in the way", message)
			}
		case strings.HasSuffix(step, "condition=Complete"):
			ranIn(t, cluster, "train", 4, "batch-spot")
			ranIn(t, cluster, "sweep", 6, "batch-on-demand")
			admittedIn(t, api, "train", "spot")
			admittedIn(t, api, "sweep", "on-demand")
		}
	}
	cluster.Eventually("all nodes are gone", patience, cluster.Empty())
	cluster.Note("all nodes are gone")
}

// ranIn checks that the pods of a job have run, with a node selector for a pool unless that is empty.
func ranIn(t *testing.T, cluster *harness.Cluster, job string, members int, pool string) {
	t.Helper()
	pods := slices.DeleteFunc(slices.Clone(cluster.Pods("")), func(pod *corev1.Pod) bool { return pod.Labels["batch.kubernetes.io/job-name"] != job })
	if len(pods) != members {
		t.Errorf("job %s has %d pods, want %d", job, len(pods), members)
	}
	for _, pod := range pods {
		if pod.Spec.NodeSelector[v1.NodePoolLabelKey] != pool || pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodSucceeded {
			t.Errorf("pod %s with node selector %v on node %q is %s, want it to have ended well in nodepool %s", pod.Name, pod.Spec.NodeSelector, pod.Spec.NodeName, pod.Status.Phase, pool)
		}
	}
}

// admittedIn checks the flavour that Kueue has admitted a job to.
func admittedIn(t *testing.T, api *api, job, flavour string) {
	t.Helper()
	list, err := api.list(kueueWorkloads)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if !strings.HasPrefix(list[i].GetName(), "job-"+job+"-") {
			continue
		}
		sets, _, _ := unstructured.NestedSlice(list[i].Object, "status", "admission", "podSetAssignments")
		for _, set := range sets {
			got, _, _ := unstructured.NestedStringMap(set.(map[string]any), "flavors")
			if got["cpu"] == flavour && got["memory"] == flavour {
				return
			}
		}
		t.Errorf("job %s is admitted with %v, want flavour %s", job, sets, flavour)
		return
	}
	t.Errorf("job %s has no workload", job)
}
