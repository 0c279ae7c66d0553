package podgroups

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// A pod is of the first group that is there; where nothing is inferred, labels of LeaderWorkerSets and JobSets say nothing.
func TestNamed(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	if got := NewReader(true).Named(pod); got != nil {
		t.Errorf("a pod that names no group: %v", got)
	}
	pod.Labels = map[string]string{
		"scheduling.x-k8s.io/pod-group": "a", "leaderworkerset.sigs.k8s.io/name": "b", "leaderworkerset.sigs.k8s.io/group-index": "2",
	}
	if got := NewReader(false).Named(pod); len(got) != 1 || got[0].Group != (Key{CoschedulingPodGroup, "ns", "a"}) {
		t.Errorf("nothing inferred: %v", got)
	}
	got := NewReader(true).Named(pod)
	if len(got) != 2 || got[1].Group != (Key{LeaderWorkerSet, "ns", "b-2"}) || got[1].Object != (Key{}) {
		t.Errorf("inferred: %v", got)
	}
	if got[0].Described(nil) || !got[1].Described(nil) {
		t.Error("a group without its object is there, or one that needs none is not")
	}
}

// Reading a pod that names no group makes no garbage, though its fields are found by their names.
func TestNamedCostsNothing(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Labels: map[string]string{"app": "web"}}}
	reader := NewReader(true)
	if n := testing.AllocsPerRun(100, func() { reader.Named(pod) }); n > 0 {
		t.Errorf("%v objects are made", n)
	}
}

// Every field that a gang is made of is checked.
func TestReadRefuses(t *testing.T) {
	topology := func(keys ...any) map[string]any {
		var list []any
		for _, key := range keys {
			list = append(list, map[string]any{"key": key})
		}
		return map[string]any{"schedulingConstraints": map[string]any{"topology": list}}
	}
	for name, tt := range map[string]struct {
		spec map[string]any
		rule string
	}{
		"good":             {topology(corev1.LabelTopologyZone), ""},
		"fewer than none":  {map[string]any{"minMember": int64(-1)}, "spec.minMember must be a whole number from 0 to 1000000"},
		"no number":        {map[string]any{"minMember": "many"}, "spec can't be read: json: cannot unmarshal string into Go struct field Spec.spec.minMember of type int64"},
		"no key":           {topology("a b"), `spec.schedulingConstraints.topology[0].key must be a label key that is not repeated, not "a b"`},
		"a key twice":      {topology("a", "a"), `spec.schedulingConstraints.topology[1].key must be a label key that is not repeated, not "a"`},
		"too many":         {topology("a", "b", "c", "d", "e", "f", "g", "h", "i"), "spec.schedulingConstraints.topology must have at most 8 entries"},
		"of a v1 workload": {map[string]any{"podGroups": []any{map[string]any{"name": "x", "policy": map[string]any{"gang": map[string]any{"minCount": int64(-2)}}}}}, "spec.podGroups[0].policy.gang.minCount must be a whole number from 0 to 1000000"},
	} {
		_, err := Read(PodGroup, map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "g"}, "spec": tt.spec})
		want := "PodGroup.scheduling.k8s.io ns/g: " + tt.rule
		if tt.rule == "" && err != nil || tt.rule != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Names of gangs are unique, whatever they are made of.
func TestDistinct(t *testing.T) {
	taken := map[planning.GangKey]bool{}
	for i, want := range []string{"a", "a-podgroup", "a-podgroup-podgroup"} {
		if got := Distinct(VolcanoPodGroup, planning.GangKey{Namespace: "ns", Name: "a"}, taken); got != want {
			t.Errorf("name %d is %s, want %s", i, got, want)
		}
	}
}

// Members of a PodGroup of Kubernetes are disrupted one by one unless it says otherwise, those of others together.
func TestDisruptionMode(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Labels: map[string]string{"scheduling.x-k8s.io/pod-group": "g"}}}
	for _, tt := range []struct {
		kind Kind
		mode any
		want planning.GangDisruptionMode
	}{
		{PodGroup, nil, planning.GangDisruptedSingly},
		{PodGroup, map[string]any{"single": map[string]any{}}, planning.GangDisruptedSingly},
		{PodGroup, map[string]any{"all": map[string]any{}}, ""},
		{CoschedulingPodGroup, nil, ""},
	} {
		spec := map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(2)}}}
		if tt.mode != nil {
			spec["disruptionMode"] = tt.mode
		}
		object, err := Read(tt.kind, map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "g"}, "spec": spec})
		if err != nil {
			t.Fatal(err)
		}
		key := Key{tt.kind, "ns", "g"}
		part, ok := (&Named{Group: key, Object: key}).Part(object, []Member{{PodKey: planning.KeyOf(pod)}})
		if gangs, _ := Gangs([]Part{part}, func(Key) *Object { return nil }); !ok || len(gangs) != 1 || gangs[0].DisruptionMode != tt.want {
			t.Errorf("%s with %v: %+v", tt.kind, tt.mode, gangs)
		}
	}
}
