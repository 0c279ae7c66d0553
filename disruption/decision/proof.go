package decision

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// FloorPrices are prices of resources in USD per hour for each core, byte and pod. A proof refers to them. By these prices, the
// room of each node that may be launched for a pod of the proof, without that for DaemonSets, is worth at most what the node
// costs. New nodes for the pods then cost at least what they ask for is worth: weak duality of linear programming. Nodes that may
// be launched for a pod are those of pools that launch now and whose taints it tolerates, as far as the pool's requirements and
// its own allow. All prices are 0 where one of them costs nothing.
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

// Proof shows by a few multiplications that removing a node, and no other, can't be worth it: some of its pods fit on no other
// node, and new nodes for them cost too much.
type Proof struct {
	// Homeless lists the pods that fit on no other node: each requests more of some resource than any other node has free.
	Homeless []HomelessPod `json:"homeless"`
	// Demand is the sum of their requests.
	Demand corev1.ResourceList `json:"demand"`
	// Prices is an index of disruption.Plan.FloorPrices. Floor is what new nodes for the demand cost at least, in USD per hour:
	// what the demand is worth at those prices, or the Cheapest of one of the pods if that is more.
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

// pricedResources are the resources with prices, in the order in which their worth is added up. All others have the price 0.
var pricedResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}
