// Package exact finds the cheapest nodes for a few pods by trying every partition of the pods. It measures, for small workloads, how far
// planners are from the optimum.
//
//	cost, err := exact.Cost(snapshot)
//
// It supports the same properties of single nodes as package judge: price, capacity, node selector and affinity, taints, and required
// anti-affinity by hostname. Other rules between pods, existing nodes, limits and DaemonSets are refused.
package exact

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/scheduling"
)

// MaxPods is the largest number of pods for which Cost works. For each set of pods, Cost tries all divisions into the pods of one node and
// the remaining pods: up to 3^12 divisions for all sets together.
const MaxPods = 12

// Cost returns the hourly cost of the cheapest nodes that hold all pods, in USD, or +Inf if no nodes can hold them.
func Cost(s *scheduling.Snapshot) (float64, error) {
	if err := refuse(s); err != nil {
		return 0, err
	}
	j := judge.New(s)
	n := len(s.Pods)
	keys := make([]string, n)
	for i, pod := range s.Pods {
		keys[i] = pod.Namespace + "/" + pod.Name
	}
	// node[set] is the price of the cheapest node that can hold all pods of the set.
	node := make([]float64, 1<<n)
	for set := 1; set < 1<<n; set++ {
		var pods []string
		for i := range n {
			if set&(1<<i) != 0 {
				pods = append(pods, keys[i])
			}
		}
		node[set] = j.CheapestNode(pods)
	}
	// best[set] is the lowest total price of nodes that hold all pods of the set. In each division of the set, one node holds the first pod
	// and possibly other pods. The value of best for the remaining pods is known already, because the remaining set has a smaller index.
	best := make([]float64, 1<<n)
	for set := 1; set < 1<<n; set++ {
		best[set] = math.Inf(1)
		first := 1 << bits.TrailingZeros(uint(set))
		for rest := set &^ first; ; rest = (rest - 1) & (set &^ first) {
			best[set] = min(best[set], node[first|rest]+best[set&^(first|rest)])
			if rest == 0 {
				break
			}
		}
	}
	return best[1<<n-1], nil
}

func refuse(s *scheduling.Snapshot) error {
	if len(s.Pods) > MaxPods {
		return fmt.Errorf("%d pods: at most %d are supported", len(s.Pods), MaxPods)
	}
	if len(s.Nodes)+len(s.DaemonSets)+len(s.NodeOverlays) > 0 {
		return errors.New("existing nodes, DaemonSets and overlays are not supported")
	}
	for i := range s.NodePools {
		if len(s.NodePools[i].Object.Spec.Limits) > 0 {
			return errors.New("limits are not supported")
		}
	}
	for _, pod := range s.Pods {
		a := pod.Spec.Affinity
		known := len(pod.Spec.TopologySpreadConstraints)+len(pod.Spec.Volumes) == 0 && (a == nil || a.PodAffinity == nil)
		if a != nil && a.PodAntiAffinity != nil {
			known = known && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0
			for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				known = known && t.TopologyKey == corev1.LabelHostname
			}
		}
		if !known {
			return fmt.Errorf("pod %s/%s has rules that are not supported", pod.Namespace, pod.Name)
		}
	}
	return nil
}
