package topology

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// What is remembered of one pod's rules is used for another only if they state the same rules: every field that makes a
// rule another one makes it another one here too.
func TestRememberedRules(t *testing.T) {
	base := func() *corev1.Pod {
		own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: map[string]string{"app": "a", "version": "1"}}}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own.DeepCopy(), MatchLabelKeys: []string{"version"},
		}}
		p.Spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}}},
			}}},
			PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 3, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: own.DeepCopy()}},
			}},
			PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: "rack", LabelSelector: own.DeepCopy(), MismatchLabelKeys: []string{"version"}},
			}},
		}
		return p
	}
	honor := corev1.NodeInclusionPolicyHonor
	seconds := int64(300)
	for _, c := range []struct {
		name   string
		change func(*corev1.Pod)
		same   bool
	}{
		{"nothing", func(*corev1.Pod) {}, true},
		{"the name", func(p *corev1.Pod) { p.Name = "q" }, true},
		{"a label no rule looks at", func(p *corev1.Pod) { p.Labels["other"] = "x" }, true},
		{"the namespace", func(p *corev1.Pod) { p.Namespace = "other" }, false},
		{"the value of a matchLabelKey", func(p *corev1.Pod) { p.Labels["version"] = "2" }, false},
		{"no value of a matchLabelKey", func(p *corev1.Pod) { delete(p.Labels, "version") }, false},
		{"the skew", func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MaxSkew = 2 }, false},
		{"minDomains", func(p *corev1.Pod) { n := int32(2); p.Spec.TopologySpreadConstraints[0].MinDomains = &n }, false},
		{"the key", func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].TopologyKey = "rack" }, false},
		{"hard or soft", func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = corev1.ScheduleAnyway
		}, false},
		{"an empty selector instead of one", func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints[0].LabelSelector = &metav1.LabelSelector{}
		}, false},
		{"no selector", func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].LabelSelector = nil }, false},
		{"an expression", func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}
		}, false},
		{"taints honoured", func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &honor }, false},
		{"the node selector", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"x": "y"} }, false},
		{"the node affinity", func(p *corev1.Pod) {
			p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values[0] = "hdd"
		}, false},
		{"no node affinity", func(p *corev1.Pod) { p.Spec.Affinity.NodeAffinity = nil }, false},
		{"the weight", func(p *corev1.Pod) {
			p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight = 4
		}, false},
		{"no affinity", func(p *corev1.Pod) { p.Spec.Affinity.PodAffinity = nil }, false},
		{"no anti-affinity", func(p *corev1.Pod) { p.Spec.Affinity.PodAntiAffinity = nil }, false},
		{"namespaces", func(p *corev1.Pod) {
			p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].Namespaces = []string{"other"}
		}, false},
		{"a namespace selector", func(p *corev1.Pod) {
			p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = &metav1.LabelSelector{}
		}, false},
		{"a port", func(p *corev1.Pod) {
			p.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: 80}}}}
		}, false},
		{"tolerations where taints are not honoured", func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := ruleIndex(base())
			_, first, err := x.Collect(base())
			if err != nil {
				t.Fatal(err)
			}
			first = slices.Clone(first)
			changed := base()
			c.change(changed)
			_, got, _ := x.Collect(changed)
			want, _ := x.read(changed)
			if !slices.Equal(got, want) {
				t.Errorf("its rules are %v, remembered were %v", want, got)
			}
			if same := slices.Equal(got, first); same != c.same {
				t.Errorf("rules %v, those of the pod before %v", got, first)
			}
		})
	}
	t.Run("how long a taint is tolerated", func(t *testing.T) {
		tolerating := func(seconds *int64) *corev1.Pod {
			p := base()
			p.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &honor
			p.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists, TolerationSeconds: seconds}}
			return p
		}
		x := ruleIndex(base())
		first, _ := x.read(tolerating(nil))
		if second, _ := x.read(tolerating(&seconds)); !slices.Equal(first, second) {
			t.Errorf("rules %v and %v", first, second)
		}
	})
}

// ruleIndex is an index for the pod's cluster of one.
func ruleIndex(pod *corev1.Pod) *Index {
	vocabulary := requirements.CoreVocabulary()
	lookup := vocabulary.Compile()
	users := func(yield func(*corev1.Pod, bool) bool) { yield(pod, false) }
	x := NewIndex(match.Terms{Vocabulary: lookup, Pods: lookup}, volumes.New(&volumes.Objects{Users: users}, lookup), map[string]bool{},
		&Cluster{Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "other"}}}})
	x.KnowNamespace("default")
	return x
}
