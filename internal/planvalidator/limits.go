package planvalidator

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// used returns the usage of a pool by nodes of the snapshot; leaving nodes don't count.
func (c *checker) used(key v1.PoolKey) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := range c.s.Nodes {
		if n := &c.s.Nodes[i]; n.Pool == key && !n.Leaving {
			plus(out, c.view(n).capacity)
		}
	}
	return out
}

// most returns the largest amount of each resource that the node may have, whichever of its types is launched.
func (c *checker) most(n *scheduling.NewNode) corev1.ResourceList {
	out := corev1.ResourceList{"nodes": *resource.NewQuantity(1, resource.DecimalSI)}
	for _, it := range c.typesOf(c.pools[n.Pool]) {
		for _, option := range n.InstanceTypes {
			if option.Name != it.Name {
				continue
			}
			for i := range it.Offerings {
				if o := &it.Offerings[i]; o.Available && o.Zone() == option.Zone && o.CapacityType() == option.CapacityType {
					larger(out, capacity(it, o))
				}
			}
		}
	}
	return out
}

// afterwards returns the pool's usage after the plan has been carried out.
func (c *checker) afterwards(key v1.PoolKey) corev1.ResourceList {
	out := c.used(key)
	for i := range c.p.NewNodes {
		if c.p.NewNodes[i].Pool == key {
			plus(out, c.most(&c.p.NewNodes[i]))
		}
	}
	return out
}

// limits checks that a pool with new nodes stays within its limits, whichever of the listed types is launched.
func (c *checker) limits() {
	for key, np := range c.pools {
		grows := false
		for i := range c.p.NewNodes {
			grows = grows || c.p.NewNodes[i].Pool == key
		}
		if !grows {
			continue
		}
		after, before := c.afterwards(key), c.used(key)
		for name, limit := range np.Object.Spec.Limits {
			if q := before[name]; key.Generation == v1.GenerationV1Alpha5 && q.Sign() > 0 && q.Cmp(limit) >= 0 {
				c.fault("nodepool "+key.String(), "it launches nodes, and its limit of %s of %s is reached", limit.String(), name)
			}
			if q := after[name]; q.Cmp(limit) > 0 {
				c.fault("nodepool "+key.String(), "its nodes may count for %s of %s, its limit is %s", q.String(), name, limit.String())
			}
		}
	}
}
