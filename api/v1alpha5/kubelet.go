package v1alpha5

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/internal/quantities"
)

// ContainerRuntimeContainerd is the only container runtime of later generations.
const ContainerRuntimeContainerd = "containerd"

// KubeletConfiguration configures the kubelet of a node. A nil member leaves the setting to the provider.
type KubeletConfiguration struct {
	// ClusterDNS are the addresses of the cluster's DNS service. Nil means that they are discovered.
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitzero"`
	// ContainerRuntime is containerd or dockerd. Nil means containerd. Later generations have only containerd.
	// +optional
	ContainerRuntime *string `json:"containerRuntime,omitempty"`
	// MaxPods is the pod limit of the node. Nil means that it is computed for the instance type.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxPods *int32 `json:"maxPods,omitempty"`
	// PodsPerCore also limits the pods per vCPU; it never raises MaxPods. 0 means no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved is reserved for the operating system, by resource name.
	// +optional
	SystemReserved corev1.ResourceList `json:"systemReserved,omitzero"`
	// KubeReserved is reserved for Kubernetes' own daemons, by resource name. A resource that is not listed is computed for the instance
	// type.
	// +optional
	KubeReserved corev1.ResourceList `json:"kubeReserved,omitzero"`
	// EvictionHard are thresholds at which pods are evicted at once: signal to quantity or percentage.
	// +optional
	EvictionHard map[string]string `json:"evictionHard,omitzero"`
	// EvictionSoft are thresholds at which pods are evicted after a grace period: signal to quantity or percentage.
	// +optional
	EvictionSoft map[string]string `json:"evictionSoft,omitzero"`
	// EvictionSoftGracePeriod is the grace period of each signal of EvictionSoft.
	// +optional
	EvictionSoftGracePeriod map[string]v1.Duration `json:"evictionSoftGracePeriod,omitzero"`
	// EvictionMaxPodGracePeriod bounds the pod's own grace period in a soft eviction, in seconds.
	// +optional
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// ImageGCHighThresholdPercent is the disk usage above which images are always collected, 0 to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// ImageGCLowThresholdPercent is the disk usage below which images are never collected, 0 to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// CPUCFSQuota enforces CPU limits by CFS quota. Nil means the kubelet's default, which is on. Releases 0.24 to 0.27.2 could not
	// distinguish false from nil.
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
}

// kubeletToBeta converts the block to v1beta1, which has all fields except the container runtime. Nil stays nil.
func kubeletToBeta(k *KubeletConfiguration) *v1beta1.KubeletConfiguration {
	if k == nil {
		return nil
	}
	k = k.DeepCopy()
	return &v1beta1.KubeletConfiguration{
		ClusterDNS: k.ClusterDNS, MaxPods: k.MaxPods, PodsPerCore: k.PodsPerCore,
		SystemReserved: amounts(k.SystemReserved), KubeReserved: amounts(k.KubeReserved),
		EvictionHard: k.EvictionHard, EvictionSoft: k.EvictionSoft, EvictionSoftGracePeriod: durationTexts(k.EvictionSoftGracePeriod),
		EvictionMaxPodGracePeriod:   k.EvictionMaxPodGracePeriod,
		ImageGCHighThresholdPercent: k.ImageGCHighThresholdPercent, ImageGCLowThresholdPercent: k.ImageGCLowThresholdPercent,
		CPUCFSQuota: k.CPUCFSQuota,
	}
}

func amounts(list corev1.ResourceList) map[string]v1beta1.Amount {
	if list == nil {
		return nil
	}
	out := make(map[string]v1beta1.Amount, len(list))
	for name, quantity := range list {
		out[string(name)] = v1beta1.Amount(quantity.String())
	}
	return out
}

// durationTexts formats durations like Go.
func durationTexts(durations map[string]v1.Duration) map[string]string {
	if durations == nil {
		return nil
	}
	out := make(map[string]string, len(durations))
	for signal, d := range durations {
		out[signal] = d.Duration.String()
	}
	return out
}

// kubeletFromBeta converts the block of v1beta1 to v1alpha5. It returns the names of values that are not quantities or durations.
func kubeletFromBeta(k *v1beta1.KubeletConfiguration) (*KubeletConfiguration, []string) {
	if k == nil {
		return nil, nil
	}
	k = k.DeepCopy()
	out := &KubeletConfiguration{
		ClusterDNS: k.ClusterDNS, MaxPods: k.MaxPods, PodsPerCore: k.PodsPerCore,
		EvictionHard: k.EvictionHard, EvictionSoft: k.EvictionSoft,
		EvictionMaxPodGracePeriod:   k.EvictionMaxPodGracePeriod,
		ImageGCHighThresholdPercent: k.ImageGCHighThresholdPercent, ImageGCLowThresholdPercent: k.ImageGCLowThresholdPercent,
		CPUCFSQuota: k.CPUCFSQuota,
	}
	var malformed, found []string
	if out.SystemReserved, found = resources(k.SystemReserved); len(found) > 0 {
		malformed = append(malformed, "systemReserved")
	}
	if out.KubeReserved, found = resources(k.KubeReserved); len(found) > 0 {
		malformed = append(malformed, "kubeReserved")
	}
	if k.EvictionSoftGracePeriod != nil {
		out.EvictionSoftGracePeriod = make(map[string]v1.Duration, len(k.EvictionSoftGracePeriod))
	}
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		d, err := v1.ParseDuration(k.EvictionSoftGracePeriod[signal])
		if err != nil {
			malformed = append(malformed, "evictionSoftGracePeriod")
			continue
		}
		out.EvictionSoftGracePeriod[signal] = d
	}
	return out, malformed
}

func resources(reserved map[string]v1beta1.Amount) (corev1.ResourceList, []string) {
	if reserved == nil {
		return nil, nil
	}
	var malformed []string
	out := make(corev1.ResourceList, len(reserved))
	for _, name := range slices.Sorted(maps.Keys(reserved)) {
		quantity, err := quantities.Parse(string(reserved[name]))
		if err != nil {
			malformed = append(malformed, name)
			continue
		}
		out[corev1.ResourceName(name)] = quantity
	}
	return out, malformed
}
