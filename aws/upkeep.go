package aws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/drawknife/drawknife/aws/internal/zonalshift"
)

const (
	// sweepEvery is how often unused launch templates are deleted.
	sweepEvery = time.Minute
	// recheckEvery is how often to check whether AWS has withdrawn the newest images.
	recheckEvery = 30 * time.Minute
	// shortestPause is the minimum pause of a loop, even if the next call is due earlier.
	shortestPause = time.Second
)

// upkeep records when tasks without their own timer were last done.
type upkeep struct {
	mu       sync.Mutex
	shifted  time.Time
	swept    time.Time
	checked  time.Time
	hydrated bool
	shiftErr error // error of the last read of zonal shifts
	noWarm   bool  // the last list had no warm instances, and no instance was kept warm since then
	kept     int   // number of instances that this process has kept warm so far
}

// due reports whether the given duration has passed since the time *last. If it has passed, due sets *last to the present time.
func (u *upkeep) due(last *time.Time, every time.Duration, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !last.IsZero() && now.Sub(*last) < every {
		return false
	}
	*last = now
	return true
}

// Refresh reads types, zones, prices, commitments and zonal shifts again when they are due. It also reads instances if interruptions are
// received without Options.FindInstance. It returns the time for its next call. Data that could not be read stays unchanged, and the error
// joins all failures. Every replica must call it; Run calls it in a loop.
func (p *Provider) Refresh(ctx context.Context) (next time.Time, err error) {
	duties := []func() (time.Time, error){
		func() (time.Time, error) { return p.discovery.Refresh(ctx) },
		func() (time.Time, error) { return p.prices.Refresh(ctx) },
		func() (time.Time, error) { return p.refreshInstances(ctx) },
	}
	if p.shifts != nil {
		duties = append(duties, func() (time.Time, error) { return p.pollShifts(ctx) })
	}
	if p.committed != nil {
		duties = append(duties, func() (time.Time, error) { return p.refreshCommitments(ctx) })
	}
	times, errs := make([]time.Time, len(duties)), make([]error, len(duties))
	var working sync.WaitGroup
	for n, duty := range duties {
		working.Go(func() { times[n], errs[n] = duty() })
	}
	working.Wait()
	for _, t := range times {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next, errors.Join(errs...)
}

func (p *Provider) pollShifts(ctx context.Context) (time.Time, error) {
	now := p.now()
	if !p.upkeep.due(&p.upkeep.shifted, zonalshift.Period, now) {
		p.upkeep.mu.Lock()
		defer p.upkeep.mu.Unlock()
		return p.upkeep.shifted.Add(zonalshift.Period), nil
	}
	change, err := p.shifts.Poll(ctx)
	p.upkeep.mu.Lock()
	p.upkeep.shiftErr = err
	p.upkeep.mu.Unlock()
	if len(change.Started)+len(change.Ended) > 0 {
		p.log.Warn("found changed zonal shifts", "started", change.Started, "ended", change.Ended)
	}
	return now.Add(zonalshift.Period), err
}

// Maintain cleans up resources other than instances: it lists the existing launch templates once, and deletes unused ones. It also forgets
// images that AWS has withdrawn, so that node classes find the newest available images. It returns the time for its next call. Only the
// replica that launches may call it, because only that replica knows which templates are used; Lead calls it in a loop. CollectOrphans and
// CollectInstanceProfiles need objects of the cluster and must be called separately.
func (p *Provider) Maintain(ctx context.Context) (next time.Time, err error) {
	now := p.now()
	if !p.upkeep.due(&p.upkeep.swept, sweepEvery, now) {
		p.upkeep.mu.Lock()
		defer p.upkeep.mu.Unlock()
		return p.upkeep.swept.Add(sweepEvery), nil
	}
	next = now.Add(sweepEvery)
	p.upkeep.mu.Lock()
	hydrated := p.upkeep.hydrated
	p.upkeep.mu.Unlock()
	if !hydrated {
		if err := p.templates.Hydrate(ctx); err != nil {
			return next, fmt.Errorf("finding launch templates: %w", err)
		}
		p.upkeep.mu.Lock()
		p.upkeep.hydrated = true
		p.upkeep.mu.Unlock()
	}
	var errs []error
	if _, err := p.templates.Sweep(ctx); err != nil {
		errs = append(errs, fmt.Errorf("deleting unused launch templates: %w", err))
	}
	if err := p.tendWarm(ctx); err != nil {
		errs = append(errs, fmt.Errorf("managing warm instances: %w", err))
	}
	if p.upkeep.due(&p.upkeep.checked, recheckEvery, now) {
		if _, err := p.images.Recheck(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	return next, errors.Join(errs...)
}

// Run calls Refresh whenever something is due. It returns ctx's error when ctx ends. Errors are logged.
func (p *Provider) Run(ctx context.Context) error { return p.loop(ctx, "refresh", p.Refresh) }

// Lead calls Maintain whenever something is due. It returns ctx's error when ctx ends. Errors are logged.
func (p *Provider) Lead(ctx context.Context) error { return p.loop(ctx, "maintenance", p.Maintain) }

func (p *Provider) loop(ctx context.Context, task string, duty func(context.Context) (time.Time, error)) error {
	for {
		next, err := duty(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.log.Error("cannot complete upkeep, retrying", "task", task, "error", err)
		}
		pause := time.Hour // the pause if it is not known when the next call is due
		if !next.IsZero() {
			pause = next.Sub(p.now())
		}
		timer := time.NewTimer(max(pause, shortestPause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
