package verdicts

import (
	"context"
	"encoding/json"
	"os"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// World has the inputs of a plugin other than the pod and the node. All fields may be nil.
type World struct {
	// Shared has the nodes with their pods. It is used if the plugin got no list of nodes.
	Shared     fwk.SharedLister
	Namespaces corelisters.NamespaceLister
	// The tests' listers can't list, so objects are read by the names that pods and claims state.
	Claim   func(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	Volume  corelisters.PersistentVolumeLister
	Class   storagelisters.StorageClassLister
	CSINode func(name string) (*storagev1.CSINode, error)
	// Volumes returns the volumes to which an unbound claim may be bound.
	Volumes     func() []*corev1.PersistentVolume
	Attachments func() []any // VolumeAttachments
	// DefaultSpread are the cluster's default spread constraints.
	DefaultSpread []corev1.TopologySpreadConstraint
	// Set is true if the plugin does not run with its default arguments.
	Set bool
}

// Node is a node with the pods bound to it.
type Node struct {
	Node *corev1.Node  `json:"node"`
	Pods []*corev1.Pod `json:"pods,omitempty"`
}

// Verdict is one answer of a plugin: a line of the file.
type Verdict struct {
	Plugin, Test string
	// Node is the node about which the plugin was asked. It is empty if the plugin refused the pod before it checked any node.
	Node string `json:",omitempty"`
	// Code is the code of the status: "Success", "Unschedulable", "UnschedulableAndUnresolvable" or "Error". If the plugin accepts the pod,
	// but another plugin that looks only at pod and node refuses it, this is the code of the other plugin.
	Code    string
	Reasons []string `json:",omitempty"`

	Pod           *corev1.Pod
	Nodes         []Node                            `json:",omitempty"`
	Namespaces    []*corev1.Namespace               `json:",omitempty"`
	Claims        []*corev1.PersistentVolumeClaim   `json:",omitempty"`
	Volumes       []*corev1.PersistentVolume        `json:",omitempty"`
	Classes       []*storagev1.StorageClass         `json:",omitempty"`
	CSINodes      []*storagev1.CSINode              `json:",omitempty"`
	Attachments   []*storagev1.VolumeAttachment     `json:",omitempty"`
	DefaultSpread []corev1.TopologySpreadConstraint `json:",omitempty"`
	Set           bool                              `json:",omitempty"`
}

// Test has the methods of *testing.T that this package needs.
type Test interface {
	Name() string
	Cleanup(func())
}

// The tests run one after another in a separate process.
var (
	current string
	asked   []fwk.NodeInfo // the nodes of the test's last PreFilter
)

// Enter records which test is running. A call of Enter is inserted at the start of each test.
func Enter(t Test) {
	outer, nodes := current, asked
	current, asked = t.Name(), nil
	t.Cleanup(func() { current, asked = outer, nodes })
}

// PreFilter records that a pod was refused before any node was checked.
func PreFilter(plugin string, pod *corev1.Pod, nodes []fwk.NodeInfo, world World, status *fwk.Status) {
	asked = nodes
	if status.IsSuccess() || status.IsSkip() {
		return
	}
	write(plugin, pod, nil, world, status)
}

// Filter records an answer about a node.
func Filter(plugin string, pod *corev1.Pod, node fwk.NodeInfo, world World, status *fwk.Status) {
	if status.IsSuccess() && node.Node() != nil {
		status = others(context.Background(), pod, node)
	}
	write(plugin, pod, node, world, status)
}

func write(plugin string, pod *corev1.Pod, on fwk.NodeInfo, world World, status *fwk.Status) {
	path := os.Getenv("COMPAT_VERDICTS")
	if path == "" || pod == nil || current == "" {
		return
	}
	v := Verdict{Plugin: plugin, Test: current, Code: status.Code().String(), Pod: pod, DefaultSpread: world.DefaultSpread, Set: world.Set}
	if status != nil {
		v.Reasons = status.Reasons()
	}
	nodes := asked
	if world.Shared != nil && len(nodes) == 0 {
		nodes, _ = world.Shared.NodeInfos().List()
	}
	there := false
	for _, n := range nodes {
		if n.Node() == nil {
			continue
		}
		if on != nil && on.Node() != nil && n.Node().Name == on.Node().Name {
			n, there = on, true
		}
		v.Nodes = append(v.Nodes, nodeOf(n))
	}
	if on != nil {
		if !there {
			v.Nodes = append(v.Nodes, nodeOf(on))
		}
		v.Node = v.Nodes[len(v.Nodes)-1].Node.Name
		if on.Node() != nil {
			v.Node = on.Node().Name
		}
		if v.Node == "" {
			v.Node = "node"
			v.Nodes[len(v.Nodes)-1].Node.Name = v.Node
		}
	}
	v.addObjects(world)
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := file.Write(append(data, '\n')); err != nil {
		panic(err)
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
}

func nodeOf(info fwk.NodeInfo) Node {
	n := Node{Node: &corev1.Node{}}
	if info.Node() != nil {
		n.Node = info.Node().DeepCopy()
	}
	for _, p := range info.GetPods() {
		n.Pods = append(n.Pods, p.GetPod())
	}
	return n
}
