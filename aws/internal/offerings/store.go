package offerings

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/cloudprovider"
)

// DefaultViews is the number of different views for which a Store keeps results: many more than a cluster has node classes.
const DefaultViews = 256

// Store returns the results of Resolve and shares them. It is safe for concurrent use. Results for different views are computed in
// parallel. The result for one view is computed by one caller, while others wait for it. The zero value can be used.
type Store struct {
	// Views limits the number of different views that are kept; 0 means DefaultViews. Beyond that, the least recently requested results are
	// dropped; they are computed again on request, with new pointers.
	Views int

	mu     sync.Mutex
	clock  uint64
	views  map[string]*answer
	shapes map[string]*shapes
}

// answer is the last result for a view.
type answer struct {
	used uint64 // Store.clock at the last use; guarded by Store.mu

	mu     sync.Mutex
	market Market
	states []awsv1.CapacityReservationState
	types  []*cloudprovider.InstanceType
}

// shapes contains the types of a catalogue for one value of View.Settings. Views with equal settings share it.
type shapes struct {
	used uint64

	mu      sync.Mutex
	catalog *catalog.Catalog
	list    []instancetype.Shape
	latest  []*cloudprovider.InstanceType // the last result for any view with these settings
}

// Types returns the result of Resolve; the caller owns the slice, the types are shared. A type in which nothing has changed since the last
// result for an equal view keeps its pointer.
func (s *Store) Types(m Market, v View) ([]*cloudprovider.InstanceType, error) {
	a, sh := s.find(v)
	a.mu.Lock()
	defer a.mu.Unlock()
	states := statesAt(m, v)
	if a.types != nil && sameMarket(a.market, m) && slices.Equal(a.states, states) {
		return slices.Clone(a.types), nil
	}
	list, err := sh.of(m, v)
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(m, v, list)
	if err != nil {
		return nil, err
	}
	// Node classes whose differences have no effect now (for example different subnets) also share instance types: reuse those of
	// sh.last().
	a.types = b.types(a.types, sh.last())
	sh.keep(a.types)
	a.market, a.states = m, states
	return slices.Clone(a.types), nil
}

// UnknownTypeError means that no instance of a class can have an instance type.
type UnknownTypeError struct {
	// InstanceType that the caller asked for.
	InstanceType string
}

func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("instance type %q is not among those of the node class: EC2 does not offer it in the region, it has no price, or it is too small for what the class reserves", e.InstanceType)
}

// Type returns the type called name from the result of Types. The error may be an *UnknownTypeError.
func (s *Store) Type(m Market, v View, name string) (*cloudprovider.InstanceType, error) {
	types, err := s.Types(m, v)
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(types, name, func(t *cloudprovider.InstanceType, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return nil, &UnknownTypeError{InstanceType: name}
	}
	return types[i], nil
}

// sameMarket compares two markets without their times, which affect only the states of reservations.
func sameMarket(a, b Market) bool {
	return a.Catalog == b.Catalog && a.Prices == b.Prices && a.Unavailable == b.Unavailable && a.Rooms == b.Rooms && a.Shifted == b.Shifted
}

// statesAt returns the values that depend on the market's time: the states of the view's reservations.
func statesAt(m Market, v View) []awsv1.CapacityReservationState {
	states := make([]awsv1.CapacityReservationState, len(v.Reservations))
	for i, r := range v.Reservations {
		if reservations.Ended(r, m.Time) {
			states[i] = "ended"
		} else {
			states[i] = reservations.StateAt(r, m.Time)
		}
	}
	return states
}

// find returns the stored result of a view, and its shapes. It adds missing entries.
func (s *Store) find(v View) (*answer, *shapes) {
	key, settingsKey := v.Key(), v.Settings.Key()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.views == nil {
		s.views, s.shapes = map[string]*answer{}, map[string]*shapes{}
	}
	s.clock++
	a, ok := s.views[key]
	if !ok {
		makeRoom(s.views, s.limit(), func(a *answer) uint64 { return a.used })
		a = &answer{}
		s.views[key] = a
	}
	sh, ok := s.shapes[settingsKey]
	if !ok {
		makeRoom(s.shapes, s.limit(), func(sh *shapes) uint64 { return sh.used })
		sh = &shapes{}
		s.shapes[settingsKey] = sh
	}
	a.used, sh.used = s.clock, s.clock
	return a, sh
}

func (s *Store) limit() int {
	if s.Views > 0 {
		return s.Views
	}
	return DefaultViews
}

// makeRoom removes the entry that was used longest ago if there are limit entries or more.
func makeRoom[T any](entries map[string]T, limit int, used func(T) uint64) {
	if len(entries) < limit {
		return
	}
	var oldest string
	at := ^uint64(0)
	for key, entry := range entries {
		if used(entry) < at {
			oldest, at = key, used(entry)
		}
	}
	delete(entries, oldest)
}

func (sh *shapes) of(m Market, v View) ([]instancetype.Shape, error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.list != nil && sh.catalog == m.Catalog {
		return sh.list, nil
	}
	if m.Catalog == nil {
		return nil, nil // newBuilder returns an error for a market without a catalogue
	}
	list, err := instancetype.Shapes(m.Catalog, v.Settings)
	if err != nil {
		return nil, err
	}
	sh.catalog, sh.list = m.Catalog, list
	return list, nil
}

// last returns the last result for any view with these settings; it must not be changed.
func (sh *shapes) last() []*cloudprovider.InstanceType {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.latest
}

func (sh *shapes) keep(types []*cloudprovider.InstanceType) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.latest = types
}
