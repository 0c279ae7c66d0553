package planvalidator

import (
	"fmt"

	"github.com/drawknife/drawknife/scheduling"
)

// order checks that the pods can be bound one after another in the plan's order, each where it is planned. All of the plan's nodes exist
// from the start, each as its first instance type.
func (c *checker) order() {
	if len(c.s.DefaultTopologySpread) > 0 {
		return
	}
	if at, why := c.empty().replay(c.p); why != "" {
		c.fault(at, "can't be bound at its turn: %s", why)
	}
}

// hosts returns the node names of the plan's pods.
func hosts(p *scheduling.Plan) map[scheduling.PodKey]string {
	out := map[scheduling.PodKey]string{}
	for i := range p.NewNodes {
		for _, key := range p.NewNodes[i].Pods {
			out[key] = p.NewNodes[i].Name
		}
	}
	for i := range p.Existing {
		for _, key := range p.Existing[i].Pods {
			out[key] = p.Existing[i].Name
		}
	}
	return out
}

// replay binds the plan's pods in order. It stops at the first that is refused and returns it with the reason.
func (w *world) replay(p *scheduling.Plan) (pod, why string) {
	at := hosts(p)
	for _, key := range p.Order {
		one, m := w.c.pods[key], w.byName[at[key]]
		if one == nil || m == nil {
			return key.String(), fmt.Sprintf("node %q or the pod is not there", at[key])
		}
		if _, known := w.c.volumesOf(one); known {
			if why := w.refuses(m, one); why != "" {
				return key.String(), why + ", on " + m.name
			}
		}
		m.put(one)
	}
	return "", ""
}

// replayed returns the world with all pods of the plan in their places, or nil if they can't be bound there, or if some rules are not
// supported by this checker.
func (c *checker) replayed() *world {
	w := c.empty()
	if len(c.s.DefaultTopologySpread) > 0 {
		return nil
	}
	if _, why := w.replay(c.p); why != "" {
		return nil
	}
	return w
}
