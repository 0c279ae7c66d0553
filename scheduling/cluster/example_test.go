package cluster_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// Events come in any order: here the pod before its node, and the node before its claim.
func ExampleState() {
	state, err := cluster.New(cluster.Options{Kinds: []cluster.Kind{cluster.KindNode}})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.PodSpec{NodeName: "node-1"}}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{
			v1.NodePoolLabelKey: "general", corev1.LabelInstanceTypeStable: "m-large",
		}},
		Spec: corev1.NodeSpec{ProviderID: "cloud://1"},
	}
	claim := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "general-x7k2p", Labels: map[string]string{v1.NodePoolLabelKey: "general"}},
		Status:     v1.NodeClaimStatus{ProviderID: "cloud://1"},
	}
	if err := state.Apply(cluster.Upsert(pod), cluster.Upsert(node), cluster.Upsert(claim)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(state.Missing())
	state.Expect(cluster.KindNode) // all nodes that the API had were seen
	fmt.Println(state.Synced())

	view := state.Snapshot(cluster.Query{Time: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)})
	for i, n := range view.Snapshot.Nodes {
		fmt.Println(n.Name, n.Claim.Name, len(n.Pods), view.Nodes[i].Phase)
	}
	// Output:
	// cluster state is not synced: not listed yet: Node; wait for the watches
	// true
	// node-1 general-x7k2p 1 launched
}
