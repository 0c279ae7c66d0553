package cluster_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// big is a cluster of so many nodes with 20 pods each, of 200 workloads every fifth of which spreads over zones. The targets
// of the package are stated for 5,000 nodes.
type big struct {
	state   *cluster.State
	query   cluster.Query
	pods    []*corev1.Pod
	nodes   []*corev1.Node
	version int
}

func newBig(tb testing.TB, nodes int) *big {
	tb.Helper()
	sample := workload.Snapshot(workload.Catalog(), nil, nil)
	state, err := cluster.New(cluster.Options{Vocabulary: sample.Vocabulary})
	if err != nil {
		tb.Fatal(err)
	}
	b := &big{state: state, query: cluster.Query{Time: noon, NodePools: sample.NodePools, Catalogs: sample.Catalogs}}
	var events []cluster.Event
	for i := range nodes {
		claim, node := b.pair(i)
		b.nodes = append(b.nodes, node)
		events = append(events, cluster.Upsert(claim), cluster.Upsert(node))
		for j := range 20 {
			pod := b.pod(i*20+j, (i*7+j)%200)
			pod.Spec.NodeName = node.Name
			b.pods = append(b.pods, pod)
			events = append(events, cluster.Upsert(pod))
		}
	}
	if err := state.Apply(events...); err != nil {
		tb.Fatal(err)
	}
	return b
}

func (b *big) meta(namespace, name string) metav1.ObjectMeta {
	b.version++
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("%s-%d", name, b.version)), ResourceVersion: strconv.Itoa(b.version),
		CreationTimestamp: metav1.Time{Time: noon.Add(time.Duration(b.version) * time.Second)},
	}
}

func (b *big) pair(i int) (*v1.NodeClaim, *corev1.Node) {
	id := fmt.Sprintf("cloud://zone/%d", i)
	labels := map[string]string{
		v1.NodePoolLabelKey: workload.PoolName, corev1.LabelInstanceTypeStable: "m5.4xlarge", corev1.LabelArchStable: "amd64",
		corev1.LabelOSStable: "linux", corev1.LabelTopologyZone: workload.Zones()[i%3], v1.CapacityTypeLabelKey: "on-demand",
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	claim := &v1.NodeClaim{ObjectMeta: b.meta("", fmt.Sprintf("general-%05d", i))}
	claim.Labels, claim.Status.ProviderID, claim.Status.Capacity, claim.Status.Allocatable = labels, id, room, room
	node := &corev1.Node{ObjectMeta: b.meta("", fmt.Sprintf("node-%05d", i)), Spec: corev1.NodeSpec{ProviderID: id}}
	node.Labels = map[string]string{corev1.LabelHostname: node.Name, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}
	for key, value := range labels {
		node.Labels[key] = value
	}
	node.Status.Capacity, node.Status.Allocatable = room, room
	return claim, node
}

func (b *big) pod(i, workload int) *corev1.Pod {
	app := fmt.Sprintf("app-%03d", workload)
	pod := &corev1.Pod{ObjectMeta: b.meta("team-"+strconv.Itoa(workload%10), fmt.Sprintf("%s-%06d", app, i))}
	pod.Labels = map[string]string{"app": app, "pod-template-hash": "7d9f8c6b5"}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewMilliQuantity(int64(100+workload%40*10), resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(int64(256+workload)<<20, resource.BinarySI),
	}}}}
	if workload%5 == 0 {
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 5, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}}
	}
	pod.Status.Phase = corev1.PodRunning
	return pod
}

// churn is one event of an ordinary kind: of ten, four pods that come and are bound, three that wait, two that go, and a
// node's heartbeat.
func (b *big) churn(i int) cluster.Event {
	switch i % 10 {
	case 0, 1, 2, 3:
		pod := b.pod(1_000_000+b.version, i%200)
		pod.Spec.NodeName = b.nodes[i*31%len(b.nodes)].Name
		b.pods = append(b.pods, pod)
		return cluster.Upsert(pod)
	case 4, 5, 6:
		pod := b.pod(1_000_000+b.version, i%200)
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}}}
		b.pods = append(b.pods, pod)
		return cluster.Upsert(pod)
	case 7, 8:
		at := i * 13 % len(b.pods)
		pod := b.pods[at]
		b.pods[at] = b.pods[len(b.pods)-1]
		b.pods = b.pods[:len(b.pods)-1]
		return cluster.Delete(pod)
	}
	at := i * 17 % len(b.nodes)
	node := *b.nodes[at]
	b.version++
	node.ResourceVersion = strconv.Itoa(b.version)
	b.nodes[at] = &node
	return cluster.Upsert(&node)
}

// BenchmarkApply is one event on 5,000 nodes with 100,000 pods; target 5 µs.
func BenchmarkApply(b *testing.B) {
	c := newBig(b, 5_000)
	c.state.Snapshot(c.query)
	events := make([]cluster.Event, 0, b.N)
	for i := range b.N {
		events = append(events, c.churn(i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range events {
		if err := c.state.Apply(events[i]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSnapshot is a snapshot after 100 events on 5,000 nodes with 100,000 pods; target 5 ms.
func BenchmarkSnapshot(b *testing.B) {
	c := newBig(b, 5_000)
	c.state.Snapshot(c.query)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		for j := range 100 {
			if err := c.state.Apply(c.churn(i*100 + j)); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		c.state.Snapshot(c.query)
	}
}

// BenchmarkUpdate is Model.Update after 100 events on 5,000 nodes with 100,000 pods; target 10 ms.
func BenchmarkUpdate(b *testing.B) {
	c := newBig(b, 5_000)
	model, err := scheduling.Compile(c.state.Snapshot(c.query).Snapshot)
	if err != nil {
		b.Fatal(err)
	}
	// The first Update remembers what later ones go by.
	if model, err = model.Update(c.state.Snapshot(c.query).Snapshot); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		for j := range 100 {
			if err := c.state.Apply(c.churn(i*100 + j)); err != nil {
				b.Fatal(err)
			}
		}
		snapshot := c.state.Snapshot(c.query).Snapshot
		b.StartTimer()
		if model, err = model.Update(snapshot); err != nil {
			b.Fatal(err)
		}
	}
}
