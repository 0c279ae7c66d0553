package sdk

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Class is a set of calls that share a rate limit of AWS.
type Class string

// Classes of calls.
const (
	// ClassRead: EC2 calls that change nothing.
	ClassRead Class = "read"
	// ClassWrite: EC2 calls that change something and that have no separate class, such as CreateFleet.
	ClassWrite Class = "write"
	// ClassRun: RunInstances.
	ClassRun Class = "run"
	// ClassTerminate: TerminateInstances.
	ClassTerminate Class = "terminate"
	// ClassTag: CreateTags.
	ClassTag Class = "tag"
	// ClassParameters: reading parameters of Systems Manager.
	ClassParameters Class = "parameters"
	// ClassPrices: reading the price list.
	ClassPrices Class = "prices"
	// ClassOther: all other calls. Their rate is limited only if a Limit is set for this class.
	ClassOther Class = "other"
)

// classOf returns the class of a call, by the SDK's names of the service and the call.
func classOf(service, operation string) Class {
	switch service {
	case "EC2":
		switch operation {
		case "RunInstances":
			return ClassRun
		case "TerminateInstances":
			return ClassTerminate
		case "CreateTags":
			return ClassTag
		}
		if len(operation) > len("Describe") && operation[:len("Describe")] == "Describe" {
			return ClassRead
		}
		return ClassWrite
	case "SSM":
		return ClassParameters
	case "Pricing":
		return ClassPrices
	}
	return ClassOther
}

// Limit is the size and the rate of a token bucket.
type Limit struct {
	// PerSecond is the number of calls per second in the long run. Zero or less means no limit.
	PerSecond float64
	// Burst is the number of calls possible at once after a pause; a value below 1 means 1.
	Burst float64
}

// DefaultLimits returns the limits that EC2 documents for an account and region, and those of SSM and the price list. All programs in the
// account and region share these limits. The caller owns the map.
func DefaultLimits() map[Class]Limit {
	return map[Class]Limit{
		ClassRead:       {PerSecond: 20, Burst: 100},
		ClassWrite:      {PerSecond: 5, Burst: 50},
		ClassRun:        {PerSecond: 2, Burst: 5},
		ClassTerminate:  {PerSecond: 5, Burst: 100},
		ClassTag:        {PerSecond: 10, Burst: 100},
		ClassParameters: {PerSecond: 20, Burst: 40},
		ClassPrices:     {PerSecond: 5, Burst: 10},
	}
}

// Priority decides which calls go first if they have to wait for tokens.
type Priority int

// Priorities; later ones are served first.
const (
	// Background is for data that is refreshed regularly: types, prices, images. It leaves half of a burst's tokens to higher priorities.
	Background Priority = iota
	// Normal is for calls that a caller waits for: listing, tagging. It leaves a tenth of a burst's tokens to urgent calls.
	Normal
	// Urgent is for launching and terminating.
	Urgent

	priorities = int(Urgent) + 1
)

const (
	// longestWait is the time after which a waiting caller is served first, whatever its priority, so that a busy cluster still gets new
	// types and prices.
	longestWait = 30 * time.Second
	// recovery is the time without throttling after which the reduced rate of a class doubles.
	recovery = 30 * time.Second
	// slowest is the lowest rate to which throttling slows a class down, as a fraction of its normal rate.
	slowest = 1.0 / 8
)

// Budget limits the rate of calls by class: each call takes a token. Callers wait for tokens in order of priority, and then in order of
// arrival. If AWS still throttles a class, because other programs use the same account, its bucket is emptied and its rate is halved. The
// rate rises again after some time without throttling. A Budget is safe for concurrent use; clients of one account and region should share
// one. Make one with NewBudget.
type Budget struct {
	mu      sync.Mutex
	buckets map[Class]*bucket
}

// NewBudget makes a budget whose buckets are full. Calls of a class without a limit never wait. Nil means DefaultLimits.
func NewBudget(limits map[Class]Limit) *Budget {
	if limits == nil {
		limits = DefaultLimits()
	}
	b := &Budget{buckets: map[Class]*bucket{}}
	now := time.Now()
	for class, limit := range limits {
		if limit.PerSecond <= 0 {
			continue
		}
		limit.Burst = max(limit.Burst, 1)
		b.buckets[class] = &bucket{limit: limit, tokens: limit.Burst, filled: now, pace: 1}
	}
	return b
}

// Wait takes a token for a call of the class. If no token is available, it waits for one. If ctx ends first, the error wraps ctx's error,
// and no token is lost.
func (b *Budget) Wait(ctx context.Context, class Class, p Priority) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("waiting for the budget of %s calls: %w", class, err)
	}
	w := b.enqueue(class, p)
	if w == nil {
		return nil
	}
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		b.leave(class, w)
		return fmt.Errorf("waiting for the budget of %s calls: %w", class, ctx.Err())
	}
}

// Throttled reports to the budget that AWS throttled a call of the class.
func (b *Budget) Throttled(class Class) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.buckets[class]
	if k == nil {
		return
	}
	now := time.Now()
	k.fill(now)
	k.tokens = 0
	// Calls in progress at the same time are refused at the same time, so the rate is halved only once for all of them.
	if now.Sub(k.throttled) > time.Second {
		k.pace = max(k.pace/2, slowest)
		k.throttled = now
	}
	b.schedule(k, now)
}

// enqueue takes a token and returns nil if the caller need not wait. Otherwise it returns the caller's waiter in the queue.
func (b *Budget) enqueue(class Class, p Priority) *waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.buckets[class]
	if k == nil {
		return nil
	}
	p = max(Background, min(p, Urgent))
	w := &waiter{ready: make(chan struct{}), priority: p, since: time.Now()}
	k.queues[p] = append(k.queues[p], w)
	b.serve(k, w.since)
	select {
	case <-w.ready:
		return nil
	default:
		return w
	}
}

// leave removes a waiter from the queue. If the waiter was served at the same moment, leave returns its token to the bucket.
func (b *Budget) leave(class Class, w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, now := b.buckets[class], time.Now()
	queue := k.queues[w.priority]
	for i := range queue {
		if queue[i] == w {
			k.queues[w.priority] = append(queue[:i:i], queue[i+1:]...)
			b.schedule(k, now)
			return
		}
	}
	k.fill(now)
	k.tokens = min(k.tokens+1, k.limit.Burst)
	b.serve(k, now)
}

// serve distributes the available tokens. It schedules its next call for the time when the next waiter can get a token.
func (b *Budget) serve(k *bucket, now time.Time) {
	k.fill(now)
	for {
		w, needed := k.next(now)
		if w == nil || k.tokens < needed {
			break
		}
		k.tokens--
		k.queues[w.priority] = k.queues[w.priority][1:]
		close(w.ready)
	}
	b.schedule(k, now)
}

// schedule sets the timer of a bucket to the time when its next waiter can be served.
func (b *Budget) schedule(k *bucket, now time.Time) {
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
	w, needed := k.next(now)
	if w == nil {
		return
	}
	wait := time.Duration(max(0, needed-k.tokens) / k.rate() * float64(time.Second))
	// A waiter that has waited for longestWait needs only one token. So the oldest waiter may become the next one before the tokens are
	// available.
	wait = min(wait, max(longestWait-now.Sub(k.oldest()), time.Millisecond))
	k.timer = time.AfterFunc(wait+time.Microsecond, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.serve(k, time.Now())
	})
}

type waiter struct {
	ready    chan struct{}
	priority Priority
	since    time.Time
}

type bucket struct {
	limit     Limit
	tokens    float64
	filled    time.Time
	pace      float64 // fraction of the limit's rate that is used now; 1 without throttling
	throttled time.Time
	queues    [priorities][]*waiter
	timer     *time.Timer
}

func (k *bucket) rate() float64 { return k.limit.PerSecond * k.pace }

// fill adds the tokens that have accumulated since the last call.
func (k *bucket) fill(now time.Time) {
	for k.pace < 1 && now.Sub(k.throttled) >= recovery {
		k.throttled = k.throttled.Add(recovery)
		k.pace = min(2*k.pace, 1)
	}
	k.tokens = min(k.tokens+now.Sub(k.filled).Seconds()*k.rate(), k.limit.Burst)
	k.filled = now
}

// next returns the next waiter and the number of tokens that the bucket must have to serve it, including those that are reserved for higher
// priorities.
func (k *bucket) next(now time.Time) (*waiter, float64) {
	var first *waiter
	for p := len(k.queues) - 1; p >= 0; p-- {
		if len(k.queues[p]) == 0 {
			continue
		}
		w := k.queues[p][0]
		if first == nil {
			first = w
		}
		if now.Sub(w.since) >= longestWait {
			return w, 1
		}
	}
	if first == nil {
		return nil, 0
	}
	return first, 1 + k.reserve(first.priority)
}

// reserve returns the number of tokens that callers of the priority leave to higher priorities.
func (k *bucket) reserve(p Priority) float64 {
	switch p {
	case Urgent:
		return 0
	case Normal:
		return min(k.limit.Burst/10, k.limit.Burst-1)
	}
	return min(k.limit.Burst/2, k.limit.Burst-1)
}

// oldest returns the arrival time of the waiter that has waited longest, or zero if nobody waits.
func (k *bucket) oldest() time.Time {
	var oldest time.Time
	for _, queue := range k.queues {
		if len(queue) > 0 && (oldest.IsZero() || queue[0].since.Before(oldest)) {
			oldest = queue[0].since
		}
	}
	return oldest
}
