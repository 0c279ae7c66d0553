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

// Phase is the phase of an instance's life.
type Phase string

const (
	// Pending: launched, not yet booted.
	Pending Phase = "Pending"
	// Running: booted.
	Running Phase = "Running"
	// ShuttingDown: the cloud is terminating the instance, which still costs money and keeps its resources.
	ShuttingDown Phase = "ShuttingDown"
	// Gone: terminated, and the cloud has forgotten it.
	Gone Phase = "Gone"
)

// Keys of the tags on an instance. List and Get derive an instance's owner from them. An instance launched for a Provisioner has
// the label key of Provisioners as a tag instead of TagNodePool (v1.PoolKey.LabelKey).
const (
	TagCluster      = "fake.drawknife.test/cluster"
	TagNodePool     = v1.NodePoolLabelKey
	TagNodeClaim    = "fake.drawknife.test/nodeclaim"
	TagNodeClaimUID = "fake.drawknife.test/nodeclaim-uid"
)

// Instance is a snapshot of an instance. It is a copy: changing it has no effect on the cloud.
type Instance struct {
	// ProviderID is its ID in the cloud, "fake:///zone/i-00000001".
	ProviderID string
	// NodeName is the name of its node.
	NodeName string
	// Phase at the time of the snapshot.
	Phase Phase
	// Offering by which it was bought.
	Offering cloudprovider.OfferingKey
	// Price at which it was bought, USD per hour.
	Price float64
	// ImageID from which it booted, and its KubeletVersion.
	ImageID, KubeletVersion string
	// Tags on it.
	Tags map[string]string
	// Labels with which its node joins: the instance's own, overridden by its claim's.
	Labels map[string]string
	// Taints with which its node joins: karpenter.sh/unregistered and the claim's, including startup taints.
	Taints []corev1.Taint
	// Capacity of the whole instance, and the part of it that is Allocatable to pods.
	Capacity, Allocatable corev1.ResourceList
	// LaunchedAt is when it was launched.
	LaunchedAt time.Time
	// RunningAt is when its boot ends or ended.
	RunningAt time.Time
	// ReclaimAt is when the cloud reclaims it; zero while that is not announced.
	ReclaimAt time.Time
	// ShutdownAt is when it began to shut down; zero before.
	ShutdownAt time.Time
	// GoneAt is when it is gone; zero before it shuts down.
	GoneAt time.Time
}

// Node returns the instance's Kubernetes node as its kubelet would create it, ready and with all resources.
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
