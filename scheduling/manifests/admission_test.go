package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// amounts writes a list of resources as text, for comparing.
func amounts(list corev1.ResourceList) map[string]string {
	out := make(map[string]string, len(list))
	for name, amount := range list {
		out[string(name)] = amount.String()
	}
	return out
}

func containerPod(metadata, resources string) string {
	return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a" + metadata + "}\nspec: {containers: [{name: x, resources: " + resources + "}]}\n"
}

func TestRequestsOfContainers(t *testing.T) {
	const ranges = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: r}\nspec:\n  limits:\n  - type: Container\n"
	for name, c := range map[string]struct {
		text             string
		requests, limits map[string]string
	}{
		"limits stand in for requests (SCH-060)": {
			containerPod("", "{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}"),
			map[string]string{"cpu": "500m", "memory": "1Gi"}, map[string]string{"cpu": "1", "memory": "1Gi"},
		},
		"a LimitRange fills in requests and limits": {
			ranges + "    defaultRequest: {cpu: 100m}\n    default: {cpu: 200m, memory: 1Gi}\n" + containerPod("", "{}"),
			map[string]string{"cpu": "100m", "memory": "1Gi"}, map[string]string{"cpu": "200m", "memory": "1Gi"},
		},
		"a LimitRange changes nothing that is stated": {
			ranges + "    defaultRequest: {cpu: 100m}\n    default: {cpu: 200m}\n" + containerPod("", "{limits: {cpu: 4}}"),
			map[string]string{"cpu": "4"}, map[string]string{"cpu": "4"},
		},
		"maximum and minimum are defaults too": {
			ranges + "    max: {cpu: 2}\n    min: {cpu: 10m, memory: 1Mi}\n" + containerPod("", "{}"),
			map[string]string{"cpu": "2", "memory": "1Mi"}, map[string]string{"cpu": "2"},
		},
		"a LimitRange of pods has no defaults": {
			strings.Replace(ranges, "Container", "Pod", 1) + "    max: {cpu: 2}\n" + containerPod("", "{}"),
			map[string]string{}, map[string]string{},
		},
		"a LimitRange of another namespace": {
			ranges + "    default: {cpu: 1}\n" + containerPod(", namespace: other", "{}"),
			map[string]string{}, map[string]string{},
		},
		"a pod that was admitted before": {
			ranges + "    default: {cpu: 1}\n" + containerPod(", uid: x", "{limits: {memory: 1Gi}}"),
			map[string]string{"memory": "1Gi"}, map[string]string{"memory": "1Gi"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, c.text)
			wantNoWarnings(t, result)
			got := result.Snapshot.Pods[0].Spec.Containers[0].Resources
			if diff := cmp.Diff(c.requests, amounts(got.Requests)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.limits, amounts(got.Limits)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitsOfAPodStandInForItsRequests(t *testing.T) {
	result := load(t, `
		apiVersion: v1
		kind: Pod
		metadata: {name: a}
		spec:
		  resources: {limits: {cpu: 4, memory: 4Gi}}
		  initContainers: [{name: i, resources: {limits: {memory: 1Gi}}}]
		  containers: [{name: x}]
		`)
	got := amounts(result.Snapshot.Pods[0].Spec.Resources.Requests)
	// Memory is asked for by a container: the containers decide.
	if diff := cmp.Diff(map[string]string{"cpu": "4"}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestInitContainersAreCompletedToo(t *testing.T) {
	result := load(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {initContainers: [{name: i, resources: {limits: {cpu: 1}}}], containers: [{name: x}]}\n")
	if got := result.Snapshot.Pods[0].Spec.InitContainers[0].Resources.Requests.Cpu().Value(); got != 1 {
		t.Errorf("cpu %d, want 1", got)
	}
}

func TestPortsOfTheHost(t *testing.T) {
	result := load(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostNetwork: true, containers: [{name: x, ports: [{containerPort: 80}]}]}\n---\n"+
		"apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {containers: [{name: x, ports: [{containerPort: 80}]}]}\n")
	for i, want := range []int32{80, 0} {
		port := result.Snapshot.Pods[i].Spec.Containers[0].Ports[0]
		if port.HostPort != want || port.Protocol != corev1.ProtocolTCP {
			t.Errorf("port %+v, want host port %d and TCP", port, want)
		}
	}
}

func TestPriority(t *testing.T) {
	const classes = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\npreemptionPolicy: Never\n---\n" +
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: base}\nvalue: 10\nglobalDefault: true\n---\n" +
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: base2}\nvalue: 20\nglobalDefault: true\n---\n"
	for name, c := range map[string]struct {
		text    string
		want    int32
		warning WarningCode
	}{
		"of a class":              {classes + simplePod("a", "  priorityClassName: high\n"), 1000, ""},
		"of the default class":    {classes + simplePod("a", ""), 10, ""},
		"stated":                  {classes + simplePod("a", "  priorityClassName: high\n  priority: 5\n"), 5, ""},
		"of the system":           {simplePod("a", "  priorityClassName: system-node-critical\n"), 2_000_001_000, ""},
		"of a class nobody knows": {simplePod("a", "  priorityClassName: high\n"), -1, WarningPriorityClass},
		"none":                    {simplePod("a", ""), -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, c.text)
			got := int32(-1) // nil
			if p := result.Snapshot.Pods[0].Spec.Priority; p != nil {
				got = *p
			}
			if got != c.want {
				t.Errorf("priority %d, want %d", got, c.want)
			}
			if c.warning == "" {
				wantNoWarnings(t, result)
			} else {
				wantWarning(t, result, c.warning)
			}
		})
	}
	high := load(t, classes+simplePod("a", "  priorityClassName: high\n")).Snapshot.Pods[0]
	if got := high.Spec.PreemptionPolicy; got == nil || *got != corev1.PreemptNever {
		t.Errorf("preemption policy %v, want the class'", got)
	}
}

const sandbox = `apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandbox}
handler: x
overhead: {podFixed: {cpu: 250m, memory: 128Mi}}
scheduling:
  nodeSelector: {runtime: sandbox}
  tolerations: [{key: sandbox, operator: Exists}, {key: extra, operator: Exists}]
---
`

func TestRuntimeClass(t *testing.T) {
	result := load(t, sandbox+simplePod("a", "  runtimeClassName: sandbox\n  nodeSelector: {zone: x}\n  tolerations: [{key: extra, operator: Exists}]\n"))
	wantNoWarnings(t, result)
	spec := result.Snapshot.Pods[0].Spec
	if diff := cmp.Diff(map[string]string{"cpu": "250m", "memory": "128Mi"}, amounts(spec.Overhead)); diff != "" {
		t.Errorf("overhead (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"zone": "x", "runtime": "sandbox"}, spec.NodeSelector); diff != "" {
		t.Errorf("node selector (-want +got):\n%s", diff)
	}
	var keys []string
	for _, toleration := range spec.Tolerations {
		keys = append(keys, toleration.Key)
	}
	if diff := cmp.Diff([]string{"extra", "sandbox"}, keys); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
}

func TestRuntimeClassThatIsMissingOrContradicted(t *testing.T) {
	result := load(t, simplePod("a", "  runtimeClassName: sandbox\n"))
	wantWarning(t, result, WarningRuntimeClass)
	result = load(t, sandbox+simplePod("a", "  runtimeClassName: sandbox\n  nodeSelector: {runtime: plain}\n"))
	wantWarning(t, result, WarningRuntimeClass)
	if got := result.Snapshot.Pods[0].Spec.NodeSelector["runtime"]; got != "plain" {
		t.Errorf("runtime=%s, want the pod's own word", got)
	}
}

func TestAdmittedPodsKeepTheirOverhead(t *testing.T) {
	result := load(t, sandbox+strings.Replace(simplePod("a", "  runtimeClassName: sandbox\n"), "name: a", "name: a, uid: x", 1))
	if got := result.Snapshot.Pods[0].Spec.Overhead; got != nil {
		t.Errorf("overhead %v of a pod that was admitted without", got)
	}
}

func TestWorkloadsAreAdmittedLikePods(t *testing.T) {
	result := load(t, sandbox+"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, template: {spec: {runtimeClassName: sandbox, containers: [{name: x}]}}}\n---\n"+
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {runtimeClassName: sandbox, containers: [{name: x}]}}}\n")
	for _, pod := range result.Snapshot.Pods {
		if got := pod.Spec.Overhead.Cpu().MilliValue(); got != 250 {
			t.Errorf("pod %s: overhead %dm, want 250m", pod.Name, got)
		}
	}
	if got := result.Snapshot.DaemonSets[0].Spec.Template.Spec.Overhead.Cpu().MilliValue(); got != 250 {
		t.Errorf("DaemonSet: overhead %dm, want 250m", got)
	}
}
