package adoption

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is a lock of a leader election that nobody gets while Karpenter acts, and that a leader loses when Karpenter is started
// again. It is made for one election and needs all of its fields but First.
type Lock struct {
	resourcelock.Interface
	// Guard says whether Karpenter acts.
	Guard *Guard
	// First is called, again until it succeeds, before the lock is first asked for; never says that the lock does not
	// exist, so that nobody has ever held it. Nil: nothing is to be done first.
	First func(ctx context.Context, never bool) error
	// Lost is called when the lock is had and Karpenter acts: an election alone would go on for its renewal deadline, with two
	// controllers at work. Nil: the election ends by itself then.
	Lost func(*HeldError)

	mu   sync.Mutex
	done bool
	// held is true from the moment that the lock is had until it is given away.
	held bool
}

// Get reads the lock. Anyone who has it may do so always, to give it away.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if !l.leads() {
		if err := l.Guard.Check(ctx); err != nil {
			return nil, nil, err
		}
	}
	record, raw, err := l.Interface.Get(ctx)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, nil, err
	}
	if first := l.first(ctx, err != nil); first != nil {
		return nil, nil, first
	}
	return record, raw, err
}

func (l *Lock) first(ctx context.Context, never bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.First == nil || l.done {
		return nil
	}
	if err := l.First(ctx, never); err != nil {
		return err
	}
	l.done = true
	return nil
}

// check asks the guard, and tells of Karpenter where that makes a difference.
func (l *Lock) check(ctx context.Context) error {
	err := l.Guard.Check(ctx)
	var held *HeldError
	if errors.As(err, &held) && l.Lost != nil && l.leads() {
		l.Lost(held)
	}
	return err
}

func (l *Lock) leads() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

func (l *Lock) has(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
}

// Create takes a lock that does not exist.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.check(ctx); err != nil {
		return err
	}
	err := l.Interface.Create(ctx, record)
	if err == nil {
		l.has(true)
	}
	return err
}

// Update takes or keeps the lock. To give it away is always allowed.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.has(false)
		return l.giveAway(ctx, record)
	}
	if err := l.check(ctx); err != nil {
		return err
	}
	err := l.Interface.Update(ctx, record)
	if err == nil {
		l.has(true)
	}
	return err
}

// giveAway gives the lock away. A renewal that was in progress when its holder was told to end may arrive after the lock was read: it is
// read again then, lest a successor wait until it runs out.
func (l *Lock) giveAway(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	for {
		err := l.Interface.Update(ctx, record)
		if !apierrors.IsConflict(err) {
			return err
		}
		there, _, readErr := l.Interface.Get(ctx)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		if there.HolderIdentity != l.Identity() {
			return err // a successor has it
		}
	}
}
