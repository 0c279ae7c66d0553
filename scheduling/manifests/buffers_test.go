package manifests

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling/buffers"
)

// podTemplateOf is a PodTemplate with one container.
func podTemplateOf(name, limits string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: %s}\ntemplate:\n  metadata: {labels: {app: %s}}\n"+
		"  spec: {containers: [{name: main, resources: {limits: {%s}}}]}\n", name, name, limits)
}

// bufferOf is a CapacityBuffer.
func bufferOf(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: %s}\nspec: {%s}\n", name, spec)
}

// PRV-150 to PRV-152, SCH-181: buffers become placeholders in addition to the pending pods.
func TestBuffersBecomePlaceholders(t *testing.T) {
	web := workloadOf("apps/v1", "Deployment", "web", "  replicas: 4\n")
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a PodTemplate": {
			podTemplateOf("t", "cpu: 1") + bufferOf("b", "podTemplateRef: {name: t}, replicas: 2"),
			[]string{"capacity-buffer-b-0", "capacity-buffer-b-1"},
		},
		"limits of a buffer count the requests that limits of a container stand in for (SCH-060)": {
			podTemplateOf("t", "cpu: 1") + bufferOf("b", "podTemplateRef: {name: t}, limits: {cpu: 1500m}"),
			[]string{"capacity-buffer-b-0"},
		},
		"a Deployment": {
			web + bufferOf("b", "scalableRef: {apiGroup: apps, kind: Deployment, name: web}, percentage: 50"),
			[]string{"capacity-buffer-b-0", "capacity-buffer-b-1"},
		},
		"a StatefulSet": {
			workloadOf("apps/v1", "StatefulSet", "web", "  replicas: 1\n") + bufferOf("b", "scalableRef: {apiGroup: apps, kind: StatefulSet, name: web}, percentage: 1"),
			[]string{"capacity-buffer-b-0"},
		},
		"a ReplicaSet": {
			workloadOf("apps/v1", "ReplicaSet", "web", "  replicas: 1\n") + bufferOf("b", "scalableRef: {apiGroup: apps, kind: ReplicaSet, name: web}, percentage: 100"),
			[]string{"capacity-buffer-b-0"},
		},
		"overhead of a RuntimeClass counts": {
			sandbox + "\n" + strings.Replace(podTemplateOf("t", "cpu: 1"), "spec: {", "spec: {runtimeClassName: sandbox, ", 1) +
				bufferOf("b", "podTemplateRef: {name: t}, limits: {cpu: 2}"),
			[]string{"capacity-buffer-b-0"},
		},
		"defaults of a LimitRange count": {
			"apiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec: {limits: [{type: Container, defaultRequest: {memory: 1Gi}}]}\n" +
				podTemplateOf("t", "cpu: 1") + bufferOf("b", "podTemplateRef: {name: t}, limits: {memory: 1500Mi}"),
			[]string{"capacity-buffer-b-0"},
		},
		"a PodTemplate alone": {podTemplateOf("t", "cpu: 1"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, c.text)
			var got []string
			for _, pod := range result.Snapshot.Placeholders {
				got = append(got, pod.Name)
				if pod.Namespace != "default" || *pod.Spec.Priority != math.MinInt32 || pod.Spec.PriorityClassName != "" || !buffers.IsPlaceholder(pod) {
					t.Errorf("%s is no placeholder of namespace default: %+v", pod.Name, pod)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("placeholders (-want +got):\n%s", diff)
			}
			for _, pod := range result.Snapshot.Pods {
				if buffers.IsPlaceholder(pod) {
					t.Errorf("%s is among the pods", pod.Name)
				}
			}
			if len(c.want) > 0 && len(result.Snapshot.Namespaces) != 1 {
				t.Errorf("%d namespaces, want that of the placeholders", len(result.Snapshot.Namespaces))
			}
			wantNoWarnings(t, result)
		})
	}
}

// PRV-153: what a buffer refers to may be missing; that is said, and the rest is planned.
func TestBuffersThatKeepNoRoom(t *testing.T) {
	result := load(t, bufferOf("a", "podTemplateRef: {name: none}, replicas: 1")+
		bufferOf("b", "scalableRef: {apiGroup: apps, kind: Deployment, name: none}, replicas: 1")+
		podTemplateOf("t", "cpu: 1")+bufferOf("c", "podTemplateRef: {name: t}, limits: {memory: 1Gi}"))
	var got []string
	for _, w := range result.Warnings {
		got = append(got, w.String())
	}
	want := []string{
		`in.yaml: document 1, line 2: CapacityBuffer default/a: the buffer keeps no room: there is no PodTemplate "none" in namespace "default": create it or correct the reference`,
		`in.yaml: document 2, line 7: CapacityBuffer default/b: the buffer keeps no room: there is no Deployment "none" in namespace "default": create it or correct the reference`,
		`in.yaml: document 4, line 19: CapacityBuffer default/c: the buffer keeps no room: spec.limits: names no resource that the pods request, so it bounds nothing: name one, or set replicas`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if len(result.Snapshot.Placeholders) != 0 || len(result.Buffers) != 3 {
		t.Errorf("%d placeholders of %d buffers", len(result.Snapshot.Placeholders), len(result.Buffers))
	}
	t.Run("more than may be made", func(t *testing.T) {
		result := loadAll(t, Options{Limits: limited(func(l *Limits) { l.Replicas = 3 })}, source("a", podTemplateOf("t", "cpu: 1")+bufferOf("b", "podTemplateRef: {name: t}, replicas: 4")))
		if w := wantWarning(t, result, WarningCapacityBuffer); !strings.Contains(w.Message, "more than the 3 allowed") {
			t.Error(w)
		}
	})
}

func TestBuffersThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a rule of the kind (PRV-150)": {
			bufferOf("b", "replicas: 1"),
			"CapacityBuffer default/b: spec.podTemplateRef: Required value: name a PodTemplate here or a workload in scalableRef",
		},
		"an amount of a template": {
			podTemplateOf("t", "cpu: 4000"),
			"PodTemplate default/t: template.spec.containers[0].resources.limits[cpu]: 4000 CPUs are more than any node has",
		},
		"the names of other pods": {
			workloadOf("apps/v1", "Deployment", "capacity-buffer-b", "") + podTemplateOf("t", "cpu: 1") + bufferOf("b", "podTemplateRef: {name: t}, replicas: 1"),
			"CapacityBuffer default/b: metadata.name: its placeholder capacity-buffer-b-0 has the name of a pod of the input",
		},
		"another version": {
			strings.Replace(bufferOf("b", "replicas: 1"), "v1beta1", "v2", 1), "convert it to autoscaling.x-k8s.io/v1beta1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := refusal(t, Options{}, source("in.yaml", c.text)); !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// PRV-001: manifests written for the alpha version mean the same.
func TestAlphaBuffersAreRead(t *testing.T) {
	result := load(t, podTemplateOf("t", "cpu: 1")+strings.Replace(bufferOf("b", "podTemplateRef: {name: t}, replicas: 1"), "v1beta1", "v1alpha1", 1))
	wantWarning(t, result, WarningOldVersion)
	if len(result.Buffers) != 1 || result.Buffers[0].Buffer.APIVersion != "autoscaling.x-k8s.io/v1beta1" || len(result.Snapshot.Placeholders) != 1 {
		t.Errorf("buffers: %+v", result.Buffers)
	}
}
