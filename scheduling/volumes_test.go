package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// unboundVolume adds a claim whose volume can be made in any of the zones, each an alternative of its own.
func unboundVolume(s *scheduling.Snapshot, name string, zones ...string) {
	mode, class := storagev1.VolumeBindingWaitForFirstConsumer, "class-"+name
	sc := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "csi.example.com", VolumeBindingMode: &mode}
	for _, zone := range zones {
		sc.AllowedTopologies = append(sc.AllowedTopologies, corev1.TopologySelectorTerm{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneKey, Values: []string{zone}}},
		})
	}
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	pvc.Spec.StorageClassName = &class
	s.StorageClasses, s.PersistentVolumeClaims = append(s.StorageClasses, sc), append(s.PersistentVolumeClaims, pvc)
}

// SCH-103: of the places where a volume can be, one is taken where the pod has a node; of several, the cheapest.
func TestVolumeAlternatives(t *testing.T) {
	dearInA := sold(soldIn(), offering("a", "on-demand", 0.3), offering("b", "on-demand", 0.2), offering("c", "on-demand", 0.1))
	for _, c := range []struct {
		name  string
		zones []string
		parts []any
		want  string
	}{
		{"the only one", []string{"a"}, []any{dearInA}, "new medium/a/on-demand"},
		{"the cheapest, wherever it stands", []string{"a", "b"}, []any{dearInA}, "new medium/b/on-demand"},
		{"one that the pool has", []string{"c", "a"}, []any{nodePool("p", poolNeeds(zoneKey, opIn, "a", "b")), dearInA}, "new medium/a/on-demand"},
		{"one that has a node", []string{"z", "a"}, []any{nothingNew(), node("a"), node("b", inZone("b"))}, "on a"},
		{"none", []string{"z"}, []any{dearInA}, "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(append(c.parts, pod("p", claiming("data")))...)
			unboundVolume(s, "data", c.zones...)
			if got := place(solveQuery(t, s, scheduling.Query{}), "p"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// SCH-082: where a volume is is never given up, whatever else the pod wishes for and whether wishes count or not.
func TestVolumesAreNoWishes(t *testing.T) {
	for _, c := range []struct {
		zone    string
		options []podOption
		want    string
	}{
		{"b", []podOption{preferred(100, in(zoneKey, "a"))}, "new medium/b/on-demand"},
		{"b", []podOption{required(in(zoneKey, "a")), required(in(zoneKey, "b"))}, "new medium/b/on-demand"},
		{"z", []podOption{preferred(100, in(zoneKey, "a"))}, "nowhere"},
		{"b", []podOption{required(in(zoneKey, "a")), preferred(1, in(zoneKey, "b"))}, "nowhere"},
	} {
		for _, policy := range []scheduling.PreferencePolicy{scheduling.PreferencesRespect, scheduling.PreferencesIgnore} {
			s := cluster(soldIn("a", "b"), pod("p", append(c.options, claiming("data"))...))
			boundVolume(s, "data", c.zone)
			if got := place(solveQuery(t, s, scheduling.Query{Preferences: policy}), "p"); got != c.want {
				t.Errorf("volume in %s, preferences %s: %s, want %s", c.zone, policy, got, c.want)
			}
		}
	}
}
