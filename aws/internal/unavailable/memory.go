package unavailable

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Memory remembers offerings without capacity. It is safe for concurrent use. Its lock is held only for a short time, never during a call
// to EC2. Make one with New.
type Memory struct {
	options Options
	current atomic.Pointer[Snapshot]

	mu            sync.Mutex
	keys          tracker[Key]
	capacityTypes tracker[string]
	subnets       tracker[string]
	quotas        tracker[Quota]
	volumes       tracker[Volume]
	lowest        map[Quota]int64 // by quota: the types that it closes are those with at least this number of vCPUs
}

// New makes an empty memory.
func New(o Options) *Memory {
	m := &Memory{options: o.withDefaults()}
	m.reset()
	return m
}

func (m *Memory) reset() {
	m.keys = tracker[Key]{options: &m.options, name: Key.String}
	m.capacityTypes = tracker[string]{options: &m.options, name: func(s string) string { return "capacity type " + s }}
	m.subnets = tracker[string]{options: &m.options, name: func(s string) string { return s }}
	m.quotas = tracker[Quota]{options: &m.options, name: func(q Quota) string { return q.CapacityType + " quota " + q.Class }}
	m.volumes = tracker[Volume]{options: &m.options, name: func(v Volume) string { return v.Type + " volumes in " + v.Zone }}
	m.lowest = map[Quota]int64{}
	m.current.Store(nil)
}

// Flush forgets everything.
func (m *Memory) Flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset()
}

// Observe passes failures of launches to Judge and remembers the effects. Call it for every error in EC2's response, even if the response
// also has an instance. It returns the effects in the order of the failures. The caller must apply the effects on reservations and on
// subnets' addresses.
func (m *Memory) Observe(failures ...Failure) []Effect {
	effects := make([]Effect, len(failures))
	var suspects []Key
	for i, f := range failures {
		effects[i] = Judge(f)
		if f.Code == codeInsufficientCapacity {
			suspects = append(suspects, m.suspects(effects[i].Keys)...)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.options.Now()
	changed := false
	for _, e := range effects {
		changed = changed || !e.Empty()
		for _, key := range e.Keys {
			m.keys.mark(key, now)
		}
		for _, capacityType := range e.CapacityTypes {
			m.capacityTypes.mark(capacityType, now)
		}
		for _, subnet := range e.Subnets {
			m.subnets.mark(subnet, now)
		}
		for _, volume := range e.Volumes {
			m.volumes.mark(volume, now)
		}
		for _, hit := range e.Quotas {
			m.quotaHit(hit, now)
		}
	}
	for _, key := range suspects {
		m.keys.suspect(key, now)
	}
	if changed {
		m.current.Store(nil)
	}
	return effects
}

// suspects returns each of keys with each of the instance types that Options.Neighbours returns for its type.
func (m *Memory) suspects(keys []Key) []Key {
	if m.options.Neighbours == nil {
		return nil
	}
	var out []Key
	for _, key := range keys {
		for _, name := range m.options.Neighbours(key.InstanceType) {
			neighbour := key
			neighbour.InstanceType = name
			out = append(out, neighbour)
		}
	}
	return out
}

// quotaHit closes the types of a quota that have at least as many vCPUs as the smallest type that was refused while the quota was closed.
func (m *Memory) quotaHit(hit QuotaHit, now time.Time) {
	var vcpus int64
	if m.options.VCPUs != nil {
		vcpus = m.options.VCPUs(hit.InstanceType)
	}
	if known, ok := m.lowest[hit.Quota]; ok && m.quotas.closedAt(hit.Quota, now) {
		vcpus = min(vcpus, known)
	}
	m.lowest[hit.Quota] = vcpus
	m.quotas.mark(hit.Quota, now)
}

// Mark closes offerings for another reason than a failed launch, for instance a spot interruption notice.
func (m *Memory) Mark(keys ...Key) {
	if len(keys) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.options.Now()
	for _, key := range keys {
		m.keys.mark(key, now)
	}
	m.current.Store(nil)
}

// Snapshot returns the offerings that are currently out of stock. The pointer stays the same as long as nothing changes. The snapshot
// contains all marks of calls that returned before this call.
func (m *Memory) Snapshot() *Snapshot {
	now := m.options.Now()
	if s := m.current.Load(); s != nil && s.holds(now) {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.current.Load(); s != nil && s.holds(now) {
		return s
	}
	s := &Snapshot{from: now}
	s.keys = m.keys.closed(now, &s.until)
	s.capacityTypes = m.capacityTypes.closed(now, &s.until)
	s.subnets = m.subnets.closed(now, &s.until)
	s.volumes = m.volumes.closed(now, &s.until)
	s.quotas = make(map[Quota]int64)
	for quota := range m.quotas.closed(now, &s.until) {
		s.quotas[quota] = m.lowest[quota]
	}
	maps.DeleteFunc(m.lowest, func(q Quota, _ int64) bool { return !m.quotas.has(q) })
	m.current.Store(s)
	return s
}

// Attempt is a launch that is in progress. Make one with Begin and end it with End.
type Attempt struct {
	memory *Memory
	probes []Key
	closed []Key
	once   sync.Once
}

// Begin must be called before a launch, with the offerings that the launch will request. Offerings on probation are reserved for this
// launch: until it has ended, they are closed to all other launches. Attempt.Closed returns the offerings that the launch should leave out:
// another launch is trying them, or they were closed in the meantime.
func (m *Memory) Begin(keys ...Key) *Attempt {
	a := &Attempt{memory: m}
	s := m.Snapshot()
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.options.Now()
	for _, key := range keys {
		if _, closed := s.Closed(key, nil); closed || m.keys.closedAt(key, now) {
			a.closed = append(a.closed, key)
		} else if m.keys.probe(key, now) {
			a.probes = append(a.probes, key)
		}
	}
	if len(a.probes) > 0 {
		m.current.Store(nil)
	}
	return a
}

// Closed returns the offerings of Begin that the launch should not use, in the order of keys.
func (a *Attempt) Closed() []Key { return slices.Clone(a.closed) }

// End ends the attempt. Marks of offerings that provided an instance are removed, unless they were marked in the meantime; the other
// offerings on probation are available to the next launch. Only the first call has an effect.
func (a *Attempt) End(launched ...Key) {
	a.once.Do(func() {
		m := a.memory
		m.mu.Lock()
		defer m.mu.Unlock()
		now := m.options.Now()
		changed := false
		for _, key := range a.probes {
			changed = m.keys.release(key) || changed
		}
		for _, key := range launched {
			changed = m.keys.forgive(key, now) || changed
		}
		if changed {
			m.current.Store(nil)
		}
	})
}
