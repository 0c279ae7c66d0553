package v1

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func pinnedPools() map[string]string {
	return map[string]string{
		"6821555240594823858": `
spec:
  template:
    spec:
      requirements: []
      expireAfter: 720h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}`,
		"16000508963752559309": `
spec:
  template:
    metadata:
      labels: {team: blue, example.com/tier: web}
      annotations: {example.com/owner: someone}
    spec:
      taints:
      - {key: example.com/a, effect: NoSchedule}
      - {key: example.com/b, value: x, effect: NoExecute}
      startupTaints:
      - {key: example.com/c, effect: NoSchedule}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
      terminationGracePeriod: 48h
      expireAfter: 30m
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}`,
		"9132622337162279475": `
spec:
  template:
    metadata: {labels: {a: ""}}
    spec:
      requirements: []
      expireAfter: Never
      terminationGracePeriod: 0s
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}`,
	}
}

// PRV-009, PRV-007: the numbers are those that version v3 has on existing fleets. Changing one replaces every node of
// everybody.
func TestHashIsPinned(t *testing.T) {
	for want, manifest := range pinnedPools() {
		pool := &NodePool{}
		if err := yaml.UnmarshalStrict([]byte(manifest), pool); err != nil {
			t.Fatal(err)
		}
		if got := pool.Hash(); got != want {
			t.Errorf("hash is %s, want %s, of%s", got, want, manifest)
		}
	}
	if NodePoolHashVersion != "v3" {
		t.Errorf("version is %s", NodePoolHashVersion)
	}
}

// PRV-002 (last column), PRV-009, DIS-018, API-179.
func TestWhatChangesTheHash(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*NodePool)
		drifts bool
	}{
		{"label", func(p *NodePool) { p.Spec.Template.Labels["a"] = "b" }, true},
		{"annotation", func(p *NodePool) { p.Spec.Template.Annotations["a"] = "b" }, true},
		{"taint", func(p *NodePool) { p.Spec.Template.Spec.Taints[0].Value = "other" }, true},
		{"startup taint", func(p *NodePool) { p.Spec.Template.Spec.StartupTaints = nil }, true},
		{"taint moved to the startup taints", func(p *NodePool) {
			s := &p.Spec.Template.Spec
			s.Taints, s.StartupTaints = s.StartupTaints, s.Taints
		}, true},
		{"name of the node class", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "other" }, true},
		{"grace period", func(p *NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = mustDuration(t, "1h") }, true},
		{"grace period removed", func(p *NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = nil }, true},
		{"expiry", func(p *NodePool) { p.Spec.Template.Spec.ExpireAfter = mustNillable(t, "1h") }, true},
		{"expiry Never", func(p *NodePool) { p.Spec.Template.Spec.ExpireAfter = Never() }, true},

		{"order of taints", func(p *NodePool) {
			s := p.Spec.Template.Spec.Taints
			s[0], s[1] = s[1], s[0]
		}, false},
		{"expiry in another form", func(p *NodePool) { p.Spec.Template.Spec.ExpireAfter = mustNillable(t, "43200m") }, false},
		{"expiry left to its default", func(p *NodePool) { p.Spec.Template.Spec.ExpireAfter = NillableDuration{} }, false},
		{"grace period in another form", func(p *NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = mustDuration(t, "2880m") }, false},
		{"time of a taint", func(p *NodePool) { p.Spec.Template.Spec.Taints[0].TimeAdded = &metav1.Time{} }, false},
		{"requirements", func(p *NodePool) { p.Spec.Template.Spec.Requirements = nil }, false},
		{"consolidateAfter", func(p *NodePool) { p.Spec.Disruption.ConsolidateAfter = Never() }, false},
		{"policy", func(p *NodePool) { p.Spec.Disruption.ConsolidationPolicy = "WhenEmpty" }, false},
		{"budgets", func(p *NodePool) { p.Spec.Disruption.Budgets = nil }, false},
		{"limits", func(p *NodePool) { p.Spec.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")} }, false},
		{"weight", func(p *NodePool) { p.Spec.Weight = ptr(int32(1)) }, false},
		{"replicas", func(p *NodePool) { p.Spec.Replicas = ptr(int64(1)) }, false},
		{"name, labels and status of the pool", func(p *NodePool) { p.Name, p.Labels, p.Status = "other", labels(1), NodePoolStatus{} }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pool := readPool(t, "nodepool-full.yaml")
			pool.Spec.Template.Spec.Taints = append(pool.Spec.Template.Spec.Taints, corev1.Taint{Key: "second", Effect: "NoSchedule"})
			before := pool.Hash()
			tc.change(pool)
			if drifts := pool.Hash() != before; drifts != tc.drifts {
				t.Errorf("drifts = %v, want %v", drifts, tc.drifts)
			}
		})
	}
}

func TestEmptyMapsHashLikeNone(t *testing.T) {
	none, empty := &NodePool{}, &NodePool{}
	empty.Spec.Template.Labels, empty.Spec.Template.Annotations = map[string]string{}, map[string]string{}
	empty.Spec.Template.Spec.Taints = []corev1.Taint{}
	if none.Hash() != empty.Hash() {
		t.Error("PRV-009: zero values must not matter")
	}
}
