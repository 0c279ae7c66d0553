package manifests_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// deploymentOf is the manifest of a Deployment; uid is empty for one that was never applied.
func deploymentOf(name, uid string, replicas string) string {
	text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name
	if uid != "" {
		text += ", uid: " + uid
	}
	return text + "}\nspec: {replicas: " + replicas + ", selector: {matchLabels: {app: " + name + "}}, template: {metadata: {labels: {app: " + name +
		"}}, spec: {containers: [{name: c, image: i}]}}}\n---\n"
}

// runningPod is a pod of a Deployment's ReplicaSet as a cluster returns it.
func runningPod(of string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + of + "-x1-y, uid: p-" + of + ", labels: {app: " + of + ", pod-template-hash: x1}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " +
		of + "-x1, uid: rs-" + of + ", controller: true}]}\nspec: {nodeName: node-1, containers: [{name: c, image: i}]}\n---\n"
}

// A new version of manifests replaces the former one as a whole: what it lacks is gone, and what only the cluster has stays.
func TestFormer(t *testing.T) {
	source := func(name, text string) manifests.Source { return manifests.Source{Name: name, Data: []byte(text)} }
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: node-1, uid: node-1}\nstatus: {allocatable: {cpu: 8, memory: 8Gi, pods: 20}}\n---\n"
	hpa := func(name string, least string) string {
		return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: " + name + "}\nspec: {minReplicas: " + least + ", maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: " + name + "}}\n---\n"
	}
	cluster := source("cluster", node+deploymentOf("kept", "u1", "1")+runningPod("kept")+deploymentOf("gone", "u2", "1")+runningPod("gone")+deploymentOf("other", "u3", "1")+runningPod("other"))
	main := source("main", deploymentOf("kept", "", "2")+hpa("kept", "5")+deploymentOf("gone", "", "1")+deploymentOf("never", "", "4"))
	for _, test := range []struct {
		name string
		next string
		// pending and running are the numbers of pods by the label app.
		pending, running map[string]int
	}{
		{"all of them", deploymentOf("kept", "", "3"), map[string]int{"kept": 3}, map[string]int{"other": 1}},
		{"its own autoscaler", deploymentOf("kept", "", "3") + hpa("kept", "4"), map[string]int{"kept": 4}, map[string]int{"other": 1}},
		{"one comes back", deploymentOf("gone", "", "1"), map[string]int{"gone": 1}, map[string]int{"other": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := manifests.Load([]manifests.Source{source("pr", test.next)}, manifests.Options{Former: []manifests.Source{main}, Live: []manifests.Source{cluster}})
			if err != nil {
				t.Fatal(err)
			}
			pending, running := map[string]int{}, map[string]int{}
			for _, p := range result.Snapshot.Pods {
				pending[p.Labels["app"]]++
			}
			for _, p := range result.Snapshot.Nodes[0].Pods {
				running[p.Labels["app"]]++
			}
			if diff := cmp.Diff(test.pending, pending); diff != "" {
				t.Errorf("pending pods (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.running, running); diff != "" {
				t.Errorf("running pods (-want +got):\n%s", diff)
			}
		})
	}
}
