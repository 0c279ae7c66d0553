package planvalidator

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// certificateRules checks that the classes name existing rules, and that no new node of the plan breaks one. Pods of classes that differ
// only in a rule are counted as pods of the class that takes least.
func (c *checker) certificateRules(cert *scheduling.Certificate) {
	for _, class := range cert.Classes {
		for name, takes := range class.Takes {
			// A pod takes no more of a resource in whole units than it requests.
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

// ruleOf returns the certificate's rule with that name, or nil if it has none.
func ruleOf(cert *scheduling.Certificate, name string) *planning.CertificateRule {
	for i := range cert.Rules {
		if cert.Rules[i].Name == name {
			return &cert.Rules[i]
		}
	}
	return nil
}

// amountOf returns the amount of a rule on a node with that room, or -1 if the certificate has no such rule.
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

// wholeUnits returns the whole units of the rule's resource in a list.
func wholeUnits(r *planning.CertificateRule, list corev1.ResourceList) int64 {
	q := list[r.Resource]
	if r.Resource == corev1.ResourceCPU {
		return q.MilliValue() / max(r.Unit.MilliValue(), 1)
	}
	return q.Value() / max(r.Unit.Value(), 1)
}
