package simulate

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares got with a file of testdata/golden, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); refresh with -update if the change is meant:\n%s", path, diff)
	}
}

func list(amounts map[string]string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for name, amount := range amounts {
		l[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return l
}

// handMade is a plan with one of everything: repeated nodes, a device, a node on which two types would do,
// existing nodes, pods refused for several reasons, headroom in all places, and wishes given up.
func handMade() (*scheduling.Snapshot, *scheduling.Plan) {
	controller := true
	pod := func(namespace, name, kind, owner string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: owner, Controller: &controller}}
		}
		return p
	}
	snapshot := &scheduling.Snapshot{Nodes: []scheduling.Node{{Name: "old-b"}, {Name: "old-a"}}}
	keys := func(namespace, kind, owner string, from, to int) []scheduling.PodKey {
		var keys []scheduling.PodKey
		for i := from; i <= to; i++ {
			name := fmt.Sprintf("%s-%d", owner, i)
			snapshot.Pods = append(snapshot.Pods, pod(namespace, name, kind, owner))
			keys = append(keys, scheduling.PodKey{Namespace: namespace, Name: name})
		}
		return keys
	}
	join := func(lists ...[]scheduling.PodKey) []scheduling.PodKey {
		var all []scheduling.PodKey
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	small := []scheduling.InstanceTypeOption{
		{Name: "c7g.xlarge", Zone: "us-east-1b", CapacityType: "spot", Price: 0.0613},
		{Name: "m7g.xlarge", Zone: "us-east-1a", CapacityType: "spot", Price: 0.0708},
	}
	smallRoom := list(map[string]string{"cpu": "3920m", "memory": "6584Mi", "pods": "58"})
	spare := func(buffer string, from, to int) []scheduling.PodKey {
		var keys []scheduling.PodKey
		for i := from; i <= to; i++ {
			p := pod("shop", fmt.Sprintf("capacity-buffer-%s-%d", buffer, i), "", "")
			p.Annotations = map[string]string{
				v1beta1.PlaceholderAnnotationKey: "true", v1beta1.BufferNamespaceAnnotationKey: "shop",
				v1beta1.BufferNameAnnotationKey: buffer,
			}
			snapshot.Placeholders = append(snapshot.Placeholders, p)
			keys = append(keys, scheduling.PodKey{Namespace: "shop", Name: p.Name})
		}
		return keys
	}
	taint := corev1.Taint{Key: "example.com/special-taint", Effect: corev1.TaintEffectNoSchedule}
	apple, banana := v1.NewPoolKey("apple"), v1.NewPoolKey("banana")
	refused := func(keys []scheduling.PodKey, reasons ...scheduling.Reason) []scheduling.Unschedulable {
		var all []scheduling.Unschedulable
		for _, key := range keys {
			all = append(all, scheduling.Unschedulable{Pod: key, Reasons: reasons})
		}
		return all
	}
	plan := &scheduling.Plan{
		NewNodes: []scheduling.NewNode{
			{
				Name: "apple-1", Pool: apple, InstanceTypes: small,
				Pods:        join(keys("shop", "Deployment", "web", 1, 6), keys("shop", "StatefulSet", "db", 0, 0)),
				Requests:    list(map[string]string{"cpu": "3900m", "memory": "4Gi", "pods": "8"}),
				Allocatable: smallRoom,
			},
			{
				Name: "apple-2", Pool: apple, InstanceTypes: small,
				Pods:        join(keys("shop", "Deployment", "web", 7, 11), spare("web-spare", 0, 1), spare("rush", 0, 0)),
				Requests:    list(map[string]string{"cpu": "2500m", "memory": "2Gi", "pods": "6"}),
				Allocatable: smallRoom,
			},
			{
				Name: "apple-3", Pool: apple,
				InstanceTypes: []scheduling.InstanceTypeOption{
					{Name: "g4dn.xlarge", Zone: "us-east-1a", CapacityType: "on-demand", Price: 0.526},
				},
				Pods: keys("ml", "", "train", 1, 1), MinValuesRelaxed: true,
				Requests: list(map[string]string{"cpu": "3", "memory": "12Gi", "nvidia.com/gpu": "1", "pods": "2"}),
				Allocatable: list(map[string]string{
					"cpu": "3920m", "memory": "14481Mi", "nvidia.com/gpu": "1", "pods": "29",
				}),
			},
		},
		Existing: []scheduling.ExistingNode{
			{Name: "old-a", Pods: join(keys("shop", "Deployment", "api", 1, 3), spare("web-spare", 2, 2))},
			{Name: "old-b", Pods: spare("rush", 1, 1)},
		},
		Relaxations: []scheduling.Relaxation{
			{
				Code: "PreferredNodeAffinity", Detail: "weight 10: topology.kubernetes.io/zone In [us-east-1a]",
				Pods: []scheduling.PodKey{{Namespace: "shop", Name: "db-0"}},
			},
			{
				Code: "ScheduleAnyway", Detail: "maxSkew 1 by kubernetes.io/hostname",
				Pods: []scheduling.PodKey{
					{Namespace: "shop", Name: "web-1"}, {Namespace: "shop", Name: "web-2"}, {Namespace: "shop", Name: "api-1"},
					{Namespace: "shop", Name: "capacity-buffer-rush-0"},
				},
			},
		},
		Unschedulable: slices.Concat(
			refused(keys("ml", "Job", "huge", 1, 3),
				scheduling.Reason{
					Pool: apple, Code: scheduling.ReasonLimits, Detail: `limits leave no room: cpu`,
					NearestMiss: &scheduling.NearestMiss{
						Code: scheduling.MissLimits, Amounts: list(map[string]string{"cpu": "8"}),
						InstanceType: &scheduling.InstanceTypeOption{
							Name: "c7g.2xlarge", Zone: "us-east-1b", CapacityType: "spot", Price: 0.1226,
						},
					},
				},
				scheduling.Reason{Pool: banana, Code: scheduling.ReasonTaint, Taint: &taint}),
			refused(keys("default", "", "broken", 1, 1),
				scheduling.Reason{Code: scheduling.ReasonPodInvalid, Detail: "requests nothing that exists"}),
			refused(spare("rush", 2, 3), scheduling.Reason{Pool: banana, Code: scheduling.ReasonTaint, Taint: &taint})),
		HourlyCost: 0.6486,
		LowerBound: 0.6000000001,
		Certificate: &scheduling.Certificate{
			Classes: []planning.CertificateClass{{
				Requests: list(map[string]string{"cpu": "500m", "memory": "512Mi", "pods": "1"}), Count: 11, Value: 0.01,
			}},
			Types: []planning.CertificateType{{
				Name: "c7g.xlarge", Price: 0.0613, Multipliers: map[corev1.ResourceName]float64{"cpu": 0.0153},
			}, {
				Name: "m7g.xlarge", Price: 0.0708,
			}},
		},
		Notes: []scheduling.Note{{Code: "Ignored", Object: "pod ml/train-1", Message: "a preference was dropped"}},
	}
	return snapshot, plan
}

func TestDocument(t *testing.T) {
	snapshot, plan := handMade()
	var b bytes.Buffer
	if err := newDocument(snapshot, plan, 1234567*time.Nanosecond).write(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "hand-made.json", b.Bytes())
}

// Consumers iterate over the arrays without looking for null.
func TestDocumentOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := newDocument(&scheduling.Snapshot{}, &scheduling.Plan{}, 0).write(&b); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"summary": map[string]any{
			"pods": 0.0, "placed": 0.0, "unschedulable": 0.0, "existingNodes": 0.0, "newNodes": 0.0, "hourlyCost": 0.0,
			"lowerBound": 0.0, "solveMillis": 0.0, "compileMillis": 0.0,
		},
		"nodes": []any{}, "existing": []any{}, "unschedulable": []any{}, "relaxations": []any{},
		"buffers": []any{}, "notes": []any{}, "prices": []any{}, "apiVersion": "simulate.drawknife.dev/v1", "kind": "Plan",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// The cost is the sum of the prices and the bound never rounded up: else it could end above the cost.
func TestDocumentRounding(t *testing.T) {
	node := scheduling.NewNode{InstanceTypes: []scheduling.InstanceTypeOption{{Name: "a", Price: 0.1}}}
	plan := &scheduling.Plan{NewNodes: []scheduling.NewNode{node, node, node}, LowerBound: 0.29999999999}
	got := newDocument(&scheduling.Snapshot{}, plan, 0).Summary
	if got.HourlyCost != 0.3 {
		t.Errorf("hourlyCost is %v, want 0.3", got.HourlyCost)
	}
	if got.LowerBound != 0.299999999 {
		t.Errorf("lowerBound is %v, want 0.299999999", got.LowerBound)
	}
}

func TestCertificateDocument(t *testing.T) {
	_, plan := handMade()
	var b bytes.Buffer
	if err := newCertificateDocument(plan.Certificate).write(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "hand-made-certificate.json", b.Bytes())

	b.Reset()
	if err := newCertificateDocument(nil).write(&b); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "{\n  \"classes\": [],\n  \"types\": []\n}\n"; got != want {
		t.Errorf("certificate of no new node is %q, want %q", got, want)
	}
}

func TestText(t *testing.T) {
	tests := []struct {
		name   string
		canvas canvas
	}{
		{"plain", canvas{width: plainWidth}},
		{"rich", canvas{width: 110, rich: true}},
		{"narrow", canvas{width: 72}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			snapshot, plan := handMade()
			r := textReport{
				canvas: test.canvas, snapshot: snapshot, plan: plan,
				summary: newDocument(snapshot, plan, 0).Summary,
				compile: 12 * time.Millisecond, solve: 420 * time.Microsecond,
			}
			var b bytes.Buffer
			if err := r.write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, "hand-made-"+test.name+".txt", b.Bytes())
		})
	}
}

// The plan that text and JSON are made from may be shared: taking placeholders out of it must not change it.
func TestSeparateLeavesThePlanAlone(t *testing.T) {
	snapshot, plan := handMade()
	_, want := handMade()
	pods, held := separate(snapshot, plan)
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Errorf("the plan was changed (-before +after):\n%s", diff)
	}
	if got := held.placed(); got != 5 || len(held.unplaced) != 2 {
		t.Errorf("%d placeholders have room and %d have none, want 5 and 2", got, len(held.unplaced))
	}
	for _, pod := range pods.Unschedulable {
		if _, ok := held.buffer[pod.Pod]; ok {
			t.Errorf("placeholder %s is left among the pods without a place", pod.Pod)
		}
	}
}

// A snapshot of other makers may have placeholders that no buffer made.
func TestSeparateWithoutBuffer(t *testing.T) {
	key := scheduling.PodKey{Namespace: "shop", Name: "spare"}
	snapshot := &scheduling.Snapshot{Placeholders: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "spare"}}}}
	plan := &scheduling.Plan{Existing: []scheduling.ExistingNode{{Name: "old", Pods: []scheduling.PodKey{key}}}}
	got := newDocument(snapshot, plan, 0).Buffers
	want := []bufferHeadroom{{Name: "shop/spare", Pods: 1, Existing: 1, Reasons: []podReason{}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("buffers (-want +got):\n%s", diff)
	}
}

// Long lists end with what they left out; --verbose leaves out nothing.
func TestTextCutsLongLists(t *testing.T) {
	snapshot, plan := &scheduling.Snapshot{}, &scheduling.Plan{}
	for i := range shownKinds + 3 {
		plan.NewNodes = append(plan.NewNodes, scheduling.NewNode{
			Name: fmt.Sprint("p-", i), Pool: v1.NewPoolKey("p"),
			InstanceTypes: []scheduling.InstanceTypeOption{{Name: fmt.Sprintf("type-%02d", i), Price: float64(i + 1)}},
		})
	}
	for i := range shownWishes + 2 {
		plan.Relaxations = append(plan.Relaxations, scheduling.Relaxation{
			Code: "ScheduleAnyway", Detail: fmt.Sprintf("wish-%02d", i), Pods: make([]scheduling.PodKey, 30-i),
		})
	}
	for i := range shownExisting + 4 {
		plan.Existing = append(plan.Existing, scheduling.ExistingNode{Name: fmt.Sprintf("node-%02d", i)})
	}
	print := func(verbose bool) string {
		r := textReport{
			canvas: canvas{width: plainWidth}, snapshot: snapshot, plan: plan, verbose: verbose,
			summary: newDocument(snapshot, plan, 0).Summary,
		}
		var b bytes.Buffer
		if err := r.write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	short, long := print(false), print(true)
	for _, want := range []string{
		"... and 3 nodes of 3 cheaper kinds, $6.0000/h (--verbose lists them)",
		"... and 4 more nodes (--verbose lists them)",
		"... and 2 more (--verbose lists them)",
	} {
		if !bytes.Contains([]byte(short), []byte(want)) {
			t.Errorf("short list lacks %q:\n%s", want, short)
		}
	}
	for _, cut := range []string{"type-00", "node-23", "wish-11"} {
		if bytes.Contains([]byte(short), []byte(cut)) {
			t.Errorf("short list has %q", cut)
		}
		if !bytes.Contains([]byte(long), []byte(cut)) {
			t.Errorf("long list lacks %q", cut)
		}
	}
}

func TestWorkloadOf(t *testing.T) {
	controller := true
	owned := func(kind, name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "p", Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &controller}},
		}}
	}
	set := owned("Deployment", "front", nil).OwnerReferences
	snapshot := &scheduling.Snapshot{ReplicaSets: []*appsv1.ReplicaSet{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "front-abc", OwnerReferences: set},
	}}}
	tests := []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"no owner", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}, "namespace shop"},
		{"job", owned("Job", "nightly", nil), "Job shop/nightly"},
		{"replica set of a known deployment", owned("ReplicaSet", "front-abc", nil), "Deployment shop/front"},
		{
			"replica set that a deployment named",
			owned("ReplicaSet", "web-5f7", map[string]string{"pod-template-hash": "5f7"}),
			"Deployment shop/web",
		},
		{"replica set on its own", owned("ReplicaSet", "web-5f7", nil), "ReplicaSet shop/web-5f7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			snapshot := *snapshot
			snapshot.Pods = []*corev1.Pod{test.pod}
			key := scheduling.PodKey{Namespace: test.pod.Namespace, Name: test.pod.Name}
			if got := indexWorkloads(&snapshot)[key].String(); got != test.want {
				t.Errorf("workload is %q, want %q", got, test.want)
			}
		})
	}
}
