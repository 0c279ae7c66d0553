package reconcilers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

func zoneIs(operator corev1.NodeSelectorOperator, zones ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: operator, Values: zones}}}
}

// PRV section 17, scheduler_pending_pods_by_effective_zone_count: where pods can go by what they and their volumes say.
func TestEffectiveZones(t *testing.T) {
	affine := func(terms ...corev1.NodeSelectorTerm) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
			}}
		}
	}
	with := func(claim string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		}
	}
	for name, c := range map[string]struct {
		change []func(*corev1.Pod)
		want   string
	}{
		"anywhere":            {nil, zoneFlexible},
		"by label":            {[]func(*corev1.Pod){func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "b"} }}, "b"},
		"by an old label":     {[]func(*corev1.Pod){func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelFailureDomainBetaZone: "b"} }}, "b"},
		"by affinity":         {[]func(*corev1.Pod){affine(zoneIs("NotIn", "a", "c"))}, "b"},
		"either term":         {[]func(*corev1.Pod){affine(zoneIs("In", "a"), zoneIs("In", "b"))}, zoneFlexible},
		"of a node that is":   {[]func(*corev1.Pod){affine(zoneIs("In", "c"))}, "c"},
		"nowhere":             {[]func(*corev1.Pod){affine(zoneIs("In", "elsewhere"))}, zoneNone},
		"by its volume":       {[]func(*corev1.Pod){with("bound")}, "a"},
		"volume elsewhere":    {[]func(*corev1.Pod){with("bound"), affine(zoneIs("In", "b"))}, zoneNone},
		"volume that waits":   {[]func(*corev1.Pod){with("waiting")}, zoneFlexible},
		"volume that is none": {[]func(*corev1.Pod){with("none")}, zoneFlexible},
	} {
		t.Run(name, func(t *testing.T) {
			pod := newPod("p")
			for _, change := range c.change {
				change(pod)
			}
			offering := func(zone string) cloudprovider.Offering {
				return cloudprovider.Offering{Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, zone))}
			}
			s := &scheduling.Snapshot{
				Catalogs: map[string][]*cloudprovider.InstanceType{"c": {{Name: "t", Offerings: []cloudprovider.Offering{offering("a"), offering("b"), offering("a")}}}},
				Nodes:    []scheduling.Node{{Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelTopologyZone: "c"}}}}, {}},
				PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{
					{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bound"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}},
					{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "waiting"}},
				},
				PersistentVolumes: []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
					NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{zoneIs("In", "a")}}},
				}}},
				Pods: []*corev1.Pod{pod},
			}
			want := map[string]int{"a": 0, "b": 0, "c": 0, zoneFlexible: 0, zoneNone: 0}
			want[c.want] = 1
			if diff := cmp.Diff(want, effectiveZones(s, requirements.CoreVocabulary().Compile())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// PRV section 17: what the last pass left, pods that no pool is to serve apart; and for how long a pass has been at work.
func TestSchedulerMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, nil)
		optedOut, stuck, zonal := newPod("opted-out"), newPod("stuck"), newPod("zonal")
		optedOut.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: v1.NodePoolLabelKey, Operator: "DoesNotExist"}}}},
		}}}
		stuck.Spec.NodeSelector = map[string]string{"no.such/label": "x"}
		zonal.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "test-region-1a"}
		w.create(optedOut, stuck, zonal)
		w.plan()
		all := gathered(t, registry)
		for series, want := range map[string]float64{
			"karpenter_scheduler_ignored_pods_count{}":                                                             1,
			"karpenter_scheduler_unschedulable_pods_count{controller=provisioner}":                                 1,
			"karpenter_scheduler_unfinished_work_seconds{controller=provisioner}":                                  0,
			"karpenter_scheduler_pending_pods_by_effective_zone_count{controller=provisioner,zone=flexible}":       2,
			"karpenter_scheduler_pending_pods_by_effective_zone_count{controller=provisioner,zone=test-region-1a}": 1,
			"karpenter_scheduler_pending_pods_by_effective_zone_count{controller=provisioner,zone=none}":           0,
		} {
			if got, ok := all[series]; !ok || got != want {
				t.Errorf("%s is %v, want %v of %v", series, got, want, ofName(all, series[:len("karpenter_scheduler_ignored_pods_count")]))
			}
		}
		w.planner.shown.passBegan(time.Now())
		time.Sleep(4 * time.Second)
		if work := gathered(t, registry)["karpenter_scheduler_unfinished_work_seconds{controller=provisioner}"]; work != 4 {
			t.Errorf("at work for %v s, want 4", work)
		}
	})
}
