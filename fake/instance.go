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
	// Pending: the instance is launched, but not booted yet.
	Pending Phase = "Pending"
	// Running: booted.
	Running Phase = "Running"
	// ShuttingDown: the cloud is terminating the instance, which still costs money and keeps its resources.
	ShuttingDown Phase = "ShuttingDown"
	// Gone: the instance is terminated, and the cloud has forgotten it.
	Gone Phase = "Gone"
)

// These are the keys of the tags on an instance. List and Get derive an instance's owner from them. An instance that was launched for a
// Provisioner has the label key of Provisioners as a tag (v1.PoolKey.LabelKey), not TagNodePool.
const (
	TagCluster      = "fake.drawknife.test/cluster"
	TagNodePool     = v1.NodePoolLabelKey
	TagNodeClaim    = "fake.drawknife.test/nodeclaim"
	TagNodeClaimUID = "fake.drawknife.test/nodeclaim-uid"
)

// Instance is a copy of an instance at one time. Changing it has no effect on the cloud.
type Instance struct {
	// ProviderID is the ID in the cloud, for instance "fake:///zone/i-00000001".
	ProviderID string
	// NodeName is the name of the instance's node.
	NodeName string
	// Phase is the phase at the time of the copy.
	Phase Phase
	// Offering is the offering by which the instance was bought.
	Offering cloudprovider.OfferingKey
	// Price is the price at which the instance was bought, in USD per hour.
	Price float64
	// ImageID is the image from which the instance booted. KubeletVersion is the version of the instance's kubelet.
	ImageID, KubeletVersion string
	// Tags on it.
	Tags map[string]string
	// Labels are the labels with which the instance's node joins: its own labels, overridden by those of its claim.
	Labels map[string]string
	// Taints are the taints with which the instance's node joins: karpenter.sh/unregistered and those of the claim, including startup
	// taints.
	Taints []corev1.Taint
	// Capacity is the capacity of the whole instance. Allocatable is the part of the capacity that pods can use.
	Capacity, Allocatable corev1.ResourceList
	// LaunchedAt is when the instance was launched.
	LaunchedAt time.Time
	// RunningAt is when the boot of the instance ends or has ended.
	RunningAt time.Time
	// ReclaimAt is when the cloud will reclaim the instance; zero until this is announced.
	ReclaimAt time.Time
	// ShutdownAt is when the instance began to shut down; zero before that.
	ShutdownAt time.Time
	// GoneAt is when the instance will be gone or was gone; zero before it shuts down.
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
