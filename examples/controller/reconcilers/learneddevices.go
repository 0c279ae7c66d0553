package reconcilers

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/learned"
)

// eventDevicesLearned is the reason of the event on a NodePool whose nodes have published other devices than their instance type states.
// Plans then use the published devices.
const eventDevicesLearned provisioning.EventReason = "DevicesLearned"

// If nodes publish other devices than their instance types state, deviceTemplates makes plans use the published devices.
type deviceTemplates struct {
	corrector learned.Corrector
	last      atomic.Pointer[learnedPools]
}

// learnedPools contains the last learned devices, with the annotations from which they were read.
type learnedPools struct {
	corrections learned.Corrections
	problems    []error
	from        map[v1.PoolKey]string
}

// correctDevices corrects the instance types of a view and of its pools.
func (p *planner) correctDevices(view *cluster.View, set *provisioning.PoolSet) {
	if !p.options.Features.Devices {
		return
	}
	s := view.Snapshot
	corrections, problems := p.devices.corrector.Learn(s)
	next := &learnedPools{corrections: corrections, problems: problems, from: map[v1.PoolKey]string{}}
	for i := range s.NodePools {
		next.from[s.NodePools[i].Identity()] = s.NodePools[i].Object.Annotations[v1.LearnedDevicesAnnotationKey]
	}
	if last := p.devices.last.Swap(next); len(problems) > 0 && (last == nil || len(last.problems) == 0) {
		for _, problem := range problems {
			p.log.Error("cannot read learned devices, planning without them", "error", problem)
		}
	}
	p.devices.corrector.Apply(s, corrections)
	set.NodePools, set.Catalogs = s.NodePools, s.Catalogs
}

// keepLearned stores the learned devices of the last view in the pool's annotation, so that they outlive nodes and processes, and reports
// changes. If the pool's annotation has changed since the view was made, the pool is not written: a later view has newer data.
func (r *poolReconciler) keepLearned(ctx context.Context, pool *v1.NodePool) error {
	last := r.planner.devices.last.Load()
	if last == nil {
		return nil
	}
	key, stored := pool.Key(), pool.Annotations[v1.LearnedDevicesAnnotationKey]
	from, known := last.from[key]
	text := last.corrections.Annotation(key)
	r.metrics.learnedShown(pool, last.corrections)
	if !known || from != stored || text == stored || pool.DeletionTimestamp != nil {
		return nil
	}
	before, _ := learned.Kept(key, pool) // an unreadable annotation was already logged, and is now replaced
	want := pool.DeepCopy()
	if want.Annotations == nil {
		want.Annotations = map[string]string{}
	}
	if want.Annotations[v1.LearnedDevicesAnnotationKey] = text; text == "" {
		delete(want.Annotations, v1.LearnedDevicesAnnotationKey)
	}
	if err := putPool(ctx, r.client, pool, want); err != nil {
		return fmt.Errorf("storing the learned devices of nodepool %s: %w", pool.Name, err)
	}
	for _, c := range last.corrections.Since(before) {
		if c.Pool == key {
			r.sayLearned(pool, &c)
		}
	}
	return nil
}

// learnedEvery is the time within which an event about learned devices is not repeated.
const learnedEvery = 10 * time.Minute

// sayLearned logs and publishes the devices that plans use from now on.
func (r *poolReconciler) sayLearned(pool *v1.NodePool, c *learned.Correction) {
	r.log.Info("learned which devices an instance type has", "nodePool", v1.QualifiedName(pool), "instanceType", c.InstanceType, "driver", c.Driver, "nodes", c.Nodes,
		"unconfirmed", c.Unconfirmed, "difference", c.Difference)
	if c.Difference == "" {
		return
	}
	outcome := "plans count on that"
	if c.Unconfirmed {
		outcome = "plans count on that once a second node has published as few"
	}
	r.recorder.publishAs(c.InstanceType+" "+c.Driver, provisioning.Event{
		Kind: "NodePool", Name: pool.Name, UID: pool.UID, Reason: eventDevicesLearned, Every: new(learnedEvery),
		Message: fmt.Sprintf("Instance type %s: driver %s has published %s on node %s; %s", c.InstanceType, c.Driver, c.Difference, c.Nodes[0], outcome),
	})
}
