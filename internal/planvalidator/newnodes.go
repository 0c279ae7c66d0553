package planvalidator

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// template returns the known rules for the labels of every new node of the pool. These rules follow from the template's requirements and
// labels, the pool's name and the node class.
func (c *checker) template(np *scheduling.NodePool, key v1.PoolKey) labels {
	spec := &np.Object.Spec.Template
	out := c.fromEntries(spec.Spec.Requirements)
	for k, l := range c.fromMap(spec.Labels) {
		out.and(k, l...)
	}
	label := v1.NodePoolLabelKey
	if key.Generation == v1.GenerationV1Alpha5 {
		label = v1alpha5.ProvisionerNameLabelKey
	}
	out.and(label, isValue(key.Name))
	if ref := spec.Spec.NodeClassRef; ref.Kind != "" {
		out.and(ref.Group+"/"+strings.ToLower(ref.Kind), isValue(ref.Name))
	}
	return out
}

// nodeLabels returns the known rules for the labels of a node that is launched for the NodeClaim with this type and offering. It returns
// false if claim, type and offering contradict each other. If the catalog states a label only for other offerings or other types, the node
// lacks the label.
func (c *checker) nodeLabels(claim labels, it *cloudprovider.InstanceType, o *cloudprovider.Offering) (labels, bool) {
	ofTypes, ofOfferings := c.stated(it)
	byType := c.fromEntries(it.Requirements.NodeSelectorRequirements())
	byOffering := c.fromEntries(o.Requirements.NodeSelectorRequirements())
	out := maps.Clone(claim)
	for key := range ofTypes {
		if !ofOfferings[key] {
			out.and(key, byType.get(key)...)
		}
	}
	for key := range ofOfferings {
		out.and(key, byOffering.get(key)...)
	}
	for _, l := range out {
		if !l.possible() {
			return nil, false
		}
	}
	return out, true
}

// statedKeys has the label keys in all catalogs that contain an instance type. byType has the keys that any type in these catalogs states,
// and byOffering the keys that any offering states.
type statedKeys struct{ byType, byOffering map[string]bool }

// stated returns the label keys that the catalogs with this type state. It is called for each pod and each offering of each type, so
// readCatalogs computes the keys in advance.
func (c *checker) stated(it *cloudprovider.InstanceType) (byType, byOffering map[string]bool) {
	keys := c.statedOf[it]
	return keys.byType, keys.byOffering
}

// readCatalogs fills c.statedOf. A type may be in several catalogs.
func (c *checker) readCatalogs() {
	c.statedOf = map[*cloudprovider.InstanceType]statedKeys{}
	for _, list := range c.s.Catalogs {
		of := statedKeys{map[string]bool{}, map[string]bool{}}
		for _, it := range list {
			addAll(of.byType, it.Requirements.Keys())
			for i := range it.Offerings {
				addAll(of.byOffering, it.Offerings[i].Requirements.Keys())
			}
		}
		for _, it := range list {
			if before, shared := c.statedOf[it]; shared {
				both := statedKeys{maps.Clone(before.byType), maps.Clone(before.byOffering)}
				maps.Copy(both.byType, of.byType)
				maps.Copy(both.byOffering, of.byOffering)
				c.statedOf[it] = both
				continue
			}
			c.statedOf[it] = of
		}
	}
}

func addAll(set map[string]bool, keys []string) {
	for _, key := range keys {
		set[key] = true
	}
}

// daemonsOn returns the total requests of the DaemonSet pods that may run on a node.
func (c *checker) daemonsOn(m labels, taints []corev1.Taint) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, pod := range c.daemonPodsOn(m, taints) {
		plus(out, requestsOf(pod))
	}
	return out
}

// daemonPodsOn returns the DaemonSet pods that may run on a node. A pod is included if it runs there for some values of the node's unknown
// labels.
func (c *checker) daemonPodsOn(m labels, taints []corev1.Taint) []*corev1.Pod {
	known := maps.Clone(m)
	known[v1.NodeRegisteredLabelKey] = label{isValue("true")}
	known[v1.NodeInitializedLabelKey] = label{isValue("true")}
	var out []*corev1.Pod
	for _, pod := range c.sets {
		if blocking(&pod.Spec, taints) == nil && c.mayAccept(known, &pod.Spec) {
			out = append(out, pod)
		}
	}
	return out
}

func (c *checker) newNodes() {
	names := map[string]bool{}
	for i := range c.p.NewNodes {
		n := &c.p.NewNodes[i]
		if names[n.Name] || n.Name == "" {
			c.fault(n.Name, "is the name of two nodes, or none")
		}
		names[n.Name] = true
		np := c.pools[n.Pool]
		if np == nil {
			c.fault(n.Name, "is of pool %s, which the snapshot lacks", n.Pool)
			continue
		}
		c.newNode(n, np)
	}
}

func (c *checker) newNode(n *scheduling.NewNode, np *scheduling.NodePool) {
	if len(n.InstanceTypes) == 0 {
		c.fault(n.Name, "has no instance type")
		return
	}
	sum := corev1.ResourceList{}
	var pods []*corev1.Pod
	for _, key := range n.Pods {
		pod := c.pods[key]
		if pod == nil {
			continue
		}
		plus(sum, requestsOf(pod))
		pods = append(pods, pod)
		if t := blocking(&pod.Spec, np.Object.Spec.Template.Spec.Taints); t != nil {
			c.fault(n.Name, "pod %s does not tolerate %s", key, t.ToString())
		}
	}
	claim := c.claim(n, np)
	c.variety(n, np, claim)
	for i, option := range n.InstanceTypes {
		if i > 0 && n.InstanceTypes[i-1].Price > option.Price && (i > 1 || !covers(n)) {
			c.fault(n.Name, "instance type %s is listed after a more expensive one", option.Name)
		}
		at := slices.IndexFunc(c.typesOf(np), func(it *cloudprovider.InstanceType) bool { return it.Name == option.Name })
		if at < 0 {
			c.fault(n.Name, "pool %s can't launch a %s", n.Pool, option.Name)
			continue
		}
		c.option(n, np, c.typesOf(np)[at], option, claim, sum, pods)
	}
}

// claim returns the rules for labels that follow from the node's NodeClaim. If neither the pool nor the instance types state a label, the
// node lacks the label. The only exception is a label that the NodeClaim requires.
func (c *checker) claim(n *scheduling.NewNode, np *scheduling.NodePool) labels {
	out := c.template(np, n.Pool)
	ofPool := maps.Clone(out)
	for key, l := range c.fromEntries(n.Requirements.NodeSelectorRequirements()) {
		out.and(key, l...)
		_, stated := ofPool[key]
		for _, it := range c.typesOf(np) {
			ofTypes, ofOfferings := c.stated(it)
			stated = stated || ofTypes[key] || ofOfferings[key]
		}
		if !stated && out[key].allows("", false) {
			out.and(key, rule{op: corev1.NodeSelectorOpDoesNotExist})
		}
	}
	return out
}

// variety checks that the instance types of the new node meet the pool's minValues, or that the plan states that they don't meet them.
func (c *checker) variety(n *scheduling.NewNode, np *scheduling.NodePool, claim labels) {
	relaxed := false
	for _, r := range np.Object.Spec.Template.Spec.Requirements {
		if r.MinValues == nil {
			continue
		}
		key, _ := c.canonical(r.Key)
		values := map[string]bool{}
		for _, it := range c.typesOf(np) {
			if !slices.ContainsFunc(n.InstanceTypes, func(o scheduling.InstanceTypeOption) bool { return o.Name == it.Name }) {
				continue
			}
			for i := range it.Offerings {
				o := &it.Offerings[i]
				known, ok := c.nodeLabels(claim, it, o)
				if !o.Available || !ok {
					continue
				}
				have := it.Requirements
				if o.Requirements.Has(key) {
					have = o.Requirements
				}
				for _, v := range have.Get(key).Values() {
					if known.get(key).allows(v, true) {
						values[v] = true
					}
				}
			}
		}
		relaxed = relaxed || len(values) < *r.MinValues
	}
	if relaxed != n.MinValuesRelaxed {
		c.fault(n.Name, "that minValues are not met is %v, but the plan says %v", relaxed, n.MinValuesRelaxed)
	}
}

// option checks one instance type that a new node may have. For each offering of the type that the NodeClaim allows, the node must accept
// the pods and have room for them. The plan's offering of the type must be the cheapest of these offerings.
func (c *checker) option(n *scheduling.NewNode, np *scheduling.NodePool, it *cloudprovider.InstanceType, named scheduling.InstanceTypeOption, claim labels, sum corev1.ResourceList, pods []*corev1.Pod) {
	cheapest, found := 0.0, false
	for j := range it.Offerings {
		o := &it.Offerings[j]
		m, ok := c.nodeLabels(claim, it, o)
		if !o.Available || !ok {
			continue
		}
		plain, _ := c.price(n.Pool, it, o, uncovered)
		if !found || plain < cheapest {
			cheapest, found = plain, true
		}
		where := n.Name + " as " + it.Name + "/" + o.Zone() + "/" + o.CapacityType()
		for _, pod := range pods {
			if !c.accepts(m, &pod.Spec) {
				c.fault(where, "does not meet what pod %s/%s asks for", pod.Namespace, pod.Name)
			}
		}
		if !c.attachesAll(it, slices.Concat(c.daemonPodsOn(m, np.Object.Spec.Template.Spec.Taints), pods)) {
			c.fault(where, "does not attach all volumes of the pods")
		}
		need := copyOf(sum)
		plus(need, c.daemonsOn(m, np.Object.Spec.Template.Spec.Taints))
		have := room(it, o)
		if short := lackNew(need, have); short != "" {
			c.fault(where, "pods and DaemonSets don't fit: %s", short)
		}
		if named.Name == n.InstanceTypes[0].Name && named.Offering() == cloudprovider.KeyOf(it, o) && (covers(n) || close(plain, named.Price)) {
			c.amounts(where, n, need, have)
		}
	}
	if !found {
		c.fault(n.Name, "no available offering of %s meets the claim", it.Name)
	} else if diff := named.Price - cheapest; !covers(n) && (diff > 2e-9 || diff < -2e-9) || diff > 2e-9 {
		c.fault(n.Name, "%s is priced %v, its cheapest offering costs %v", it.Name, named.Price, cheapest)
	}
}

// amounts checks the amounts of resources that the plan states for the node's first type.
func (c *checker) amounts(where string, n *scheduling.NewNode, need, have corev1.ResourceList) {
	for name, q := range n.Requests {
		if want := need[name]; q.Cmp(want) < 0 {
			c.fault(where, "requests of %s are %s, the pods and DaemonSets add up to %s", name, q.String(), want.String())
		}
	}
	for name, q := range need {
		if _, ok := n.Requests[name]; !ok && !q.IsZero() {
			c.fault(where, "requests lack %s", name)
		}
	}
	for name, q := range have {
		if got := n.Allocatable[name]; got.Cmp(q) != 0 {
			c.fault(where, "allocatable %s is %s, should be %s", name, got.String(), q.String())
		}
	}
}

// used returns the total capacity of a pool's nodes in the snapshot. Nodes that are being removed don't count.
func (c *checker) used(key v1.PoolKey) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := range c.s.Nodes {
		if n := &c.s.Nodes[i]; n.Pool == key && !n.Leaving {
			plus(out, c.view(n).capacity)
		}
	}
	return out
}

// most returns, for each resource, the largest capacity among the offerings that the new node may be launched with.
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

// afterwards returns the total capacity of the pool's nodes after the plan has been carried out.
func (c *checker) afterwards(key v1.PoolKey) corev1.ResourceList {
	out := c.used(key)
	for i := range c.p.NewNodes {
		if c.p.NewNodes[i].Pool == key {
			plus(out, c.most(&c.p.NewNodes[i]))
		}
	}
	return out
}

// limits checks that each pool with new nodes stays within its limits, even if the nodes are launched with their largest instance types.
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
