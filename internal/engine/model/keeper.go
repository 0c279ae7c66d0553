package model

import "sync/atomic"

// Keeper has data about a model that package updating reuses. Only that package can read them. Only the first caller of Take gets the data,
// because updating changes the data.
type Keeper struct{ held atomic.Pointer[any] }

// Keep returns a Keeper of the data.
func Keep(remembered any) *Keeper {
	k := &Keeper{}
	k.held.Store(&remembered)
	return k
}

// Take returns the data to the first caller. It returns nil to later callers, and if the Keeper is nil.
func (k *Keeper) Take() any {
	if k == nil {
		return nil
	}
	if held := k.held.Swap(nil); held != nil {
		return *held
	}
	return nil
}
