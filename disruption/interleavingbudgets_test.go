package disruption_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// rule is a budget as the test of interleavings counts it, by itself: which nodes it is about, what it counts, and when.
type rule struct {
	name string
	// reasons that it holds; nil for all.
	reasons []disruption.Reason
	about   func(pool v1.PoolKey, zone string, set map[string]string) bool
	unit    disruption.Unit
	amount  float64
	percent bool
	window  time.Duration
	// from and until are the minutes of each hour, by UTC, in which it counts; both 0 for always.
	from, until int
	// full counts the starts after which nothing more had room.
	full int
}

// drawBudgets draws what NodePools state and what Input.Budgets do, in place of what the world has.
func (c *cell) drawBudgets() {
	rt := c.rt
	for _, name := range []string{"default", "other"} {
		key, list := v1.NewPoolKey(name), []v1.Budget{}
		for i := range rapid.IntRange(0, 1).Draw(rt, "pool budgets") {
			r := rule{name: fmt.Sprintf("%s %d", name, i), unit: disruption.UnitNodes, about: func(pool v1.PoolKey, _ string, _ map[string]string) bool { return pool == key }}
			r.amount = float64(rapid.SampledFrom([]int{2, 1, 3, 2, 1, 4, 0}).Draw(rt, "nodes"))
			b := v1.Budget{Nodes: fmt.Sprint(r.amount)}
			if rapid.Bool().Draw(rt, "percent") {
				r.percent, r.amount = true, r.amount*20
				b.Nodes = fmt.Sprintf("%g%%", r.amount)
			}
			if rapid.IntRange(0, 3).Draw(rt, "scheduled") == 0 {
				schedule, duration := "0 * * * *", v1.NewDuration(20*time.Minute)
				b.Schedule, b.Duration, r.from, r.until = &schedule, &duration, 0, 20
			}
			if rapid.IntRange(0, 3).Draw(rt, "with reasons") == 0 {
				r.reasons = []disruption.Reason{rapid.SampledFrom([]disruption.Reason{disruption.ReasonEmpty, disruption.ReasonUnderutilized, disruption.ReasonDrifted}).Draw(rt, "reason")}
				b.Reasons = []v1.DisruptionReason{v1.DisruptionReason(r.reasons[0])}
			}
			list = append(list, b)
			c.books = append(c.books, r)
		}
		c.pool(name, budgets(list...))
	}
	for i := range rapid.IntRange(0, 2).Draw(rt, "budgets") {
		c.drawBudget(fmt.Sprintf("own %d", i))
	}
}

// drawBudget draws one of Input.Budgets: scope, unit, window and calendar.
func (c *cell) drawBudget(name string) {
	rt := c.rt
	b := disruption.Budget{Name: name, Unit: rapid.SampledFrom([]disruption.Unit{disruption.UnitNodes, disruption.UnitPods, disruption.UnitPrice}).Draw(rt, "unit")}
	r := rule{name: name, unit: b.Unit}
	b.Amount = map[disruption.Unit]float64{disruption.UnitNodes: 1, disruption.UnitPods: 2, disruption.UnitPrice: 0.25}[b.Unit] * float64(rapid.SampledFrom([]int{2, 1, 3, 2, 1, 4, 0}).Draw(rt, "amount"))
	if rapid.IntRange(0, 2).Draw(rt, "share") == 0 {
		b.Percent, b.Amount = true, float64(rapid.IntRange(1, 6).Draw(rt, "tenths")*10)
	}
	r.amount, r.percent = b.Amount, b.Percent
	if rapid.Bool().Draw(rt, "rate") {
		b.Window = rapid.SampledFrom([]time.Duration{time.Minute, 10 * time.Minute, time.Hour}).Draw(rt, "window")
		r.window = b.Window
	}
	switch rapid.IntRange(0, 3).Draw(rt, "scope") {
	case 0:
		r.about = func(v1.PoolKey, string, map[string]string) bool { return true }
	case 1:
		b.Scope.Pool = v1.NewPoolKey("other")
		r.about = func(pool v1.PoolKey, _ string, _ map[string]string) bool { return pool.Name == "other" }
	case 2:
		b.Scope.Zone = "a"
		r.about = func(_ v1.PoolKey, zone string, _ map[string]string) bool { return zone == "a" }
	case 3:
		b.Scope.Labels = labels.SelectorFromSet(labels.Set{v1.CapacityTypeLabelKey: v1.CapacityTypeSpot})
		r.about = func(_ v1.PoolKey, _ string, set map[string]string) bool {
			return set[v1.CapacityTypeLabelKey] == v1.CapacityTypeSpot
		}
	}
	if rapid.IntRange(0, 3).Draw(rt, "calendar") == 0 {
		calendar, err := disruption.ParseCalendar("0 * * * *", 20*time.Minute, "Asia/Kolkata") // half an hour off UTC
		if err != nil {
			rt.Fatal(err)
		}
		b.Calendar, r.from, r.until = calendar, 30, 50
	}
	c.books = append(c.books, r)
	c.input.Budgets = append(c.input.Budgets, b)
}

// priceOf is what the catalog of drawnWorld says.
func priceOf(n *scheduling.Node) float64 {
	spot := n.Object.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeSpot
	for name, prices := range map[string][2]float64{"c2": {0.1, 0.04}, "c4": {0.2, 0.07}, "c8": {0.4, 0.15}, "c16": {0.75, 0}} {
		if n.Object.Labels[corev1.LabelInstanceTypeStable] == name {
			if spot {
				return prices[1]
			}
			return prices[0]
		}
	}
	return 0
}

func (r *rule) counted(pods int, price float64) float64 {
	switch r.unit {
	case disruption.UnitPods:
		return float64(pods)
	case disruption.UnitPrice:
		return price
	}
	return 1
}

// drawRate adds a budget of a node or two in some minutes.
func (c *cell) drawRate() {
	b := disruption.Budget{
		Name: "rate", Unit: disruption.UnitNodes, Amount: float64(rapid.IntRange(1, 2).Draw(c.rt, "so many")),
		Window: rapid.SampledFrom([]time.Duration{10 * time.Minute, 5 * time.Minute, time.Minute}).Draw(c.rt, "in"),
	}
	r := rule{name: b.Name, unit: b.Unit, amount: b.Amount, window: b.Window, about: func(v1.PoolKey, string, map[string]string) bool { return true }}
	switch rapid.IntRange(0, 3).Draw(c.rt, "where") {
	case 0:
		b.Scope.Zone = "a"
		r.about = func(_ v1.PoolKey, zone string, _ map[string]string) bool { return zone == "a" }
	case 1:
		b.Scope.Labels = labels.SelectorFromSet(labels.Set{v1.CapacityTypeLabelKey: v1.CapacityTypeSpot})
		r.about = func(_ v1.PoolKey, _ string, set map[string]string) bool {
			return set[v1.CapacityTypeLabelKey] == v1.CapacityTypeSpot
		}
	}
	if rapid.Bool().Draw(c.rt, "of empty ones") {
		b.Reasons = []disruption.Reason{disruption.ReasonEmpty}
		r.reasons = b.Reasons
	}
	c.books = append(c.books, r)
	c.input.Budgets = append(c.input.Budgets, b)
}

// DIS-198, DIS-202: so it is where nothing but budgets is in the way of anything: of a pool of empty nodes as many go as these let,
// again and again as time passes and other nodes have to go.
func TestInterleavingsOfEmptyNodes(t *testing.T) {
	starts, full := 0, 0
	seeded.Check(t, func(rt *rapid.T) {
		w := newWorld()
		w.catalog("all", instanceType("c2", 2, "on-demand=0.1", "spot=0.04"), instanceType("c4", 4, "on-demand=0.2", "spot=0.07"))
		w.pool("other")
		for i := range rapid.IntRange(4, 8).Draw(rt, "nodes") {
			more := []nodeOption{ofPool(rapid.SampledFrom([]string{"default", "other"}).Draw(rt, "pool")), labelled(corev1.LabelTopologyZone, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "zone"))}
			if rapid.Bool().Draw(rt, "spot") {
				more = append(more, bought("spot"))
			}
			w.node(fmt.Sprintf("n-%d", i), rapid.SampledFrom([]string{"c2", "c4"}).Draw(rt, "type"), more...)
		}
		c := &cell{world: w, rt: rt, now: now(), claims: map[string][]disruption.ReplacementState{}, begun: map[string]bool{}, planner: &disruption.Reference{ValidationDelay: new(time.Duration)}}
		if rapid.IntRange(0, 2).Draw(rt, "more") == 0 {
			c.drawBudgets()
		}
		c.drawRate()
		for range rapid.IntRange(10, 40).Draw(rt, "actions") {
			switch list := c.queue.Executions(); rapid.SampledFrom([]string{"go", "go", "wait", "force"}).Draw(rt, "action") {
			case "go":
				c.planMore(t)
				for _, e := range list {
					c.step(t, e)
				}
			case "wait":
				c.now = c.now.Add(rapid.SampledFrom([]time.Duration{20 * time.Second, 35 * time.Second, 3 * time.Minute, 6 * time.Minute, 31 * time.Minute}).Draw(rt, "time"))
			case "force":
				c.force()
			}
		}
		starts += c.starts
		for i := range c.books {
			full += c.books[i].full
		}
	})
	t.Logf("%d commands begun; budgets used up %d times", starts, full)
}

// concerns reports whether the node draws on the budget.
func (r *rule) concerns(n *scheduling.Node) bool {
	return r.about(n.Pool, n.Object.Labels[corev1.LabelTopologyZone], n.Object.Labels) && r.counted(len(n.Pods), priceOf(n)) > 0
}

// exceeded says how the budget is overdrawn after something was begun for the reason; empty when it is not.
func (r *rule) exceeded(c *cell, reason disruption.Reason) string {
	if minute := c.now.UTC().Minute(); r.until > 0 && (minute < r.from || minute >= r.until) {
		return ""
	}
	holds := func(reason disruption.Reason) bool { return r.reasons == nil || slices.Contains(r.reasons, reason) }
	if !holds(reason) {
		return ""
	}
	total, used := 0.0, 0.0
	for i := range c.snapshot.Nodes {
		n := &c.snapshot.Nodes[i]
		if !r.about(n.Pool, n.Object.Labels[corev1.LabelTopologyZone], n.Object.Labels) {
			continue
		}
		amount := r.counted(len(n.Pods), priceOf(n))
		if total += amount; r.window == 0 && c.atWork(n) {
			used += amount
		}
	}
	for _, d := range c.input.History {
		forced := d.Reason == disruption.ReasonExpired || d.Reason == disruption.ReasonInterrupted
		if r.window > 0 && c.now.Sub(d.Time) < r.window && r.about(d.Pool, d.Zone, d.Labels) && (forced || holds(d.Reason)) {
			used += r.counted(d.Pods, d.Price)
		}
	}
	allowed := r.amount
	if r.percent {
		if allowed = total * r.amount / 100; r.unit != disruption.UnitPrice {
			allowed = math.Ceil(allowed - 1e-9)
		}
	}
	if used > allowed-1 {
		r.full++
	}
	if used <= allowed+1e-6 {
		return ""
	}
	return fmt.Sprintf("%g of the %g %s that budget %q allows are in use", used, allowed, r.unit, r.name)
}
