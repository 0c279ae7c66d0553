package nodefacts_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodefacts"
)

var start = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

const (
	gpu = corev1.ResourceName("nvidia.com/gpu")
	csi = "ebs.csi.aws.com"
)

func instanceType(name string) *cloudprovider.InstanceType {
	it := build.InstanceType(name, build.CPU("4"), build.Memory("16Gi"))
	it.Requirements = requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, name))
	it.Offerings = []cloudprovider.Offering{build.Offering("a", v1.CapacityTypeOnDemand, 0.2)}
	it.Capacity[corev1.ResourcePods], it.Capacity[gpu] = resource.MustParse("58"), resource.MustParse("4")
	it.VolumeLimits = map[string]int32{csi: 26}
	return it
}

func snapshot(at time.Time, nodes ...scheduling.Node) *scheduling.Snapshot {
	s := &scheduling.Snapshot{Time: at, Vocabulary: requirements.CoreVocabulary(), Catalogs: map[string][]*cloudprovider.InstanceType{"all": {instanceType("m"), instanceType("n")}}, Nodes: nodes}
	for _, name := range []string{"default", "other"} {
		pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "x", Kind: "Class", Name: name}
		pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
		s.NodePools = append(s.NodePools, scheduling.NodePool{Key: v1.NewPoolKey(name), Object: pool, Catalog: "all"})
	}
	return s
}

// node of class default that was initialized at a time, so long after its claim was created.
func node(name string, at time.Time, ready time.Duration, amounts map[corev1.ResourceName]string) scheduling.Node {
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{corev1.LabelInstanceTypeStable: "m"}}}
	object.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("58"), gpu: resource.MustParse("4")}
	for key, amount := range amounts {
		object.Status.Capacity[key] = resource.MustParse(amount)
	}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(at.Add(-ready))}}
	claim.Spec.NodeClassRef = v1.NodeClassReference{Group: "x", Kind: "Class", Name: "default"}
	claim.Status.ImageID = "ami-1"
	claim.Conditions().SetTrue(v1.ConditionInitialized, at)
	return scheduling.Node{Name: name, Object: object, Claim: claim}
}

func newBook(t *testing.T) *nodefacts.Book {
	t.Helper()
	b, err := nodefacts.New(nodefacts.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func amount(t *testing.T, s *scheduling.Snapshot, pool int, name corev1.ResourceName) string {
	t.Helper()
	q := s.Catalogs[s.NodePools[pool].Catalog][0].Capacity[name]
	return q.String()
}

// What nodes of a class report replaces the estimate for pools of that class alone: the least memory and pods, the most devices of any node.
func TestFactsReplaceEstimates(t *testing.T) {
	b := newBook(t)
	old := start.Add(-time.Hour)
	s := snapshot(start,
		node("a", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "15Gi", corev1.ResourcePods: "29", gpu: "2"}),
		node("b", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "14Gi", corev1.ResourcePods: "29", gpu: "3"}),
	)
	twenty := int32(20)
	s.CSINodes = []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: csi, Allocatable: &storagev1.VolumeNodeResources{Count: &twenty}}}}}}
	b.Observe(s)
	b.Apply(s)
	for name, want := range map[corev1.ResourceName]string{corev1.ResourceMemory: "14Gi", corev1.ResourcePods: "29", gpu: "3", corev1.ResourceCPU: "4"} {
		if got := amount(t, s, 0, name); got != want {
			t.Errorf("%s %s, want %s", name, got, want)
		}
		if got, want := amount(t, s, 1, name), instanceType("m").Capacity[name]; got != want.String() {
			t.Errorf("pool of another class: %s %s", name, got)
		}
	}
	if got := s.Catalogs[s.NodePools[0].Catalog][0].VolumeLimits[csi]; got != 20 {
		t.Errorf("%d volumes", got)
	}
	want := []string{"Learned from 2 nodes of m and Class/default: memory 14Gi, not 16Gi; nvidia.com/gpu 3, not 4; pods 29, not 58; 20 volumes of ebs.csi.aws.com, not 26."}
	if diff := cmp.Diff(want, s.Assumptions); diff != "" {
		t.Errorf("says (-want +got):\n%s", diff)
	}
	if _, err := scheduling.Compile(s); err != nil {
		t.Error(err)
	}
	// A later snapshot with the same types has the same objects.
	first := s.Catalogs[s.NodePools[0].Catalog][0]
	next := snapshot(start.Add(time.Minute), s.Nodes...)
	next.Catalogs = map[string][]*cloudprovider.InstanceType{"all": s.Catalogs[s.NodePools[1].Catalog]}
	b.Observe(next)
	b.Apply(next)
	if next.Catalogs[next.NodePools[0].Catalog][0] != first {
		t.Error("an equal correction is another object")
	}
	if f := b.Facts(); len(f) != 1 || f[0].Nodes != 2 {
		t.Errorf("nodes are counted again: %+v", f)
	}
}

// What is beyond the bounds is not believed, and nodes that are too new, leave, or have no claim do not count.
func TestBounds(t *testing.T) {
	old := start.Add(-time.Hour)
	without := node("x", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "15Gi"})
	without.Claim = nil
	leaving := node("x", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "15Gi"})
	leaving.Leaving = true
	for name, n := range map[string]scheduling.Node{
		"too little memory": node("x", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "7Gi"}),
		"too much memory":   node("x", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "18Gi"}),
		"too many pods":     node("x", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourcePods: "5000"}),
		"more devices":      node("x", old, time.Minute, map[corev1.ResourceName]string{gpu: "8", "example.com/fuse": "1"}),
		"fewer cores":       node("x", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceCPU: "2"}),
		"new":               node("x", start.Add(-time.Minute), time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "15Gi"}),
		"leaving":           leaving,
		"without a claim":   without,
	} {
		b, s := newBook(t), snapshot(start, n)
		b.Observe(s)
		b.Apply(s)
		if s.NodePools[0].Catalog != "all" || s.Assumptions != nil {
			t.Errorf("%s: %q", name, s.Assumptions)
		}
	}
}

// Of several images the one that was seen last counts, and facts that were not seen for long are forgotten.
func TestImagesAndTime(t *testing.T) {
	b, old := newBook(t), start.Add(-time.Hour)
	b.Observe(snapshot(start, node("a", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "14Gi"})))
	later := node("b", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "15Gi"})
	later.Claim.Status.ImageID = "ami-2"
	b.Observe(snapshot(start.Add(time.Hour), later))
	s := snapshot(start.Add(time.Hour))
	b.Apply(s)
	if got := amount(t, s, 0, corev1.ResourceMemory); got != "15Gi" {
		t.Errorf("with another image %s", got)
	}
	b.Observe(snapshot(start.Add(61 * 24 * time.Hour)))
	if got := b.Facts(); len(got) != 0 {
		t.Errorf("after two months: %+v", got)
	}
}

// Times to ready decide between equal prices and set time-outs, within bounds.
func TestReady(t *testing.T) {
	b := newBook(t)
	at := start.Add(-time.Hour)
	s := snapshot(start, node("a", at, 4*time.Minute, nil), node("b", at, 4*time.Minute, nil), node("c", at, 8*time.Minute, nil))
	b.Observe(s)
	if got, ok := b.Ready("m", "Class/default"); !ok || got != 5*time.Minute {
		t.Errorf("ready after %s, want 5m", got)
	}
	if _, ok := b.Ready("n", "Class/default"); ok {
		t.Error("a type without nodes has a time")
	}
	terms := b.ReadyTerms(s)
	if err := (&scheduling.CostModel{Terms: terms}).Validate(); err != nil || len(terms) != 2 {
		t.Fatalf("%v, %+v", err, terms)
	}
	if got := terms[0].Offerings[0].Amount; math.Abs(got-5e-6) > 1e-12 {
		t.Errorf("five minutes cost %v", got)
	}
	set := func(types ...string) *v1.NodeClaim {
		claim := &v1.NodeClaim{}
		claim.Spec.NodeClassRef = v1.NodeClassReference{Kind: "Class", Name: "default"}
		claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: types}}
		return claim
	}
	for _, c := range []struct {
		claim     *v1.NodeClaim
		set, want time.Duration
	}{
		{set("m"), 15 * time.Minute, 50 * time.Minute},
		{set("m"), 10 * time.Minute, 40 * time.Minute},
		{set("m"), 6 * time.Hour, 2 * time.Hour},
		{set("m", "n"), 15 * time.Minute, 15 * time.Minute},
		{nil, 15 * time.Minute, 15 * time.Minute},
		{&v1.NodeClaim{}, 15 * time.Minute, 15 * time.Minute},
	} {
		if got := b.Timeout(c.claim, c.set); got != c.want {
			t.Errorf("time-out %s of %s", got, c.set)
		}
	}
}

// Facts outlive the process, and can be taken to another cluster. Nodes that were counted are not counted again.
func TestExportImport(t *testing.T) {
	first, old := newBook(t), start.Add(-time.Hour)
	s := snapshot(start, node("a", old, time.Minute, map[corev1.ResourceName]string{corev1.ResourceMemory: "15Gi"}), node("b", old, time.Minute, nil))
	first.Observe(s)
	text, err := first.Export()
	if err != nil {
		t.Fatal(err)
	}
	second := newBook(t)
	for range 2 {
		if err := second.Import(text, start); err != nil {
			t.Fatal(err)
		}
	}
	again, err := second.Export()
	if err != nil || string(again) != string(text) {
		t.Errorf("%v: %s, want %s", err, again, text)
	}
	later := snapshot(start.Add(time.Minute), append(s.Nodes, node("c", start.Add(-5*time.Minute+time.Second), time.Minute, nil))...)
	second.Observe(later)
	if f := second.Facts(); len(f) != 1 || f[0].Nodes != 3 {
		t.Errorf("after a restart %+v, want three nodes", f)
	}
	const fact = `{"instanceType":"m","class":"Class/a","capacity":{"memory":"1Gi"},"nodes":1,"seen":"2026-01-01T00:00:00Z"}`
	for text, want := range map[string]string{
		`{}`: "schema",
		`{"schema":"drawknife-node-facts/1","x":1}`:                                                                                  "x",
		`{"schema":"drawknife-node-facts/1","facts":[{}]}`:                                                                           "facts[0] must have",
		`{"schema":"drawknife-node-facts/1","facts":[` + strings.Replace(fact, `"1Gi"`, `"-1"`, 1) + `]}`:                            "capacity[memory]",
		`{"schema":"drawknife-node-facts/1","facts":[` + strings.Replace(fact, `"nodes":1`, `"nodes":0`, 1) + `]}`:                   "at least one node",
		`{"schema":"drawknife-node-facts/1","facts":[` + strings.Replace(fact, `"nodes":1`, `"nodes":1,"readySeconds":-1`, 1) + `]}`: "readySeconds",
	} {
		err := second.Import([]byte(text), start)
		var rule *nodefacts.FileError
		if err == nil || !strings.Contains(err.Error(), want) || want != "x" && !errors.As(err, &rule) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := nodefacts.New(nodefacts.Options{}); err == nil {
		t.Error("options without a lifetime are taken")
	}
}
