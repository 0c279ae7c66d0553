package manifests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// podOf is a live pod that names an owner.
func podOf(name, ownerAPIVersion, ownerKind, owner, labels string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, uid: %s, labels: {%s}, ownerReferences: [{apiVersion: %s, kind: %s, name: %s}]}\n"+
		"spec: {containers: [{name: x}]}\n", name, name, labels, ownerAPIVersion, ownerKind, owner)
}

// workloadOf is an object with a pod template labelled app=web and more fields in its spec.
func workloadOf(apiVersion, kind, name, spec string) string {
	return fmt.Sprintf("---\napiVersion: %s\nkind: %s\nmetadata: {name: %s, uid: u-%s}\nspec:\n  template:\n    metadata: {labels: {app: web}}\n"+
		"    spec: {containers: [{name: main, resources: {limits: {cpu: 100m}}}]}\n%s", apiVersion, kind, name, name, dedent(spec))
}

func TestWorkloadsAreExpanded(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a Deployment has one replica unless it says otherwise": {
			workloadOf("apps/v1", "Deployment", "web", ""), []string{"web-0"},
		},
		"replicas": {
			workloadOf("apps/v1", "Deployment", "web", "  replicas: 3\n"), []string{"web-0", "web-1", "web-2"},
		},
		"no replicas": {
			workloadOf("apps/v1", "Deployment", "web", "  replicas: 0\n"), nil,
		},
		"a StatefulSet starts where it says": {
			workloadOf("apps/v1", "StatefulSet", "db", "  replicas: 2\n  ordinals: {start: 5}\n"), []string{"db-5", "db-6"},
		},
		"a Job runs one pod": {
			workloadOf("batch/v1", "Job", "run", ""), []string{"run-0"},
		},
		"a Job runs its parallelism": {
			workloadOf("batch/v1", "Job", "run", "  parallelism: 2\n  completions: 10\n"), []string{"run-0", "run-1"},
		},
		"a Job runs no more than are missing": {
			workloadOf("batch/v1", "Job", "run", "  parallelism: 5\n  completions: 4\nstatus: {succeeded: 3}\n"), []string{"run-0"},
		},
		"a work queue runs its parallelism": {
			workloadOf("batch/v1", "Job", "run", "  parallelism: 2\n"), []string{"run-0", "run-1"},
		},
		"a completed Job": {
			workloadOf("batch/v1", "Job", "run", "status: {conditions: [{type: Complete, status: \"True\"}]}\n"), nil,
		},
		"a failed Job": {
			workloadOf("batch/v1", "Job", "run", "status: {conditions: [{type: Failed, status: \"True\"}]}\n"), nil,
		},
		"a Deployment leaves its pods to its ReplicaSets": {
			workloadOf("apps/v1", "Deployment", "web", "  replicas: 9\n") +
				replicaSetOf("web", "web-old", 0) + replicaSetOf("web", "web-new", 2),
			[]string{"web-new-0", "web-new-1"},
		},
		"a Deployment with old ReplicaSets alone": {
			workloadOf("apps/v1", "Deployment", "web", "") + replicaSetOf("web", "web-old", 0), []string{"web-0"},
		},
		"pods of a ReplicaSet that is in the input": {
			workloadOf("apps/v1", "Deployment", "web", "  replicas: 9\n") + replicaSetOf("web", "web-abc", 9) +
				podOf("p", "apps/v1", "ReplicaSet", "web-abc", "app: web"),
			[]string{"p"},
		},
		"pods of a ReplicaSet that is not in the input": {
			workloadOf("apps/v1", "Deployment", "web", "  replicas: 9\n  selector: {matchLabels: {app: web}}\n") +
				podOf("p", "apps/v1", "ReplicaSet", "web-abc", "app: web"),
			[]string{"p"},
		},
		"pods of a ReplicaSet that only sounds the same": {
			workloadOf("apps/v1", "Deployment", "web", "  selector: {matchLabels: {app: web}}\n") +
				podOf("p", "apps/v1", "ReplicaSet", "web-abc", "app: other"),
			[]string{"p", "web-0"},
		},
		"pods of a StatefulSet": {
			workloadOf("apps/v1", "StatefulSet", "db", "  replicas: 3\n") + podOf("db-1", "apps/v1", "StatefulSet", "db", ""), []string{"db-1"},
		},
		"pods of a ReplicationController": {
			workloadOf("v1", "ReplicationController", "rc", "  replicas: 3\n") + podOf("p", "v1", "ReplicationController", "rc", ""), []string{"p"},
		},
		"pods of a Job": {
			workloadOf("batch/v1", "Job", "run", "  parallelism: 3\n") + podOf("p", "batch/v1", "Job", "run", ""), []string{"p"},
		},
		"pods of another kind with the same name": {
			workloadOf("batch/v1", "Job", "run", "") + podOf("p", "example.com/v1", "Job", "run", ""), []string{"p", "run-0"},
		},
		"a CronJob runs once": {
			cronJob(""), []string{"tick-0"},
		},
		"a CronJob with a Job": {
			cronJob("") + "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: tick-123, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: tick}]}\n" +
				"spec: {template: {spec: {containers: [{name: x}]}}}\n",
			[]string{"tick-123-0"},
		},
		"a CronJob with a pod of a Job that is not in the input": {
			cronJob("") + podOf("p", "batch/v1", "Job", "tick-123", ""), []string{"p"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, pod := range c.want {
				want = append(want, "default/"+pod)
			}
			wantPods(t, load(t, c.text).Snapshot.Pods, want...)
		})
	}
}

func replicaSetOf(deployment, name string, replicas int) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: %s, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %s}]}\n"+
		"spec: {replicas: %d, template: {spec: {containers: [{name: x}]}}}\n", name, deployment, replicas)
}

func cronJob(more string) string {
	return "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: tick}\nspec:\n  schedule: '* * * * *'\n  jobTemplate: {spec: {template: {spec: {containers: [{name: x}]}}}}\n" + more
}

func TestSuspendedWorkloadsAreNamed(t *testing.T) {
	for name, text := range map[string]string{
		"Job":              workloadOf("batch/v1", "Job", "run", "  suspend: true\n"),
		"CronJob":          cronJob("  suspend: true\n"),
		"Job of a CronJob": strings.Replace(cronJob(""), "{spec: {template", "{spec: {suspend: true, template", 1),
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, text)
			wantPods(t, result.Snapshot.Pods)
			wantWarning(t, result, WarningSuspended)
		})
	}
}

func TestMissingPodsOfAWorkloadAreNamed(t *testing.T) {
	result := load(t, workloadOf("apps/v1", "StatefulSet", "db", "  replicas: 3\n")+podOf("db-1", "apps/v1", "StatefulSet", "db", ""))
	w := wantWarning(t, result, WarningFewerPods)
	if want := "3 pods are wanted and 1 are in the input; the missing pods are not planned"; w.Message != want {
		t.Errorf("message %q, want %q", w.Message, want)
	}
}

func TestExpandedPodsOfADeployment(t *testing.T) {
	result := load(t, workloadOf("apps/v1", "Deployment", "web", "  replicas: 2\n  selector: {matchLabels: {app: web}}\n"))
	wantNoWarnings(t, result)
	set := result.Snapshot.ReplicaSets[0]
	hash := set.Labels["pod-template-hash"]
	if hash == "" || set.Name != "web-"+hash || set.Spec.Selector.MatchLabels["pod-template-hash"] != hash || *set.Spec.Replicas != 2 {
		t.Errorf("ReplicaSet %s %+v", set.Name, set.Spec)
	}
	if owner := set.OwnerReferences[0]; owner.Kind != "Deployment" || owner.Name != "web" || owner.UID != "u-web" || !*owner.Controller {
		t.Errorf("the ReplicaSet is owned by %+v", owner)
	}
	a, b := result.Snapshot.Pods[0], result.Snapshot.Pods[1]
	if diff := cmp.Diff(map[string]string{"app": "web", "pod-template-hash": hash}, a.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if owner := a.OwnerReferences[0]; owner.Kind != "ReplicaSet" || owner.Name != set.Name {
		t.Errorf("the pod is owned by %+v", owner)
	}
	if got := a.Spec.Containers[0].Resources.Requests.Cpu().MilliValue(); got != 100 {
		t.Errorf("the pod asks for %dm CPU, want its limit of 100m", got)
	}
	if a.Status.Phase != corev1.PodPending {
		t.Errorf("phase %s", a.Status.Phase)
	}
	if &a.Spec.Containers[0] != &b.Spec.Containers[0] {
		t.Error("replicas do not share their containers")
	}
}

func TestRevisionsHaveDifferentHashes(t *testing.T) {
	hash := func(cpu string) string {
		text := strings.Replace(workloadOf("apps/v1", "Deployment", "web", ""), "100m", cpu, 1)
		return load(t, text).Snapshot.Pods[0].Labels["pod-template-hash"]
	}
	first, again := hash("100m"), hash("100m")
	if first != again || first == hash("200m") {
		t.Error("the hash does not follow the template")
	}
}

func TestExpandedPodsOfIndexedWorkloads(t *testing.T) {
	result := load(t, workloadOf("apps/v1", "StatefulSet", "db", "  replicas: 2\n")+
		workloadOf("batch/v1", "Job", "run", "  completionMode: Indexed\n  completions: 2\n  parallelism: 2\n"))
	want := []map[string]string{
		{"app": "web", "statefulset.kubernetes.io/pod-name": "db-0", "apps.kubernetes.io/pod-index": "0"},
		{"app": "web", "statefulset.kubernetes.io/pod-name": "db-1", "apps.kubernetes.io/pod-index": "1"},
		{"app": "web", "job-name": "run", "batch.kubernetes.io/job-name": "run", "batch.kubernetes.io/job-completion-index": "0"},
		{"app": "web", "job-name": "run", "batch.kubernetes.io/job-name": "run", "batch.kubernetes.io/job-completion-index": "1"},
	}
	var got []map[string]string
	for _, pod := range result.Snapshot.Pods {
		got = append(got, pod.Labels)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestNamesakesGiveWay(t *testing.T) {
	result := load(t, workloadOf("apps/v1", "Deployment", "web", "")+workloadOf("apps/v1", "StatefulSet", "web", "")+
		workloadOf("batch/v1", "Job", "web", "")+"---\n"+simplePod("web-job-0", ""))
	wantPods(t, result.Snapshot.Pods, "default/web-0", "default/web-deployment-0", "default/web-job-0", "default/web-job-job-0")
	if got := result.Snapshot.Pods[0].OwnerReferences[0].Kind; got != "StatefulSet" {
		t.Errorf("web-0 belongs to a %s, want the StatefulSet", got)
	}
}

func TestATemplateMayBindItsPods(t *testing.T) {
	text := strings.Replace(workloadOf("apps/v1", "Deployment", "web", ""), "spec: {containers", "spec: {nodeName: n1, containers", 1)
	result := load(t, text+"---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n")
	wantPods(t, result.Snapshot.Pods)
	wantPods(t, onlyNode(t, result).Pods, "default/web-0")
}

func TestVolumeClaimTemplates(t *testing.T) {
	result := load(t, `
		apiVersion: apps/v1
		kind: StatefulSet
		metadata: {name: db}
		spec:
		  replicas: 2
		  volumeClaimTemplates:
		  - metadata: {name: data, labels: {a: b}}
		    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
		  template:
		    spec:
		      containers: [{name: x}]
		      volumes:
		      - {name: data, emptyDir: {}}
		      - {name: tmp, emptyDir: {}}
		---
		apiVersion: v1
		kind: PersistentVolumeClaim
		metadata: {name: data-db-1}
		spec: {volumeName: pv-1}
		---
		apiVersion: storage.k8s.io/v1
		kind: StorageClass
		metadata: {name: fast}
		provisioner: x
		`)
	wantNoWarnings(t, result)
	var claims []string
	for _, c := range result.Snapshot.PersistentVolumeClaims {
		claims = append(claims, c.Name+" "+c.Spec.VolumeName+" "+c.Labels["a"]+" "+string(c.Status.Phase))
	}
	if diff := cmp.Diff([]string{"data-db-0  b Pending", "data-db-1 pv-1  "}, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	for i, pod := range result.Snapshot.Pods {
		v := pod.Spec.Volumes
		if len(v) != 2 || v[0].Name != "data" || v[0].PersistentVolumeClaim.ClaimName != fmt.Sprintf("data-db-%d", i) || v[1].Name != "tmp" {
			t.Errorf("volumes of %s: %+v", pod.Name, v)
		}
	}
}

func TestEphemeralVolumesGetClaims(t *testing.T) {
	const volume = "  volumes:\n  - name: scratch\n    ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}\n"
	result := load(t, simplePod("new", volume)+"---\n"+strings.Replace(simplePod("seen", volume), "name: seen", "name: seen, uid: x", 1))
	var claims []string
	for _, c := range result.Snapshot.PersistentVolumeClaims {
		claims = append(claims, c.Name)
	}
	// SCH-100: the claim is named after pod and volume. A pod the API server knows has had its claim made.
	if diff := cmp.Diff([]string{"new-scratch"}, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestStorageClassesThatAreMissingAreAssumed(t *testing.T) {
	const claim = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s}\nspec: {%s}\n"
	result := load(t, fmt.Sprintf(claim, "a", "storageClassName: fast")+fmt.Sprintf(claim, "b", "storageClassName: fast")+
		fmt.Sprintf(claim, "c", "")+fmt.Sprintf(claim, "d", "storageClassName: ''")+fmt.Sprintf(claim, "e", "volumeName: pv, storageClassName: old"))
	var classes []string
	for _, c := range result.Snapshot.StorageClasses {
		classes = append(classes, c.Name+" "+string(*c.VolumeBindingMode))
	}
	if diff := cmp.Diff([]string{"default WaitForFirstConsumer", "fast WaitForFirstConsumer"}, classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	if got := warningCodes(result); len(got) != 2 {
		t.Errorf("warnings %v, want one for each class", got)
	}
}

func TestTheDefaultStorageClassIsTheNewest(t *testing.T) {
	const class = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s, creationTimestamp: \"%s\", annotations: {storageclass.kubernetes.io/is-default-class: \"%s\"}}\nprovisioner: x\n"
	result := load(t, fmt.Sprintf(class, "old", "2024-01-01T00:00:00Z", "true")+fmt.Sprintf(class, "new", "2025-01-01T00:00:00Z", "true")+
		fmt.Sprintf(class, "newest", "2026-01-01T00:00:00Z", "false")+
		"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: {}\n")
	wantNoWarnings(t, result)
	if got := *result.Snapshot.PersistentVolumeClaims[0].Spec.StorageClassName; got != "new" {
		t.Errorf("class %q, want the newest default", got)
	}
}
