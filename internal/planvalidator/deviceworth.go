package planvalidator

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// For devices, a certificate counts amounts of resources that the planner invents, so this checker can't compute them. But the
// certificate's statement can be checked: the pods of its classes that fit on a node together are worth no more than the node's price. This
// file searches for the pods with the highest total value that fit on a node. It does this by allocating devices to their claims.

// valuedPods are pods on new nodes that have equal requests and equal claims.
type valuedPods struct {
	requests corev1.ResourceList
	claims   []*resourcev1.DeviceClaim
	count    int
	// value is the lowest value that the certificate gives to one of these pods.
	value float64
}

// deviceWorth checks that no node that could be launched can hold pods with a total value above its price. It does nothing if anything
// other than requests and devices decides which pods fit: rules, limits, several pools, a cost model, DaemonSets, or claims that pods
// share.
func (c *deviceChecker) deviceWorth() {
	cert := c.p.Certificate
	if cert == nil || len(cert.Rules)+len(cert.Limits)+len(c.s.DaemonSets) > 0 || len(c.pools) != 1 || c.s.CostModel != nil || c.network != nil {
		return
	}
	groups, ok := c.valued(cert)
	if !ok {
		return
	}
	for key, np := range c.pools {
		template := c.template(np, key)
		for _, it := range c.typesOf(np) {
			for i := range it.Offerings {
				o := &it.Offerings[i]
				if _, open := c.nodeLabels(template, it, o); !open || !o.Available || len(it.Devices) == 0 {
					continue
				}
				w := &worthSearch{c: c, groups: groups, devices: publishing(it, o).devices, room: room(it, o), price: o.Price, steps: maxDeviceSteps, used: corev1.ResourceList{}}
				if w.from(0, 0) {
					c.fault("certificate", "%s could hold %v of value for %v with the devices it has", cloudprovider.KeyOf(it, o), w.worth, o.Price)
				}
			}
		}
	}
}

// valued returns the pods on new nodes in groups, and the most valuable group is first. It returns false if anything other than requests
// and devices decides on which nodes the pods fit.
func (c *deviceChecker) valued(cert *scheduling.Certificate) ([]*valuedPods, bool) {
	groups := map[string]*valuedPods{}
	for i := range c.p.NewNodes {
		for _, key := range c.p.NewNodes[i].Pods {
			pod := c.pods[key]
			if pod == nil || len(pod.Spec.NodeSelector) > 0 || pod.Spec.OS != nil || len(pod.Spec.Volumes) > 0 || pod.Spec.Affinity != nil || len(pod.Spec.TopologySpreadConstraints) > 0 {
				return nil, false
			}
			g := &valuedPods{requests: requestsOf(pod)}
			for j := range pod.Spec.ResourceClaims {
				name, spec, allocation := c.claimed(pod, &pod.Spec.ResourceClaims[j])
				if name != "" || spec == nil || allocation != nil {
					return nil, false
				}
				g.claims = append(g.claims, spec)
			}
			text := amountsText(g.requests)
			for _, spec := range g.claims {
				text += " " + spec.String()
			}
			if groups[text] == nil {
				groups[text] = g
			}
			groups[text].count++
		}
	}
	var out []*valuedPods
	for _, g := range groups {
		g.value = leastValue(cert, g)
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *valuedPods) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.count, b.count), cmp.Compare(amountsText(a.requests), amountsText(b.requests)))
	})
	return out, true
}

// leastValue returns the lowest value of the classes to which the pods may belong, or 0 if there are no such classes. The pods may belong
// to a class with the same requests and at least as many pods. The class must have devices exactly if the pods claim devices.
func leastValue(cert *scheduling.Certificate, g *valuedPods) float64 {
	least := math.Inf(1)
	for i := range cert.Classes {
		class := &cert.Classes[i]
		devices := false
		for name := range class.Requests {
			devices = devices || countsDevices(name)
		}
		if amountsText(ordinary(class.Requests)) == amountsText(g.requests) && devices == (len(g.claims) > 0) && class.Count >= g.count {
			least = min(least, class.Value)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// worthSearch searches for pods that fit on a node and have a total value above its price.
type worthSearch struct {
	c       *deviceChecker
	groups  []*valuedPods
	devices []*hostDevice
	room    corev1.ResourceList
	price   float64
	steps   int
	used    corev1.ResourceList
	claims  []hostedClaim
	worth   float64
}

// from tries all numbers of pods for each group in w.groups[at:], in addition to the pods that are already on the node. have is the value
// of those pods. It reports whether the value of the node's pods can exceed its price. It stops without a result when w.steps is used up.
func (w *worthSearch) from(at int, have float64) bool {
	if have > w.price*(1+1e-6)+1e-8 {
		w.worth = have
		return true
	}
	rest := have
	for _, g := range w.groups[at:] {
		rest += float64(g.count) * g.value
	}
	if at == len(w.groups) || rest <= w.price*(1+1e-6)+1e-8 || w.steps <= 0 {
		return false
	}
	g := w.groups[at]
	before, claims := copyOf(w.used), len(w.claims)
	defer func() { w.used, w.claims = before, w.claims[:claims] }()
	for n := 0; ; n++ {
		if w.from(at+1, have+float64(n)*g.value) {
			return true
		}
		if n == g.count || !w.add(g) {
			return false
		}
	}
}

// add puts one more pod of the group on the node, and reports whether it fits.
func (w *worthSearch) add(g *valuedPods) bool {
	w.used = copyOf(w.used)
	plus(w.used, g.requests)
	for _, spec := range g.claims {
		w.claims = append(w.claims, hostedClaim{spec, w.devices})
	}
	if lackNew(w.used, w.room) != "" {
		return false
	}
	return len(g.claims) == 0 || (&deviceTrial{c: w.c, claims: w.claims, steps: &w.steps}).claim(0)
}
