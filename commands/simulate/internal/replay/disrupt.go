package replay

import (
	"fmt"
	"strings"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// notice is the time between the announcement of a spot interruption and the end of the node.
const notice = 2 * time.Minute

// interrupt handles a spot interruption: the node is emptied at once, and removed when the notice has passed.
func (e *engine) interrupt(m *instance) error {
	if e.instances[m.name] == nil || m.leaving {
		return nil
	}
	e.record.interruptions++
	e.record.happened(e.now.Sub(e.Start), EventInterruption, m.name)
	if err := e.cloud.Interrupt(m.claim.Status.ProviderID, cloudprovider.InterruptionSpotReclaim, notice); err != nil {
		return err
	}
	return e.empty(m, notice, &e.record.evictedBySpot)
}

// shrink plans consolidation, and starts the commands of the plan.
func (e *engine) shrink() error {
	e.agenda.enter(e.now.Add(e.Consolidate), e.shrink)
	if len(e.waiting) > len(e.refusedNow()) || len(e.instances) == 0 {
		return nil // plan pending pods first, except those for which the last plan had no place
	}
	v := e.view()
	if v.Revision == e.revision && len(e.moving) == 0 && !e.record.again(e.now) {
		return nil
	}
	e.revision = v.Revision
	if err := e.compile(v.Snapshot); err != nil {
		return err
	}
	fleet, err := disruption.Survey(disruption.Input{View: v, Model: e.model, Executing: e.moving})
	if err != nil {
		return err
	}
	planner := e.Disruption
	planner.Query, planner.ValidationDelay, planner.Work = e.Query, new(time.Duration), &e.Work
	plan, err := planner.Plan(e.ctx, fleet)
	if err != nil {
		return err
	}
	e.record.looks++
	e.record.lookAgain = plan.Again
	for _, cmd := range plan.Commands {
		if err := e.carryOut(v, cmd); err != nil {
			return err
		}
	}
	return nil
}

// carryOut launches the replacements of a command, and empties the old nodes when the replacements are ready.
func (e *engine) carryOut(v *cluster.View, cmd *disruption.Command) error {
	var members []*instance
	for _, name := range cmd.Nodes() {
		if m := e.instances[name]; m != nil && !m.leaving {
			members = append(members, m)
			e.moving[name] = cmd.ID
		}
	}
	finish := func() error {
		for _, m := range members {
			delete(e.moving, m.name)
			if e.instances[m.name] == nil || m.leaving {
				continue
			}
			if err := e.empty(m, e.Drain, &e.record.evictedByPlan); err != nil {
				return err
			}
		}
		return nil
	}
	launch := &scheduling.Plan{}
	for _, r := range cmd.Replacements {
		if r.Node != nil {
			launch.NewNodes = append(launch.NewNodes, *r.Node)
		}
	}
	orders, err := provisioning.Decide(v.Snapshot, launch, provisioning.PassOptions{DeviceMatcher: e.DeviceMatcher})
	if err != nil {
		return err
	}
	e.record.commands++
	e.record.happened(e.now.Sub(e.Start), EventCommand, fmt.Sprintf("%s %s, %d launched", cmd.Decision(), strings.Join(cmd.Nodes(), ", "), len(orders.Launches)))
	awaited := 0
	for i := range orders.Launches {
		m, err := e.launch(orders.Launches[i].Claim)
		if err != nil {
			return err
		}
		if m == nil { // no capacity in the cloud: all nodes stay
			for _, member := range members {
				delete(e.moving, member.name)
			}
			return nil
		}
		awaited++
		m.readied = func() error {
			if awaited--; awaited > 0 {
				return nil
			}
			return finish()
		}
	}
	if awaited == 0 {
		return finish()
	}
	return nil
}

// empty makes the pods of a node pending, and removes the node after the given time.
func (e *engine) empty(m *instance, after time.Duration, evicted *int) error {
	m.leaving = true
	delete(e.moving, m.name)
	e.state.Mark(m.name)
	for _, key := range sortedNames(m.pods) {
		p := m.pods[key]
		*evicted++
		delete(m.pods, key)
		e.record.unbound(p)
		p.on, p.since = nil, e.now
		if err := e.state.Apply(e.devices.free(p.object)...); err != nil {
			return err
		}
		p.object = unbound(p.object.DeepCopy())
		e.waiting[key] = p
		if err := e.await(p); err != nil {
			return err
		}
	}
	e.agenda.enter(e.now.Add(after), func() error { return e.remove(m) })
	return nil
}

// remove removes a node from the fleet.
func (e *engine) remove(m *instance) error {
	if e.instances[m.name] == nil {
		return nil
	}
	delete(e.instances, m.name)
	if err := cloudprovider.IgnoreNodeClaimNotFound(e.cloud.Delete(e.ctx, m.claim)); err != nil {
		return err
	}
	events := []cluster.Event{cluster.Delete(m.claim)}
	if m.ready {
		events = append(events, cluster.Delete(nodeOf(m.claim, e.now)))
		events = append(events, e.devices.withdraw(m.name)...)
	}
	return e.state.Apply(events...)
}
