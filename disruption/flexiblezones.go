package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/scheduling"
)

// sureOffers is offers, and where no type is sure to cost less than the share since it costs more in some zone, offers of a node that is kept
// to one zone: the first, in the order of the planned types, in which a type is. Prices of spot instances differ by zone, and a
// command that would only be worth it in one of them is worth it there.
func (p *pass) sureOffers(fromSpot bool, node *scheduling.NewNode, share int64, limit int) (list []*knownOffer, spotToSpot bool, why *Block) {
	planned := *node
	if list, spotToSpot, why = p.offers(fromSpot, node, share, limit); !p.keepsZone || why != nil || len(list) > 0 {
		return list, spotToSpot, why
	}
	var tried []string
	for i := range planned.InstanceTypes[:min(limit, len(planned.InstanceTypes))] {
		o := &planned.InstanceTypes[i]
		if nanoUSD(o.Price) >= share {
			break
		}
		if slices.Contains(tried, o.Zone) {
			continue
		}
		tried = append(tried, o.Zone)
		kept := planned
		kept.Requirements = planned.Requirements.With(requirements.In(corev1.LabelTopologyZone, o.Zone))
		if list, sameKind, why := p.offers(fromSpot, &kept, share, limit); why == nil && len(list) > 0 {
			*node = kept
			return list, sameKind, nil
		}
	}
	return list, spotToSpot, nil
}
