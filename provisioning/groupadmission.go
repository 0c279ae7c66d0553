package provisioning

import (
	"context"
	"fmt"
	"time"
)

// GroupError is an order that was not executed because another order of its group can't be.
type GroupError struct {
	// Group as in Launch.Group.
	Group string
	// Err is why the other order was refused: a *limits.ExceededError or a *RateLimitError, or the context's error.
	Err error
}

// Error names the group and the cause.
func (e *GroupError) Error() string {
	return fmt.Sprintf("launch group %s needs all of its nodes: %v", e.Group, e.Err)
}

// Unwrap returns the cause.
func (e *GroupError) Unwrap() error { return e.Err }

// admitGroups asks the limits and the launch rate limiter for each group of orders as a whole, and returns the error of each group, nil for
// groups that may be launched. It asks for groups in the order of their first orders, before orders without a group.
func (l *Launcher) admitGroups(ctx context.Context, pass string, orders []Launch, now time.Time) map[string]error {
	var names []string
	members := map[string][]int{}
	for i := range orders {
		if name := orders[i].Group; name != "" {
			if members[name] == nil {
				names = append(names, name)
			}
			members[name] = append(members[name], i)
		}
	}
	out := make(map[string]error, len(names))
	for _, name := range names {
		out[name] = nil
		if err := l.admitGroup(ctx, pass, orders, members[name], now); err != nil {
			out[name] = &GroupError{Group: name, Err: err}
		}
	}
	return out
}

// admitGroup admits all of the orders or none.
func (l *Launcher) admitGroup(ctx context.Context, pass string, orders []Launch, members []int, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tokens, prices := make([]string, len(members)), make([]float64, len(members))
	for i, at := range members {
		tokens[i], prices[i] = tokenOf(pass, at), orders[at].Price
	}
	release := func(until int) {
		for _, token := range tokens[:until] {
			l.release(token)
		}
	}
	if l.options.Limits != nil {
		for i, at := range members {
			if err := l.options.Limits.Reserve(orders[at].Pool, tokens[i], orders[at].Capacity); err != nil {
				release(i)
				return err
			}
		}
	}
	if limiter := l.options.RateLimiter; limiter != nil {
		if err := limiter.admitTogether(tokens, prices, now); err != nil {
			release(len(tokens))
			return err
		}
	}
	return nil
}

// admitTogether admits the launches together, as Allows describes, or none of them.
func (g *RateLimiter) admitTogether(ids []string, prices []float64, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(now)
	known := map[string]bool{}
	for _, a := range g.admitted {
		known[a.id] = true
	}
	var added []admission
	sum := 0.0
	for i, id := range ids {
		if !known[id] {
			added = append(added, admission{id: id, at: now, price: prices[i]})
			sum += prices[i]
		}
	}
	if len(added) == 0 {
		return nil
	}
	for _, refusal := range []*RateLimitError{g.together(len(added), now), g.costIncrease(sum, now), g.failureRate(sum, now)} {
		if refusal != nil {
			return refusal
		}
	}
	if rate, known := g.rate(); known && g.tooMany(rate) {
		g.probing = added[0].id
	}
	g.admitted = append(g.admitted, added...)
	return nil
}
