package refresh

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Answers caches AWS's answers to repeated queries, by key. If several callers need an answer, one asks AWS and the other callers use its
// answer. After a failure, Answers does not ask AWS for one second. This pause doubles with each further failure, up to Every. The zero
// value is not usable: set Every, Remember and Now. It is safe for concurrent use and must not be copied; no lock is held while AWS is
// asked.
type Answers[T any] struct {
	// Every is how long an answer is used without asking again.
	Every time.Duration
	// Remember is how long an answer is used while AWS does not answer; at least Every.
	Remember time.Duration
	// Now is the clock.
	Now func() time.Time

	asking Turns[string]
	mu     sync.Mutex
	known  map[string]kept[T]
}

// kept is the last answer of AWS, and the failures since that answer.
type kept[T any] struct {
	at       time.Time // time of the answer; zero without an answer
	value    T
	failures int // number of failures in a row since the answer
	err      error
	again    time.Time // when to ask again after a failure
}

// Get returns the answer to the query with this key. ask asks AWS. While AWS does not answer, Get returns the last answer together with the
// error; ok is false if there was no answer yet. The value is shared and must not be changed.
func (a *Answers[T]) Get(ctx context.Context, key string, ask func(context.Context) (T, error)) (value T, ok bool, err error) {
	if k, current := a.current(key); current {
		return a.result(k)
	}
	end, err := a.asking.Begin(ctx, key)
	if err != nil {
		return value, false, err
	}
	defer end()
	if k, current := a.current(key); current { // another caller has asked in the meantime
		return a.result(k)
	}
	at := a.Now()
	got, err := ask(ctx)
	if err != nil && ctx.Err() != nil {
		return value, false, err // an ended context says nothing about AWS
	}
	return a.result(a.learn(key, at, got, err))
}

// Change replaces the value of a known answer, if the caller knows of a change since that answer. It does nothing if no answer is known.
func (a *Answers[T]) Change(key string, change func(T) T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k, ok := a.known[key]; ok && !k.at.IsZero() {
		k.value = change(k.value)
		a.known[key] = k
	}
}

func (a *Answers[T]) current(key string) (kept[T], bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, now := a.known[key], a.Now()
	return k, k.err == nil && !k.at.IsZero() && now.Sub(k.at) < a.Every || k.err != nil && now.Before(k.again)
}

func (a *Answers[T]) learn(key string, at time.Time, value T, err error) kept[T] {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]kept[T]{}
	}
	maps.DeleteFunc(a.known, func(_ string, k kept[T]) bool {
		return at.Sub(k.at) >= a.Remember && !at.Before(k.again.Add(a.Every))
	})
	k := a.known[key]
	if err == nil {
		k = kept[T]{at: at, value: value}
	} else {
		k.failures++
		k.err, k.again = err, at.Add(min(DefaultBackoff<<min(k.failures-1, 10), a.Every))
	}
	a.known[key] = k
	return k
}

func (a *Answers[T]) result(k kept[T]) (value T, ok bool, err error) {
	if k.at.IsZero() || k.err != nil && a.Now().Sub(k.at) >= a.Remember {
		return value, false, k.err
	}
	return k.value, true, k.err
}
