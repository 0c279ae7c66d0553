package manifests

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A quantity that takes minutes to read is refused at once, with its place, in every kind and form that has quantities; text that
// looks like one is none.
func TestQuantitiesOutOfBounds(t *testing.T) {
	const bad = "1e-999999999"
	for name, c := range map[string]struct{ text, want string }{
		"pod, YAML": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    resources:\n      requests:\n        cpu: \"" + bad + "\"\n",
			"document 1, line 9: Pod default/a: spec.containers[0].resources.requests[cpu]",
		},
		"without quotes": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c, resources: {requests: {memory: " + bad + "}}}]\n",
			"document 1, line 5: Pod default/a: spec.containers[0].resources.requests[memory]",
		},
		"pod, JSON": {
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},` + "\n" + `"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":` + bad + `}}}]}}`,
			"document 1, line 2: Pod default/a: spec.containers[0].resources.limits[cpu]",
		},
		"deployment": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2, template: {spec: {overhead: {cpu: \"" + bad + "\"}, containers: []}}}\n",
			"spec.template.spec.overhead[cpu]",
		},
		"node":              {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: \"" + bad + "\"}}\n", "status.allocatable[cpu]"},
		"NodePool":          {"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {limits: {cpu: \"" + bad + "\"}}\n", "spec.limits[cpu]"},
		"NodePool, v1beta1": {"apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {limits: {cpu: \"" + bad + "\"}}\n", "spec.limits[cpu]"},
		"Provisioner":       {"apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {limits: {resources: {cpu: \"" + bad + "\"}}}\n", "spec.limits.resources[cpu]"},
		"NodeOverlay":       {"apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec: {capacity: {smarter-devices/fuse: \"" + bad + "\"}}\n", "spec.capacity[smarter-devices/fuse]"},
		"EC2NodeClass":      {"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {blockDeviceMappings: [{ebs: {volumeSize: \"" + bad + "\"}}]}\n", "spec.blockDeviceMappings[0].ebs.volumeSize"},
		"reserved":          {"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {kubelet: {kubeReserved: {cpu: \"" + bad + "\"}}}\n", "spec.kubelet.kubeReserved[cpu]"},
		"claim of a volume": {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: {resources: {requests: {storage: \"" + bad + "\"}}}\n", "spec.resources.requests[storage]"},
		"capacity buffer":   {"apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: a}\nspec: {limits: {cpu: \"" + bad + "\"}}\n", "spec.limits[cpu]"},
		"a hundred thousand digits": {
			"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {capacity: {cpu: \"" + strings.Repeat("1", 100_000) + "\"}}\n", "status.capacity[cpu]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := Load([]Source{{Name: "in.yaml", Data: []byte(c.text)}}, onAWS(Options{}))
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("takes %s", took)
			}
			var refused *LoadError
			if !errors.As(err, &refused) || len(refused.Problems) == 0 {
				t.Fatalf("got %v", err)
			}
			if got := err.Error(); !strings.Contains(got, c.want) || len(got) > 2000 {
				t.Errorf("got  %.2000s\nwant %s", got, c.want)
			}
		})
	}
	const harmless = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {commit: \"7e45921\"}, annotations: {a: \"" + bad + "\"}}\nspec: {containers: [{name: c, args: [\"" + bad + "\"]}]}\n"
	if _, err := Load([]Source{{Name: "in.yaml", Data: []byte(harmless)}}, onAWS(Options{})); err != nil {
		t.Errorf("text that is no quantity: %v", err)
	}
}
