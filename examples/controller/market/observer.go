package market

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

// Launched implements reconcilers.MarketObserver.
func (c *Costs) Launched(key cloudprovider.OfferingKey, now time.Time) {
	c.launch(key, now, false)
}

// Refused implements reconcilers.MarketObserver.
func (c *Costs) Refused(keys []cloudprovider.OfferingKey, now time.Time) {
	for _, key := range keys {
		c.launch(key, now, true)
	}
}

// Interrupted implements reconcilers.MarketObserver.
func (c *Costs) Interrupted(key cloudprovider.OfferingKey, now time.Time) {
	if k, ok := marketOf(key); ok && c.options.SpotRisk != nil {
		c.options.SpotRisk.ObserveInterruption(k, now)
		c.options.Metrics.event("interrupted")
	}
}

func (c *Costs) launch(key cloudprovider.OfferingKey, now time.Time, refused bool) {
	k, ok := marketOf(key)
	if !ok || c.options.SpotRisk == nil {
		return
	}
	c.options.SpotRisk.ObserveLaunch(k, now, refused)
	if refused {
		c.options.Metrics.event("refused")
	} else {
		c.options.Metrics.event("launched")
	}
}

func marketOf(key cloudprovider.OfferingKey) (spotrisk.Key, bool) {
	return spotrisk.Key{InstanceType: key.InstanceType, Zone: key.Zone}, key.CapacityType == v1.CapacityTypeSpot && key.InstanceType != "" && key.Zone != ""
}

// spotOf returns the instance type and zone of a spot node. It returns false if the node has not joined, is being removed, or is not a spot
// node.
func spotOf(n *scheduling.Node) (spotrisk.Key, bool) {
	if n.Object == nil || n.Leaving {
		return spotrisk.Key{}, false
	}
	labels := n.Object.Labels
	return marketOf(cloudprovider.OfferingKey{
		InstanceType: labels[corev1.LabelInstanceTypeStable], Zone: labels[corev1.LabelTopologyZone], CapacityType: labels[v1.CapacityTypeLabelKey],
	})
}
