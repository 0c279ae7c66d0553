package reconcilers

import (
	"slices"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
)

// MarketObserver is notified of the results of launches and of interruptions, in addition to the stock estimate. Package market of this
// module computes the spot risk from these results. It must be safe for concurrent use and return quickly.
type MarketObserver interface {
	// Launched is called for each launch that found capacity, with the offering.
	Launched(cloudprovider.OfferingKey, time.Time)
	// Refused is called for each launch that found no capacity, with the offerings that the error names.
	Refused([]cloudprovider.OfferingKey, time.Time)
	// Interrupted is called once for each spot node that the cloud reclaims.
	Interrupted(cloudprovider.OfferingKey, time.Time)
}

// noObserver is used if Options.Market is nil.
type noObserver struct{}

func (noObserver) Launched(cloudprovider.OfferingKey, time.Time)    {}
func (noObserver) Refused([]cloudprovider.OfferingKey, time.Time)   {}
func (noObserver) Interrupted(cloudprovider.OfferingKey, time.Time) {}

// launched records a launch that found capacity in the offering.
func (a *actor) launched(key cloudprovider.OfferingKey, now time.Time) {
	a.stock.Launched(key, now)
	if a.ordinary(key) {
		a.market.Launched(key, now)
	}
}

// ordinary reports whether an offering has no special hardware, according to the provider's HardwareLabels.
func (a *actor) ordinary(key cloudprovider.OfferingKey) bool {
	return key.Hardware(a.provider.Describe().HardwareLabels) == ""
}

// refused records a failed launch, and reports whether a new plan must be made at once.
func (a *actor) refused(err error, now time.Time) (planNow bool) {
	keys := slices.DeleteFunc(cloudprovider.ExhaustedOfferings(err), func(key cloudprovider.OfferingKey) bool { return !a.ordinary(key) })
	if len(keys) > 0 {
		a.market.Refused(keys, now)
	}
	return provisioning.Feedback(err, a.stock, now)
}

// The method probes records which offerings launches are trying now. Until the next probe is due, other launches do not try those that are
// probably out of stock.
func (p *planner) probes(launched []provisioning.Launched, now time.Time) {
	var keys []cloudprovider.OfferingKey
	for i := range launched {
		if key := launched[i].Launch.Offering; launched[i].Err == nil && key.InstanceType != "" {
			keys = append(keys, key)
		}
	}
	if p.stock != nil {
		p.stock.Begin(keys, now)
	}
}
