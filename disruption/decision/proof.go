package decision

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// FloorPrices are prices of resources in USD per hour for each core, byte and pod. A proof refers to them. At these prices, the capacity of
// a node is worth at most the node's price. This is true for each node that may be launched for a pod of the proof; capacity for DaemonSets
// is not counted. So new nodes for the pods cost at least as much as the pods' requests are worth, by weak duality of linear programming.
// The nodes that may be launched for a pod belong to pools that can launch now and whose taints the pod tolerates. The requirements of the
// pool and of the pod restrict these nodes. If one of these nodes costs nothing, all prices are 0.
type FloorPrices map[corev1.ResourceName]float64

// Worth returns what the amounts are worth at the prices, in USD per hour.
func (y FloorPrices) Worth(amounts corev1.ResourceList) float64 {
	sum := 0.0
	for _, name := range pricedResources {
		if q, ok := amounts[name]; ok {
			sum += y[name] * q.AsApproximateFloat64()
		}
	}
	return sum
}

// Proof shows by a few multiplications that removing this node alone can't save enough: some of its pods fit on no other node, and new
// nodes for them cost too much.
type Proof struct {
	// Homeless lists the pods that fit on no other node: each requests more of some resource than any other node has free.
	Homeless []HomelessPod `json:"homeless"`
	// Demand is the sum of the requests of these pods.
	Demand corev1.ResourceList `json:"demand"`
	// Prices is an index into disruption.Plan.FloorPrices. Floor is the lowest possible cost of new nodes for the demand, in USD per hour.
	// It is the worth of the demand at these prices or the highest Cheapest of the pods, whichever is more.
	Prices int     `json:"prices"`
	Floor  float64 `json:"floor"`
}

// HomelessPod is a pod that fits on no other node: it requests Need of the resource, and no other node has more than Most of it
// free.
type HomelessPod struct {
	Pod      planning.PodKey     `json:"pod"`
	Resource corev1.ResourceName `json:"resource"`
	Need     string              `json:"need"`
	Most     string              `json:"most"`
	// Cheapest is the price of the cheapest node that may be launched for the pod and has room for it, in USD per hour.
	Cheapest float64 `json:"cheapest"`
}

// pricedResources are the resources with prices, in the order in which Worth adds them up. All other resources have no price, so their
// amounts are ignored.
var pricedResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}
