package reconcilers

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// publish publishes disruption events.
func (d *disruptor) publish(list []disruption.Event) { publishDisruption(d.recorder, list) }

func publishDisruption(r *recorder, list []disruption.Event) {
	for i := range list {
		e := &list[i]
		r.publishAs(e.Identity, provisioning.Event{
			Kind: e.Kind, Namespace: e.Namespace, Name: e.Name, UID: e.UID, Warning: e.Warning, Reason: provisioning.EventReason(e.Reason),
			Message: e.Message, Every: e.Every,
		})
	}
}

// publishPlan says why nodes stay or are removed: in events, in the report, and optionally in the log.
func (d *disruptor) publishPlan(fleet *disruption.Fleet, plan *disruption.Plan) {
	d.publish(plan.Events(fleet))
	tracker, err := disruption.NewBudgetTracker(fleet)
	if err != nil {
		d.log.Error("cannot read disruption budgets, leaving their metrics and the report unchanged", "error", err) // the planner has also reported this error
		return
	}
	d.told.show(tracker.Samples(), disruption.MetricAllowedDisruptions, disruption.MetricConsumingBudgets)
	d.told.show(d.backOff.Samples(d.now()), disruption.MetricBackOffSeconds)
	d.publish(tracker.Events())
	news := d.report.update(plan, tracker.PoolUses())
	if !d.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	for _, v := range news {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error())
		}
		d.log.Debug("computed verdict", "node", v.Node, "description", v.String(), "verdict", json.RawMessage(text))
	}
}

// reportRejection reports that a command was no longer valid when it was about to start.
func (d *disruptor) reportRejection(cmd *disruption.Command, err error) {
	d.told.take(cmd.RejectionSamples())
	d.publish(cmd.RejectionEvents(err))
}
