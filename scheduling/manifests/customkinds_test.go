package manifests

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const rollout = `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web}
spec:
  replicas: 5
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 2}}}]}
`

// Rollouts, JobSets and Ray clusters make pods of the templates in them, as often as they say.
func TestWorkloadsOfOtherProjects(t *testing.T) {
	result := loadAll(t, Options{Workloads: CommonWorkloadKinds()}, Source{Name: "x", Data: []byte(rollout + `
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: driver
    template: {spec: {template: {spec: {containers: [{name: c, image: x}]}}}}
  - name: workers
    replicas: 2
    template: {spec: {parallelism: 3, template: {spec: {containers: [{name: c, image: x}]}}}}
---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray, namespace: ml}
spec:
  headGroupSpec: {template: {spec: {containers: [{name: c, image: x}]}}}
  workerGroupSpecs:
  - {replicas: 2, template: {spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 4}}}]}}}
`)})
	count := map[string]int{}
	for _, pod := range result.Snapshot.Pods {
		count[pod.OwnerReferences[0].Kind+" "+pod.Namespace]++
	}
	if diff := cmp.Diff(map[string]int{"Rollout default": 5, "JobSet default": 7, "RayCluster ml": 3}, count); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if result.Skipped != nil {
		t.Errorf("skipped %v", result.Skipped)
	}
	if got := result.Snapshot.Pods[len(result.Snapshot.Pods)-1].Spec.Containers[0].Resources.Requests.Cpu().Value(); got != 4 {
		t.Errorf("a worker of Ray asks for %d cores, want 4", got)
	}
}

// LeaderWorkerSets, Spark applications and Services of Knative make the pods that their controllers would make.
func TestWorkloadsOfOperators(t *testing.T) {
	const objects = `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llm}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    workerTemplate: {spec: {containers: [{name: w, resources: {requests: {cpu: 8}}}]}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {minReplicas: 1, maxReplicas: 4, scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: llm}}}
---
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: pi, namespace: data}
spec: {type: Scala, executor: {memory: 4g}, dynamicAllocation: {enabled: true, initialExecutors: 3, minExecutors: 1, maxExecutors: 5}}
---
apiVersion: sparkoperator.k8s.io/v1beta2
kind: ScheduledSparkApplication
metadata: {name: nightly, namespace: data}
spec: {schedule: "@daily", template: {type: Scala, executor: {instances: 2}}}
---
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: done, namespace: data}
spec: {type: Scala}
status: {applicationState: {state: COMPLETED}}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec: {template: {metadata: {annotations: {autoscaling.knative.dev/max-scale: "4"}}, spec: {containers: [{image: x}]}}}
`
	for how, want := range map[Autoscaling]map[string]int{
		AutoscalingCurrent: {"LeaderWorkerSet llm": 6, "SparkApplication pi": 4, "ScheduledSparkApplication nightly": 3, "Service hello": 1},
		AutoscalingMin:     {"LeaderWorkerSet llm": 3, "SparkApplication pi": 2, "ScheduledSparkApplication nightly": 3},
		AutoscalingMax:     {"LeaderWorkerSet llm": 12, "SparkApplication pi": 6, "ScheduledSparkApplication nightly": 3, "Service hello": 4},
	} {
		result := loadAll(t, Options{Workloads: CommonWorkloadKinds(), Autoscaling: how}, Source{Name: "x", Data: []byte(objects)})
		got, groups := map[string]int{}, map[string]int{}
		for _, pod := range result.Snapshot.Pods {
			owner := pod.OwnerReferences[0]
			got[owner.Kind+" "+owner.Name]++
			if index := pod.Labels["leaderworkerset.sigs.k8s.io/group-index"]; index != "" {
				groups[index]++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: pods (-want +got):\n%s", how, diff)
		}
		for index, pods := range groups {
			if pods != 3 {
				t.Errorf("%s: group %s has %d pods, want 3", how, index, pods)
			}
		}
		scaled := []ScaledWorkload{
			{Kind: "SparkApplication", Namespace: "data", Name: "pi", Scaler: "Spark", Min: 1, Max: 5, Planned: want["SparkApplication pi"] - 1},
			{Kind: "Service", Namespace: "default", Name: "hello", Scaler: "Knative", Max: 4, Planned: want["Service hello"]},
			{Kind: "LeaderWorkerSet", Namespace: "default", Name: "llm", Scaler: "HorizontalPodAutoscaler h", Min: 3, Max: 12, Planned: want["LeaderWorkerSet llm"]},
		}
		if diff := cmp.Diff(scaled, result.Scaled); diff != "" {
			t.Errorf("%s: scaled (-want +got):\n%s", how, diff)
		}
		if result.Skipped != nil {
			t.Errorf("%s: skipped %v", how, result.Skipped)
		}
	}
	// Each group of a LeaderWorkerSet can be a gang.
	result := loadAll(t, Options{Workloads: CommonWorkloadKinds(), InferGangs: true}, Source{Name: "x", Data: []byte(objects)})
	if len(result.Snapshot.Gangs) != 2 || len(result.Snapshot.Gangs[0].Members) != 3 {
		t.Errorf("gangs %+v", result.Snapshot.Gangs)
	}
}

// A copy of a cluster has the pods of such objects, or objects between them: they are not made once more.
func TestWorkloadsOfOperatorsInACopy(t *testing.T) {
	const (
		ksvc    = `{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: hello}, spec: {template: {spec: {containers: [{image: x}]}}}}`
		jobSet  = `{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: train}, spec: {replicatedJobs: [{name: w, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}]}}`
		held    = `{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: train}, spec: {suspend: true, replicatedJobs: [{name: w, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}]}}`
		podSpec = `spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}, selector: {matchLabels: {a: b}}}`
		set     = `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web, uid: u, controller: true}]}, ` + podSpec + `}`
	)
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"a Rollout and its ReplicaSet": {rollout + "\n---\n" + set, 1},
		"a Rollout alone":              {rollout, 5},
		"a pod of Knative":             {ksvc + "\n---\n" + `{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {serving.knative.dev/service: hello}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]}, spec: {containers: [{name: c}]}}`, 1},
		"a Deployment that bears the label of its own accord": {ksvc + "\n---\n" + `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {serving.knative.dev/service: hello}}, ` + podSpec + `}`, 2},
		"a JobSet and its Job":                                {jobSet + "\n---\n" + `{apiVersion: batch/v1, kind: Job, metadata: {name: train-w-0, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: train, uid: u, controller: true}]}, spec: {template: {spec: {containers: [{name: c}]}}}}`, 1},
		"a RayJob with its RayCluster": {`{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: j}, spec: {rayClusterSpec: {headGroupSpec: {template: {spec: {containers: [{name: c}]}}}}}}` + "\n---\n" +
			`{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: j-x, ownerReferences: [{apiVersion: ray.io/v1, kind: RayJob, name: j, uid: u, controller: true}]}, spec: {headGroupSpec: {template: {spec: {containers: [{name: c}]}}}}}`, 1},
		"a RayJob for a cluster elsewhere": {`{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: j}, spec: {clusterSelector: {ray.io/cluster: x}}}`, 1},
		"a JobSet that waits":              {held, 0},
	} {
		result := loadAll(t, Options{Workloads: CommonWorkloadKinds()}, Source{Name: "x", Data: []byte(c.text)})
		if got := len(result.Snapshot.Pods); got != c.want {
			t.Errorf("%s: %d pods, want %d", name, got, c.want)
		}
	}
}

// The range of a Ray cluster is the sum of the ranges of its worker groups. A group counts in pods, of which a replica may have several.
func TestRangeOfRayCluster(t *testing.T) {
	group := func(fields string) string {
		return "{" + fields + ", template: {spec: {containers: [{name: w, resources: {requests: {cpu: 4}}}]}}}"
	}
	cluster := func(groups ...string) string {
		return `{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}, spec: {enableInTreeAutoscaling: true, headGroupSpec: {template: {spec: {containers: [{name: h}]}}}, workerGroupSpecs: [` + strings.Join(groups, ", ") + `]}}`
	}
	hosts, small, free := group("replicas: 2, minReplicas: 1, maxReplicas: 3, numOfHosts: 4"), group("maxReplicas: 5"), group("replicas: 1, minReplicas: 1")
	for name, c := range map[string]struct {
		text string
		how  Autoscaling
		pods int
		want ScaledWorkload
	}{
		"current":               {cluster(hosts, small), "", 9, ScaledWorkload{Min: 4, Max: 17, Planned: 8}},
		"least":                 {cluster(hosts, small), AutoscalingMin, 5, ScaledWorkload{Min: 4, Max: 17, Planned: 4}},
		"most":                  {cluster(hosts, small), AutoscalingMax, 18, ScaledWorkload{Min: 4, Max: 17, Planned: 17}},
		"one without a bound":   {cluster(hosts, free), AutoscalingMax, 14, ScaledWorkload{Min: 5, Max: 13, Planned: 13, Unbounded: true}},
		"first without a bound": {cluster(free, hosts), "", 10, ScaledWorkload{Min: 5, Max: 13, Planned: 9, Unbounded: true}},
	} {
		result := loadAll(t, Options{Workloads: CommonWorkloadKinds(), Autoscaling: c.how}, Source{Name: "x", Data: []byte(c.text)})
		c.want.Kind, c.want.Namespace, c.want.Name, c.want.Scaler = "RayCluster", "default", "r", "Ray"
		if diff := cmp.Diff([]ScaledWorkload{c.want}, result.Scaled); diff != "" || len(result.Snapshot.Pods) != c.pods {
			t.Errorf("%s: %d pods, want %d (-want +got):\n%s", name, len(result.Snapshot.Pods), c.pods, diff)
		}
	}
}

func TestWorkloadsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, path string }{
		"a quantity that takes minutes":           {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1e-999999999"}}}]}}}}`, "spec.template"},
		"half a pod":                              {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {replicas: 1.5, template: {spec: {containers: [{name: c}]}}}}`, "spec.replicas"},
		"a Spark application":                     {`{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: a}, spec: {driver: {memory: 1.5g}}}`, "spec.driver.memory"},
		"fewer than none of a template elsewhere": {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {replicas: -1, workloadRef: {kind: Deployment, name: b}}}`, "spec.replicas"},
		"fewer than none":                         {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {replicas: -1, template: {spec: {containers: [{name: c}]}}}}`, "spec.replicas"},
	} {
		_, err := Load([]Source{{Name: "x", Data: []byte(c.text)}}, Options{Workloads: CommonWorkloadKinds()})
		var problems *LoadError
		if !errors.As(err, &problems) || problems.Problems[0].Path != c.path {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Counts whose product is more than a number of the machine holds ask for too many pods, and neither for none nor for fewer than none.
func TestProductOfCounts(t *testing.T) {
	kinds := []WorkloadKind{{Group: "example.com", Kind: "Worker", Parts: []WorkloadPart{{Template: "spec.template", Counts: []string{"spec.a", "spec.a", "spec.a", "spec.b", "spec.a"}}}}}
	for _, c := range []struct {
		counts string
		want   int
	}{{"a: 2, b: 3", 48}, {"a: 65536, b: 0", 0}, {"a: 65536, b: 1", -1}, {"a: 91000, b: 91000", -1}} {
		text := `{apiVersion: example.com/v1, kind: Worker, metadata: {name: a}, spec: {` + c.counts + `, template: {spec: {containers: [{name: c}]}}}}`
		result, err := Load([]Source{{Name: "x", Data: []byte(text)}}, Options{Workloads: kinds})
		var problems *LoadError
		switch {
		case c.want < 0 && (!errors.As(err, &problems) || problems.Problems[0].Code != ProblemTooLarge):
			t.Errorf("%s: %v", c.counts, err)
		case c.want >= 0 && (err != nil || len(result.Snapshot.Pods) != c.want):
			t.Errorf("%s: %v", c.counts, err)
		}
	}
}

// Of kinds that are not read, those that make pods are told apart from those that don't.
func TestPodMakers(t *testing.T) {
	result := load(t, rollout+`
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: a}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {pod: '{"containers": []}'}
---
apiVersion: serving.knative.dev/v1
kind: Revision
metadata: {name: a, ownerReferences: [{apiVersion: serving.knative.dev/v1, kind: Configuration, name: a, uid: u, controller: true}]}
spec: {containers: [{name: c}]}
---
apiVersion: example.com/v1
kind: Worker
metadata: {name: without-containers}
---
apiVersion: example.com/v1
kind: Worker
metadata: {name: a}
spec: {containers: [{name: c}]}
---
apiVersion: example.com/v1
kind: Worker
metadata: {name: other-names, labels: {ownerReferences: none}}
spec: {model: m}
---
apiVersion: example.com/v1
kind: Worker
metadata: {name: owned, ownerReferences: [{apiVersion: example.com/v1, kind: Worker, name: a, uid: u, controller: true}]}
spec: {containers: [{name: c}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a}
spec: {default: {containers: [{name: c}]}}
`)
	if diff := cmp.Diff(map[string]int{"Rollout.argoproj.io": 1, "Prometheus.monitoring.coreos.com": 1, "Worker.example.com": 3}, result.PodMakers); diff != "" {
		t.Errorf("kinds that make pods (-want +got):\n%s", diff)
	}
}

// A Rollout may use the pod template of another object.
func TestRolloutsWithWorkloadRef(t *testing.T) {
	const podSpec = `template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}}`
	rollout := func(kind, more string) string {
		return `{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: r}, spec: {replicas: 5, workloadRef: {apiVersion: apps/v1, kind: ` + kind + `, name: web` + more + `}}}` + "\n---\n"
	}
	object := func(apiVersion, kind, name string) string {
		spec := "spec: {replicas: 2, selector: {matchLabels: {a: b}}, " + podSpec + "}"
		if kind == "PodTemplate" {
			spec = podSpec
		}
		return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: " + name + "}, " + spec + "}\n---\n"
	}
	deployment := object("apps/v1", "Deployment", "web")
	set := `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r-1, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: r, uid: u, controller: true}]}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, ` + podSpec + `}}`
	for name, c := range map[string]struct {
		text    string
		pods    map[string]int
		skipped map[string]int
	}{
		"a Deployment":           {rollout("Deployment", "") + deployment, map[string]int{"Rollout": 5, "ReplicaSet": 2}, nil},
		"a Deployment, later":    {deployment + rollout("Deployment", ", scaleDown: never"), map[string]int{"Rollout": 5, "ReplicaSet": 2}, nil},
		"scaled down":            {rollout("Deployment", ", scaleDown: onsuccess") + deployment, map[string]int{"Rollout": 5}, nil},
		"scaled down with it":    {rollout("Deployment", ", scaleDown: progressively") + deployment, map[string]int{"Rollout": 5}, nil},
		"a ReplicaSet":           {rollout("ReplicaSet", "") + object("apps/v1", "ReplicaSet", "web"), map[string]int{"Rollout": 5, "ReplicaSet": 2}, nil},
		"a PodTemplate":          {rollout("PodTemplate", "") + object("v1", "PodTemplate", "web"), map[string]int{"Rollout": 5}, nil},
		"another name":           {rollout("Deployment", "") + object("apps/v1", "Deployment", "other"), map[string]int{"ReplicaSet": 2}, map[string]int{"Rollout.argoproj.io": 1}},
		"missing":                {rollout("Deployment", ""), map[string]int{}, map[string]int{"Rollout.argoproj.io": 1}},
		"missing, with its pods": {rollout("Deployment", "") + set, map[string]int{"ReplicaSet": 1}, nil},
	} {
		result := loadAll(t, Options{Workloads: CommonWorkloadKinds()}, Source{Name: "x", Data: []byte(c.text)})
		got := map[string]int{}
		for _, pod := range result.Snapshot.Pods {
			got[pod.OwnerReferences[0].Kind]++
			if cpu := pod.Spec.Containers[0].Resources.Requests.Cpu().Value(); cpu != 3 {
				t.Errorf("%s: a pod requests %d cores, want 3", name, cpu)
			}
		}
		if diff := cmp.Diff(c.pods, got); diff != "" {
			t.Errorf("%s: pods (-want +got):\n%s", name, diff)
		}
		for _, got := range []map[string]int{result.Skipped, result.PodMakers} {
			if diff := cmp.Diff(c.skipped, got); diff != "" {
				t.Errorf("%s: skipped (-want +got):\n%s", name, diff)
			}
		}
	}
}

// An autoscaler says how many pods a Deployment has that gives no number, or one out of bounds.
func TestAutoscaling(t *testing.T) {
	deployment := func(replicas string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {` + replicas + `selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}`
	}
	const (
		hpa  = "\n---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {minReplicas: 20, maxReplicas: 30, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}"
		keda = "\n---\n{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: k}, spec: {maxReplicaCount: 9, scaleTargetRef: {name: web}}}"
		away = "\n---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: other}, spec: {minReplicas: 20, maxReplicas: 30, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}"
	)
	for name, c := range map[string]struct {
		text string
		how  Autoscaling
		want int
	}{
		"no number":            {deployment("") + hpa, "", 20},
		"between the bounds":   {deployment("replicas: 25, ") + hpa, AutoscalingCurrent, 25},
		"above them":           {deployment("replicas: 40, ") + hpa, "", 30},
		"switched off":         {deployment("replicas: 0, ") + hpa, "", 0},
		"least":                {deployment("replicas: 25, ") + hpa, AutoscalingMin, 20},
		"most":                 {deployment("replicas: 25, ") + hpa, AutoscalingMax, 30},
		"KEDA":                 {deployment("replicas: 25, ") + keda, "", 9},
		"KEDA, least":          {deployment("") + keda, AutoscalingMin, 0},
		"of another namespace": {deployment("") + away, "", 1},
	} {
		result := loadAll(t, Options{Autoscaling: c.how}, Source{Name: "x", Data: []byte(c.text)})
		if got := len(result.Snapshot.Pods); got != c.want {
			t.Errorf("%s: %d pods, want %d", name, got, c.want)
		}
		if result.Skipped != nil {
			t.Errorf("%s: skipped %v", name, result.Skipped)
		}
	}
}
