package discovery

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// DefaultEvery is how often types and zones are read.
const DefaultEvery = 12 * time.Hour

// Options are the settings of a Discoverer.
type Options struct {
	// API is a client for the region. Required.
	API sdk.EC2API
	// Region of the instance types. Required.
	Region string
	// Seed is a saved catalogue of the same region, which is used until the first refresh succeeds. Nil for none.
	Seed *catalog.Catalog
	// BuiltIn contains data that EC2 does not provide (branch interfaces); nil means the embedded catalogue.
	BuiltIn *catalog.Catalog
	// Every is how often to read; 0 means DefaultEvery.
	Every time.Duration
	// JitterSeed decides the jitter of refreshes.
	JitterSeed uint64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// NotReadyError says which data is missing, so that no instance types can be returned.
type NotReadyError struct {
	// Missing is "instance types" or "zones".
	Missing string
	// Cause is the error of the last refresh; nil before the first refresh.
	Cause error
}

func (e *NotReadyError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("no %s are known: nothing was read from EC2 yet", e.Missing)
	}
	return fmt.Sprintf("no %s are known: %v", e.Missing, e.Cause)
}

// Unwrap returns the cause.
func (e *NotReadyError) Unwrap() error { return e.Cause }

// EmptyError means that EC2's answer was empty: probably the region or account is wrong.
type EmptyError struct {
	// Missing is "instance types" or "zones".
	Missing string
	// Region of the request.
	Region string
}

func (e *EmptyError) Error() string {
	return fmt.Sprintf("EC2 names no %s in region %q: is it the right region, and enabled for the account?", e.Missing, e.Region)
}

// Discoverer reads the instance types of a region. It is safe for concurrent use.
type Discoverer struct {
	options Options
	current atomic.Pointer[catalog.Catalog]

	mu       sync.Mutex
	schedule refresh.Schedule
	reading  bool
	status   Status
}

// Status is the state of discovery.
type Status struct {
	// Read is the time of EC2's last complete answer; zero if there was none.
	Read time.Time
	// Changed is the time of the last complete answer that changed the catalogue.
	Changed time.Time
	// Seeded is true while the catalogue is the seed.
	Seeded bool
	// Types, Pairs and Zones are the numbers of known types, of pairs of type and zone, and of zones.
	Types, Pairs, Zones int
	// Skipped lists types whose description by EC2 is unusable, and why.
	Skipped []error
	// ZoneIDs is the error of reading the ids of zones; nil if reading succeeded. Discovery works without the ids, because subnets also
	// contain them.
	ZoneIDs error
	// Failures is the number of failures in a row, LastErr the last error; 0 and nil after a success.
	Failures int
	LastErr  error
}

// New makes a discoverer. It reads nothing yet.
func New(o Options) (*Discoverer, error) {
	switch {
	case o.API == nil:
		return nil, errors.New("discovery: an EC2 client must be given")
	case o.Region == "":
		return nil, errors.New("discovery: a region must be given")
	case o.Seed != nil && o.Seed.Region != o.Region:
		return nil, fmt.Errorf("discovery: the seed catalogue is of region %q, but must be of %q", o.Seed.Region, o.Region)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every <= 0 {
		o.Every = DefaultEvery
	}
	if o.BuiltIn == nil {
		builtIn, err := catalog.Embedded()
		if err != nil {
			return nil, err
		}
		o.BuiltIn = builtIn
	}
	d := &Discoverer{options: o, schedule: refresh.Schedule{Every: o.Every, Seed: o.JitterSeed}}
	if o.Seed != nil {
		d.current.Store(o.Seed)
		d.status.Seeded = true
		d.count(o.Seed)
	}
	return d, nil
}

// Catalog returns the known instance types. It never blocks, and returns the same pointer until something changes. The error is a
// *NotReadyError.
func (d *Discoverer) Catalog() (*catalog.Catalog, error) {
	if c := d.current.Load(); c != nil {
		return c, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	missing := "instance types"
	var empty *EmptyError
	if errors.As(d.status.LastErr, &empty) {
		missing = empty.Missing
	}
	return nil, &NotReadyError{Missing: missing, Cause: d.status.LastErr}
}

// Known returns the same as Catalog, or nil while nothing is known.
func (d *Discoverer) Known() *catalog.Catalog { return d.current.Load() }

// Ready reports whether instance types are known.
func (d *Discoverer) Ready() bool { return d.current.Load() != nil }

// Status returns the state of discovery. Its list is shared and must not be changed.
func (d *Discoverer) Status() Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.status
	s.Failures = d.schedule.Failures()
	return s
}

// Refresh reads types and zones if that is due. next is when to call it again. If it fails, the old data stays, and the next read is
// delayed by a back-off. If calls overlap, one of them reads and the other calls return at once.
func (d *Discoverer) Refresh(ctx context.Context) (next time.Time, err error) {
	if !d.claim() {
		return d.next(), nil
	}
	c, found, err := d.read(ctx)
	d.done(c, found, err)
	return d.next(), err
}

func (d *Discoverer) claim() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reading || !d.schedule.Due(d.options.Now()) {
		return false
	}
	d.reading = true
	return true
}

func (d *Discoverer) next() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, _ := d.schedule.Next() // the second result is always true, because the schedule always has a period
	return next
}

func (d *Discoverer) done(c *catalog.Catalog, found *answers, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.options.Now()
	d.reading = false
	d.schedule.Done(now, err)
	d.status.LastErr = err
	if err != nil {
		return
	}
	d.status.Read, d.status.Seeded = now, false
	d.status.Skipped, d.status.ZoneIDs = found.skipped, found.zoneIDsErr
	if known := d.current.Load(); known != nil && equal(known, c) {
		return
	}
	d.status.Changed = now
	d.count(c)
	d.current.Store(c)
}

func (d *Discoverer) count(c *catalog.Catalog) {
	d.status.Types, d.status.Zones, d.status.Pairs = len(c.Types), len(c.Zones), 0
	for i := range c.Types {
		d.status.Pairs += len(c.Types[i].Zones)
	}
}

// equal reports whether two catalogues have the same facts; the sources of the facts are not compared.
func equal(a, b *catalog.Catalog) bool {
	return a.Region == b.Region && reflect.DeepEqual(a.Zones, b.Zones) && reflect.DeepEqual(a.Types, b.Types)
}
