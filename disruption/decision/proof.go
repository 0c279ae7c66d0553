package decision

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// FloorPrices are prices of resources, USD per hour for each core, byte and pod, for the pods of the proofs that go by them: no
// node that may be launched for one of these and would hold it costs less than what it has for pods, in addition to its DaemonSets, is
// worth by them.
// New nodes for the pods then cost at least what they ask for is worth: weak duality of linear programming. Nodes that may be
// launched for a pod are those of pools that launch now and whose taints it tolerates, as far as the pool's requirements and its own
// allow. All prices are 0 where one of them costs nothing.
type FloorPrices map[corev1.ResourceName]float64

// Worth of amounts at the prices, USD per hour.
func (y FloorPrices) Worth(amounts corev1.ResourceList) float64 {
	sum := 0.0
	for _, name := range pricedResources {
		if q, ok := amounts[name]; ok {
			sum += y[name] * q.AsApproximateFloat64()
		}
	}
	return sum
}

// Proof shows by a few multiplications that removing a node, all others left as they are, can't be worth it: pods of it
// that no other node has room for need new nodes, and those cost too much.
type Proof struct {
	// Homeless are the pods, and what each of them asks for more of than any other node has free.
	Homeless []HomelessPod `json:"homeless"`
	// Demand is what they ask for together.
	Demand corev1.ResourceList `json:"demand"`
	// Prices numbers disruption.Plan.FloorPrices; Floor is what new nodes for the demand cost at least, USD per hour: what it is worth at
	// those prices, or the Cheapest of one of the pods if that is more.
	Prices int     `json:"prices"`
	Floor  float64 `json:"floor"`
}

// HomelessPod is a pod that no node but its own has room for: it asks for Need of the resource, and no other node has more
// than Most of it free.
type HomelessPod struct {
	Pod      planning.PodKey     `json:"pod"`
	Resource corev1.ResourceName `json:"resource"`
	Need     string              `json:"need"`
	Most     string              `json:"most"`
	// Cheapest is the price of the cheapest node that may be launched for the pod and would hold it, USD per hour.
	Cheapest float64 `json:"cheapest"`
}

// pricedResources are those that have prices, in the order in which their worth is added up. Others have none, which is a price too.
var pricedResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}
