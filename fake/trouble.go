package fake

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// quota is a limit on the number of instances of some offerings.
type quota struct {
	name string
	most int
	of   map[cloudprovider.OfferingKey]bool
}

// SetQuota limits the total number of live instances of all clusters in the matching offerings. A negative number removes the quota with
// that name. If a quota prevents a launch, the offering is shown as unavailable for Options.StockOutMemory. SetQuota returns the number of
// offerings that match.
func (c *Cloud) SetQuota(name string, most int, match func(cloudprovider.OfferingKey) bool) int {
	return c.setQuota(name, most, c.matching(match))
}

func (c *Cloud) setQuota(name string, most int, keys []cloudprovider.OfferingKey) int {
	_ = c.lever(Event{Name: "SetQuota", Text: name, Number: most, Offerings: keys}, func(time.Time) error {
		c.quotas = slices.DeleteFunc(c.quotas, func(q *quota) bool { return q.name == name })
		if most < 0 {
			return nil
		}
		of := make(map[cloudprovider.OfferingKey]bool, len(keys))
		for _, key := range keys {
			of[key] = true
		}
		c.quotas = append(c.quotas, &quota{name: name, most: most, of: of})
		return nil
	})
	return len(keys)
}

// usedUp returns a quota that does not allow another instance of the offering, or nil if all quotas allow it.
func (a *account) usedUp(key cloudprovider.OfferingKey) *quota {
	for _, q := range a.quotas {
		if !q.of[key] {
			continue
		}
		used := 0
		for _, m := range a.byOwner {
			if q.of[m.Offering] {
				used++
			}
		}
		for _, key := range a.taken {
			if q.of[key] {
				used++
			}
		}
		if used >= q.most {
			return q
		}
	}
	return nil
}

// SetPrices sets new prices of offerings, in USD per hour: it calls price with each offering and its current price, and uses the result.
// Existing instances keep their price. If a new price is not valid, no price is changed. A price must be finite and positive; prices of
// reservations may be zero. The error then contains a *cloudprovider.CatalogError for each such price.
func (c *Cloud) SetPrices(price func(key cloudprovider.OfferingKey, now float64) float64) error {
	c.mu.Lock()
	types := c.catalog.types
	c.mu.Unlock()
	changed := map[cloudprovider.OfferingKey]float64{}
	for _, t := range types {
		for i := range t.Offerings {
			key := cloudprovider.KeyOf(t, &t.Offerings[i])
			if asked := price(key, t.Offerings[i].Price); asked != t.Offerings[i].Price {
				changed[key] = asked
			}
		}
	}
	return c.setPrices(changed)
}

func (c *Cloud) setPrices(prices map[cloudprovider.OfferingKey]float64) error {
	var faults []error
	e := Event{Name: "SetPrices"}
	for key := range prices {
		e.Offerings = append(e.Offerings, key)
	}
	slices.SortFunc(e.Offerings, cloudprovider.OfferingKey.Compare)
	for _, key := range e.Offerings {
		p := prices[key]
		e.Prices = append(e.Prices, p)
		if !(p >= 0) || p > maxPrice || p == 0 && cloudprovider.CapacityTypeRank(key.CapacityType) > 0 {
			faults = append(faults, &cloudprovider.CatalogError{
				Clause: "CP-CATALOG-07", InstanceType: key.InstanceType, Offering: key,
				Fault: fmt.Sprintf("the price is to be %v; it must be finite and positive, or zero for a reservation already paid for", p),
			})
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("setting prices: %w", errors.Join(faults...))
	}
	return c.lever(e, func(time.Time) error {
		c.catalog.reprice(prices)
		return nil
	})
}

// maxPrice is the largest price that SetPrices accepts; it excludes infinity.
const maxPrice = 1e9

// ExpireCredentials makes all calls fail as unauthorized until RenewCredentials is called.
func (c *Cloud) ExpireCredentials() { c.setCredentials(false) }

// RenewCredentials undoes ExpireCredentials.
func (c *Cloud) RenewCredentials() { c.setCredentials(true) }

func (c *Cloud) setCredentials(valid bool) {
	_ = c.lever(Event{Name: "SetCredentials", On: valid}, func(time.Time) error {
		c.expired = !valid
		return nil
	})
}

// BrownOut makes all calls fail with transient errors for the given time.
func (c *Cloud) BrownOut(duration time.Duration) {
	_ = c.lever(Event{Name: "BrownOut", Duration: duration}, func(now time.Time) error {
		c.brownOutUntil = now.Add(duration)
		return nil
	})
}

// FailInstance terminates an instance without a warning, like broken hardware. If no instance has this provider ID, the error has kind
// NodeClaimNotFound.
func (c *Cloud) FailInstance(providerID string) error {
	return c.lever(Event{Name: "FailInstance", ProviderID: providerID}, func(now time.Time) error {
		m, ok := c.instances[providerID]
		if !ok {
			return fmt.Errorf("failing an instance: %w", cloudprovider.NewNodeClaimNotFoundError(providerID, nil))
		}
		c.shutDown(m, now)
		return nil
	})
}

// down returns the fault that every call gets in the present state of the cloud, or nil if the cloud answers.
func (a *account) down(method Method, now time.Time) *Fault {
	switch {
	case a.expired:
		return &Fault{Method: method, Err: cloudprovider.NewUnauthorizedError("fake:"+string(method), errors.New("the credentials have expired"))}
	case now.Before(a.brownOutUntil):
		return &Fault{Method: method, Err: cloudprovider.NewTransientError(errors.New("the cloud does not answer"))}
	}
	return nil
}
