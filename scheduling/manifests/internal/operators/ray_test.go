package operators

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	rayHead    = "headGroupSpec: {template: {spec: {containers: [{name: h, image: ray, resources: {requests: {cpu: 1, memory: 2Gi}}}]}}}"
	rayWorkers = "template: {spec: {containers: [{name: w, image: ray, resources: {requests: {cpu: 4}}}]}}"
)

// All kinds of KubeRay have the pods of their RayClusterSpec: the head, and the workers of each group.
func TestRayWorkerGroups(t *testing.T) {
	for name, c := range map[string]struct {
		groups string
		want   []summary
	}{
		"one host":                  {"{replicas: 2, " + rayWorkers + "}", []summary{{".template", ".replicas", 2, 1, nil, map[string]string{"w": "4 0"}}}},
		"several hosts for replica": {"{replicas: 2, numOfHosts: 4, " + rayWorkers + "}", []summary{{".template", ".replicas", 2, 4, nil, map[string]string{"w": "4 0"}}}},
		"no template":               {"{replicas: 2}", nil},
		"no replicas":               {"{" + rayWorkers + "}", []summary{{".template", ".replicas", 0, 1, nil, map[string]string{"w": "4 0"}}}},
		"only a minimum":            {"{minReplicas: 3, " + rayWorkers + "}", []summary{{".template", ".minReplicas", 3, 1, nil, map[string]string{"w": "4 0"}}}},
		"below the minimum":         {"{replicas: 1, minReplicas: 3, maxReplicas: 5, numOfHosts: 2, " + rayWorkers + "}", []summary{{".template", ".minReplicas", 3, 2, nil, map[string]string{"w": "4 0"}}}},
		"within bounds":             {"{replicas: 4, minReplicas: 3, maxReplicas: 5, " + rayWorkers + "}", []summary{{".template", ".replicas", 4, 1, nil, map[string]string{"w": "4 0"}}}},
		"above the maximum":         {"{replicas: 9, minReplicas: 3, maxReplicas: 5, " + rayWorkers + "}", []summary{{".template", ".maxReplicas", 5, 1, nil, map[string]string{"w": "4 0"}}}},
		"suspended":                 {"{suspend: true, replicas: 4, minReplicas: 3, " + rayWorkers + "}", []summary{{".template", ".suspend", 0, 1, nil, map[string]string{"w": "4 0"}}}},
	} {
		for kind, path := range map[Kind]string{ray: "spec", rayServes: "spec.rayClusterConfig", rayJob: "spec.rayClusterSpec"} {
			text := rayHead + ", workerGroupSpecs: [" + c.groups + "]"
			if field := strings.TrimPrefix(path, "spec."); field != path {
				text = field + ": {" + text + "}"
			}
			want := []summary{{path + ".headGroupSpec.template", path + ".headGroupSpec", 1, 1, nil, map[string]string{"h": "1 2Gi"}}}
			for _, s := range c.want {
				s.Path, s.CountPath = path+".workerGroupSpecs[0]"+s.Path, path+".workerGroupSpecs[0]"+s.CountPath
				want = append(want, s)
			}
			if kind == rayJob {
				want = append(want, summary{"spec.submitterPodTemplate", "spec.submitterPodTemplate", 1, 1, nil, map[string]string{"ray-job-submitter": "500m 200Mi"}})
			}
			if diff := cmp.Diff(want, summaries(read(t, kind, "spec: {"+text+"}"))); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", name, kind.Kind, diff)
			}
		}
	}
}

func TestSuspendedRay(t *testing.T) {
	for kind, field := range map[Kind]string{ray: "", rayServes: "rayClusterConfig: ", rayJob: "rayClusterSpec: "} {
		spec := rayHead
		if field != "" {
			spec = field + "{" + rayHead + "}"
		}
		if object := read(t, kind, "spec: {suspend: true, "+spec+"}"); object.Suspended != "spec.suspend" || len(object.Templates) == 0 {
			t.Errorf("%s: %+v", kind.Kind, object)
		}
	}
}

// The bounds of a group are a range only if Ray's autoscaler runs.
func TestRangeOfRayWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		group string
		want  *Scale
	}{
		"bounds":            {"{replicas: 2, minReplicas: 1, maxReplicas: 5, " + rayWorkers + "}", &Scale{By: "Ray", Min: 1, Max: 5}},
		"no maximum":        {"{replicas: 2, " + rayWorkers + "}", &Scale{By: "Ray", Max: 1<<31 - 1, Unbounded: true}},
		"a suspended group": {"{suspend: true, minReplicas: 1, maxReplicas: 5, " + rayWorkers + "}", nil},
	} {
		for switched, want := range map[string]*Scale{"true": c.want, "false": nil} {
			object := read(t, ray, "spec: {enableInTreeAutoscaling: "+switched+", "+rayHead+", workerGroupSpecs: ["+c.group+"]}")
			if diff := cmp.Diff(want, object.Templates[1].Scale); diff != "" || object.Templates[0].Scale != nil {
				t.Errorf("%s, autoscaling %s (-want +got):\n%s", name, switched, diff)
			}
		}
	}
}

// The submitter of a RayJob is a pod of its own, a container of the head, or neither.
func TestRaySubmitter(t *testing.T) {
	const (
		cluster  = "rayClusterSpec: {" + rayHead + "}"
		selector = "clusterSelector: {ray.io/cluster: shared}"
		template = "submitterPodTemplate: {spec: {containers: [{name: own, resources: {requests: {cpu: 2}}}]}}"
		at       = "spec.submitterPodTemplate"
	)
	pod := func(path string, requests map[string]string) summary {
		countPath := strings.TrimSuffix(path, ".template")
		return summary{path, countPath, 1, 1, nil, requests}
	}
	head := pod("spec.rayClusterSpec.headGroupSpec.template", map[string]string{"h": "1 2Gi"})
	submitter := pod(at, map[string]string{"ray-job-submitter": "500m 200Mi"})
	for name, c := range map[string]struct {
		text  string
		want  []summary
		ended bool
	}{
		"default":                  {"spec: {" + cluster + "}", []summary{head, submitter}, false},
		"a Job":                    {"spec: {submissionMode: K8sJobMode, " + cluster + "}", []summary{head, submitter}, false},
		"a Job with a template":    {"spec: {" + cluster + ", " + template + "}", []summary{head, pod(at, map[string]string{"own": "2 0"})}, false},
		"a sidecar":                {"spec: {submissionMode: SidecarMode, " + cluster + "}", []summary{pod(head.Path, map[string]string{"h": "1 2Gi", "ray-job-submitter": "500m 200Mi"})}, false},
		"HTTP":                     {"spec: {submissionMode: HTTPMode, " + cluster + "}", []summary{head}, false},
		"interactive":              {"spec: {submissionMode: InteractiveMode, " + cluster + "}", []summary{head}, false},
		"another cluster":          {"spec: {" + selector + "}", []summary{submitter}, false},
		"another cluster over it":  {"spec: {" + cluster + ", " + selector + "}", []summary{submitter}, false},
		"another cluster via HTTP": {"spec: {submissionMode: HTTPMode, " + selector + "}", nil, true},
		"complete":                 {"spec: {" + cluster + "}\nstatus: {jobDeploymentStatus: Complete}", nil, true},
		"failed":                   {"spec: {" + cluster + "}\nstatus: {jobDeploymentStatus: Failed}", nil, true},
		"no cluster":               {"spec: {}", nil, false},
	} {
		object := read(t, rayJob, c.text)
		if diff := cmp.Diff(c.want, summaries(object)); diff != "" || object.Ended != c.ended {
			t.Errorf("%s: ended %t (-want +got):\n%s", name, object.Ended, diff)
		}
		for _, template := range object.Templates {
			for _, container := range template.Pod.Spec.Containers {
				if container.Name == "ray-job-submitter" && strings.Contains(name, "cluster") == (container.Image == "ray") {
					t.Errorf("%s: image %q", name, container.Image)
				}
			}
		}
	}
}

// Ray's autoscaler is a container of the head.
func TestRayAutoscaler(t *testing.T) {
	for name, c := range map[string]struct {
		fields, image string
		want          map[string]string
	}{
		"off":               {"enableInTreeAutoscaling: false, autoscalerOptions: {resources: {}}", "", map[string]string{"h": "1 2Gi"}},
		"default":           {"enableInTreeAutoscaling: true", "ray", map[string]string{"h": "1 2Gi", "autoscaler": "500m 512Mi"}},
		"own requests":      {"enableInTreeAutoscaling: true, autoscalerOptions: {resources: {requests: {cpu: 200m, memory: 1Gi}}}", "ray", map[string]string{"h": "1 2Gi", "autoscaler": "200m 1Gi"}},
		"requests for CPU":  {"enableInTreeAutoscaling: true, autoscalerOptions: {resources: {requests: {cpu: 200m}}}", "ray", map[string]string{"h": "1 2Gi", "autoscaler": "200m 0"}},
		"no requests":       {"enableInTreeAutoscaling: true, autoscalerOptions: {resources: {}}", "ray", map[string]string{"h": "1 2Gi", "autoscaler": "0 0"}},
		"an image":          {"enableInTreeAutoscaling: true, autoscalerOptions: {image: other}", "other", map[string]string{"h": "1 2Gi", "autoscaler": "500m 512Mi"}},
		"options left open": {"enableInTreeAutoscaling: true, autoscalerOptions: null", "ray", map[string]string{"h": "1 2Gi", "autoscaler": "500m 512Mi"}},
	} {
		for kind, open := range map[Kind]string{ray: "{", rayServes: "{rayClusterConfig: {", rayJob: "{submissionMode: HTTPMode, rayClusterSpec: {"} {
			object := read(t, kind, "spec: "+open+c.fields+", "+rayHead+strings.Repeat("}", strings.Count(open, "{")))
			want := []summary{{object.Templates[0].Path, object.Templates[0].CountPath, 1, 1, nil, c.want}}
			if diff := cmp.Diff(want, summaries(object)); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", name, kind.Kind, diff)
			}
			if containers := object.Templates[0].Pod.Spec.Containers; len(containers) > 1 && containers[1].Image != c.image {
				t.Errorf("%s of %s: image %q, want %q", name, kind.Kind, containers[1].Image, c.image)
			}
		}
	}
}
