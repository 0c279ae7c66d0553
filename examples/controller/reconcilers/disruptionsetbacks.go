package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// holdBack reports whether the command must not start now, because the launch rate limiter or overRate does not allow its replacements. In
// that case the command is not started, and its nodes are not disrupted until launches are allowed.
func (d *disruptor) holdBack(cmd *disruption.Command) bool {
	var prices []float64
	for i := range cmd.Replacements {
		price := 0.0
		if node := cmd.Replacements[i].Node; node != nil && len(node.InstanceTypes) > 0 {
			price = node.InstanceTypes[0].Price
		}
		prices = append(prices, price)
	}
	why := d.overRate(cmd)
	var limited *provisioning.RateLimitError
	if why == nil && errors.As(d.rateLimiter.Allows(prices, d.now()), &limited) {
		why = &disruption.HeldBackError{Until: limited.RetryAt, Why: limited.Error()}
	}
	if why == nil {
		return false
	}
	d.refusals.Failed(cmd, why, d.now())
	d.log.Info("deferred disruption command", "command", cmd.ID, "description", cmd.String(), "until", why.Until, "reason", why.Why)
	d.told.take(cmd.HeldBackSamples())
	d.publish(cmd.HeldBackEvents(why))
	return true
}

// overRateFor is how long nodes are not disrupted after overRate has held back their command.
const overRateFor = 10 * time.Minute

// overRate holds back a command that launches more nodes than NodesPerMinute allows: some nodes would be launched, and would then wait for
// the others. Planners that know the limit return no such command. Only commands with the reason Underutilized are held back.
func (d *disruptor) overRate(cmd *disruption.Command) *disruption.HeldBackError {
	most := d.options.nodesPerMinute
	if most <= 0 || len(cmd.Replacements) <= most || cmd.Reason != disruption.ReasonUnderutilized {
		return nil
	}
	return &disruption.HeldBackError{
		Until: d.now().Add(overRateFor),
		Why:   fmt.Sprintf("the command launches %d new nodes, and NodesPerMinute is %d: plan smaller commands, or raise the bound", len(cmd.Replacements), most),
	}
}

// setBack remembers a failed command, so that it is not started and undone again and again.
func (d *disruptor) setBack(cmd *disruption.Command, err error) {
	d.refusals.Failed(cmd, err, d.now())
	if !errors.Is(err, disruption.ErrHistory) {
		return
	}
	pools := map[v1.PoolKey]bool{}
	for i := range cmd.Members {
		pools[cmd.Members[i].Pool] = true
	}
	for pool := range pools {
		d.notSaved(pool, unsavedHistory{failures: closedAfter - 1}, err)
	}
	wake(d.moved)
}

// unsavedHistory records how often in a row a pool's history could not be stored, and when to retry.
type unsavedHistory struct {
	failures int
	next     time.Time
}

const (
	// closedAfter is the number of failed attempts to store a pool's history after which the pool's nodes are no longer disrupted. After a
	// restart, budgets and cool-downs would not count these disruptions.
	closedAfter = 3
	// saveMost is the longest wait between two attempts.
	saveMost = 5 * time.Minute
)

// forcedOut records a forced disruption, with the price of the instance.
func (d *disruptor) forcedOut(started disruption.Disruption) {
	started.Price = d.priceOf(started.Pool, started.Labels)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note(started)
	if _, known := d.unsaved[started.Pool]; !known {
		d.unsaved[started.Pool] = unsavedHistory{}
	}
	wake(d.moved)
}

// saveUnsaved stores unsaved histories of pools, and returns when to retry failed writes; 0 means that no write failed.
func (d *disruptor) saveUnsaved(ctx context.Context) time.Duration {
	d.mu.Lock()
	pools := maps.Clone(d.unsaved)
	d.mu.Unlock()
	again, now := time.Duration(0), d.now()
	for pool, known := range pools {
		if wait := known.next.Sub(now); wait > 0 {
			again = sooner(again, wait)
			continue
		}
		if err := d.saveHistory(ctx, pool); err != nil {
			again = sooner(again, d.notSaved(pool, known, err))
			continue
		}
		d.mu.Lock()
		delete(d.unsaved, pool)
		d.mu.Unlock()
		if known.failures >= closedAfter {
			d.log.Info("stored disruption history after several failures", "nodePool", pool.String(), "failures", known.failures)
			d.refusals.OpenPool(pool)
			d.forget()
		}
	}
	return again
}

// notSaved records that the history of a pool could not be stored, and returns when to try again. known has the number of earlier failures.
func (d *disruptor) notSaved(pool v1.PoolKey, known unsavedHistory, err error) time.Duration {
	known.failures++
	wait := min(time.Second<<min(known.failures-1, 16), saveMost)
	known.next = d.now().Add(wait)
	d.mu.Lock()
	d.unsaved[pool] = known
	d.mu.Unlock()
	if known.failures < closedAfter {
		return wait
	}
	why := fmt.Sprintf("its disruption history could not be stored, %d times in a row: %v", known.failures, err)
	// The pool is closed until some time after the next attempt. If that attempt succeeds, the pool is opened again.
	d.refusals.ClosePool(pool, why, known.next.Add(time.Minute))
	d.log.Warn("cannot store disruption history, disrupting no nodes of the NodePool until it is stored", "nodePool", pool.String(), "failures", known.failures, "retryAfter", wait, "error", err)
	d.publish([]disruption.Event{{
		Kind: v1.KindNodePool, Name: pool.String(), Warning: true, Reason: disruption.EventDisruptionBlocked, Identity: "history", Message: "no node is disrupted: " + why,
	}})
	d.forget()
	return wait
}
