package v1beta1

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// fields are the paths of what is wrong, sorted.
func fields(o object) []string {
	var paths []string
	for _, err := range o.Validate() {
		paths = append(paths, err.Field)
	}
	slices.Sort(paths)
	return paths
}

func TestValidatePool(t *testing.T) {
	for _, c := range []struct {
		name string
		// replace in base: old, new, ...
		replace []string
		want    []string
	}{
		{name: "fine"},
		{name: "API-018: operators of later releases", replace: []string{"requirements: []", "requirements: [{key: a, operator: Gte, values: ['1']}]"}, want: []string{"spec.template.spec.requirements[0].operator"}},
		{name: "API-019: In without a value", replace: []string{"requirements: []", "requirements: [{key: a, operator: In}]"}, want: []string{"spec.template.spec.requirements[0].values"}},
		{name: "API-020: Gt of two, Lt of a word, Gt below 0", replace: []string{"requirements: []", "requirements: [{key: a, operator: Gt, values: ['1', '2']}, {key: b, operator: Lt, values: [x]}, {key: c, operator: Gt, values: ['-1']}]"}, want: []string{
			"spec.template.spec.requirements[0].values", "spec.template.spec.requirements[1].values", "spec.template.spec.requirements[2].values", "spec.template.spec.requirements[2].values[0]",
		}},
		{name: "API-021: key and value are those of labels", replace: []string{"requirements: []", "requirements: [{key: 'a b', operator: In, values: ['c d']}, {key: x, operator: Exists, values: [y]}]"}, want: []string{
			"spec.template.spec.requirements[0].key", "spec.template.spec.requirements[0].values[0]", "spec.template.spec.requirements[1].values",
		}},
		{name: "API-023, API-034: labels that every node has for itself", replace: []string{"requirements: []", "requirements: [{key: karpenter.sh/nodepool, operator: Exists}, {key: kubernetes.io/hostname, operator: Exists}]", "template:", "template:\n    metadata: {labels: {karpenter.sh/nodepool: a, kubernetes.io/hostname: b}}"}, want: []string{
			"spec.template.metadata.labels[karpenter.sh/nodepool]", "spec.template.metadata.labels[kubernetes.io/hostname]",
			"spec.template.spec.requirements[0].key", "spec.template.spec.requirements[1].key",
		}},
		{name: "API-024: minValues within bounds and no more than there are", replace: []string{"requirements: []", "requirements: [{key: a, operator: In, values: [x], minValues: 2}, {key: b, operator: Exists, minValues: 51}]"}, want: []string{
			"spec.template.spec.requirements[0].values", "spec.template.spec.requirements[1].minValues",
		}},
		{name: "API-025: at most 100 requirements", replace: []string{"requirements: []", "requirements: [" + strings.TrimSuffix(strings.Repeat("{key: a, operator: Exists}, ", 101), ", ") + "]"}, want: []string{"spec.template.spec.requirements"}},
		{name: "API-026, API-132: requirements are required", replace: []string{"requirements: []", "taints: []"}, want: []string{"spec.template.spec.requirements"}},
		{name: "API-028 to API-030, API-131: taints", replace: []string{"requirements: []", "requirements: []\n      taints: [{key: a, effect: Never}, {key: b}]\n      startupTaints: [{key: b}]"}, want: []string{
			"spec.template.spec.startupTaints[0]", "spec.template.spec.startupTaints[0].effect", "spec.template.spec.taints[0].effect", "spec.template.spec.taints[1].effect",
		}},
		{name: "API-035, API-129: label values", replace: []string{"template:", "template:\n    metadata: {labels: {a: 'b c'}, annotations: {a: 'b c'}}"}, want: []string{"spec.template.metadata.labels[a]"}},
		{name: "API-134: the node class is named", replace: []string{"name: default", "name: ''"}, want: []string{"spec.template.spec.nodeClassRef.name"}},
		{name: "API-135: no resources", replace: []string{"requirements: []", "requirements: []\n      resources: {requests: {cpu: 1}}"}, want: []string{"spec.template.spec.resources"}},
		{name: "API-137: a policy of v1", replace: []string{"WhenEmpty", "WhenEmptyOrUnderutilized"}, want: []string{"spec.disruption.consolidateAfter", "spec.disruption.consolidationPolicy"}},
		{name: "API-138: WhenEmpty without a wait", replace: []string{"consolidateAfter: 2m, ", ""}, want: []string{"spec.disruption.consolidateAfter"}},
		{name: "API-138: WhenUnderutilized with one", replace: []string{"WhenEmpty", "WhenUnderutilized"}, want: []string{"spec.disruption.consolidateAfter"}},
		{name: "API-138, API-139: WhenUnderutilized with Never", replace: []string{"WhenEmpty", "WhenUnderutilized", "2m", "Never"}},
		{name: "API-138: a wait of milliseconds, or below 0", replace: []string{"2m", "-2ms"}, want: []string{"spec.disruption.consolidateAfter"}},
		{name: "API-140: an expiry below 0", replace: []string{"expireAfter: Never", "expireAfter: -2h"}, want: []string{"spec.disruption.expireAfter"}},
		{name: "API-141 to API-144: budgets", replace: []string{"expireAfter: Never", "budgets: [{nodes: 101%}, {nodes: '1', schedule: '@daily'}, {nodes: '1', duration: 1h}, {nodes: '1', schedule: 'x', duration: 1s}]"}, want: []string{
			"spec.disruption.budgets[0].nodes", "spec.disruption.budgets[1].duration", "spec.disruption.budgets[2].schedule",
			"spec.disruption.budgets[3].duration", "spec.disruption.budgets[3].schedule",
		}},
		{name: "API-141: at most 50 budgets", replace: []string{"expireAfter: Never", "budgets: [" + strings.TrimSuffix(strings.Repeat("{nodes: '1'}, ", 51), ", ") + "]"}, want: []string{"spec.disruption.budgets"}},
		{name: "API-145: limits", replace: []string{"spec:\n  d", "spec:\n  limits: {cpu: -1}\n  d"}, want: []string{"spec.limits[cpu]"}},
		{name: "API-146: weight", replace: []string{"spec:\n  d", "spec:\n  weight: 0\n  d"}, want: []string{"spec.weight"}},
		{name: "the name is the value of a label", replace: []string{"name: web", "name: " + strings.Repeat("a", 64)}, want: []string{"metadata.name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			manifest := strings.NewReplacer(c.replace...).Replace(base)
			if len(c.replace) > 0 && manifest == base {
				t.Fatal("nothing replaced")
			}
			if diff := cmp.Diff(c.want, fields(readPool(t, manifest))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestValidateKubelet(t *testing.T) {
	for _, c := range []struct {
		name, kubelet string
		want          []string
	}{
		{name: "API-044, API-045, API-051: counts", kubelet: "{maxPods: -1, podsPerCore: -1, evictionMaxPodGracePeriod: -1}", want: []string{"evictionMaxPodGracePeriod", "maxPods", "podsPerCore"}},
		{name: "API-044, API-045: zero", kubelet: "{maxPods: 0, podsPerCore: 0}"},
		{name: "API-046, API-047: reserved", kubelet: "{systemReserved: {cpu: -1, disk: 1Gi}, kubeReserved: {memory: much, cpu: 1, pid: 1e3}}", want: []string{"kubeReserved[memory]", "systemReserved[cpu]", "systemReserved[disk]"}},
		{name: "API-048, API-049: thresholds", kubelet: "{evictionHard: {memory.available: 101%, cpu.available: 5%, pid.available: -1}, evictionSoft: {nodefs.available: some}, evictionSoftGracePeriod: {nodefs.available: 1m}}", want: []string{
			"evictionHard[cpu.available]", "evictionHard[memory.available]", "evictionHard[pid.available]", "evictionSoft[nodefs.available]",
		}},
		{name: "API-049, API-050: pairs", kubelet: "{evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {nodefs.available: soon, pid.available: -1m, bogus: 1m}}", want: []string{
			"evictionSoftGracePeriod[memory.available]", "evictionSoft[bogus]", "evictionSoft[nodefs.available]", "evictionSoft[pid.available]",
			"evictionSoftGracePeriod[bogus]", "evictionSoftGracePeriod[nodefs.available]", "evictionSoftGracePeriod[pid.available]",
		}},
		{name: "API-052, API-053: thresholds of image collection", kubelet: "{imageGCHighThresholdPercent: 101, imageGCLowThresholdPercent: -1}", want: []string{"imageGCHighThresholdPercent", "imageGCLowThresholdPercent"}},
		{name: "API-052, API-053: high below low", kubelet: "{imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50}", want: []string{"imageGCHighThresholdPercent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool := readPool(t, strings.Replace(base, "requirements: []", "requirements: []\n      kubelet: "+c.kubelet, 1))
			var want []string
			for _, path := range c.want {
				want = append(want, "spec.template.spec.kubelet."+path)
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, fields(pool)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// API-043: containerRuntime was of the first generation alone; API-046: a bare number is read, a list is not.
func TestKubeletIsDecodedStrictly(t *testing.T) {
	var k KubeletConfiguration
	if err := yaml.UnmarshalStrict([]byte("containerRuntime: containerd"), &k); err == nil {
		t.Error("containerRuntime was accepted")
	}
	if err := yaml.UnmarshalStrict([]byte("kubeReserved: {cpu: [1]}"), &k); err == nil {
		t.Error("a list was accepted")
	}
	if err := yaml.UnmarshalStrict([]byte("kubeReserved: {cpu: 1, memory: 1Gi, pid: null}"), &k); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]Amount{"cpu": "1", "memory": "1Gi", "pid": ""}, k.KubeReserved); diff != "" {
		t.Error(diff)
	}
}

// API-150, API-153: a claim's own rules.
func TestValidateClaim(t *testing.T) {
	var claim NodeClaim
	if err := yaml.UnmarshalStrict([]byte("spec: {resources: {requests: {cpu: -1}}, kubelet: {maxPods: -1}, nodeClassRef: {}}"), &claim); err != nil {
		t.Fatal(err)
	}
	want := []string{"metadata.name", "spec.kubelet.maxPods", "spec.nodeClassRef.name", "spec.requirements", "spec.resources.requests[cpu]"}
	if diff := cmp.Diff(want, fields(&claim)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// API-136 to API-142: what is left out reads as the API server would fill it in.
func TestDefaults(t *testing.T) {
	var pool NodePool
	pool.Default()
	want := "budgets:\n- nodes: 10%\nconsolidationPolicy: WhenUnderutilized\nexpireAfter: 720h"
	if diff := cmp.Diff(want, asYAML(func(p *NodePool) any { return p.Spec.Disruption })(&pool)); diff != "" {
		t.Error(diff)
	}
	pool = *readPool(t, strings.Replace(base, "expireAfter: Never", "expireAfter: Never, budgets: []", 1))
	before := pool.DeepCopy()
	pool.Default()
	if diff := cmp.Diff(before, &pool); diff != "" {
		t.Errorf("what was set has changed:\n%s", diff)
	}
}
