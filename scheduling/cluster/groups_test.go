package cluster_test

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// waitingIn is a pod that waits as a member of a coscheduling group.
func waitingIn(group, name string) *corev1.Pod {
	return build.Pod(name, build.Namespace("research"), build.UID(name), build.Labels("scheduling.x-k8s.io/pod-group", group), build.Unschedulable())
}

func podGroup(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := group(apiVersion, kind)
	o.SetNamespace("research")
	o.SetName(name)
	o.Object["spec"] = spec
	return o
}

func members(g scheduling.Gang) (names []string) {
	for _, m := range g.Members {
		names = append(names, m.Name)
	}
	return names
}

// Pods of a group are a gang while the group is there, whichever comes first; pods that have ended are no members.
func TestGangsOfPodGroups(t *testing.T) {
	state := newState(t)
	pods := []*corev1.Pod{waitingIn("train", "train-0"), waitingIn("train", "train-1"), waitingIn("train", "train-10"), waitingIn("other", "lone")}
	for _, p := range pods {
		apply(t, state, cluster.Upsert(p))
	}
	if got := state.Snapshot(query()).Snapshot.Gangs; got != nil {
		t.Fatalf("no group is there, but gangs are: %v", got)
	}
	train := podGroup("scheduling.x-k8s.io/v1alpha1", "PodGroup", "train", map[string]any{"minMember": int64(2)})
	apply(t, state, cluster.Upsert(train))
	first := state.Snapshot(query()).Snapshot
	if len(first.Gangs) != 1 || first.Gangs[0].Minimum != 2 || !slices.Equal(members(first.Gangs[0]), []string{"train-0", "train-1", "train-10"}) {
		t.Fatalf("gangs: %+v", first.Gangs)
	}
	if again := state.Snapshot(query()).Snapshot; &again.Gangs[0] != &first.Gangs[0] {
		t.Error("nothing has changed, but the list is another one")
	}
	if _, err := scheduling.Compile(first); err != nil {
		t.Fatal(err)
	}
	ended := pods[1].DeepCopy()
	ended.Spec.NodeName, ended.Status.Phase = "gone", corev1.PodSucceeded
	apply(t, state, cluster.Upsert(ended), cluster.Delete(pods[2]))
	if got := state.Snapshot(query()).Snapshot.Gangs; len(got) != 1 || !slices.Equal(members(got[0]), []string{"train-0"}) {
		t.Errorf("gangs: %+v", got)
	}
	if len(first.Gangs[0].Members) != 3 {
		t.Error("a snapshot that was made has changed")
	}
	apply(t, state, cluster.Delete(train))
	if got := state.Snapshot(query()).Snapshot.Gangs; got != nil {
		t.Errorf("the group is gone, but gangs are: %v", got)
	}
}

// Every kind of group makes gangs, with its topology; groups of the same name stay apart; one that can't be read is left out.
func TestGangsOfEveryKind(t *testing.T) {
	state := newState(t)
	worker := &corev1.Pod{}
	worker.Namespace, worker.Name = "research", "worker"
	worker.Spec.WorkloadRef = &corev1.WorkloadReference{Name: "job", PodGroup: "workers", PodGroupReplicaKey: "a"}
	worker.Status.Conditions = waitingIn("", "").Status.Conditions
	volcano := waitingIn("", "volcano")
	volcano.Labels, volcano.Annotations = nil, map[string]string{"scheduling.k8s.io/group-name": "train"}
	kueue := waitingIn("", "kueue")
	kueue.Labels = map[string]string{"kueue.x-k8s.io/pod-group-name": "queue"}
	kueue.Annotations = map[string]string{"kueue.x-k8s.io/pod-group-total-count": "4", "kueue.x-k8s.io/podset-required-topology": corev1.LabelTopologyZone}
	apply(t, state,
		cluster.Upsert(worker), cluster.Upsert(volcano), cluster.Upsert(kueue), cluster.Upsert(waitingIn("train", "plain")), cluster.Upsert(waitingIn("bad", "bad")),
		cluster.Upsert(podGroup("scheduling.k8s.io/v1alpha1", "Workload", "job", map[string]any{"podGroups": []any{
			map[string]any{"name": "workers", "policy": map[string]any{"gang": map[string]any{"minCount": int64(3)}}},
		}})),
		cluster.Upsert(podGroup("scheduling.volcano.sh/v1beta1", "PodGroup", "train", map[string]any{"minMember": int64(2)})),
		cluster.Upsert(podGroup("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "train", map[string]any{"minMember": int64(5)})),
		cluster.Upsert(podGroup("scheduling.x-k8s.io/v1alpha1", "PodGroup", "bad", map[string]any{"minMember": int64(-5)})),
	)
	view := state.Snapshot(query())
	type row struct {
		Name    string
		Minimum int
		Member  string
	}
	var got []row
	for _, g := range view.Snapshot.Gangs {
		got = append(got, row{g.Name, g.Minimum, members(g)[0]})
	}
	want := []row{{"job-workers-a", 3, "worker"}, {"queue", 4, "kueue"}, {"train", 2, "volcano"}, {"train-podgroup", 5, "plain"}}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("gangs (-want +got):\n%s", diff)
	}
	if topology := view.Snapshot.Gangs[1].Topology; len(topology) != 1 || topology[0].Key != corev1.LabelTopologyZone {
		t.Errorf("topology of the Kueue group: %v", topology)
	}
	if len(view.LeftOut) != 1 || view.LeftOut[0].Object.Name != "bad" || view.LeftOut[0].Code != cluster.LeftOutInvalid {
		t.Errorf("left out: %v", view.LeftOut)
	}
	if _, err := scheduling.Compile(view.Snapshot); err != nil {
		t.Error(err)
	}
}

// Kueue's total is of all pods that there ever are: those that have ended well need no place again. One that failed is replaced.
func TestKueueCountsSucceededPods(t *testing.T) {
	state := newState(t)
	member := func(name string, phase corev1.PodPhase) *corev1.Pod {
		p := waitingIn("", name)
		p.Labels = map[string]string{"kueue.x-k8s.io/pod-group-name": "queue"}
		p.Annotations = map[string]string{"kueue.x-k8s.io/pod-group-total-count": "3"}
		if p.Status.Phase = phase; phase != corev1.PodPending {
			p.Spec.NodeName, p.Status.Conditions = "a", nil
		}
		return p
	}
	expect := func(want ...int) {
		t.Helper()
		var got []int
		for _, g := range state.Snapshot(query()).Snapshot.Gangs {
			got = append(got, g.Minimum, len(g.Members))
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("minimum and members (-want +got):\n%s", diff)
		}
	}
	apply(t, state, cluster.Upsert(member("a", corev1.PodSucceeded)), cluster.Upsert(member("b", corev1.PodFailed)), cluster.Upsert(member("c", corev1.PodPending)))
	expect(2, 1)
	apply(t, state, cluster.Upsert(member("d", corev1.PodPending)))
	expect(2, 2)
	apply(t, state, cluster.Delete(member("a", corev1.PodSucceeded)))
	expect(3, 2)
	apply(t, state, cluster.Upsert(member("c", corev1.PodSucceeded)), cluster.Upsert(member("d", corev1.PodSucceeded)))
	expect()
}
