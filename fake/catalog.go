package fake

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// catalog separates two states of an offering: the real stock, which only launches discover, and the availability that the provider shows
// (closed).
type catalog struct {
	// types are the cloud's own instance types. These objects are never returned to callers. New prices replace the slice and the changed
	// types. So code that read the slice under the lock may use this version of the slice without the lock. generation counts these
	// changes.
	types      []*cloudprovider.InstanceType
	generation int
	// published are the types as they were last returned, in the order of types. An entry is replaced, never changed.
	published []*cloudprovider.InstanceType
	// states has one entry for each offering of each type. offerings has the same entries by key. The slice and the map are never changed.
	states    [][]*offeringState
	offerings map[cloudprovider.OfferingKey]*offeringState
	// unsettled are the indexes of types whose published form may be out of date.
	unsettled map[int]struct{}
	// reservations by id.
	reservations   map[string]*reservation
	reservationKey string
}

// reservation is capacity that is already paid for. Offerings of several types may use it.
type reservation struct {
	room  int
	types []int
	// ends is when the cloud ends the reservation and takes its instances back; zero means never.
	ends time.Time
}

// ended reports whether the reservation is over.
func (r *reservation) ended(now time.Time) bool {
	return r != nil && !r.ends.IsZero() && !now.Before(r.ends)
}

// offeringState is the changing state of an offering.
type offeringState struct {
	typeIndex int
	// reservation is the reservation that the offering uses, or nil if it uses no reservation.
	reservation *reservation
	// stock is the number of further launches that succeed; if it is negative, all launches succeed.
	stock int
	// closed means that the provider shows the offering as unavailable. If until is not zero, the offering counts as available again after
	// that time.
	closed bool
	until  time.Time
	// emptyUntil is until when the fault model keeps the offering out of stock; zero if it does not.
	emptyUntil time.Time
	// firstPrice is the initial price. Random price changes keep the price between a third and three times this price.
	firstPrice float64
}

func newCatalog(types []*cloudprovider.InstanceType, reservationKey string) *catalog {
	c := &catalog{
		types:          make([]*cloudprovider.InstanceType, len(types)),
		published:      make([]*cloudprovider.InstanceType, len(types)),
		states:         make([][]*offeringState, len(types)),
		offerings:      map[cloudprovider.OfferingKey]*offeringState{},
		unsettled:      map[int]struct{}{},
		reservations:   map[string]*reservation{},
		reservationKey: reservationKey,
	}
	for i, t := range types {
		c.types[i] = t.DeepCopy()
		c.published[i] = t.DeepCopy()
		c.addOfferings(i, c.types[i])
	}
	return c
}

func (c *catalog) addOfferings(typeIndex int, t *cloudprovider.InstanceType) {
	for i := range t.Offerings {
		o := &t.Offerings[i]
		state := &offeringState{typeIndex: typeIndex, stock: -1, closed: !o.Available, firstPrice: o.Price}
		if o.Reserved() {
			state.reservation = c.draw(typeIndex, o)
		}
		c.states[typeIndex] = append(c.states[typeIndex], state)
		c.offerings[cloudprovider.KeyOf(t, o)] = state
		c.unsettled[typeIndex] = struct{}{}
	}
}

// draw returns the reservation that an offering names, and records that the type uses it. If offerings state different remaining capacities
// for a reservation, the smallest capacity applies.
func (c *catalog) draw(typeIndex int, o *cloudprovider.Offering) *reservation {
	id := o.Value(c.reservationKey)
	r, known := c.reservations[id]
	if !known {
		r = &reservation{room: o.ReservationCapacity, ends: o.ReservationEnds}
		c.reservations[id] = r
	}
	r.room = min(r.room, o.ReservationCapacity)
	r.types = append(r.types, typeIndex)
	return r
}

// available reports whether the provider shows an offering as available.
func (c *catalog) available(state *offeringState, now time.Time) bool {
	if state.closed && (state.until.IsZero() || now.Before(state.until)) {
		return false
	}
	return state.reservation == nil || state.reservation.room > 0 && !state.reservation.ended(now)
}

// close makes the provider show an offering as unavailable until the given time, or permanently if this time is zero. A permanently closed
// offering stays closed.
func (c *catalog) close(state *offeringState, until time.Time) {
	if state.closed && state.until.IsZero() {
		return
	}
	state.closed, state.until = true, until
	c.unsettled[state.typeIndex] = struct{}{}
}

func (c *catalog) open(state *offeringState) {
	state.closed, state.until = false, time.Time{}
	c.unsettled[state.typeIndex] = struct{}{}
}

// take removes one instance from the stock of the offering and returns true. It returns false if the offering has no stock now, or if its
// reservation has ended.
func (c *catalog) take(state *offeringState, now time.Time) bool {
	if state.stock == 0 || now.Before(state.emptyUntil) || state.reservation.ended(now) {
		return false
	}
	if state.stock > 0 {
		state.stock--
	}
	c.changeReservation(state.reservation, -1)
	return true
}

// changeReservation records that an instance uses a reservation (-1) or leaves it (+1). A nil reservation is ignored.
func (c *catalog) changeReservation(r *reservation, by int) {
	if r == nil {
		return
	}
	r.room += by
	for _, i := range r.types {
		c.unsettled[i] = struct{}{}
	}
}

// reprice sets the prices by key. It ignores unknown keys.
func (c *catalog) reprice(prices map[cloudprovider.OfferingKey]float64) {
	c.types = slices.Clone(c.types)
	c.generation++
	for i, t := range c.types {
		var fresh *cloudprovider.InstanceType
		for j := range t.Offerings {
			price, changes := prices[cloudprovider.KeyOf(t, &t.Offerings[j])]
			if !changes || price == t.Offerings[j].Price {
				continue
			}
			if fresh == nil {
				fresh = t.DeepCopy()
			}
			fresh.Offerings[j].Price = price
		}
		if fresh != nil {
			c.types[i] = fresh
			c.unsettled[i] = struct{}{}
		}
	}
}

// publish brings the published types up to date and returns them.
func (c *catalog) publish(now time.Time) []*cloudprovider.InstanceType {
	for i := range c.unsettled {
		if c.republish(i, now) {
			delete(c.unsettled, i)
		}
	}
	return slices.Clone(c.published)
}

// republish replaces the published form of one type if it is out of date. It returns false if the type will change again when time passes,
// because the closure of an offering or a reservation will end.
func (c *catalog) republish(i int, now time.Time) (settled bool) {
	settled = true
	shown := c.published[i]
	fresh := shown.DeepCopy()
	changed := false
	for j, state := range c.states[i] {
		o := &fresh.Offerings[j]
		o.Available = c.available(state, now)
		if state.reservation != nil {
			o.ReservationCapacity = state.reservation.room
		}
		o.Price = c.types[i].Offerings[j].Price
		if o.Price != shown.Offerings[j].Price || o.Available != shown.Offerings[j].Available || o.ReservationCapacity != shown.Offerings[j].ReservationCapacity {
			changed = true
		}
		if state.closed && !state.until.IsZero() && now.Before(state.until) {
			settled = false
		}
		if r := state.reservation; r != nil && !r.ends.IsZero() && !r.ended(now) {
			settled = false
		}
	}
	if changed {
		c.published[i] = fresh
	}
	return settled
}

// InstanceTypes returns the types of the cloud, in the order passed to New, with the current availability of their offerings. All NodePools
// see the same types. A type that has not changed is the same object in each call.
func (c *Cloud) InstanceTypes(ctx context.Context, nodePool *v1.NodePool) (types []*cloudprovider.InstanceType, err error) {
	e := &Event{Name: string(MethodInstanceTypes), On: nodePool == nil}
	if nodePool != nil {
		e.NodeClass, e.Text = &nodePool.Spec.Template.Spec.NodeClassRef, nodePool.Name
	}
	err = c.call(ctx, e, func(now time.Time) error {
		if nodePool == nil {
			return cloudprovider.NewPermanentError(fmt.Errorf("the nodepool is nil"))
		}
		if err := c.checkNodeClass(nodePool.Spec.Template.Spec.NodeClassRef); err != nil {
			return fmt.Errorf("instance types of nodepool %q: %w", nodePool.Name, err)
		}
		types = c.catalog.publish(now)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return types, nil
}

// SetStock sets the number of further instances that each matching offering can launch. A negative n means any number, which is the initial
// value. The provider does not notice the change: an offering without stock is shown as unavailable only after a launch has tried it. A
// terminated instance does not increase the stock. SetStock returns the number of offerings that match.
func (c *Cloud) SetStock(n int, match func(cloudprovider.OfferingKey) bool) int {
	return c.setStock(n, c.matching(match))
}

// SetAvailable sets whether matching offerings are shown as available. This setting holds until the next call, or until a launch finds an
// offering out of stock. SetAvailable returns the number of offerings that match.
func (c *Cloud) SetAvailable(available bool, match func(cloudprovider.OfferingKey) bool) int {
	return c.setAvailable(available, c.matching(match))
}

func (c *Cloud) setStock(n int, keys []cloudprovider.OfferingKey) int {
	return c.eachOffering(Event{Name: "SetStock", Number: n, Offerings: keys}, func(state *offeringState) {
		state.stock, state.emptyUntil = n, time.Time{}
	})
}

func (c *Cloud) setAvailable(available bool, keys []cloudprovider.OfferingKey) int {
	return c.eachOffering(Event{Name: "SetAvailable", On: available, Offerings: keys}, func(state *offeringState) {
		if available {
			c.catalog.open(state)
		} else {
			c.catalog.close(state, time.Time{})
		}
	})
}

// matching returns the keys of the offerings for which match returns true. It calls match without holding the lock.
func (c *Cloud) matching(match func(cloudprovider.OfferingKey) bool) []cloudprovider.OfferingKey {
	var keys []cloudprovider.OfferingKey
	for key := range c.catalog.offerings { // safe without the lock, because the map offerings never changes
		if match(key) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, cloudprovider.OfferingKey.Compare)
	return keys
}

// eachOffering calls change for each offering that the event names, and returns their number.
func (c *Cloud) eachOffering(e Event, change func(*offeringState)) int {
	_ = c.lever(e, func(time.Time) error {
		for _, key := range e.Offerings {
			if state := c.catalog.offerings[key]; state != nil {
				change(state)
			}
		}
		return nil
	})
	return len(e.Offerings)
}
