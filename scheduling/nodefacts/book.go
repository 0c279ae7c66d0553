package nodefacts

import (
	"cmp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Options of a book. Start from DefaultOptions.
type Options struct {
	// Settle is how long a node must have been initialized before its values are used, because device plugins report late. At least 0.
	Settle time.Duration
	// Lifetime is how long a fact is used after its last node was seen; more than 0.
	Lifetime time.Duration
	// MinShare and MaxShare bound memory and ephemeral storage: values below or above these shares of the estimate are ignored. MinShare
	// is from 0 to 1, MaxShare is at least 1.
	MinShare, MaxShare float64
}

// DefaultOptions returns a Settle of five minutes, a Lifetime of 60 days, a MinShare of 0.5 and a MaxShare of 1.1. All are estimates.
func DefaultOptions() Options {
	return Options{Settle: 5 * time.Minute, Lifetime: 60 * 24 * time.Hour, MinShare: 0.5, MaxShare: 1.1}
}

// Key identifies a fact.
type Key struct {
	// InstanceType by name.
	InstanceType string `json:"instanceType"`
	// Image is the provider's name of the image; empty if it is not known.
	Image string `json:"image,omitempty"`
	// Class is the node class, such as "EC2NodeClass/default".
	Class string `json:"class"`
}

// Compare orders keys by type, class and image.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.InstanceType, o.InstanceType), cmp.Compare(k.Class, o.Class), cmp.Compare(k.Image, o.Image))
}

// Fact contains the values that nodes of a key reported.
type Fact struct {
	Key
	// Capacity of the nodes. For measured resources (memory, ephemeral storage, pods) it is the lowest value of all nodes. For counted
	// resources (huge pages, extended resources) it is the highest, because a device plugin that fails reports too few.
	Capacity corev1.ResourceList `json:"capacity"`
	// VolumeLimits are the lowest limits of attachable volumes of all nodes, by CSI driver.
	VolumeLimits map[string]int32 `json:"volumeLimits,omitempty"`
	// ReadySeconds is the time from the creation of a NodeClaim until its node is initialized: a moving average, in which each new node
	// has a weight of a quarter. 0 means not known.
	ReadySeconds float64 `json:"readySeconds,omitempty"`
	// Nodes is how many nodes were counted.
	Nodes int64 `json:"nodes"`
	// Seen is when a node of the key was last seen.
	Seen time.Time `json:"seen"`
}

// Book keeps facts. It is safe for concurrent use; New makes one.
type Book struct {
	options Options

	mu      sync.Mutex
	facts   map[Key]*Fact
	counted map[string]bool // names and UIDs of counted nodes that still exist
	types   map[typeKey]*cloudprovider.InstanceType
	lists   map[string][]*cloudprovider.InstanceType
}

// New returns a book without facts. The error is an *option.Error.
func New(o Options) (*Book, error) {
	switch {
	case o.Settle < 0:
		return nil, &option.Error{Package: "nodefacts", Option: "Settle", Rule: "must not be negative"}
	case o.Lifetime <= 0:
		return nil, &option.Error{Package: "nodefacts", Option: "Lifetime", Rule: "must be more than 0: start from DefaultOptions"}
	case !(o.MinShare >= 0 && o.MinShare <= 1 && o.MaxShare >= 1 && o.MaxShare <= 10):
		return nil, &option.Error{Package: "nodefacts", Option: "MinShare, MaxShare", Rule: "MinShare must be from 0 to 1, and MaxShare from 1 to 10"}
	}
	return &Book{options: o, facts: map[Key]*Fact{}, counted: map[string]bool{}, types: map[typeKey]*cloudprovider.InstanceType{}}, nil
}

// Facts returns all facts, in the order of their keys. The caller may change the list, but nothing that it points to.
func (b *Book) Facts() []Fact {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list()
}

func (b *Book) list() []Fact {
	out := make([]Fact, 0, len(b.facts))
	for _, f := range b.facts {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(x, y Fact) int { return x.Key.Compare(y.Key) })
	return out
}

// Observe learns from the snapshot's nodes that have a NodeClaim, have been initialized for at least Settle, and are not leaving. Each
// node counts once. A nil snapshot is ignored.
func (b *Book) Observe(s *scheduling.Snapshot) {
	if s == nil {
		return
	}
	limits := map[string]map[string]int32{}
	for _, n := range s.CSINodes {
		if n == nil {
			continue
		}
		for _, d := range n.Spec.Drivers {
			if d.Allocatable == nil || d.Allocatable.Count == nil {
				continue
			}
			if limits[n.Name] == nil {
				limits[n.Name] = map[string]int32{}
			}
			limits[n.Name][d.Name] = *d.Allocatable.Count
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	present, before := map[string]bool{}, map[Key]time.Time{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		key, since, ok := b.ripe(n, s.Time)
		if !ok {
			continue
		}
		id := n.Object.Name + "/" + string(n.Object.UID)
		present[id] = true
		f := b.facts[key]
		if f == nil {
			f = &Fact{Key: key}
			b.facts[key] = f
		}
		if _, known := before[key]; !known {
			before[key] = f.Seen
		}
		if s.Time.After(f.Seen) {
			f.Seen = s.Time
		}
		if b.counted[id] {
			continue
		}
		f.take(n.Object.Status.Capacity, limits[n.Object.Name])
		// A node that had settled when its key was last seen has already been counted, if only by a process before a restart.
		if since.Add(b.options.Settle).After(before[key]) {
			f.count(since.Sub(n.Claim.CreationTimestamp.Time))
		}
	}
	b.counted = present
	for key, f := range b.facts {
		if s.Time.Sub(f.Seen) > b.options.Lifetime {
			delete(b.facts, key)
		}
	}
}

// ripe returns the key of a node, and the time since which the node has been initialized. It returns false if the node can't be used for
// facts yet.
func (b *Book) ripe(n *scheduling.Node, now time.Time) (key Key, since time.Time, ok bool) {
	if n.Object == nil || n.Claim == nil || n.Leaving || len(n.Object.Status.Capacity) == 0 {
		return key, since, false
	}
	for i := range n.Claim.Status.Conditions {
		if c := &n.Claim.Status.Conditions[i]; c.Type == v1.ConditionInitialized && c.Status == "True" {
			since = c.LastTransitionTime.Time
		}
	}
	if since.IsZero() || now.Sub(since) < b.options.Settle {
		return key, since, false
	}
	key = Key{InstanceType: typeOf(n), Image: n.Claim.Status.ImageID, Class: classOf(n.Claim.Spec.NodeClassRef)}
	return key, since, key.InstanceType != "" && key.Class != ""
}

func typeOf(n *scheduling.Node) string {
	return cmp.Or(n.Object.Labels[corev1.LabelInstanceTypeStable], n.Claim.Labels[corev1.LabelInstanceTypeStable])
}

func classOf(ref v1.NodeClassReference) string {
	if ref.Name == "" {
		return ""
	}
	return ref.Kind + "/" + ref.Name
}

const (
	// newShare is the weight of a new node in the moving average of ReadySeconds.
	newShare = 0.25
	// longestReady is the longest time to readiness that the average includes. A NodeClaim that took longer than this may have waited for
	// capacity.
	longestReady = time.Hour
)

// take merges the values that a node reports into the fact. The fact then has the smallest amount of each measured resource, the largest
// amount of each counted resource, and the smallest limit of volumes for each driver.
func (f *Fact) take(capacity corev1.ResourceList, limits map[string]int32) {
	if f.Capacity == nil {
		f.Capacity = corev1.ResourceList{}
	}
	for name, q := range capacity {
		known, ok := f.Capacity[name]
		if smaller := q.Cmp(known) < 0; !ok || smaller == measured(name) && q.Cmp(known) != 0 {
			f.Capacity[name] = q.DeepCopy()
		}
	}
	for driver, count := range limits {
		if known, ok := f.VolumeLimits[driver]; !ok || count < known {
			if f.VolumeLimits == nil {
				f.VolumeLimits = map[string]int32{}
			}
			f.VolumeLimits[driver] = count
		}
	}
}

// count counts a node, and adds the time until it was ready to the average.
func (f *Fact) count(ready time.Duration) {
	f.Nodes++
	if ready <= 0 || ready > longestReady {
		return
	}
	if f.ReadySeconds == 0 {
		f.ReadySeconds = ready.Seconds()
	} else {
		f.ReadySeconds += newShare * (ready.Seconds() - f.ReadySeconds)
	}
}

// measured reports whether a resource is measured, which means that its amount differs a little between equal nodes. All other resources
// are counted.
func measured(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || name == corev1.ResourcePods
}
