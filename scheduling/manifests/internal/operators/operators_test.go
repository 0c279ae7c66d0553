package operators

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// summary is what the tests compare of a template.
type summary struct {
	Path, CountPath      string
	Replicas, PerReplica int
	Scale                *Scale
	// Requests are those of all containers, by container.
	Requests map[string]string
}

func summaries(o *Object) []summary {
	var list []summary
	for _, t := range o.Templates {
		s := summary{Path: t.Path, CountPath: t.CountPath, Replicas: t.Replicas, PerReplica: t.PerReplica, Scale: t.Scale, Requests: map[string]string{}}
		for _, c := range t.Pod.Spec.Containers {
			cpu, memory := c.Resources.Requests[corev1.ResourceCPU], c.Resources.Requests[corev1.ResourceMemory]
			s.Requests[c.Name] = cpu.String() + " " + memory.String()
		}
		list = append(list, s)
	}
	return list
}

var (
	lws       = Kind{"leaderworkerset.x-k8s.io", "LeaderWorkerSet"}
	spark     = Kind{"sparkoperator.k8s.io", "SparkApplication"}
	scheduled = Kind{"sparkoperator.k8s.io", "ScheduledSparkApplication"}
	knative   = Kind{"serving.knative.dev", "Service"}
	ray       = Kind{"ray.io", "RayCluster"}
	rayJob    = Kind{"ray.io", "RayJob"}
	rayServes = Kind{"ray.io", "RayService"}
)

func read(t *testing.T, kind Kind, text string) *Object {
	t.Helper()
	object, err := readText(kind, text)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func readText(kind Kind, text string) (*Object, error) {
	json, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	return Read(kind, json)
}

func TestLeaderWorkerSet(t *testing.T) {
	const worker = "workerTemplate: {spec: {containers: [{name: w, resources: {requests: {cpu: 2, memory: 1Gi}}}]}}"
	const leader = "leaderTemplate: {spec: {containers: [{name: l, resources: {requests: {cpu: 1}}}]}}"
	const path = "spec.leaderWorkerTemplate."
	for name, c := range map[string]struct {
		text string
		want []summary
	}{
		"groups of four": {"spec: {replicas: 3, leaderWorkerTemplate: {size: 4, " + leader + ", " + worker + "}}", []summary{
			{path + "leaderTemplate", "spec.replicas", 3, 1, nil, map[string]string{"l": "1 0"}},
			{path + "workerTemplate", "spec.replicas", 3, 3, nil, map[string]string{"w": "2 1Gi"}},
		}},
		"one template": {"spec: {leaderWorkerTemplate: {size: 2, " + worker + "}}", []summary{
			{path + "workerTemplate", "spec.replicas", 1, 1, nil, map[string]string{"w": "2 1Gi"}},
			{path + "workerTemplate", "spec.replicas", 1, 1, nil, map[string]string{"w": "2 1Gi"}},
		}},
		"leaders alone": {"spec: {leaderWorkerTemplate: {" + worker + "}}", []summary{
			{path + "workerTemplate", "spec.replicas", 1, 1, nil, map[string]string{"w": "2 1Gi"}},
		}},
	} {
		if diff := cmp.Diff(c.want, summaries(read(t, lws, c.text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	object := read(t, lws, "metadata: {name: a, annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}}\nspec: {replicas: 2, leaderWorkerTemplate: {size: 3, "+worker+"}}")
	var places []string
	for _, template := range object.Templates {
		if got := template.Pod.Annotations; got[annotationLWSSize] != "3" || got[annotationLWSTopology] != "rack" || template.Pod.Labels[labelLWS] != "a" {
			t.Errorf("%s: %v, %v", template.Path, template.Pod.Labels, got)
		}
		for i := range template.Replicas * template.PerReplica {
			labels := template.IndexLabels(i)
			places = append(places, labels[labelLWSGroup]+"/"+labels[labelLWSWorker])
		}
	}
	if diff := cmp.Diff([]string{"0/0", "1/0", "0/1", "0/2", "1/1", "1/2"}, places); diff != "" {
		t.Errorf("group and place in it (-want +got):\n%s", diff)
	}
}

func TestSparkApplication(t *testing.T) {
	const mi = 1 << 20
	two := func(driver, executor string, n int, scale *Scale) []summary {
		return []summary{
			{"spec.driver", "spec.driver.instances", 1, 1, nil, map[string]string{"spark-kubernetes-driver": driver}},
			{"spec.executor", "spec.executor.instances", n, 1, scale, map[string]string{"spark-kubernetes-executor": executor}},
		}
	}
	for name, c := range map[string]struct {
		text string
		want []summary
	}{
		// 1 GiB of heap, and 384 MiB of overhead.
		"defaults": {"spec: {type: Scala}", two("1 1408Mi", "1 1408Mi", 1, nil)},
		// 10 % of 8 GiB are 819 whole MiB; of 1 GiB the least overhead counts.
		"a JVM program": {"spec: {type: Java, driver: {cores: 1, coreRequest: 500m, memory: 512m}, executor: {instances: 4, cores: 2, memory: 8g}}",
			two("500m 896Mi", "2 9011Mi", 4, nil)},
		"a Python program":  {"spec: {type: Python, executor: {instances: 2, memory: 10g}}", two("1 1433Mi", "1 14Gi", 2, nil)},
		"a factor":          {`spec: {type: Python, memoryOverheadFactor: "0.5", executor: {memory: 4g}}`, two("1 1536Mi", "1 6Gi", 1, nil)},
		"a stated overhead": {"spec: {type: R, executor: {memory: 4g, memoryOverhead: 1g}}", two("1 1433Mi", "1 5Gi", 1, nil)},
		"sparkConf": {`spec: {type: Scala, sparkConf: {spark.executor.instances: "3", spark.executor.cores: "4", spark.executor.memory: 2g, spark.kubernetes.executor.request.cores: 3500m}}`,
			two("1 1408Mi", "3500m 2432Mi", 3, nil)},
		"fields before sparkConf": {`spec: {type: Scala, sparkConf: {spark.executor.cores: "4"}, executor: {cores: 2}}`, two("1 1408Mi", "2 1408Mi", 1, nil)},
		"memory outside of the heap": {`spec: {type: Scala, sparkConf: {spark.memory.offHeap.enabled: "true", spark.memory.offHeap.size: 1g, spark.executor.pyspark.memory: 512m}}`,
			two("1 1408Mi", "1 2944Mi", 1, nil)},
		"a range":                {"spec: {type: Scala, dynamicAllocation: {enabled: true, initialExecutors: 3, minExecutors: 2, maxExecutors: 9}}", two("1 1408Mi", "1 1408Mi", 3, &Scale{By: "Spark", Min: 2, Max: 9})},
		"a range without an end": {"spec: {type: Scala, executor: {instances: 5}, dynamicAllocation: {enabled: true, minExecutors: 2}}", two("1 1408Mi", "1 1408Mi", 5, &Scale{By: "Spark", Min: 2, Max: 2, Unbounded: true})},
		"a range in sparkConf":   {`spec: {type: Scala, sparkConf: {spark.dynamicAllocation.enabled: "true", spark.dynamicAllocation.maxExecutors: "7"}}`, two("1 1408Mi", "1 1408Mi", 0, &Scale{By: "Spark", Max: 7})},
		"switched off":           {`spec: {type: Scala, sparkConf: {spark.dynamicAllocation.enabled: "true"}, executor: {instances: 2}, dynamicAllocation: {enabled: false, maxExecutors: 9}}`, two("1 1408Mi", "1 1408Mi", 2, nil)},
	} {
		if diff := cmp.Diff(c.want, summaries(read(t, spark, c.text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for text, want := range map[string]int64{"1024": 1024 * mi, "1g": 1024 * mi, "1G": 1024 * mi, "1gb": 1024 * mi, "3k": 3 << 10, "7b": 7, "2t": 2 << 40, "1Gi": 1024 * mi} {
		if got, err := sparkBytes("p", sparkAmount(text)); err != nil || got != want {
			t.Errorf("%s: %d bytes, %v, want %d", text, got, err, want)
		}
	}
}

// Everything that decides where a pod may run is taken over from the driver and the executors.
func TestSparkPods(t *testing.T) {
	object := read(t, spark, `
metadata: {name: pi}
spec:
  type: Scala
  nodeSelector: {all: x}
  volumes: [{name: used, persistentVolumeClaim: {claimName: c}}, {name: unused, emptyDir: {}}]
  driver:
    labels: {version: "3"}
    volumeMounts: [{name: used, mountPath: /x}]
    template: {spec: {containers: [{name: other, resources: {requests: {cpu: 7}}}, {name: spark-kubernetes-driver, image: a}]}}
  executor:
    nodeSelector: {only: z}
    tolerations: [{key: k, operator: Exists}]
    gpu: {name: nvidia.com/gpu, quantity: 2}
    coreLimit: 1200m
    priorityClassName: low
    sidecars: [{name: side, resources: {requests: {cpu: 100m}}}]
`)
	driver, executor := object.Templates[0].Pod, object.Templates[1].Pod
	if diff := cmp.Diff(map[string]string{"version": "3", "spark-role": "driver", labelSparkApp: "pi"}, driver.Labels); diff != "" {
		t.Error(diff)
	}
	if len(driver.Spec.Volumes) != 1 || driver.Spec.Volumes[0].Name != "used" || driver.Spec.Containers[0].Resources.Requests.Cpu().Value() != 7 ||
		driver.Spec.Containers[1].Resources.Requests.Cpu().Value() != 1 {
		t.Errorf("driver %+v", driver.Spec)
	}
	if diff := cmp.Diff(map[string]string{"all": "x", "only": "z"}, executor.Spec.NodeSelector); diff != "" {
		t.Error(diff)
	}
	gpus, limit := executor.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"], executor.Spec.Containers[0].Resources.Limits.Cpu()
	if len(executor.Spec.Tolerations) != 1 || gpus.Value() != 2 || limit.MilliValue() != 1200 || executor.Spec.PriorityClassName != "low" || executor.Spec.Containers[1].Name != "side" {
		t.Errorf("executor %+v", executor.Spec)
	}
}

func TestSparkStates(t *testing.T) {
	for name, c := range map[string]struct {
		kind Kind
		text string
		want Object
	}{
		"runs":      {spark, "spec: {type: Scala}", Object{}},
		"has ended": {spark, "{spec: {type: Scala}, status: {applicationState: {state: COMPLETED}}}", Object{Ended: true}},
		"suspended": {spark, "spec: {type: Scala, suspend: true}", Object{Suspended: "spec.suspend"}},
		"scheduled": {scheduled, "spec: {template: {type: Scala}}", Object{Scheduled: true}},
		"neither":   {scheduled, "spec: {suspend: true, template: {type: Scala}}", Object{Scheduled: true, Suspended: "spec.suspend"}},
	} {
		got := *read(t, c.kind, c.text)
		if got.Templates = nil; !cmp.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestKnativeService(t *testing.T) {
	service := func(annotations string) string {
		return "metadata: {name: a}\nspec: {template: {metadata: {annotations: {" + annotations + "}}, spec: {containerConcurrency: 3, containers: [{image: x, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}"
	}
	for name, c := range map[string]struct {
		annotations string
		replicas    int
		scale       Scale
		proxy       string
	}{
		"none":                {"", 1, Scale{Unbounded: true}, "25m 0"},
		"bounds":              {`autoscaling.knative.dev/min-scale: "3", autoscaling.knative.dev/max-scale: "10"`, 3, Scale{Min: 3, Max: 10}, "25m 0"},
		"their former names":  {`autoscaling.knative.dev/minScale: "3", autoscaling.knative.dev/maxScale: "10"`, 3, Scale{Min: 3, Max: 10}, "25m 0"},
		"an initial number":   {`autoscaling.knative.dev/max-scale: "10", autoscaling.knative.dev/initial-scale: "5"`, 5, Scale{Max: 10}, "25m 0"},
		"more than its bound": {`autoscaling.knative.dev/max-scale: "2", autoscaling.knative.dev/initial-scale: "5"`, 2, Scale{Max: 2}, "25m 0"},
		"starts with none":    {`autoscaling.knative.dev/initial-scale: "0"`, 0, Scale{Unbounded: true}, "25m 0"},
		"another autoscaler":  {"autoscaling.knative.dev/class: hpa.autoscaling.knative.dev", 1, Scale{Min: 1, Unbounded: true}, "25m 0"},
		"another proxy":       {"queue.sidecar.serving.knative.dev/cpu-resource-request: 100m, queue.sidecar.serving.knative.dev/memory-resource-request: 50Mi", 1, Scale{Unbounded: true}, "100m 50Mi"},
	} {
		c.scale.By = "Knative"
		want := []summary{{"spec.template", "spec.template.metadata.annotations", c.replicas, 1, &c.scale, map[string]string{"user-container": "1 1Gi", "queue-proxy": c.proxy}}}
		if diff := cmp.Diff(want, summaries(read(t, knative, service(c.annotations)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRefusals(t *testing.T) {
	const worker = "workerTemplate: {spec: {containers: [{name: w}]}}"
	for _, c := range []struct {
		kind       Kind
		text, path string
		wrongType  bool
	}{
		{lws, "spec: {replicas: -1, leaderWorkerTemplate: {" + worker + "}}", "spec.replicas", false},
		{lws, "spec: {leaderWorkerTemplate: {size: 0, " + worker + "}}", "spec.leaderWorkerTemplate.size", false},
		{lws, "spec: {leaderWorkerTemplate: {size: 2}}", "spec.leaderWorkerTemplate.workerTemplate", false},
		{lws, "spec: {replicas: 1.5, leaderWorkerTemplate: {" + worker + "}}", "spec.replicas", true},
		{lws, `spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{resources: {requests: {cpu: "1e-999999999"}}}]}}}}`, "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resources.requests[cpu]", true},
		{spark, "spec: {driver: {memory: 1.5g}}", "spec.driver.memory", false},
		{spark, "spec: {driver: {memory: 99999999999g}}", "spec.driver.memory", false},
		{spark, "spec: {driver: {memory: -1g}}", "spec.driver.memory", false},
		{spark, `spec: {executor: {cores: "1e-999999999"}}`, "spec.executor.coreRequest", false},
		{spark, "spec: {executor: {coreRequest: -1}}", "spec.executor.coreRequest", false},
		{spark, "spec: {executor: {cores: [1]}}", "spec.executor.cores", true},
		{spark, "spec: {executor: {instances: -3}}", "spec.executor.instances", false},
		{spark, "spec: {memoryOverheadFactor: NaN}", "spec.memoryOverheadFactor", false},
		{spark, "spec: {driver: {gpu: {name: g, quantity: -1}}}", "spec.driver.gpu.quantity", false},
		{spark, "spec: {dynamicAllocation: {enabled: true, minExecutors: -1}}", "spec.dynamicAllocation.minExecutors", false},
		{scheduled, "spec: {template: {driver: {memory: x}}}", "spec.template.driver.memory", false},
		{knative, "spec: {}", "spec.template", false},
		{ray, "spec: {workerGroupSpecs: [{template: {}, replicas: -1}]}", "spec.workerGroupSpecs[0].replicas", false},
		{ray, "spec: {workerGroupSpecs: [{template: {}, minReplicas: 3, maxReplicas: 2}]}", "spec.workerGroupSpecs[0].maxReplicas", false},
		{ray, "spec: {workerGroupSpecs: [{template: {}, numOfHosts: 0}]}", "spec.workerGroupSpecs[0].numOfHosts", false},
		{rayJob, "spec: {rayClusterSpec: {workerGroupSpecs: [{template: {}, numOfHosts: two}]}}", "spec.rayClusterSpec.workerGroupSpecs[0].numOfHosts", true},
		{rayServes, "spec: {rayClusterConfig: {headGroupSpec: {template: {spec: {containers: 1}}}}}", "spec.rayClusterConfig.headGroupSpec.template.spec.containers", true},
		{knative, "spec: {template: {metadata: {annotations: {autoscaling.knative.dev/min-scale: many}}}}", "spec.template.metadata.annotations[autoscaling.knative.dev/min-scale]", false},
		{knative, `spec: {template: {metadata: {annotations: {queue.sidecar.serving.knative.dev/cpu-resource-request: "1e-999999999"}}}}`, "spec.template.metadata.annotations[queue.sidecar.serving.knative.dev/cpu-resource-request]", false},
	} {
		_, err := readText(c.kind, c.text)
		var field *FieldError
		if !errors.As(err, &field) || field.Path != c.path || field.WrongType != c.wrongType {
			t.Errorf("%s: %#v, want path %q", c.text, err, c.path)
		}
	}
}

// Read returns an object or an error for any text, and its numbers are within bounds.
func FuzzRead(f *testing.F) {
	kinds := []Kind{lws, spark, scheduled, knative, ray, rayJob, rayServes}
	for i, text := range []string{
		`{"spec":{"replicas":3,"leaderWorkerTemplate":{"size":4,"workerTemplate":{"spec":{"containers":[{"name":"w"}]}}}}}`,
		`{"spec":{"type":"Python","driver":{"cores":1,"memory":"512m"},"executor":{"instances":3,"coreRequest":"500m"},"dynamicAllocation":{"enabled":true,"maxExecutors":9}}}`,
		`{"spec":{"schedule":"@hourly","template":{"type":"Scala","sparkConf":{"spark.executor.memory":"3g"}}}}`,
		`{"spec":{"template":{"metadata":{"annotations":{"autoscaling.knative.dev/min-scale":"2"}},"spec":{"containers":[{}]}}}}`,
		`{"spec":{"headGroupSpec":{"template":{"spec":{"containers":[{}]}}},"workerGroupSpecs":[{"replicas":2,"numOfHosts":4,"template":{}}]}}`,
	} {
		f.Add(byte(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		object, err := Read(kinds[int(which)%len(kinds)], text)
		if (object == nil) != (err != nil) {
			t.Fatalf("%v, %v", object, err)
		}
		if err != nil {
			return
		}
		for _, template := range object.Templates {
			if template.Pod == nil || template.Replicas < 0 || template.PerReplica < 1 || template.Scale != nil && template.Scale.Min < 0 {
				t.Errorf("%+v", template)
			}
			if template.IndexLabels != nil {
				_ = fmt.Sprint(template.IndexLabels(0))
			}
		}
	})
}
