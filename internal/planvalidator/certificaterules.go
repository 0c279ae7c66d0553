package planvalidator

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// certificateRules checks that the certificate's classes name only rules of the certificate, and that no new node of the plan breaks a
// rule. If classes differ only in how much of a rule's amount each pod uses, their pods are counted as pods of the class that uses least.
func (c *checker) certificateRules(cert *scheduling.Certificate) {
	for _, class := range cert.Classes {
		for name, takes := range class.Takes {
			// A pod must not take more units of a rule's resource than the pod requests.
			if r := ruleOf(cert, name); takes <= 0 || r == nil || r.Resource == "" && r.Amount < takes || r.Resource != "" && wholeUnits(r, class.Requests) < takes {
				c.fault("certificate", "a class takes %d of %s", takes, name)
			}
		}
	}
	for _, r := range cert.Rules {
		if r.Resource != "" {
			if r.Unit.Sign() <= 0 || r.Amount != 0 {
				c.fault("certificate", "%s counts %s in units of %s", r.Name, r.Resource, r.Unit.String())
			}
			continue
		}
		least := map[string]int64{}
		for _, class := range cert.Classes {
			text := amountsText(ordinary(class.Requests))
			if known, ok := least[text]; !ok || class.Takes[r.Name] < known {
				least[text] = class.Takes[r.Name]
			}
		}
		for i := range c.p.NewNodes {
			used := int64(0)
			for _, key := range c.p.NewNodes[i].Pods {
				if pod := c.pods[key]; pod != nil {
					used += least[amountsText(requestsOf(pod))]
				}
			}
			if used > r.Amount {
				c.fault("certificate", "%s (%s) allows %d on a node, and node %s has %d", r.Name, r.Rule, r.Amount, c.p.NewNodes[i].Name, used)
			}
		}
	}
}

// ruleOf returns the certificate's rule with that name, or nil if the certificate has no such rule.
func ruleOf(cert *scheduling.Certificate, name string) *planning.CertificateRule {
	for i := range cert.Rules {
		if cert.Rules[i].Name == name {
			return &cert.Rules[i]
		}
	}
	return nil
}

// amountOf returns the amount of a rule on a node with the given resources. It returns -1 if the certificate has no rule with that name.
func amountOf(cert *scheduling.Certificate, name string, have corev1.ResourceList) int64 {
	switch r := ruleOf(cert, name); {
	case r == nil:
		return -1
	case r.Resource != "":
		return wholeUnits(r, have)
	default:
		return r.Amount
	}
}

// wholeUnits returns the amount of the rule's resource in the given resource list, in whole units.
func wholeUnits(r *planning.CertificateRule, list corev1.ResourceList) int64 {
	q := list[r.Resource]
	if r.Resource == corev1.ResourceCPU {
		return q.MilliValue() / max(r.Unit.MilliValue(), 1)
	}
	return q.Value() / max(r.Unit.Value(), 1)
}

// wholePods has, for the pods of one class on a node, the largest number of pods, the value of one pod, and how many units of each counted
// resource one pod needs.
type wholePods struct {
	count int
	value float64
	need  [2]int64
}

// certificateCounts checks that the certificate counts whole pods in at most two different resources of the type, with positive units.
func (c *checker) certificateCounts(t *planning.CertificateType) {
	if len(t.Whole) > 2 || len(t.Whole) == 2 && t.Whole[0].Resource == t.Whole[1].Resource {
		c.fault("certificate", "%s counts whole pods in %v", t.Name, t.Whole)
	}
	for _, w := range t.Whole {
		if w.Unit.Sign() <= 0 {
			c.fault("certificate", "%s counts %s in units of %s", t.Name, w.Resource, w.Unit.String())
		}
	}
}

// unitsOf returns how many whole units of each counted resource are in the given resource list.
func unitsOf(counted []planning.CertificateCount, list corev1.ResourceList) [2]int64 {
	var out [2]int64
	for i, c := range counted[:min(len(counted), len(out))] {
		out[i] = wholeUnits(&planning.CertificateRule{Resource: c.Resource, Unit: c.Unit}, list)
	}
	return out
}

// mostStates is the largest number of entries of the table in mostFilling. Certificates count in large units, so their tables are smaller
// than this limit.
const mostStates = 1 << 20

// mostFilling returns the highest total value of whole pods that fit together into the amounts in room, or infinity if the table would be
// too large. It adds one entry of the list pods after another. worth[a][b] is the highest value of a set of the added pods that needs at
// most a units of the first resource and b units of the second.
func mostFilling(pods []wholePods, room [2]int64) float64 {
	if room[0] < 0 || room[1] < 0 || room[0] >= mostStates || (room[0]+1)*(room[1]+1) > mostStates {
		return math.Inf(1)
	}
	worth := make([][]float64, room[0]+1)
	for a := range worth {
		worth[a] = make([]float64, room[1]+1)
	}
	for _, p := range pods {
		// Add 1, 2, 4, … pods at once, and finally the remaining pods: every number up to count is a sum of some of these numbers.
		for left, at := p.count, 1; left > 0; at *= 2 {
			n := min(at, left)
			left -= n
			need, value := [2]int64{p.need[0] * int64(n), p.need[1] * int64(n)}, p.value*float64(n)
			for a := room[0]; a >= need[0]; a-- {
				for b := room[1]; b >= need[1]; b-- {
					worth[a][b] = max(worth[a][b], worth[a-need[0]][b-need[1]]+value)
				}
			}
		}
	}
	return worth[room[0]][room[1]]
}
