package planvalidator

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// close reports whether two sums of money are the same up to rounding.
func close(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

// costs: the cost is the sum of the prices, the bound is not above it and is what the certificate adds up to.
func (c *checker) costs() {
	sum := 0.0
	for i := range c.p.NewNodes {
		if types := c.p.NewNodes[i].InstanceTypes; len(types) > 0 {
			sum += types[0].Price
		}
	}
	if !close(sum, c.p.HourlyCost) {
		c.fault("plan", "hourly cost is %v, the machines cost %v", c.p.HourlyCost, sum)
	}
	if c.p.LowerBound > c.p.HourlyCost+1e-9 || c.p.LowerBound < 0 || math.IsNaN(c.p.LowerBound) {
		c.fault("plan", "lower bound %v is above the cost %v, or no bound", c.p.LowerBound, c.p.HourlyCost)
	}
	if len(c.p.NewNodes) == 0 {
		if c.p.LowerBound != 0 || c.p.Certificate != nil {
			c.fault("plan", "without new machines there is nothing to bound")
		}
		return
	}
	if c.p.Certificate == nil {
		c.fault("plan", "the bound has no certificate")
		return
	}
	c.certificate(c.p.Certificate)
}

// attachPrefix begins the names under which certificates count attached volumes, by driver.
const attachPrefix = "attachable-volumes-csi-"

// withoutVolumes is the list without attached volumes.
func withoutVolumes(list corev1.ResourceList) corev1.ResourceList {
	out := copyOf(list)
	for name := range out {
		if strings.HasPrefix(string(name), attachPrefix) {
			delete(out, name)
		}
	}
	return out
}

// certificate checks that its classes are the pods on new machines, that their values add up to the bound and, where
// every pod may use every machine, that no type can hold more value than it costs.
func (c *checker) certificate(cert *scheduling.Certificate) {
	left := map[string]int{}
	free := len(c.pools) == 1
	for i := range c.p.NewNodes {
		for _, key := range c.p.NewNodes[i].Pods {
			if pod := c.pods[key]; pod != nil {
				left[amountsText(requestsOf(pod))]++
				free = free && len(pod.Spec.NodeSelector) == 0 && pod.Spec.Affinity == nil && len(pod.Spec.TopologySpreadConstraints) == 0 &&
					len(pod.Spec.Volumes) == 0 && len(portsOf(pod)) == 0
			}
		}
	}
	total := 0.0
	for _, class := range cert.Classes {
		left[amountsText(withoutVolumes(class.Requests))] -= class.Count
		total += float64(class.Count) * class.Value
		if class.Value < 0 || class.Count <= 0 {
			c.fault("certificate", "a class counts %d pods of value %v", class.Count, class.Value)
		}
	}
	for text, n := range left {
		if n != 0 {
			c.fault("certificate", "%d pods of %s are missing or too many in its classes", n, text)
		}
	}
	// A bound counts off what reserved instances hold for next to nothing, which a certificate has no words for.
	reserved := c.anyReserved()
	free = free && !reserved
	if !close(total, c.p.LowerBound) && (!reserved || total < c.p.LowerBound) {
		c.fault("certificate", "adds up to %v, the lower bound is %v", total, c.p.LowerBound)
	}
	for _, t := range cert.Types {
		for name, l := range t.Multipliers {
			if l < 0 || math.IsNaN(l) {
				c.fault("certificate", "multiplier of %s for %s is %v", name, t.Name, l)
			}
		}
	}
	if free {
		c.certificateTypes(cert)
	}
}

func (c *checker) anyReserved() bool {
	for key := range c.s.Catalogs {
		for _, it := range c.s.Catalogs[key] {
			if slices.ContainsFunc(it.Offerings, func(o cloudprovider.Offering) bool { return o.Available && reservation(&o) != "" }) {
				return true
			}
		}
	}
	return false
}

// certificateTypes repeats the proof: for each machine the pool may launch, the resources at their multipliers plus
// what the pods that fit are worth beyond are within the price. A certificate has one entry per instance type; where
// offerings of a type differ in what they leave for pods, it can only be repeated for the price it names.
func (c *checker) certificateTypes(cert *scheduling.Certificate) {
	type machine struct {
		offering *cloudprovider.Offering
		room     corev1.ResourceList
	}
	for key, np := range c.pools {
		template := c.template(np, key)
		for _, it := range c.typesOf(np) {
			var machines []machine
			alike := true
			for j := range it.Offerings {
				o := &it.Offerings[j]
				m, ok := c.machineLabels(template, it, o)
				if !o.Available || !ok {
					continue
				}
				have := room(it, o)
				minus(have, c.daemonsOn(m, np.Object.Spec.Template.Spec.Taints))
				machines = append(machines, machine{o, have})
				alike = alike && amountsText(have) == amountsText(machines[0].room)
			}
			for _, m := range machines {
				if alike || slices.ContainsFunc(cert.Types, func(t scheduling.CertificateType) bool { return t.Name == it.Name && t.Price == m.offering.Price }) {
					c.certificateType(cert, it, m.offering, m.room)
				}
			}
		}
	}
}

func (c *checker) certificateType(cert *scheduling.Certificate, it *cloudprovider.InstanceType, o *cloudprovider.Offering, have corev1.ResourceList) {
	at := slices.IndexFunc(cert.Types, func(t scheduling.CertificateType) bool { return t.Name == it.Name })
	var multipliers map[corev1.ResourceName]float64
	if at >= 0 {
		multipliers = cert.Types[at].Multipliers
	}
	worth := 0.0
	for name, l := range multipliers {
		q := have[name]
		worth += l * q.AsApproximateFloat64()
	}
	holds := false
	have = copyOf(have)
	for _, class := range cert.Classes {
		for name := range class.Requests {
			if driver, ok := strings.CutPrefix(string(name), attachPrefix); ok {
				limit, limited := it.VolumeLimits[driver]
				if !limited {
					limit = math.MaxInt32
				}
				have[name] = *resource.NewQuantity(int64(limit), resource.DecimalSI)
			}
		}
	}
	for name, l := range multipliers {
		if strings.HasPrefix(string(name), attachPrefix) {
			q := have[name]
			worth += l * q.AsApproximateFloat64()
		}
	}
	for _, class := range cert.Classes {
		n := 0
		need := corev1.ResourceList{}
		for plus(need, class.Requests); n < class.Count && lack(need, have) == ""; n++ {
			plus(need, class.Requests)
		}
		excess := class.Value
		for name, l := range multipliers {
			q := class.Requests[name]
			excess -= l * q.AsApproximateFloat64()
		}
		worth += float64(n) * max(excess, 0)
		holds = holds || n > 0
	}
	switch {
	case !holds:
	case at < 0:
		c.fault("certificate", "lacks instance type %s", it.Name)
	case worth > o.Price*(1+1e-6)+1e-9:
		c.fault("certificate", "%s could hold %v of value for %v", it.Name, worth, o.Price)
	}
}

// amountsText spells out a list in whole units, cpu in thousandths, zeros left out, so that equal lists have equal text.
func amountsText(list corev1.ResourceList) string {
	var parts []string
	for name, q := range list {
		units := q.Value()
		if name == corev1.ResourceCPU {
			units = q.MilliValue()
		}
		if units != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", name, units))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
