package judge

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Now returns a judge for s, a snapshot of another time. The new judge has the pools and instance types of j, and the nodes and pending
// pods of s. Pending pods of s may request only resources that pods of the workload passed to New requested.
func (j *Judge) Now(s *scheduling.Snapshot) *Judge {
	now := &Judge{
		s: s, resources: j.resources, daemons: j.daemons, pools: j.pools, shapes: j.shapes, bought: j.bought,
		pods: make(map[string]*asking, len(s.Pods)),
	}
	for _, pod := range s.Pods {
		a := &asking{key: pod.Namespace + "/" + pod.Name, pod: pod, need: now.requests(pod), shape: now.shapeOf(pod)}
		now.pods[a.key] = a
	}
	return now
}

// Bought checks that the plan allows a node of this type, zone and capacity type, and that the plan allows no cheaper node.
func (j *Judge) Bought(n *NewNode, instanceType, zone, capacityType string) error {
	cheapest, err := j.launch(0, n)
	if err != nil {
		return err
	}
	if p := j.pools[n.Pool]; p != nil {
		for i := range p.options[instanceType] {
			o := &p.options[instanceType][i]
			if o.labels[corev1.LabelTopologyZone] != zone || o.labels[v1.CapacityTypeLabelKey] != capacityType || !o.meets(n.Requirements) {
				continue
			}
			if o.offering.Price > cheapest.option.offering.Price {
				return fmt.Errorf("%s/%s/%s costs %v, but the plan allows %s at %v",
					instanceType, zone, capacityType, o.offering.Price, cheapest.option.it.Name, cheapest.option.offering.Price)
			}
			return nil
		}
	}
	return fmt.Errorf("%s/%s/%s is not an available offering that the plan allows", instanceType, zone, capacityType)
}
