package v1beta1

import (
	"bytes"
	"encoding/json"
	"errors"
)

// KubeletConfiguration configures the kubelet of a node. A nil member leaves the setting to the image family of the node class.
type KubeletConfiguration struct {
	// ClusterDNS are the addresses of the cluster's DNS service. Nil means that they are discovered.
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitzero"`
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
	SystemReserved map[string]Amount `json:"systemReserved,omitzero"`
	// KubeReserved is reserved for Kubernetes' own daemons, by resource name. A resource that is not listed is computed for the instance
	// type.
	// +optional
	KubeReserved map[string]Amount `json:"kubeReserved,omitzero"`
	// EvictionHard are thresholds at which pods are evicted at once: signal to quantity or percentage.
	// +optional
	EvictionHard map[string]string `json:"evictionHard,omitzero"`
	// EvictionSoft are thresholds at which pods are evicted after a grace period: signal to quantity or percentage.
	// +optional
	EvictionSoft map[string]string `json:"evictionSoft,omitzero"`
	// EvictionSoftGracePeriod is the grace period of each signal of EvictionSoft, as a Go duration.
	// +optional
	EvictionSoftGracePeriod map[string]string `json:"evictionSoftGracePeriod,omitzero"`
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
	// CPUCFSQuota enforces CPU limits by CFS quota. Nil means the kubelet's default, which is on.
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
}

// Amount is a quantity as text. Early releases also accepted a number, which is converted to text.
//
// +kubebuilder:validation:XIntOrString
type Amount string

// UnmarshalJSON reads a string or a number. null does not change a.
func (a *Amount) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if string(data) == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*a = Amount(text)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return errors.New("must be a quantity such as 100m or 512Mi")
	}
	*a = Amount(number)
	return nil
}
