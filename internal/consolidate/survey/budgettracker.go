package survey

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// BudgetTracker tracks all disruption budgets of a fleet: the budgets of its NodePools and Input.Budgets. The nodes that Take has accepted
// never exceed a budget, in whatever order Take and Return are called. It is safe for concurrent use.
type BudgetTracker struct {
	mu    sync.Mutex
	fleet *Fleet
	books []*book
	taken map[string]taken
	// lists has each distinct list of budgets once, so that nodes share it. amounts is scratch space of l.concerned.
	lists   bookLists
	amounts []float64
}

// book is a budget with the amounts that are used of it.
type book struct {
	*decision.Budget
	// ofPool is true for a budget of a NodePool.
	ofPool bool
	// total is the amount of all nodes in the budget's scope. before is the amount of nodes that are already being disrupted. Both are in
	// the budget's unit.
	total, before float64
	// history has the disruptions that started within the budget's window, latest first.
	history []charge
	// takes has the amounts that Take reserved, by node. sum is their total. Both are in billionths of the budget's unit, so that the sum
	// does not depend on the order of additions.
	takes map[string]int64
	sum   int64
	// closes caches the result of Calendar.Closes for the time of the fleet.
	closes *time.Time
}

// closing returns Calendar.Closes(at): the time at which the calendar's window closes. It caches the result for the present time, because
// this result is needed often.
func (b *book) closing(now, at time.Time) time.Time {
	if !at.Equal(now) {
		return b.Calendar.Closes(at)
	}
	if b.closes == nil {
		t := b.Calendar.Closes(at)
		b.closes = &t
	}
	return *b.closes
}

type charge struct {
	at     time.Time
	amount float64
}

type taken struct {
	reason decision.Reason
	books  []*book
}

func (b *book) remember(history []decision.Disruption, now time.Time) {
	if b.Window == 0 {
		return
	}
	for i := range history {
		d := &history[i]
		if b.Scope.Includes(d.Pool, d.Zone, labels.Set(d.Labels)) && (d.Reason.Forced() || b.Holds(d.Reason)) && !d.Time.After(now) {
			b.history = append(b.history, charge{d.Time, amountOf(b.Unit, d.Pods, d.Price)})
		}
	}
	slices.SortStableFunc(b.history, func(x, y charge) int { return y.at.Compare(x.at) })
}

// count adds a node in the budget's scope to b.total. If the node is already being disrupted, count also adds it to b.before.
func (b *book) count(f *Fleet, m *cluster.NodeState) {
	if !b.Scope.Includes(m.Pool, zoneOf(m), labels.Set(m.Node.Labels)) {
		return
	}
	amount := f.weigh(b.Unit, m)
	b.total += amount
	if f.disrupting(m) {
		b.before += amount
	}
}

// weigh returns the amount that one node uses of a budget with the unit u.
func (f *Fleet) weigh(u decision.Unit, m *cluster.NodeState) float64 {
	if u == decision.UnitNodes {
		return 1
	}
	n := 0
	for _, pod := range m.Pods {
		if pods.Reschedulable(pod) {
			n++
		}
	}
	price, _ := newnodes.NodePrice(f.In.Model, m.Name)
	return amountOf(u, n, price.Price)
}

func amountOf(u decision.Unit, pods int, price float64) float64 {
	switch u {
	case decision.UnitPods:
		return float64(pods)
	case decision.UnitPrice:
		return max(0, price)
	}
	return 1
}

// inUse returns the amount that counts against the budget at the given time. For a budget with a window, this is the amount that started in
// the window. For other budgets, it is the amount that is being disrupted. Amounts that Take reserved count as disruptions that start now.
func (b *book) inUse(now, at time.Time) float64 {
	sum := 0.0
	if b.Window == 0 {
		sum = b.before
	}
	for _, c := range b.history {
		if at.Sub(c.at) >= b.Window {
			break
		}
		sum += c.amount
	}
	if b.Window == 0 || at.Sub(now) < b.Window {
		sum += money.USD(b.sum)
	}
	return sum
}

// slack absorbs rounding errors of sums of prices.
const slack = 1e-9

// refuses returns a block if the budget does not allow the additional amount at the given time. If the budget allows it, refuses returns
// nil.
func (b *book) refuses(amount float64, now, at time.Time) *decision.Block {
	if !b.Calendar.Counts(at) {
		return nil
	}
	allowed, used := b.Allows(b.total), b.inUse(now, at)
	if used+amount <= allowed+slack {
		return nil
	}
	out := &decision.Block{Code: decision.BlockBudget, Detail: b.Name, Allowed: allowed, InUse: used, Until: b.frees(amount, now, at)}
	if b.Window == 0 {
		out.Disrupted = b.before
	}
	return out
}

// concerned returns the budgets that limit the disruption of a node for the reason r, and the amount that the disruption uses of each
// budget. Many nodes share the list of budgets, so callers must not change it. The amounts are valid until the next call.
func (l *BudgetTracker) concerned(m *cluster.NodeState, r decision.Reason) (list []*book, amounts []float64) {
	if m.Node == nil || r.Forced() {
		return nil, nil
	}
	var few [8]*book
	found, amounts, zone := few[:0], l.amounts[:0], zoneOf(m)
	for _, b := range l.books {
		if b.Holds(r) && b.Scope.Includes(m.Pool, zone, labels.Set(m.Node.Labels)) {
			found = append(found, b)
			amounts = append(amounts, l.fleet.weigh(b.Unit, m))
		}
	}
	l.amounts = amounts
	return l.lists.shared(found), amounts
}

// bookLists has each distinct list of budgets once.
type bookLists [][]*book

// shared returns the stored list that is equal to the parameter list. If there is no such list, shared stores a copy of the parameter and
// returns the copy.
func (l *bookLists) shared(list []*book) []*book {
	if len(list) == 0 {
		return nil
	}
	for _, known := range *l {
		if slices.Equal(known, list) {
			return known
		}
	}
	own := slices.Clone(list)
	*l = append(*l, own)
	return own
}

// Take reserves budget for the disruption of a candidate. If a budget has no room, Take reserves nothing and returns a block with that
// budget. If Take has already reserved budget for the node, it does nothing, so the node keeps its first reason.
func (l *BudgetTracker) Take(c *decision.Candidate, r decision.Reason) *decision.Block {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(c, r)
}

func (l *BudgetTracker) take(c *decision.Candidate, r decision.Reason) *decision.Block {
	if _, twice := l.taken[c.Name]; twice {
		return nil
	}
	list, amounts := l.concerned(c.State, r)
	for i, b := range list {
		if why := b.refuses(amounts[i], l.fleet.Now, l.fleet.Now); why != nil {
			return why
		}
	}
	for i, b := range list {
		b.takes[c.Name] = money.NanoUSD(amounts[i])
		b.sum += b.takes[c.Name]
	}
	l.taken[c.Name] = taken{r, list}
	return nil
}

// TakeAll reserves budget for all candidates or for no candidate. If it can't, it returns the first candidate of the list for which a
// budget has no room, with its block.
func (l *BudgetTracker) TakeAll(list []*decision.Candidate, r decision.Reason) (*decision.Candidate, *decision.Block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var fresh []*decision.Candidate
	for _, c := range list {
		if _, has := l.taken[c.Name]; has {
			continue
		}
		if why := l.take(c, r); why != nil {
			for _, earlier := range fresh {
				l.giveBack(earlier.Name)
			}
			return c, why
		}
		fresh = append(fresh, c)
	}
	return nil, nil
}

// BlocksAll returns a block with the budget that has no room for all candidates together now, or nil if TakeAll would succeed.
func (l *BudgetTracker) BlocksAll(list []*decision.Candidate, r decision.Reason) *decision.Block {
	if len(list) == 1 {
		return l.Blocks(list[0], r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var fresh []*decision.Candidate
	defer func() {
		for _, c := range fresh {
			l.giveBack(c.Name)
		}
	}()
	for _, c := range list {
		if _, has := l.taken[c.Name]; has {
			continue
		}
		if why := l.take(c, r); why != nil {
			return why
		}
		fresh = append(fresh, c)
	}
	return nil
}

// Return gives back the amounts that Take reserved for the node. It does nothing if Take reserved nothing for the node.
func (l *BudgetTracker) Return(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveBack(node)
}

func (l *BudgetTracker) giveBack(node string) {
	for _, b := range l.taken[node].books {
		b.sum -= b.takes[node]
		delete(b.takes, node)
	}
	delete(l.taken, node)
}

// Blocks returns a block with the budget that has no room for the candidate now, or nil if Take would succeed.
func (l *BudgetTracker) Blocks(c *decision.Candidate, r decision.Reason) *decision.Block {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, has := l.taken[c.Name]; has {
		return nil
	}
	list, amounts := l.concerned(c.State, r)
	for i, b := range list {
		if why := b.refuses(amounts[i], l.fleet.Now, l.fleet.Now); why != nil {
			return why
		}
	}
	return nil
}

// Uses returns the present use of all budgets in the order of the snapshot. Budgets of pools come first.
func (l *BudgetTracker) Uses() []decision.BudgetUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]decision.BudgetUse, len(l.books))
	for i, b := range l.books {
		out[i] = decision.BudgetUse{Budget: b.Name, Counts: b.Calendar.Counts(l.fleet.Now), Allowed: b.Allows(b.total), InUse: b.inUse(l.fleet.Now, l.fleet.Now)}
	}
	return out
}

// NewBudgetTracker makes a tracker in which nothing is reserved yet. The error is a *BudgetError for an invalid budget.
func NewBudgetTracker(f *Fleet) (*BudgetTracker, error) {
	if err := decision.ValidateBudgets(f.In.Budgets); err != nil {
		return nil, err
	}
	l := &BudgetTracker{fleet: f, taken: map[string]taken{}}
	snapshot := f.In.View.Snapshot
	var budgets []decision.Budget
	for i := range snapshot.NodePools {
		budgets = append(budgets, budgetsOf(snapshot.NodePools[i].Identity(), snapshot.NodePools[i].Object)...)
	}
	stated := len(budgets)
	budgets = append(budgets, f.In.Budgets...)
	byPool := map[string][]*book{}
	for i := range budgets {
		b := &book{Budget: &budgets[i], ofPool: i < stated, takes: map[string]int64{}}
		l.books = append(l.books, b)
		byPool[b.Scope.Pool.String()] = append(byPool[b.Scope.Pool.String()], b)
		b.remember(f.In.History, f.Now)
	}
	nodes := f.In.View.Nodes
	for i := range nodes {
		m := &nodes[i]
		if !counted(m) {
			continue
		}
		for _, b := range byPool[m.Pool.String()] {
			b.count(f, m)
		}
		if !m.Pool.IsZero() {
			for _, b := range byPool[(&decision.Scope{}).Pool.String()] {
				b.count(f, m)
			}
		}
	}
	return l, nil
}

// Unbound returns a tracker without budgets for the same fleet.
func (l *BudgetTracker) Unbound() *BudgetTracker {
	return &BudgetTracker{fleet: l.fleet, taken: map[string]taken{}}
}

// Draw is the amount that the disruption of a node uses of the budget with this number, in billionths of the budget's unit. The amount is 0
// while the budget's calendar is closed, so that the budget does not apply.
type Draw struct {
	Budget int
	Amount int64
}

// Draws returns the amount that the disruption of a node for a reason uses of each budget for that reason.
func (l *BudgetTracker) Draws(m *cluster.NodeState, r decision.Reason) []Draw {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, amounts := l.concerned(m, r)
	out := make([]Draw, len(list))
	for i, b := range list {
		out[i].Budget = slices.Index(l.books, b)
		if b.Calendar.Counts(l.fleet.Now) {
			out[i].Amount = money.NanoUSD(amounts[i])
		}
	}
	return out
}

// Room returns the remaining amount of the budget with this number, in billionths of the budget's unit. The amount is negative if more is
// in use than the budget allows.
func (l *BudgetTracker) Room(budget int) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.books[budget]
	return money.NanoUSD(b.Allows(b.total)+slack) - money.NanoUSD(b.inUse(l.fleet.Now, l.fleet.Now))
}

// Turning calls note with the times at which the remaining amounts of budgets may change only because time passes. At such times calendars
// open or close, or earlier disruptions leave the window of a budget. The times may be in the past.
func (l *BudgetTracker) Turning(note func(time.Time)) {
	now := l.fleet.Now
	for _, b := range l.books {
		note(b.Calendar.Closes(now))
		note(b.Calendar.Opens(now))
		for _, c := range b.history {
			note(c.at.Add(b.Window))
		}
	}
}
