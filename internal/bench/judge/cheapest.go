package judge

import "math"

// CheapestNode returns the price of the cheapest node that any pool can buy and that holds all the pods together, or +Inf if no node can
// hold them. It checks resources, node selector and affinity, taints, host ports and rules between these pods.
func (j *Judge) CheapestNode(pods []string) float64 {
	best := math.Inf(1)
	for name, p := range j.pools {
		for typ, options := range p.options {
			for i := range options {
				if options[i].offering.Price >= best {
					continue
				}
				n := &NewNode{Pool: name, InstanceTypes: []string{typ}, Requirements: options[i].offering.Requirements.NodeSelectorRequirements()}
				m, err := j.launch(0, n)
				if err != nil || m.option.offering.Price >= best {
					continue
				}
				b := newBinding(j)
				b.add(m, pods)
				b.start()
				if len(b.bindAll(b.waiting(nil), func(*candidate) bool { return false })) == 0 {
					best = m.option.offering.Price
				}
			}
		}
	}
	return best
}
