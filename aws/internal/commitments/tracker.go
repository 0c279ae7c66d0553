package commitments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

const (
	// accountEvery is how often Savings Plans, Reserved Instances and instances are read.
	accountEvery = 15 * time.Minute
	// costsEvery is how often Cost Explorer is asked: its data changes a few times a day, and each request costs $0.01.
	costsEvery = 12 * time.Hour
)

// Options of a Tracker. Plans, EC2, Region, Cluster and Known are required.
type Options struct {
	// Plans is the API for Savings Plans.
	Plans sdk.SavingsPlansAPI
	// EC2 is the API for Reserved Instances and instances.
	EC2 sdk.ReservedInstancesAPI
	// Costs is the API for the use of commitments in the whole account, and for discounts; nil means that neither is read.
	Costs sdk.CostExplorerAPI
	// Region of the cluster.
	Region string
	// Cluster is the name of the cluster. Its instances do not count as foreign.
	Cluster string
	// Sharing returns the names of other clusters that report their own use of commitments; nil means that there are no others.
	Sharing func() []string
	// Known returns the instance types; nil while none are known.
	Known func() *catalog.Catalog
	// Seed decides the jitter of refreshes.
	Seed uint64
	// Now is the clock.
	Now func() time.Time
}

// Tracker reads the account's commitments repeatedly. It is safe for concurrent use; no lock is held during calls.
type Tracker struct {
	options Options
	account atomic.Pointer[commitments.Account]

	mu      sync.Mutex // guards the fields below
	current refresh.Schedule
	costly  refresh.Schedule
	reading bool
	rates   map[string]map[string]float64 // rates of each Savings Plan by instance type, which never change
	billed  billed
}

// New returns a tracker that has read nothing.
func New(o Options) *Tracker {
	return &Tracker{
		options: o, rates: map[string]map[string]float64{},
		current: refresh.Schedule{Every: accountEvery, Seed: o.Seed}, costly: refresh.Schedule{Every: costsEvery, Seed: o.Seed + 1},
	}
}

// Account returns the commitments that were last read; nil before the first Refresh. It returns the same pointer until something is read
// again. Callers must not change the account.
func (t *Tracker) Account() *commitments.Account { return t.account.Load() }

// Refresh reads the data that is due, and returns when to call it again. If something can't be read, its earlier value remains; the errors
// are joined.
func (t *Tracker) Refresh(ctx context.Context) (next time.Time, err error) {
	now := t.options.Now()
	current, costly := t.claim(now)
	var errs []error
	if costly {
		err := t.readBilled(ctx, now)
		t.mu.Lock()
		t.costly.Done(now, err)
		t.mu.Unlock()
		errs = append(errs, err)
	}
	if current || costly {
		err := t.read(ctx, now)
		t.mu.Lock()
		t.current.Done(now, err)
		t.reading = false
		t.mu.Unlock()
		errs = append(errs, err)
	}
	return t.next(), errors.Join(errs...)
}

func (t *Tracker) claim(now time.Time) (current, costly bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reading {
		return false, false
	}
	current, costly = t.current.Due(now), t.options.Costs != nil && t.costly.Due(now)
	t.reading = current || costly
	return current, costly
}

func (t *Tracker) next() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, _ := t.current.Next()
	if costly, ok := t.costly.Next(); t.options.Costs != nil && ok && costly.Before(at) {
		at = costly
	}
	return at
}

// read reads commitments and the instances that use them, and publishes the commitments and these instances.
func (t *Tracker) read(ctx context.Context, now time.Time) error {
	out := &commitments.Account{ReadAt: now}
	reserved, err := t.reserved(ctx, out)
	if err != nil {
		return sdk.Wrap("reading Reserved Instances", err)
	}
	plans, err := t.plans(ctx, out)
	if err != nil {
		return sdk.Wrap("reading Savings Plans", err)
	}
	out.Commitments = append(reserved, plans...)
	if n := len(out.Commitments); n > commitments.MaxCommitments {
		out.Commitments = largest(out.Commitments, commitments.MaxCommitments)
		out.LeftOut = append(out.LeftOut, fmt.Sprintf("%d commitments, the smallest of their kinds: at most %d are read", n-commitments.MaxCommitments, commitments.MaxCommitments))
	}
	foreign, err := t.foreign(ctx)
	if err != nil {
		return sdk.Wrap("reading instances that use commitments", err)
	}
	uses := out.Use(foreign)
	t.mu.Lock()
	billed := t.billed
	t.mu.Unlock()
	for i := range out.Commitments {
		c := &out.Commitments[i]
		c.Foreign = uses[c.ID]
		if used, ok := billed.of(c); ok {
			c.UsedInTotal = &used
		}
	}
	if billed.discount != nil {
		out.Discounts = append(out.Discounts, *billed.discount)
	}
	if len(out.LeftOut) > leftOutMost {
		out.LeftOut = out.LeftOut[:leftOutMost]
	}
	if err := out.Validate(); err != nil {
		return fmt.Errorf("reading the commitments of the account: %w", err)
	}
	t.account.Store(out)
	return nil
}

// leftOutMost is the largest number of sentences in LeftOut.
const leftOutMost = 50

// largest returns the n commitments with the largest amounts, in the order of list. Amounts in different units are compared by their rank
// within the unit.
func largest(list []commitments.Commitment, n int) []commitments.Commitment {
	rank := make([]int, len(list))
	for i := range list {
		for j := range list {
			if list[j].Unit == list[i].Unit && list[j].Amount > list[i].Amount {
				rank[i]++
			}
		}
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	order = order[:n]
	slices.Sort(order)
	out := make([]commitments.Commitment, n)
	for i, at := range order {
		out[i] = list[at]
	}
	return out
}
