package rulecosts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Kind says what a rule restricts. Kinds are stable.
type Kind string

const (
	// NodeLabels are the labels of nodes that a pod selects by one key: spec.nodeSelector and required node affinity.
	NodeLabels Kind = "NodeLabels"
	// TopologySpread is a spread constraint with DoNotSchedule.
	TopologySpread Kind = "TopologySpread"
	// PodAffinity is a required term of a pod about pods that must be near.
	PodAffinity Kind = "PodAffinity"
	// PodAntiAffinity is a required term of a pod about pods that must not be near.
	PodAntiAffinity Kind = "PodAntiAffinity"
	// HostPorts are the ports of the node that a pod's containers use.
	HostPorts Kind = "HostPorts"
	// Volumes are the persistent volumes of a pod, which bind it to their zones and count against limits of nodes.
	Volumes Kind = "Volumes"
	// Preferences are all preferences of a pod, which planning keeps if that costs no more than the premium.
	Preferences Kind = "Preferences"
	// Requirement is the requirement of a NodePool on one label.
	Requirement Kind = "Requirement"
	// MinValues is the variety of values that a NodePool's requirements demand.
	MinValues Kind = "MinValues"
	// Taints are the taints of a NodePool's nodes.
	Taints Kind = "Taints"
	// Limits are the limits of a NodePool.
	Limits Kind = "Limits"
	// Weight is the weight of a NodePool. The pool is preferred to pools of lower weight, even if those are cheaper.
	Weight Kind = "Weight"
)

// Rule is one rule of a snapshot. OfPod and OfPool make rules; the zero value changes nothing.
type Rule struct {
	Kind Kind `json:"kind"`
	// Object that has the rule: "Pod default/web-0" or "NodePool general".
	Object string `json:"object"`
	// Path of the field in the object.
	Path string `json:"path"`
	// Text says what the rule requires, in a few words.
	Text string `json:"text"`
	// Pods is the number of waiting pods that have the rule; 0 for a rule of a NodePool.
	Pods int `json:"pods,omitempty"`

	without func(*scheduling.Snapshot) *scheduling.Snapshot
}

// String is Text.
func (r Rule) String() string { return r.Text }

// Without returns the snapshot without the rule. It shares all other data with s. It does not change s.
func (r Rule) Without(s *scheduling.Snapshot) *scheduling.Snapshot {
	if s == nil || r.without == nil {
		return s
	}
	return r.without(s)
}

// ofPods returns the function Without for a rule of pods. The function change is called with a copy of each of these pods.
func ofPods(keys map[scheduling.PodKey]bool, change func(*corev1.Pod)) func(*scheduling.Snapshot) *scheduling.Snapshot {
	return func(s *scheduling.Snapshot) *scheduling.Snapshot {
		out := *s
		out.Pods = slices.Clone(s.Pods)
		for i, pod := range out.Pods {
			if pod != nil && keys[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] {
				out.Pods[i] = pod.DeepCopy()
				change(out.Pods[i])
			}
		}
		return &out
	}
}

// ofPool returns the function Without for a rule of a NodePool. The function change is called with a copy of the pool.
func ofPool(key v1.PoolKey, change func(*v1.NodePool)) func(*scheduling.Snapshot) *scheduling.Snapshot {
	return func(s *scheduling.Snapshot) *scheduling.Snapshot {
		out := *s
		out.NodePools = slices.Clone(s.NodePools)
		for i := range out.NodePools {
			if p := &out.NodePools[i]; p.Object != nil && p.Identity() == key {
				p.Key = key
				p.Object = p.Object.DeepCopy()
				change(p.Object)
			}
		}
		return &out
	}
}
