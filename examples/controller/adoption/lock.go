package adoption

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is a leader election lock that can't be acquired while Karpenter acts, and that a leader loses when Karpenter is started
// again. Use one Lock for one election; all fields except First are required.
type Lock struct {
	resourcelock.Interface
	// Guard checks whether Karpenter acts.
	Guard *Guard
	// First is called before the first attempt to acquire the lock. If First fails, the lock is not acquired, and First is called again at
	// the next attempt. never is true if the lock object does not exist, so no process has ever held it. Nil means that nothing is called.
	First func(ctx context.Context, never bool) error
	// Lost is called when Karpenter starts to act while this process holds the lock. Without Lost, this process would act until its renewal
	// deadline, at the same time as Karpenter. Nil means that nothing is called, and the election ends by itself.
	Lost func(*HeldError)

	mu   sync.Mutex
	done bool
	// held is true while this process holds the lock.
	held bool
}

// Get reads the lock. The holder may always read it, to release it.
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

// check asks the guard, and calls Lost if Karpenter acts while the lock is held.
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

// Create creates and acquires a lock that does not exist.
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

// Update acquires, renews or releases the lock. Releasing is always allowed.
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

// giveAway releases the lock. A renewal in progress may be stored after the lock was read. Then the lock is read again, so that a successor
// need not wait until the lock expires.
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
			return err // a successor holds the lease
		}
	}
}
