package conformance

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// spread returns at most Options.Spread offerings with room that suit a small claim. The first offering is the one that the contract
// prefers. Each further offering adds the most new facets to the offerings chosen before. If Options.Spread is large enough, every zone
// occurs with every capacity type, and every architecture, operating system and region occurs. So the clauses also find providers that work
// only for the cheapest offering, because they use only one region or read only one kind of instance.
func (l *lab) spread() []cloudprovider.Candidate {
	var left, chosen []cloudprovider.Candidate
	for _, c := range l.order(l.claim()) {
		if c.Offering.HasRoom() {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		l.Skip("no offering has room for a small claim")
	}
	shown := map[string]bool{}
	for len(chosen) < l.options.Spread {
		best, most := -1, 0
		for i, c := range left {
			if n := news(c, shown); n > most {
				best, most = i, n
			}
		}
		if best < 0 {
			break
		}
		for _, facet := range facets(left[best]) {
			shown[facet] = true
		}
		chosen = append(chosen, left[best])
	}
	return chosen
}

// news counts the facets of an offering that are not in shown.
func news(c cloudprovider.Candidate, shown map[string]bool) int {
	n := 0
	for _, facet := range facets(c) {
		if !shown[facet] {
			n++
		}
	}
	return n
}

// facets returns the properties by which providers distinguish instances: zone, region, capacity type, architecture and operating system.
func facets(c cloudprovider.Candidate) []string {
	zone := stated(c, corev1.LabelTopologyZone)
	return []string{
		"zone " + zone,
		"zone and capacity type " + zone + "/" + c.Offering.CapacityType(),
		"region " + stated(c, corev1.LabelTopologyRegion),
		"arch " + stated(c, corev1.LabelArchStable),
		"os " + stated(c, corev1.LabelOSStable),
	}
}

// stated returns the first value that the offering has for a label, or else the type's first value, or "" if neither has a value.
func stated(c cloudprovider.Candidate, key string) string {
	for _, set := range []requirements.Set{c.Offering.Requirements, c.Type.Requirements} {
		if values := set.Get(key).Values(); set.Has(key) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// spreadInstance is an instance that launchSpread has launched, and the offering that was requested.
type spreadInstance struct {
	claim, instance *v1.NodeClaim
	of              cloudprovider.OfferingKey
}

func (m spreadInstance) String() string {
	return fmt.Sprintf("%q (%s)", m.instance.Status.ProviderID, m.of)
}

// launchSpread launches one instance of each offering that spread returns. Offerings that have no room by then are left out.
func (l *lab) launchSpread() []spreadInstance {
	var launched []spreadInstance
	for _, c := range l.spread() {
		claim := l.ofOffering(c)
		instance, err := l.tryCreate(claim)
		switch {
		case cloudprovider.IsInsufficientCapacity(err):
			l.Logf("no room for an instance of %s: it is not looked at", c.Key())
		case err != nil:
			l.Fatalf("launching claim %q of %s: %v", claim.Name, c.Key(), err)
		default:
			launched = append(launched, spreadInstance{claim, instance, c.Key()})
		}
	}
	return launched
}
