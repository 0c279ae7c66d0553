package fake

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Phase is where an instance is in its life.
type Phase string

const (
	// Pending: launched, not yet booted.
	Pending Phase = "Pending"
	// Running: booted.
	Running Phase = "Running"
	// ShuttingDown: told to end; it still costs money and holds what it holds.
	ShuttingDown Phase = "ShuttingDown"
	// Gone: it is no more, and the cloud has forgotten it.
	Gone Phase = "Gone"
)

// Keys of the tags on an instance. All that List and Get know about an instance's owner comes from them. An instance that was launched
// for a pool of the first generation has that generation's label of pools as a tag, in place of TagNodePool (v1.PoolKey.LabelKey).
const (
	TagCluster      = "fake.drawknife.test/cluster"
	TagNodePool     = v1.NodePoolLabelKey
	TagNodeClaim    = "fake.drawknife.test/nodeclaim"
	TagNodeClaimUID = "fake.drawknife.test/nodeclaim-uid"
)

// Instance is an instance of the cloud as it was at one moment. It is a copy: changing it changes nothing.
type Instance struct {
	// ProviderID is the cloud's name for it, "fake:///zone/i-00000001".
	ProviderID string
	// NodeName is the name its node joins under.
	NodeName string
	// Phase at that moment.
	Phase Phase
	// Offering it was bought by.
	Offering cloudprovider.OfferingKey
	// Price it was bought at, USD per hour.
	Price float64
	// ImageID it booted from, and KubeletVersion that runs on it.
	ImageID, KubeletVersion string
	// Tags on it.
	Tags map[string]string
	// Labels its node joins with: the instance's own, overruled by its claim's.
	Labels map[string]string
	// Taints its node joins with: karpenter.sh/unregistered and the claim's, start-up taints among them.
	Taints []corev1.Taint
	// Capacity of the whole instance, and the part of it that is Allocatable to pods.
	Capacity, Allocatable corev1.ResourceList
	// LaunchedAt is when it was bought.
	LaunchedAt time.Time
	// RunningAt is when it is booted, or was.
	RunningAt time.Time
	// ReclaimAt is when the cloud takes it back; zero while that is not announced.
	ReclaimAt time.Time
	// ShutdownAt is when it began to shut down; zero before.
	ShutdownAt time.Time
	// GoneAt is when it is gone; zero before it shuts down.
	GoneAt time.Time
}

// Node is the Kubernetes node the instance joins as, ready and with all its resources, as its kubelet would make it.
func (i Instance) Node() *corev1.Node {
	labels := maps.Clone(i.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelHostname] = i.NodeName
	running := metav1.NewTime(i.RunningAt)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: i.NodeName, Labels: labels, CreationTimestamp: running},
		Spec:       corev1.NodeSpec{ProviderID: i.ProviderID, Taints: slices.Clone(i.Taints)},
		Status: corev1.NodeStatus{
			Capacity:    i.Capacity.DeepCopy(),
			Allocatable: i.Allocatable.DeepCopy(),
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: running, LastTransitionTime: running,
			}},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:  i.KubeletVersion,
				OperatingSystem: labels[corev1.LabelOSStable],
				Architecture:    labels[corev1.LabelArchStable],
			},
		},
	}
}
