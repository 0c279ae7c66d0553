package rulecosts_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/rulecosts"
)

var web0 = scheduling.PodKey{Namespace: "default", Name: "web-0"}

// strict is a snapshot whose pods and pool have every kind of rule.
func strict() *scheduling.Snapshot {
	s := shop()
	for _, p := range s.Pods {
		p.Spec.NodeSelector = map[string]string{zone: "a", corev1.LabelOSStable: "linux"}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			TopologyKey: host, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway,
		})
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: zone, Operator: "NotIn", Values: []string{"c"}}, {Key: "team", Operator: "In", Values: []string{"v", "w", "x", "y", "z"}},
			},
		}}}}
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: zone}}}
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}, {Name: "w"}}
	}
	s.NodePools[0].Object = build.Pool("general", build.Requires(v1.CapacityTypeLabelKey, "In", "on-demand"), build.Requires(corev1.LabelOSStable, "In", "linux"),
		build.Requires(corev1.LabelArchStable, "Exists"), build.Taints("gpu=yes:NoSchedule"), build.Limit("cpu", "100"), build.Weight(7))
	s.NodePools[0].Object.Spec.Template.Spec.Requirements[0].MinValues = new(int)
	*s.NodePools[0].Object.Spec.Template.Spec.Requirements[0].MinValues = 2
	return s
}

// Every rule is found, says what it is, and is gone from the snapshot without it, while the snapshot itself stays as it was and has the
// other rules.
func TestRules(t *testing.T) {
	s := strict()
	general := v1.NewPoolKey("general")
	list := func(s *scheduling.Snapshot) (out []string) {
		for _, r := range slices.Concat(rulecosts.OfPod(s, web0), rulecosts.OfPool(s, general)) {
			out = append(out, string(r.Kind)+": "+r.Text)
		}
		return out
	}
	want := []string{
		"NodeLabels: node label team In [v, w, x, y and 1 more]",
		"NodeLabels: node label topology.kubernetes.io/zone = a, topology.kubernetes.io/zone NotIn [c]",
		"TopologySpread: spread over topology.kubernetes.io/zone, maxSkew 1",
		"PodAffinity: affinity to pods in topology.kubernetes.io/zone",
		"PodAntiAffinity: anti-affinity to pods in kubernetes.io/hostname",
		"HostPorts: 1 host ports",
		"Volumes: 1 persistent volumes",
		"Preferences: preferences",
		"Requirement: karpenter.sh/capacity-type In [on-demand]",
		"Requirement: kubernetes.io/arch Exists",
		"MinValues: minValues 2 of karpenter.sh/capacity-type",
		"Taints: taints gpu=yes:NoSchedule",
		"Limits: limits cpu 100",
		"Weight: weight 7",
	}
	if diff := cmp.Diff(want, list(s)); diff != "" {
		t.Fatal(diff)
	}
	for i, r := range slices.Concat(rulecosts.OfPod(s, web0), rulecosts.OfPool(s, general)) {
		got := list(r.Without(s))
		left := slices.Delete(slices.Clone(want), i, i+1)
		if r.Kind == rulecosts.Requirement && i == 8 {
			left = slices.DeleteFunc(left, func(text string) bool { return text == want[10] }) // minValues of the label go with it
		}
		if diff := cmp.Diff(left, got); diff != "" {
			t.Errorf("without %s:\n%s", r, diff)
		}
		if r.Pods != 4 && r.Object == "Pod default/web-0" {
			t.Errorf("%s is of %d pods", r, r.Pods)
		}
		if diff := cmp.Diff(want, list(s)); diff != "" {
			t.Fatalf("without %s the snapshot itself has changed:\n%s", r, diff)
		}
	}
}

// There are no rules where there is no such pod or pool, and a rule of nothing changes nothing.
func TestNoRules(t *testing.T) {
	s := shop()
	if rules := rulecosts.OfPod(s, scheduling.PodKey{Name: "x"}); rules != nil {
		t.Error(rules)
	}
	if rules := rulecosts.OfPool(s, v1.NewPoolKey("x")); rules != nil {
		t.Error(rules)
	}
	if rulecosts.OfPod(nil, web0) != nil || rulecosts.OfPool(nil, v1.NewPoolKey("x")) != nil {
		t.Error("a nil snapshot has rules")
	}
	if (rulecosts.Rule{}).Without(s) != s {
		t.Error("the zero rule changes a snapshot")
	}
}

// A rule that keeps pods from a place counts before all that save money, and says how many get one without it.
func TestRuleThatKeepsPodsOut(t *testing.T) {
	s := shop()
	for _, p := range s.Pods {
		p.Spec.NodeSelector = map[string]string{"team": "nobody"}
	}
	base, err := rulecosts.New(t.Context(), s, rulecosts.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	r, err := base.Without(t.Context(), rulecosts.OfPod(s, web0))
	if err != nil {
		t.Fatal(err)
	}
	if first := r.Costs[0]; first.Kind != rulecosts.NodeLabels || first.MorePods != 4 || first.Saving >= 0 || len(first.Plan.NewNodes) != 4 {
		t.Errorf("%+v", first)
	}
	for _, c := range r.Costs[1:] {
		if c.Saving != 0 || c.MorePods != 0 {
			t.Errorf("%+v", c)
		}
	}
}

// MaxPlans bounds the work, and Progress hears of each plan.
func TestMaxPlans(t *testing.T) {
	s := shop()
	o := rulecosts.DefaultOptions()
	o.MaxPlans = 1
	var heard []int
	o.Progress = func(made, all int) { heard = append(heard, made, all) }
	base, err := rulecosts.New(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := base.Without(t.Context(), rulecosts.OfPod(s, web0))
	if err != nil || len(r.Costs) != 1 || r.Plans != 1 || len(r.NotPlanned) != 1 || !slices.Equal(heard, []int{0, 1}) {
		t.Errorf("%+v %v %v", r, heard, err)
	}
}

func TestRefusals(t *testing.T) {
	o := rulecosts.DefaultOptions()
	o.MaxPlans = -1
	var wrong *option.Error
	if _, err := rulecosts.New(t.Context(), shop(), o); !errors.As(err, &wrong) || wrong.Option != "MaxPlans" {
		t.Error(err)
	}
	if base, err := rulecosts.New(t.Context(), nil, rulecosts.DefaultOptions()); err == nil || base != nil {
		t.Error("a nil snapshot is planned")
	}
	base, err := rulecosts.New(t.Context(), shop(), rulecosts.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := base.Without(ctx, rulecosts.OfPod(base.Snapshot, web0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A term of a node selector without expressions matches no node. It does not come to match all when a label is left out of another term.
func TestEmptyTermsStay(t *testing.T) {
	arch := corev1.NodeSelectorRequirement{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}}
	zone := corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{}, {MatchExpressions: []corev1.NodeSelectorRequirement{arch, zone}}},
	}}}
	s := &scheduling.Snapshot{Pods: []*corev1.Pod{pod}}
	rules := rulecosts.OfPod(s, web0)
	if len(rules) != 2 {
		t.Fatal(rules)
	}
	want := []corev1.NodeSelectorTerm{{}, {MatchExpressions: []corev1.NodeSelectorRequirement{arch}}}
	got := rules[1].Without(s).Pods[0].Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if got == nil || !cmp.Equal(want, got.NodeSelectorTerms) {
		t.Errorf("without %s the pod requires %v", rules[1], got)
	}
}

// A nil pod among the waiting pods is no pod: rules of the others are found, counted and left out as without it.
func TestNilPods(t *testing.T) {
	want := rulecosts.OfPod(shop(), web0)
	s := shop()
	s.Pods = append([]*corev1.Pod{nil}, s.Pods...)
	got := rulecosts.OfPod(s, web0)
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("%d rules, without the nil pod %d", len(got), len(want))
	}
	for i, rule := range got {
		if rule.Pods != want[i].Pods || rule.String() != want[i].String() {
			t.Errorf("%s of %d pods, without the nil pod %s of %d", rule, rule.Pods, want[i], want[i].Pods)
		}
		if out := rule.Without(s); len(out.Pods) != len(s.Pods) || out.Pods[0] != nil || out.Pods[1] == s.Pods[1] {
			t.Errorf("%s: the pod has not become a copy, or the nil pod has", rule)
		}
	}
}
