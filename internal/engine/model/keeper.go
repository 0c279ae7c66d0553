package model

import "sync/atomic"

// Keeper has what package updating remembers of a model, which only that package can read. The first caller gets it: what it does with it
// changes it.
type Keeper struct{ held atomic.Pointer[any] }

// Keep returns a Keeper of what is remembered.
func Keep(remembered any) *Keeper {
	k := &Keeper{}
	k.held.Store(&remembered)
	return k
}

// Take returns what is remembered to the first caller, and nil to later ones and without a Keeper.
func (k *Keeper) Take() any {
	if k == nil {
		return nil
	}
	if held := k.held.Swap(nil); held != nil {
		return *held
	}
	return nil
}
