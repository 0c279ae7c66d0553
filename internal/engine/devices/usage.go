package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
)

// Usage records which devices of an Inventory are allocated. It is not safe for concurrent use.
type Usage struct {
	inventory *Inventory
	// uses counts the allocations of each device: at most one, unless the device is shared.
	uses []int32
	// consumed is the amount taken of each capacity of shared devices. It is nil for devices that have never been allocated.
	consumed [][]int64
	// left is the remaining amount of each counter. It is negative if slices now publish less than was allocated before.
	left []int64
}

// NewUsage returns the usage of an inventory with nothing allocated.
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

// Clone returns an independent copy.
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

// Hold allocates the device named in a claim's status, whether it is free or not. It reports whether the inventory contains the device.
// Admin access uses up nothing.
func (u *Usage) Hold(r *resourcev1.DeviceRequestAllocationResult) bool {
	return u.hold(r, true)
}

// LetGo undoes a Hold of the same device.
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

// free reports whether the device is available, with those amounts of its capacities.
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
		return true // a device in use has already taken its counters
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
