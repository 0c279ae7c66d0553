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
	"github.com/drawknife/drawknife/scheduling/planning"
)

// close reports whether two sums of money are equal except for rounding errors.
func close(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

// costs checks that the plan's cost is the sum of the nodes' prices, that its lower bound is not above the cost, and that the bound equals
// the total of the certificate.
func (c *checker) costs() {
	sum := 0.0
	for i := range c.p.NewNodes {
		if types := c.p.NewNodes[i].InstanceTypes; len(types) > 0 {
			sum += types[0].Price
		}
	}
	if !close(sum, c.p.HourlyCost) {
		c.fault("plan", "hourly cost is %v, the nodes cost %v", c.p.HourlyCost, sum)
	}
	if c.p.LowerBound > c.p.HourlyCost+1e-9 || c.p.LowerBound < 0 || math.IsNaN(c.p.LowerBound) {
		c.fault("plan", "lower bound %v is above the cost %v, or no bound", c.p.LowerBound, c.p.HourlyCost)
	}
	if len(c.p.NewNodes) == 0 {
		if c.p.LowerBound != 0 || c.p.Certificate != nil {
			c.fault("plan", "without new nodes there is nothing to bound")
		}
		return
	}
	if c.p.Certificate == nil {
		c.fault("plan", "the bound has no certificate")
		return
	}
	c.certificate(c.p.Certificate)
}

// attachPrefix is the first part of the resource name under which a certificate counts the attached volumes of a driver.
const attachPrefix = "attachable-volumes-csi-"

// withoutVolumes returns the list without the resources that count attached volumes.
func withoutVolumes(list corev1.ResourceList) corev1.ResourceList {
	out := copyOf(list)
	for name := range out {
		if strings.HasPrefix(string(name), attachPrefix) {
			delete(out, name)
		}
	}
	return out
}

// ordinary returns the list without the resources that count attached volumes or devices.
func ordinary(list corev1.ResourceList) corev1.ResourceList {
	out := withoutVolumes(list)
	for name := range out {
		if countsDevices(name) {
			delete(out, name)
		}
	}
	return out
}

// countsDevices reports whether a resource of a certificate counts devices, or shares of devices.
func countsDevices(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), planning.DevicesPrefix)
}

// nodeRulesAlone reports whether each rule of the pod concerns a single node. If so, the pod may use every new node.
func nodeRulesAlone(pod *corev1.Pod) bool {
	if a := pod.Spec.Affinity; a != nil {
		if a.NodeAffinity != nil || a.PodAffinity != nil {
			return false
		}
		if anti := a.PodAntiAffinity; anti != nil && (len(anti.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
			slices.ContainsFunc(anti.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool { return t.TopologyKey != corev1.LabelHostname })) {
			return false
		}
	}
	return !slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(s corev1.TopologySpreadConstraint) bool {
		return s.TopologyKey != corev1.LabelHostname || s.WhenUnsatisfiable != corev1.DoNotSchedule
	})
}

// certificate checks that the certificate's classes are the pods on new nodes, and that the classes' values, minus the values of limits,
// add up to the lower bound. If every pod may use every new node, it also checks that no node can hold pods with a higher value than the
// node's price. The certificate's rules about single nodes are checked on the nodes of the plan.
func (c *checker) certificate(cert *scheduling.Certificate) {
	left := map[string]int{}
	free := len(c.pools) == 1
	for i := range c.p.NewNodes {
		for _, key := range c.p.NewNodes[i].Pods {
			if pod := c.pods[key]; pod != nil {
				left[amountsText(requestsOf(pod))]++
				free = free && len(pod.Spec.NodeSelector) == 0 && pod.Spec.OS == nil && len(pod.Spec.Volumes) == 0 && nodeRulesAlone(pod)
			}
		}
	}
	total := 0.0
	for _, class := range cert.Classes {
		left[amountsText(ordinary(class.Requests))] -= class.Count
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
	for _, l := range cert.Limits {
		total -= l.Amount * l.Value
		if l.Value < 0 || l.Amount < 0 || math.IsNaN(l.Value) {
			c.fault("certificate", "%v of %s%s are worth %v each", l.Amount, l.Reservation, l.Commitment, l.Value)
		}
	}
	if !close(total, c.p.LowerBound) {
		c.fault("certificate", "adds up to %v, the lower bound is %v", total, c.p.LowerBound)
	}
	c.certificateRules(cert)
	for _, t := range cert.Types {
		c.certificateCounts(&t)
		for name, l := range t.RuleMultipliers {
			if l < 0 || math.IsNaN(l) || ruleOf(cert, name) == nil {
				c.fault("certificate", "multiplier of %s for %s is %v", name, t.Name, l)
			}
		}
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

// certificateTypes repeats the certificate's proof. For each node that a pool may launch, it computes an upper bound on the value of the
// pods that fit on the node. This value must not exceed the price of the node, plus the value of the reservation or commitment that the
// node uses. If offerings of a type differ in their allocatable resources, the certificate has no entry for some offerings. In this case,
// the proof is repeated only for offerings whose price is in an entry of the type.
func (c *checker) certificateTypes(cert *scheduling.Certificate) {
	type node struct {
		offering *cloudprovider.Offering
		room     corev1.ResourceList
	}
	left := map[int]float64{}
	if c.s.CostModel != nil {
		_, left = c.bill()
	}
	for key, np := range c.pools {
		template := c.template(np, key)
		for _, it := range c.typesOf(np) {
			var nodes []node
			alike := true
			for j := range it.Offerings {
				o := &it.Offerings[j]
				m, ok := c.nodeLabels(template, it, o)
				if !o.Available || !ok {
					continue
				}
				have := room(it, o)
				minus(have, c.daemonsOn(m, np.Object.Spec.Template.Spec.Taints))
				nodes = append(nodes, node{o, have})
				alike = alike && amountsText(have) == amountsText(nodes[0].room)
			}
			for _, m := range nodes {
				plain, _ := c.price(key, it, m.offering, uncovered)
				if !alike && !slices.ContainsFunc(cert.Types, func(t planning.CertificateType) bool { return t.Name == it.Name && close(t.Price, plain) }) {
					continue
				}
				c.certificateType(cert, it, m.room, plain, c.reservedLimit(cert, np, m.offering))
				for term, amount := range left {
					t := &c.s.CostModel.Terms[term]
					if price, uses := c.price(key, it, m.offering, term); uses > 0 && price < plain && c.applies(t, key, it, m.offering) {
						c.certificateType(cert, it, m.room, price, limitOf(cert, planning.CertificateLimit{Commitment: t.Name, Amount: amount}, uses))
					}
				}
			}
		}
	}
	for _, l := range cert.Limits {
		for term, amount := range left {
			if c.s.CostModel.Terms[term].Name == l.Commitment && !close(l.Amount, amount) {
				c.fault("certificate", "of %s %v is left, not %v", l.Commitment, amount, l.Amount)
			}
		}
	}
}

// allowance says by how much the value of a node's pods may exceed the node's price, because the node uses a reservation or commitment,
// which is limited. draws are the certificate's entries for the reservation or commitment.
type allowance struct {
	limited bool
	beyond  float64
	draws   []planning.CertificateDraw
}

// limitOf returns the allowance of a node that uses a reservation or commitment. The parameter want is the certificate's limit for this
// reservation or commitment, and the parameter uses is the amount that the node uses of it.
func limitOf(cert *scheduling.Certificate, want planning.CertificateLimit, uses float64) allowance {
	out := allowance{limited: true}
	for _, l := range cert.Limits {
		if l.Reservation == want.Reservation && l.Commitment == want.Commitment {
			out.beyond, out.draws = l.Value*uses, l.Types
		}
	}
	return out
}

// reservedLimit returns the allowance of a node with this offering. It is zero if the offering is not reserved.
func (c *checker) reservedLimit(cert *scheduling.Certificate, np *scheduling.NodePool, o *cloudprovider.Offering) allowance {
	id := reservation(o)
	if id == "" {
		return allowance{}
	}
	left := -1
	for _, x := range c.typesOf(np) {
		for i := range x.Offerings {
			if r := &x.Offerings[i]; r.Available && reservation(r) == id && (left < 0 || r.ReservationCapacity < left) {
				left = r.ReservationCapacity
			}
		}
	}
	for _, l := range cert.Limits {
		if "by "+l.Reservation == id {
			if l.Amount != float64(left) {
				c.fault("certificate", "of %s %v are left, not %v", l.Reservation, left, l.Amount)
			}
			return limitOf(cert, l, 1)
		}
	}
	return allowance{limited: true}
}

// certificateType checks that the total value of the pods that fit on a node of the type is at most the node's price plus its allowance.
func (c *checker) certificateType(cert *scheduling.Certificate, it *cloudprovider.InstanceType, have corev1.ResourceList, price float64, allowed allowance) {
	at := slices.IndexFunc(cert.Types, func(t planning.CertificateType) bool { return t.Name == it.Name })
	var multipliers []prices
	for i := range cert.Types {
		// If the certificate has several entries for the type, it suffices that the multipliers of one entry prove the upper bound. For a
		// node that uses a limited reservation or commitment, the multipliers of any type suffice, because certificates leave out nodes
		// that other nodes can replace.
		if cert.Types[i].Name == it.Name || allowed.limited {
			multipliers = append(multipliers, pricesOf(&cert.Types[i]))
		}
	}
	if allowed.limited {
		multipliers = append(multipliers, prices{}) // pods without value
	}
	for i := range allowed.draws {
		multipliers = append(multipliers, pricesOf(&allowed.draws[i].CertificateType))
	}
	if !c.holdsAny(cert, it, have) {
		return
	}
	if at < 0 && !allowed.limited {
		c.fault("certificate", "lacks instance type %s", it.Name)
		return
	}
	worth := math.Inf(1)
	for _, l := range multipliers {
		worth = min(worth, c.mostWorth(cert, it, have, l))
	}
	if most := price + allowed.beyond; worth > most*(1+1e-6)+1e-8 {
		c.fault("certificate", "%s could hold %v of value for %v", it.Name, worth, most)
	}
}

// withVolumes returns the resource list have with an additional entry for each driver whose volumes the classes count. The entry is the
// number of volumes of the driver that a node of the type can attach.
func withVolumes(cert *scheduling.Certificate, it *cloudprovider.InstanceType, have corev1.ResourceList) corev1.ResourceList {
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
	return have
}

// howMany returns how many pods of the class fit on a node with the given resources, according to the requests of the class and the rules
// about single nodes. It returns at most class.Count.
func howMany(cert *scheduling.Certificate, class *planning.CertificateClass, have corev1.ResourceList) int {
	most := int64(class.Count)
	for name, takes := range class.Takes {
		if takes > 0 {
			most = min(most, amountOf(cert, name, have)/takes)
		}
	}
	n := 0
	need := corev1.ResourceList{}
	for plus(need, class.Requests); int64(n) < most && lackNew(need, have) == ""; n++ {
		plus(need, class.Requests)
	}
	return n
}

// prices has the multipliers of a certificate: a price for each resource and for the amount of each rule.
type prices struct {
	resources map[corev1.ResourceName]float64
	rules     map[string]float64
	// whole are the resources in which whole pods are counted.
	whole []planning.CertificateCount
}

func pricesOf(t *planning.CertificateType) prices {
	return prices{t.Multipliers, t.RuleMultipliers, t.Whole}
}

func (c *checker) holdsAny(cert *scheduling.Certificate, it *cloudprovider.InstanceType, have corev1.ResourceList) bool {
	have = withVolumes(cert, it, have)
	return slices.ContainsFunc(cert.Classes, func(class planning.CertificateClass) bool {
		class.Count = 1
		return howMany(cert, &class, have) > 0
	})
}

// mostWorth returns an upper bound on the value of the pods that fit on a node, computed with the multipliers.
func (c *checker) mostWorth(cert *scheduling.Certificate, it *cloudprovider.InstanceType, have corev1.ResourceList, multipliers prices) float64 {
	have = withVolumes(cert, it, have)
	worth := 0.0
	for name, l := range multipliers.resources {
		q := have[name]
		worth += l * q.AsApproximateFloat64()
	}
	for name, l := range multipliers.rules {
		worth += l * float64(amountOf(cert, name, have))
	}
	var filling []wholePods
	for _, class := range cert.Classes {
		excess := class.Value
		for name, l := range multipliers.resources {
			q := class.Requests[name]
			excess -= l * q.AsApproximateFloat64()
		}
		for name, l := range multipliers.rules {
			excess -= l * float64(class.Takes[name])
		}
		if excess <= 0 {
			continue
		}
		n := howMany(cert, &class, have)
		if len(multipliers.whole) == 0 {
			worth += float64(n) * excess
		} else {
			filling = append(filling, wholePods{n, excess, unitsOf(multipliers.whole, class.Requests)})
		}
	}
	return worth + mostFilling(filling, unitsOf(multipliers.whole, have))
}

// amountsText formats a list of resources in whole units (cpu in thousandths), without zeros. Equal lists have equal texts.
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
