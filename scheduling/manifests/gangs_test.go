package manifests

import (
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/scheduling"
)

const gangPod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {LABELS}, annotations: {ANNOTATIONS}}\nspec: {containers: [{name: x}]}\n"

func gangPodWith(labels, annotations string) string {
	return strings.NewReplacer("LABELS", labels, "ANNOTATIONS", annotations).Replace(gangPod)
}

// What a group says that is not a plain gang of all its pods.
func TestGangs(t *testing.T) {
	const basic = "apiVersion: scheduling.k8s.io/v1alpha3\nkind: PodGroup\nmetadata: {name: g}\nspec: {schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: rack}]}}\n"
	const old = "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 5}\n"
	const grouped = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulingGroup: {podGroupName: g}, containers: [{name: x}]}\n"
	for _, c := range []struct {
		name, text string
		want       []scheduling.Gang
	}{
		{"a JobSet whose pods may start one by one", gangPodWith(jobSetLabels, "alpha.jobset.sigs.k8s.io/exclusive-topology: rack"), nil},
		{"a LeaderWorkerSet whose pods may start one by one", gangPodWith(lwsLabels, "leaderworkerset.sigs.k8s.io/size: \"2\""), nil},
		{"pods that are scheduled one by one, in one domain", basic + grouped, []scheduling.Gang{{Name: "g", Minimum: 1, Topology: []scheduling.GangTopology{{Key: "rack"}}}}},
		{"pods that are scheduled one by one, anywhere", strings.Replace(basic, "{key: rack}", "", 1) + grouped, nil},
		{"the old label", old + gangPodWith("pod-group.scheduling.sigs.k8s.io: g", ""), []scheduling.Gang{{Name: "g", Minimum: 5}}},
		{"a group that is not there", gangPodWith("scheduling.x-k8s.io/pod-group: g", ""), nil},
		{"a count that is none", gangPodWith("kueue.x-k8s.io/pod-group-name: g", "kueue.x-k8s.io/pod-group-total-count: many"), []scheduling.Gang{{Name: "g"}}},
		{"Kueue requires a rack", gangPodWith("kueue.x-k8s.io/pod-group-name: g", "kueue.x-k8s.io/pod-group-total-count: \"2\", kueue.x-k8s.io/podset-required-topology: rack"),
			[]scheduling.Gang{{Name: "g", Minimum: 2, Topology: []scheduling.GangTopology{{Key: "rack"}}}}},
		{"one of Kueue's has ended well", gangPodWith("kueue.x-k8s.io/pod-group-name: g", "kueue.x-k8s.io/pod-group-total-count: \"3\"") +
			"---\napiVersion: v1\nkind: Pod\nmetadata: {name: done, labels: {kueue.x-k8s.io/pod-group-name: g}}\nspec: {containers: [{name: x}]}\nstatus: {phase: Succeeded}\n",
			[]scheduling.Gang{{Name: "g", Minimum: 2}}},
	} {
		t.Run(c.name, func(t *testing.T) { wantGangs(t, load(t, c.text), c.want) })
	}
}

const (
	jobSetLabels = "jobset.sigs.k8s.io/jobset-name: s, jobset.sigs.k8s.io/replicatedjob-name: r, jobset.sigs.k8s.io/job-index: \"1\""
	lwsLabels    = "leaderworkerset.sigs.k8s.io/name: l, leaderworkerset.sigs.k8s.io/group-index: \"1\""
)

// The network topology of Volcano's PodGroups is read with the labels of its tiers; without the label of a tier that is required, a note says so.
func TestVolcanoTiers(t *testing.T) {
	text := "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 2, networkTopology: {mode: hard, highestTierAllowed: 2}}\n" +
		gangPodWith("", "scheduling.k8s.io/group-name: g")
	result := loadAll(t, Options{Now: now, VolcanoTiers: map[string]string{"1": "leaf", "2": "spine"}}, source("in.yaml", text))
	wantGangs(t, result, []scheduling.Gang{{Name: "g", Minimum: 2, Topology: []scheduling.GangTopology{{Key: "spine"}, {Key: "leaf", Policy: scheduling.GangTopologyPreferred}}}})
	if len(result.Warnings) > 0 {
		t.Errorf("%v", result.Warnings)
	}
	result = load(t, text)
	wantGangs(t, result, []scheduling.Gang{{Name: "g", Minimum: 2}})
	if want := "PodGroup default/g: no node label is known for the tier"; len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0].String(), want) {
		t.Errorf("%v, want %q", result.Warnings, want)
	}
}

// JobSets and groups of LeaderWorkerSets are gangs for a caller who says that they are.
func TestGangsAreInferred(t *testing.T) {
	rack := []scheduling.GangTopology{{Key: "rack"}}
	for _, c := range []struct {
		name, text string
		want       scheduling.Gang
	}{
		{"a JobSet", gangPodWith("jobset.sigs.k8s.io/jobset-name: s", ""), scheduling.Gang{Name: "s"}},
		{"each Job of a JobSet has a domain", gangPodWith(jobSetLabels, "alpha.jobset.sigs.k8s.io/exclusive-topology: rack"), scheduling.Gang{Name: "s-r-1", Topology: rack}},
		{"a group of a LeaderWorkerSet", gangPodWith(lwsLabels, "leaderworkerset.sigs.k8s.io/size: \"2\", leaderworkerset.sigs.k8s.io/exclusive-topology: rack"),
			scheduling.Gang{Name: "l-1", Minimum: 2, Topology: rack}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantGangs(t, loadAll(t, Options{Now: now, InferGangs: true}, source("in.yaml", c.text)), []scheduling.Gang{c.want})
		})
	}
}

func wantGangs(t *testing.T, result *Result, want []scheduling.Gang) {
	t.Helper()
	got := result.Snapshot.Gangs
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i, g := range got {
		if w := want[i]; g.Name != w.Name || g.Minimum != w.Minimum || len(g.Members) != 1 || !slices.Equal(g.Topology, w.Topology) ||
			g.Parent != w.Parent || g.Shared != w.Shared || !slices.Equal(g.Ancestors, w.Ancestors) {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}

// Numbers that no group has are refused, and what should be a number and is none.
func TestPodGroupsAreChecked(t *testing.T) {
	const head = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
	for _, c := range []struct{ text, want string }{
		{head + "spec: {schedulingPolicy: {gang: {minCount: -1}}}\n", "spec.schedulingPolicy.gang.minCount"},
		{head + "spec: {schedulingPolicy: {gang: {minCount: 99999999999}}}\n", "spec.schedulingPolicy.gang.minCount"},
		{head + "spec: {schedulingPolicy: {gang: {minCount: three}}}\n", "minCount"},
		{"apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {minMember: -2}\n", "spec.minMember"},
		{"apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {name: w}\nspec: {podGroups: [{name: a, policy: {gang: {minCount: -2}}}]}\n", "spec.podGroups[0].policy.gang.minCount"},
		{"apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {minTaskMember: {worker: -2}}\n", "spec.minTaskMember[worker]"},
		{"apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: g}\nspec: {schedulingPolicy: {gang: {minGroupCount: -2}}}\n", "spec.schedulingPolicy.gang.minGroupCount"},
		{head + "spec: {schedulingConstraints: {topology: [{key: a b}]}}\n", "spec.schedulingConstraints.topology[0].key"},
		{head + "spec: {schedulingConstraints: {topology: [{key: a}, {key: a}]}}\n", "spec.schedulingConstraints.topology[1].key"},
		{head + "spec: {schedulingConstraints: {topology: [" + strings.Repeat("{key: a},", 9) + "]}}\n", "at most 8 entries"},
		{"apiVersion: scheduling.k8s.io/v9\nkind: PodGroup\nmetadata: {name: g}\n", "apiVersion"},
	} {
		_, err := Load([]Source{{Name: "in", Data: []byte(c.text)}}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives %v, want %q", c.text, err, c.want)
		}
	}
}

// Groups of a CompositePodGroup that is not in the input are planned one by one, which is said; groups of groups with constraints of their own are
// planned together.
func TestGroupsOfGroupsThatAreTakenApart(t *testing.T) {
	const group = "---\napiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {parentCompositePodGroupName: c, schedulingPolicy: {gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: rack}]}}\n" +
		"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulingGroup: {podGroupName: g}, containers: [{name: x}]}\n"
	const parent = "apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: c}\nspec: {schedulingPolicy: {gang: {minGroupCount: 1}}}\n"
	result := load(t, group)
	wantGangs(t, result, []scheduling.Gang{{Name: "g", Minimum: 2, Topology: []scheduling.GangTopology{{Key: "rack"}}}})
	if want := "it is not in the input: each of its groups is planned by itself"; len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0].String(), want) {
		t.Errorf("%v, want %q", result.Warnings, want)
	}
	top := strings.NewReplacer("name: c", "name: top", "spec: {", "spec: {schedulingConstraints: {topology: [{key: zone}]}, ").Replace(parent)
	result = load(t, strings.Replace(parent, "spec: {", "spec: {parentCompositePodGroupName: top, ", 1)+"---\n"+top+group)
	wantGangs(t, result, []scheduling.Gang{{
		Name: "g", Minimum: 2, Topology: []scheduling.GangTopology{{Key: "zone"}, {Key: "rack"}}, Parent: "c", Shared: 1, Ancestors: []scheduling.GangAncestor{{Name: "top", Shared: 1}},
	}})
	if len(result.Warnings) > 0 {
		t.Errorf("%v", result.Warnings)
	}
}

// Warnings about groups say where what they speak of is written: the pod, or the workload it is made of, that names a group which is not there; and
// the group that names a CompositePodGroup.
func TestWarningsAboutGroupsSayWhere(t *testing.T) {
	const pool = "apiVersion: v1\nkind: Namespace\nmetadata: {name: research}\n"
	const spec = "spec:\n  schedulingGroup: {podGroupName: g}\n  containers: [{name: x}]\n"
	const group = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec:\n  parentCompositePodGroupName: c\n  schedulingPolicy: {gang: {minCount: 2}}\n  schedulingConstraints: {topology: [{key: rack}]}\n"
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" + spec
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  parallelism: 2\n  completions: 2\n  template:\n    spec: {schedulingGroup: {podGroupName: g}, restartPolicy: Never, containers: [{name: x}]}\n"
	for _, c := range []struct {
		name, text string
		want       string
	}{
		{"a pod", pool + "---\n" + pod, "in.yaml: document 2, line 5: Pod default/p: it names PodGroup"},
		{"a pod of a workload", pool + "---\n" + job, "in.yaml: document 2, line 5: Pod default/j-0: it names PodGroup"},
		{"a group of a group that is not there", pool + "---\n" + group + "---\n" + pod, "in.yaml: document 2, line 5: CompositePodGroup default/c: it is not in the input"},
	} {
		result := load(t, c.text)
		if len(result.Warnings) != 1 || !strings.HasPrefix(result.Warnings[0].String(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, result.Warnings, c.want)
		}
	}
}

// FuzzGangs has no input with pods of groups that a snapshot can't be compiled of.
func FuzzGangs(f *testing.F) {
	for _, kind := range []string{"PodGroup", "Workload", "CompositePodGroup"} {
		f.Add([]byte(kindCases()[kind].text))
	}
	f.Add([]byte(gangPodWith("kueue.x-k8s.io/pod-group-name: g", "kueue.x-k8s.io/pod-group-total-count: \"2\", kueue.x-k8s.io/podset-required-topology: rack")))
	f.Add([]byte(gangPodWith("jobset.sigs.k8s.io/jobset-name: s", "alpha.jobset.sigs.k8s.io/exclusive-topology: rack")))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := Load([]Source{{Name: "fuzz.in", Data: data}}, Options{InferGangs: true, Limits: limited(func(l *Limits) { l.Replicas = 100; l.Objects = 100 })})
		if err != nil || len(result.Snapshot.Gangs) == 0 {
			return
		}
		if _, err := scheduling.Compile(result.Snapshot); err != nil && strings.Contains(err.Error(), "gangs[") {
			t.Errorf("%v", err)
		}
	})
}
