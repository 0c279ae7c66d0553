package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// MemoryLifetime is how long a sighting is used.
const MemoryLifetime = 60 * 24 * time.Hour

// ImageKey identifies a set of images, independent of their order.
func ImageKey(ids ...string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(ids))), ",")
}

// Sighting is the memory that a registered node reported.
type Sighting struct {
	// InstanceType of the instance.
	InstanceType string `json:"type"`
	// Family is the AMI family of its class.
	Family string `json:"family"`
	// Images is the ImageKey of the images of its class.
	Images string `json:"images"`
	// Bytes is status.capacity.memory.
	Bytes int64 `json:"bytes"`
	// At is when the memory was last seen; Observe sets it.
	At time.Time `json:"at"`
}

// Counts reports whether a node's memory is valid for a class: only if the class still selects the node's image for its type.
func Counts(nodeImage string, classImages []string) bool {
	return nodeImage != "" && slices.Contains(classImages, nodeImage)
}

// Memory stores the memory that nodes reported. It is safe for concurrent use. Make one with NewMemory.
type Memory struct {
	now func() time.Time

	mu        sync.Mutex
	sightings map[sightingKey]Sighting
	views     map[viewKey]view
	changes   uint64
}

type (
	sightingKey struct{ instanceType, family, images string }
	viewKey     struct{ family, images string }
	view        struct {
		changes uint64
		until   time.Time
		memory  map[string]int64
	}
)

// NewMemory returns an empty Memory. now is the clock; nil means time.Now.
func NewMemory(now func() time.Time) *Memory {
	if now == nil {
		now = time.Now
	}
	return &Memory{now: now, sightings: map[sightingKey]Sighting{}, views: map[viewKey]view{}}
}

// Observe records the memory of a registered node, and reports whether For now returns something else. Of nodes with the same type and
// images, the smallest value is used. A node with an equal value extends its lifetime.
func (m *Memory) Observe(s Sighting) bool {
	if s.InstanceType == "" || s.Bytes <= 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	key := sightingKey{s.InstanceType, s.Family, s.Images}
	known, ok := m.sightings[key]
	ok = ok && now.Sub(known.At) < MemoryLifetime
	if ok && s.Bytes > known.Bytes {
		return false
	}
	s.At = now
	m.sightings[key] = s
	if ok && s.Bytes == known.Bytes {
		return false
	}
	m.changes++
	return true
}

// For returns the memory in bytes of instances of a family with a set of images, by instance type. If a type was seen only with other
// images of the family, its value is the smallest memory seen with them. A new image version changes the memory little, and the first node
// that reports another value replaces it at once. The map is shared and stays the same until something changes. Callers must not write to
// it.
func (m *Memory) For(family, images string) map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	key := viewKey{family, images}
	if v, ok := m.views[key]; ok && v.changes == m.changes && now.Before(v.until) {
		return v.memory
	}
	m.sweep(now)
	fresh := view{changes: m.changes, until: now.Add(MemoryLifetime), memory: map[string]int64{}}
	exact := map[string]bool{}
	for _, s := range m.sightings {
		if s.Family != family {
			continue
		}
		// A sighting that is renewed before fresh.until expires later. In this case, For computes the same values again too early, which
		// does no harm.
		if end := s.At.Add(MemoryLifetime); end.Before(fresh.until) {
			fresh.until = end
		}
		known, ok := fresh.memory[s.InstanceType]
		switch {
		case s.Images == images:
			fresh.memory[s.InstanceType], exact[s.InstanceType] = s.Bytes, true
		case !exact[s.InstanceType] && (!ok || s.Bytes < known):
			fresh.memory[s.InstanceType] = s.Bytes
		}
	}
	if old, ok := m.views[key]; ok && maps.Equal(old.memory, fresh.memory) {
		fresh.memory = old.memory
	}
	m.views[key] = fresh
	return fresh.memory
}

// sweep removes expired entries. It also removes results of For that were not requested since the second to last change.
func (m *Memory) sweep(now time.Time) {
	maps.DeleteFunc(m.sightings, func(_ sightingKey, s Sighting) bool { return now.Sub(s.At) >= MemoryLifetime })
	maps.DeleteFunc(m.views, func(_ viewKey, v view) bool { return m.changes > v.changes+1 })
}

// Export returns all known memory, in a fixed order, so that it can be saved for later processes.
func (m *Memory) Export() ([]byte, error) {
	m.mu.Lock()
	m.sweep(m.now())
	all := slices.Collect(maps.Values(m.sightings))
	m.mu.Unlock()
	slices.SortFunc(all, func(a, b Sighting) int {
		return cmp.Or(strings.Compare(a.InstanceType, b.InstanceType), strings.Compare(a.Family, b.Family), strings.Compare(a.Images, b.Images))
	})
	return json.Marshal(all)
}

// maxSaved limits the input of Import.
const maxSaved = 16 << 20

// Import adds entries that Export returned, in this process or another one. Newer entries that exist already are kept. Text in another
// format is an error; then nothing is imported.
func (m *Memory) Import(text []byte) error {
	if len(text) > maxSaved {
		return fmt.Errorf("reading the measured memory of instance types: it has more than %d MiB, the maximum", maxSaved>>20)
	}
	var all []Sighting
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("reading the measured memory of instance types: %w", err)
	}
	for i, s := range all {
		if s.InstanceType == "" || s.Bytes <= 0 {
			return fmt.Errorf("reading the measured memory of instance types: entry %d has type %q and %d bytes: it needs a type and more than 0 bytes", i, s.InstanceType, s.Bytes)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, s := range all {
		if s.At.After(now) {
			s.At = now // the clock of the process that exported it was ahead
		}
		key := sightingKey{s.InstanceType, s.Family, s.Images}
		if known, ok := m.sightings[key]; !ok || s.At.After(known.At) {
			m.sightings[key] = s
		}
	}
	m.changes++
	return nil
}
