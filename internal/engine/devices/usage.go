package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
)

// Usage records which devices of an Inventory are allocated. It is not safe for concurrent use.
type Usage struct {
	inventory *Inventory
	// uses has the number of allocations of each device. It is at most 1 for devices that are not shared.
	uses []int32
	// consumed has, for each shared device, the amount that is taken of each capacity. An element is nil if the device has never been
	// allocated.
	consumed [][]int64
	// left is the remaining amount of each counter. It is negative if the ResourceSlices now publish less of the counter than is already
	// allocated.
	left []int64
}

// NewUsage returns the usage of an inventory in which no device is allocated.
func NewUsage(inv *Inventory) *Usage {
	u := &Usage{inventory: inv, uses: make([]int32, len(inv.devices)), left: make([]int64, len(inv.counters))}
	copy(u.left, inv.counters)
	for i := range inv.devices {
		if inv.devices[i].shared {
			u.consumed = make([][]int64, len(inv.devices))
			break
		}
	}
	return u
}

// Clone returns an independent copy of the usage.
func (u *Usage) Clone() *Usage {
	c := &Usage{inventory: u.inventory, uses: append([]int32(nil), u.uses...), left: append([]int64(nil), u.left...)}
	if u.consumed != nil {
		c.consumed = make([][]int64, len(u.consumed))
		for i, v := range u.consumed {
			c.consumed[i] = append([]int64(nil), v...)
		}
	}
	return c
}

// Inventory returns the inventory of the usage.
func (u *Usage) Inventory() *Inventory { return u.inventory }

// Hold allocates the device that a claim's status names, even if it is not free. It reports whether the inventory contains the device. An
// allocation with admin access does not use the device up.
func (u *Usage) Hold(r *resourcev1.DeviceRequestAllocationResult) bool {
	return u.hold(r, true)
}

// LetGo undoes a call of Hold for the same device.
func (u *Usage) LetGo(r *resourcev1.DeviceRequestAllocationResult) bool {
	return u.hold(r, false)
}

func (u *Usage) hold(r *resourcev1.DeviceRequestAllocationResult, take bool) bool {
	at, ok := u.inventory.index[ID{r.Driver, r.Pool, r.Device}]
	if !ok {
		return false
	}
	if is(r.AdminAccess) {
		return true
	}
	d := &u.inventory.devices[at]
	var amounts []int64
	if d.shared {
		amounts = make([]int64, len(d.capacity))
		for i := range d.capacity {
			if q, ok := r.ConsumedCapacity[d.capacity[i].name]; ok {
				amounts[i] = up(q)
			}
		}
	}
	if take {
		u.take(at, amounts)
	} else {
		u.giveBack(at, amounts)
	}
	return true
}

// free reports whether the device can be allocated now, with the given amounts of its capacities.
func (u *Usage) free(at int32, amounts []int64) bool {
	d := &u.inventory.devices[at]
	if u.uses[at] > 0 && !d.shared {
		return false
	}
	if d.shared && u.uses[at] > 0 {
		for i, n := range amounts {
			if u.consumed[at][i]+n > d.capacity[i].value {
				return false
			}
		}
		return true // the counters already contain the amounts of a device in use
	}
	for _, c := range d.consumes {
		if u.left[c.counter] < c.amount {
			return false
		}
	}
	return true
}

func (u *Usage) take(at int32, amounts []int64) {
	d := &u.inventory.devices[at]
	u.uses[at]++
	if u.uses[at] == 1 {
		for _, c := range d.consumes {
			u.left[c.counter] -= c.amount
		}
	}
	if d.shared {
		if u.consumed[at] == nil {
			u.consumed[at] = make([]int64, len(d.capacity))
		}
		for i, n := range amounts {
			u.consumed[at][i] += n
		}
	}
}

func (u *Usage) giveBack(at int32, amounts []int64) {
	d := &u.inventory.devices[at]
	u.uses[at]--
	if u.uses[at] == 0 {
		for _, c := range d.consumes {
			u.left[c.counter] += c.amount
		}
	}
	if d.shared {
		for i, n := range amounts {
			u.consumed[at][i] -= n
		}
	}
}
