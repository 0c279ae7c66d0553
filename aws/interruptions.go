package aws

import (
	"context"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/interruption"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// listEvery is how often instances are listed while interruptions are received.
const listEvery = time.Minute

// assembleInterruptions creates the receiver of interruptions.
func (p *Provider) assembleInterruptions() (err error) {
	find := p.options.findInstance()
	if find == nil {
		find = p.index.find
	}
	o := interruption.Options{
		Queue: p.config.InterruptionQueue, ReportOnly: p.config.ReportInterruptionsOnly, EC2: p.options.Clients.EC2(sdk.Normal), Find: find,
		OnEvent: p.heard, OnMessage: p.options.observeMessages(), OnUnhealthy: p.options.observeUnhealthy(), Now: p.now, Logger: p.options.Logger,
	}
	if o.Queue != "" {
		o.SQS = p.options.Clients.SQS(sdk.Urgent)
	}
	p.interruptions, err = interruption.New(o)
	return err
}

// ReceiveInterruptions waits for interruptions of the cluster's instances: it reads messages of Config.InterruptionQueue, and finds
// instances that EC2 reports as impaired or due for maintenance (CP-INTERRUPT). Information about offerings and reservations in a message
// takes effect at once. It may be called in parallel.
func (p *Provider) ReceiveInterruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	if p.options.FindInstance == nil && p.index.listen() {
		if _, err := p.listInstances(ctx); err != nil {
			return nil, err // as long as the list of instances is missing, messages about the cluster's instances would be dropped
		}
	}
	return p.interruptions.ReceiveInterruptions(ctx)
}

// AckInterruptions acknowledges the deliveries with these IDs.
func (p *Provider) AckInterruptions(ctx context.Context, ids ...string) error {
	return p.interruptions.AckInterruptions(ctx, ids...)
}

// heard records the effect of an event on offerings and reservations.
func (p *Provider) heard(_ context.Context, kind interruption.Kind, i interruption.Instance) {
	switch kind {
	case interruption.SpotInterrupted:
		if i.InstanceType != "" && i.Zone != "" {
			p.unavailable.Mark(unavailable.Key{CapacityType: v1.CapacityTypeSpot, InstanceType: i.InstanceType, Zone: i.Zone, Hardware: unavailable.HardwareOf(i.Tenancy, "")})
		}
	case interruption.CapacityReservationInterrupted:
		if i.ReservationID != "" {
			p.reservations.Full(i.ReservationID)
		}
	}
}

// listInstances lists the cluster's instances again.
func (p *Provider) listInstances(ctx context.Context) (time.Time, error) {
	now := p.now()
	found, err := p.instances.List(ctx)
	if err != nil {
		return now.Add(listEvery), err
	}
	p.index.replace(found, now)
	return now.Add(listEvery), nil
}

// refreshInstances calls listInstances if interruptions are received and listEvery has passed since the last list.
func (p *Provider) refreshInstances(ctx context.Context) (time.Time, error) {
	listed, listening := p.index.listed()
	now := p.now()
	switch {
	case !listening:
		return time.Time{}, nil
	case now.Sub(listed) < listEvery:
		return listed.Add(listEvery), nil
	}
	return p.listInstances(ctx)
}

// instanceIndex contains the instances of the cluster, by EC2 ID. It finds the instance that a message is about. The zero value is empty.
type instanceIndex struct {
	mu        sync.Mutex
	byID      map[string]interruption.Instance
	at        time.Time // when the last list was read
	listening bool
	complete  bool // listed after receiving started, so that unknown instances belong to another cluster
}

func (m *instanceIndex) find(id string) (interruption.Instance, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.byID[id]
	return i, ok
}

func (m *instanceIndex) add(i instances.Instance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil {
		m.byID = map[string]interruption.Instance{}
	}
	m.byID[i.ID] = heardOf(i)
}

// replace stores a new list, which also contains instances that were just launched (see instances.Client.Remember).
func (m *instanceIndex) replace(list []instances.Instance, now time.Time) {
	byID := make(map[string]interruption.Instance, len(list))
	for _, i := range list {
		byID[i.ID] = heardOf(i)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Before(m.at) {
		return
	}
	m.byID, m.at, m.complete = byID, now, m.listening
}

// listen records that interruptions are received from now on, and reports whether instances must be listed first. If several callers start
// at the same time, each of them lists the instances: no caller may receive interruptions before the list is complete.
func (m *instanceIndex) listen() (first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listening = true
	return !m.complete
}

func (m *instanceIndex) listed() (at time.Time, listening bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at, m.listening
}

func heardOf(i instances.Instance) interruption.Instance {
	heard := interruption.Instance{ProviderID: i.ProviderID(), InstanceType: i.Type, Zone: i.Zone, CapacityType: i.CapacityType, Tenancy: i.Tenancy}
	if i.Reservation != nil {
		heard.ReservationID = i.Reservation.ID
	}
	return heard
}
