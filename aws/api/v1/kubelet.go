package v1

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// KubeletConfiguration configures the kubelet of a node. The fields are those that node autoscaling itself reads or
// renders; any other key of the kubelet's own configuration (kubelet.config.k8s.io/v1beta1) is kept in Other, for
// families that can render it. A nil member leaves the setting to the family.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
type KubeletConfiguration struct {
	// ClusterDNS are the addresses of the cluster's DNS service. Nil: discovered.
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitzero"`
	// MaxPods is the pod limit of the node: a number, or a CEL expression over the instance type's facts (a gated alpha feature of
	// Karpenter). Nil means that it is computed for the instance type.
	// +optional
	MaxPods *intstr.IntOrString `json:"maxPods,omitempty"`
	// PodsPerCore limits the pods per vCPU; it never raises MaxPods. 0 means no limit.
	// +optional
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved maps resource names to the quantities, or CEL expressions, that are reserved for the operating system.
	// +optional
	SystemReserved map[string]string `json:"systemReserved,omitzero"`
	// KubeReserved maps resource names to the quantities, or CEL expressions, that are reserved for Kubernetes' own daemons. A resource
	// that is not listed is computed for the instance type.
	// +optional
	KubeReserved map[string]string `json:"kubeReserved,omitzero"`
	// EvictionHard maps signals to the thresholds at which pods are evicted at once: quantities or percentages.
	// +optional
	EvictionHard map[string]string `json:"evictionHard,omitzero"`
	// EvictionSoft maps signals to the thresholds at which pods are evicted after a grace period: quantities or percentages.
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
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// ImageGCLowThresholdPercent is the disk usage below which images are never collected, 0 to 100.
	// +optional
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// CPUCFSQuota enforces CPU limits by CFS quota. Nil means the kubelet's default, which is on.
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
	// Other contains all further keys with their values. A key that has its own field above is not written from Other.
	Other map[string]RawJSON `json:"-"`
}

// ManagedKubeletKeys returns the keys that KubeletConfiguration has fields for. The caller owns the slice.
func ManagedKubeletKeys() []string {
	return []string{
		"clusterDNS", "maxPods", "podsPerCore", "systemReserved", "kubeReserved", "evictionHard", "evictionSoft",
		"evictionSoftGracePeriod", "evictionMaxPodGracePeriod", "imageGCHighThresholdPercent",
		"imageGCLowThresholdPercent", "cpuCFSQuota",
	}
}

// managedKubelet is KubeletConfiguration without its methods, so that encoding/json does not call them. It encodes all fields except Other.
type managedKubelet KubeletConfiguration

// MarshalJSON writes the fields and the other keys as one object, sorted by key.
func (k KubeletConfiguration) MarshalJSON() ([]byte, error) {
	managed, err := json.Marshal(managedKubelet(k))
	if err != nil || len(k.Other) == 0 {
		return managed, err
	}
	all := make(map[string]json.RawMessage, len(k.Other))
	for key, value := range k.Other {
		all[key] = json.RawMessage(value)
	}
	for _, key := range ManagedKubeletKeys() {
		delete(all, key)
	}
	if err := json.Unmarshal(managed, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads the object; keys are matched exactly, and those without a field are kept in Other.
func (k *KubeletConfiguration) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var other map[string]RawJSON
	if err := json.Unmarshal(data, &other); err != nil {
		return fmt.Errorf("kubelet must be an object: %w", err)
	}
	// encoding/json matches names regardless of case, so decode only the keys that are exactly ManagedKubeletKeys.
	managed := make(map[string]RawJSON)
	for _, key := range ManagedKubeletKeys() {
		if value, ok := other[key]; ok {
			managed[key] = value
			delete(other, key)
		}
	}
	subset, err := json.Marshal(managed)
	if err != nil {
		return err
	}
	var decoded managedKubelet
	if err := json.Unmarshal(subset, &decoded); err != nil {
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) && wrongType.Field != "" {
			return fmt.Errorf("kubelet.%s: is a %s, must be %s", wrongType.Field, wrongType.Value, wrongType.Type)
		}
		return fmt.Errorf("kubelet: %w", err)
	}
	if len(other) > 0 {
		decoded.Other = other
	}
	*k = KubeletConfiguration(decoded)
	return nil
}

// RawJSON is one JSON value as it was written.
type RawJSON []byte

// MarshalJSON returns the value; a nil value is null.
func (r RawJSON) MarshalJSON() ([]byte, error) { return json.RawMessage(r).MarshalJSON() }

// UnmarshalJSON keeps a copy of the value.
func (r *RawJSON) UnmarshalJSON(data []byte) error {
	*r = append(RawJSON(nil), data...)
	return nil
}
