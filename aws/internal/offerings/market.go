package offerings

import (
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/discovery"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/internal/zonalshift"
	"github.com/drawknife/drawknife/aws/prices"
)

// Market is the known state of EC2 at one moment. All fields are immutable; nil means that nothing is known.
type Market struct {
	// Catalog has the facts of types and the zones that offer them. Required.
	Catalog *catalog.Catalog
	// Prices in force.
	Prices *prices.Book
	// Unavailable has the offerings without capacity.
	Unavailable *unavailable.Snapshot
	// Rooms contains the free instances in reservations.
	Rooms *reservations.Rooms
	// Shifted contains the zones to avoid.
	Shifted *zonalshift.Snapshot
	// Time is the moment that decides which reservations have ended or will soon end.
	Time time.Time
}

// Sources are the parts of a running provider that read EC2. Only Discovery is required.
type Sources struct {
	Discovery    *discovery.Discoverer
	Prices       *prices.Board
	Unavailable  *unavailable.Memory
	Reservations *reservations.Tracker
	Shifts       *zonalshift.Watcher
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Market returns the present knowledge of the sources. It makes no calls and never blocks. The error is a *discovery.NotReadyError.
func (s Sources) Market() (Market, error) {
	if s.Discovery == nil {
		return Market{}, &discovery.NotReadyError{Missing: "instance types"}
	}
	facts, err := s.Discovery.Catalog()
	if err != nil {
		return Market{}, err
	}
	m := Market{Catalog: facts}
	if s.Prices != nil {
		m.Prices = s.Prices.Book()
	}
	if s.Unavailable != nil {
		m.Unavailable = s.Unavailable.Snapshot()
	}
	if s.Reservations != nil {
		m.Rooms = s.Reservations.Snapshot()
	}
	if s.Shifts != nil {
		m.Shifted = s.Shifts.Snapshot()
	}
	if s.Now != nil {
		m.Time = s.Now()
	} else {
		m.Time = time.Now()
	}
	return m, nil
}
