package planvalidator

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// withTemplates returns the snapshot with a pending pod for each gang member that exists only as a template.
func withTemplates(s *scheduling.Snapshot) *scheduling.Snapshot {
	if len(s.Gangs) == 0 {
		return s
	}
	out := *s
	out.Pods, out.Gangs = append([]*corev1.Pod(nil), s.Pods...), append([]scheduling.Gang(nil), s.Gangs...)
	for i := range out.Gangs {
		g := &out.Gangs[i]
		g.Members = append([]scheduling.PodKey(nil), g.Members...)
		for _, template := range g.Templates {
			prefix := template.Name
			if prefix == "" {
				prefix = g.Name
			}
			for n := range template.Count {
				pod := &corev1.Pod{ObjectMeta: *template.Template.ObjectMeta.DeepCopy(), Spec: *template.Template.Spec.DeepCopy()}
				pod.Namespace, pod.Name = g.Namespace, fmt.Sprintf("%s-%d", prefix, n)
				out.Pods = append(out.Pods, pod)
				g.Members = append(g.Members, scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name})
			}
		}
		g.Templates = nil
	}
	return &out
}

// gangs checks that each gang is placed as a whole or not at all, and that it is in one domain of each topology key that it requires. It
// also checks that the plan's statements about gangs are true.
func (c *checker) gangs() {
	if len(c.p.Gangs) != len(c.s.Gangs) {
		c.fault("gangs", "are %d in the plan, and %d in the snapshot", len(c.p.Gangs), len(c.s.Gangs))
		return
	}
	if len(c.s.Gangs) == 0 {
		return
	}
	hosts := c.labelsOfPlaces()
	for i := range c.s.Gangs {
		c.gang(&c.s.Gangs[i], &c.p.Gangs[i], hosts)
	}
	c.families()
}

// families checks the gangs that have a parent. All gangs of a parent or ancestor must be placed, or all must stay pending. The gangs must
// also be in one domain of each topology key that they share.
func (c *checker) families() {
	whole, shared := map[scheduling.GangKey]bool{}, map[scheduling.GangKey]string{}
	for i := range c.s.Gangs {
		g, says := &c.s.Gangs[i], &c.p.Gangs[i]
		if key, ok := wholeOf(g); ok && says.Placed > 0 {
			whole[key] = whole[key] || says.Bound < g.Needs()
		}
		for _, group := range parentsOf(g) {
			if says.Placed == 0 {
				continue
			}
			domains := ""
			for k := range group.Shared {
				for _, d := range says.Domains {
					if d.Key == g.Topology[k].Key {
						domains += d.String() + " "
					}
				}
			}
			key := scheduling.GangKey{Namespace: g.Namespace, Name: group.Name}
			if known, ok := shared[key]; ok && known != domains {
				c.fault("gang "+g.Key().String(), "is in %s, and others of %s are in %s", domains, group.Name, known)
			}
			shared[key] = domains
		}
	}
	for i := range c.s.Gangs {
		g, says := &c.s.Gangs[i], &c.p.Gangs[i]
		if key, ok := wholeOf(g); ok && whole[key] && says.Bound+says.Placed < g.Needs() {
			c.fault("gang "+g.Key().String(), "has no place, and others of %s have", key.Name)
		}
	}
}

// parentsOf returns the parent and the ancestors of the gang. It returns nil if the gang has no parent.
func parentsOf(g *scheduling.Gang) []scheduling.GangAncestor {
	if g.Parent == "" {
		return nil
	}
	return append([]scheduling.GangAncestor{{Name: g.Parent, Shared: g.Shared, Spare: g.Spare}}, g.Ancestors...)
}

// wholeOf returns the outermost parent or ancestor whose gangs, including g, must all be placed or must all stay pending. It returns false
// if g is a spare gang, which its parent does not need.
func wholeOf(g *scheduling.Gang) (scheduling.GangKey, bool) {
	name := ""
	for _, group := range parentsOf(g) {
		if group.Spare {
			break
		}
		name = group.Name
	}
	return scheduling.GangKey{Namespace: g.Namespace, Name: name}, name != ""
}

func (c *checker) gang(g *scheduling.Gang, says *scheduling.GangPlacement, hosts map[scheduling.PodKey]func(key string) (string, bool)) {
	where := "gang " + g.Key().String()
	bound := map[scheduling.PodKey]bool{}
	for i := range c.s.Nodes {
		for _, pod := range c.s.Nodes[i].Pods {
			bound[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
		}
	}
	placed, onNodes := 0, 0
	for _, key := range g.Members {
		if bound[key] {
			onNodes++
		} else if hosts[key] != nil {
			placed++
		}
	}
	switch {
	case says.Gang != g.Key() || says.Members != len(g.Members) || says.Minimum != g.Needs() || says.Bound != onNodes || says.Placed != placed:
		c.fault(where, "has %d members bound and %d placed, and the plan says %+v", onNodes, placed, says)
	case placed > 0 && placed+onNodes < g.Needs():
		c.fault(where, "is placed in part: %d of %d", placed+onNodes, g.Needs())
	case says.Reason != nil && placed > 0:
		c.fault(where, "is placed, and has a reason not to be")
	case says.Reason == nil && placed+onNodes < g.Needs():
		c.fault(where, "has no place, and no reason")
	}
	if placed > 0 && !g.Deadline.IsZero() && !c.s.Time.Before(g.Deadline) {
		c.fault(where, "is placed after its deadline")
	}
	if placed > 0 {
		c.gangDomains(where, g, says, hosts)
	}
}

// gangDomains checks that the gang is in the domains that its topology requires, and that the plan names the right domains.
func (c *checker) gangDomains(where string, g *scheduling.Gang, says *scheduling.GangPlacement, hosts map[scheduling.PodKey]func(key string) (string, bool)) {
	kept := map[string]string{}
	for _, d := range says.Domains {
		kept[d.Key] = d.Value
	}
	for _, topology := range g.Topology {
		value, ok := kept[topology.Key]
		if !ok {
			if topology.Policy != scheduling.GangTopologyPreferred {
				c.fault(where, "is in no domain of %s, which it requires", topology.Key)
			}
			continue
		}
		for _, key := range g.Members {
			if label := hosts[key]; label != nil {
				if got, ok := label(topology.Key); !ok || got != value {
					c.fault(where, "is in %s=%s, and pod %s in %q", topology.Key, value, key, got)
				}
			}
		}
	}
}

// labelsOfPlaces returns, for each placed pod, a function that reads the labels of its node.
func (c *checker) labelsOfPlaces() map[scheduling.PodKey]func(key string) (string, bool) {
	out := map[scheduling.PodKey]func(key string) (string, bool){}
	for i := range c.p.Existing {
		n := c.nodes[c.p.Existing[i].Name]
		if n == nil {
			continue
		}
		for _, key := range c.p.Existing[i].Pods {
			out[key] = func(label string) (string, bool) {
				if n.Object != nil {
					if value, ok := n.Object.Labels[label]; ok {
						return value, ok
					}
				}
				if n.Claim != nil {
					value, ok := n.Claim.Labels[label]
					return value, ok
				}
				return "", false
			}
		}
	}
	for i := range c.p.NewNodes {
		n := &c.p.NewNodes[i]
		for _, key := range n.Pods {
			out[key] = func(label string) (string, bool) {
				r := n.Requirements.Get(label)
				if values := r.Values(); n.Requirements.Has(label) && !r.Complement() && len(values) == 1 {
					return values[0], true
				}
				return "", false
			}
		}
	}
	return out
}

// ofGang reports whether the pod has no place because its gang can't be placed as a whole.
func ofGang(u *scheduling.Unschedulable) bool {
	return len(u.Reasons) == 1 && u.Reasons[0].Code == scheduling.ReasonGang
}

// withinGang returns the pod with additional requirements for the domains of its gang. The requirements restrict the nodes on which the pod
// may be placed. They don't change which domains the pod's spread constraints count: see asTheyAre.
func (c *checker) withinGang(key scheduling.PodKey, pod *corev1.Pod) *corev1.Pod {
	for i := range c.p.Gangs {
		if len(c.p.Gangs[i].Domains) == 0 || !slices.Contains(c.s.Gangs[i].Members, key) {
			continue
		}
		out := *pod
		out.Spec.NodeSelector = map[string]string{}
		maps.Copy(out.Spec.NodeSelector, pod.Spec.NodeSelector)
		for _, d := range c.p.Gangs[i].Domains {
			out.Spec.NodeSelector[d.Key] = d.Value
		}
		c.asTheyAre[&out] = pod
		if itself := c.asTheyAre[pod]; itself != nil {
			c.asTheyAre[&out] = itself
		}
		return &out
	}
	return pod
}
