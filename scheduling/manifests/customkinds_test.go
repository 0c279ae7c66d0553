package manifests

import (
	"errors"
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

func TestWorkloadsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, path string }{
		"a quantity that takes minutes": {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1e-999999999"}}}]}}}}`, "spec.template"},
		"half a pod":                    {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {replicas: 1.5, template: {spec: {containers: [{name: c}]}}}}`, "spec.replicas"},
		"fewer than none":               {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {replicas: -1, template: {spec: {containers: [{name: c}]}}}}`, "spec.replicas"},
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
`)
	if diff := cmp.Diff(map[string]int{"Rollout.argoproj.io": 1, "Prometheus.monitoring.coreos.com": 1}, result.PodMakers); diff != "" {
		t.Errorf("kinds that make pods (-want +got):\n%s", diff)
	}
	// A Rollout that refers to a Deployment has no template.
	result = loadAll(t, Options{Workloads: CommonWorkloadKinds()}, Source{Name: "x", Data: []byte(`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a}, spec: {workloadRef: {name: b}}}`)})
	if diff := cmp.Diff(map[string]int{"Rollout.argoproj.io": 1}, result.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
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
