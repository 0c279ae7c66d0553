package offerings_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/hosts"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/seeded"
)

func stored(tb testing.TB, s *offerings.Store, m offerings.Market, v offerings.View) map[string]*cloudprovider.InstanceType {
	tb.Helper()
	types, err := s.Types(m, v)
	if err != nil {
		tb.Fatal(err)
	}
	return byName(types)
}

// changedTypes are the names of types that are another pointer in the second answer.
func changedTypes(before, after map[string]*cloudprovider.InstanceType) []string {
	var out []string
	for name, t := range after {
		if before[name] != t {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// CP-CATALOG-09, CP-CATALOG-10, AWI-025: a type keeps its pointer until something in it changes; the slice is the
// caller's.
func TestIdentity(t *testing.T) {
	c := small(t)
	m, v := market(t, c), view(t, c, class("c"))
	var store offerings.Store
	first := stored(t, &store, m, v)
	list, err := store.Types(m, v)
	if err != nil {
		t.Fatal(err)
	}
	clear(list)
	if got := changedTypes(first, stored(t, &store, m, v)); len(got) != 0 {
		t.Errorf("nothing changed, but %v did", got)
	}
	m.Time = start().Add(time.Hour)
	if got := changedTypes(first, stored(t, &store, m, v)); len(got) != 0 {
		t.Errorf("time passed, and %v changed", got)
	}
	m.Unavailable = mark(ice("spot", "m5.large", "us-east-1a"))
	marked := stored(t, &store, m, v)
	if got := changedTypes(first, marked); !slices.Equal(got, []string{"m5.large"}) {
		t.Errorf("after a mark %v changed", got)
	}
	if &first["m5.large"].Offerings[1] == &marked["m5.large"].Offerings[1] || !first["m5.large"].Offerings[1].Available {
		t.Error("what was handed out changed")
	}
	m.Unavailable = mark(ice("spot", "m5.large", "us-east-1a"), unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: "spot", InstanceType: "x.large", Zone: "a"})
	if got := changedTypes(marked, stored(t, &store, m, v)); len(got) != 0 {
		t.Errorf("after a mark of something else %v changed", got)
	}
	m.Prices = book(t, c)
	if got := changedTypes(marked, stored(t, &store, m, v)); len(got) != 0 {
		t.Errorf("after a refresh without news %v changed", got)
	}
	// A catalogue that was read again, with one type that changed.
	types := slices.Clone(c.Types)
	for i := range types {
		if types[i].Name == "t3.large" {
			types[i].MemoryMiB = 4096
		}
	}
	fresh, err := catalog.New(catalog.Catalog{Region: c.Region, Zones: c.Zones, Types: types})
	if err != nil {
		t.Fatal(err)
	}
	m.Catalog = fresh
	if got := changedTypes(marked, stored(t, &store, m, v)); !slices.Equal(got, []string{"t3.large"}) {
		t.Errorf("after a new catalogue %v changed", got)
	}
}

// AWI-127: time alone makes a capacity block unavailable, and takes it away.
func TestTimeEndsReservations(t *testing.T) {
	c := small(t)
	m := market(t, c)
	m.Rooms = rooms(map[string]int{"cr-1": 1})
	v := view(t, c, reserving(reservation("cr-1", "m5.xlarge", "us-east-1a", block(time.Hour))))
	var store offerings.Store
	for _, test := range []struct {
		after     time.Duration
		count     int
		available bool
	}{{0, 5, true}, {20 * time.Minute, 5, true}, {21 * time.Minute, 5, false}, {time.Hour, 4, true}} {
		m.Time = start().Add(test.after)
		it := stored(t, &store, m, v)["m5.xlarge"]
		if last := it.Offerings[len(it.Offerings)-1]; len(it.Offerings) != test.count || last.Available != test.available {
			t.Errorf("after %s: %d offerings, the last available %t", test.after, len(it.Offerings), last.Available)
		}
	}
}

// AWI-022, CP-CATALOG-11, CP-CATALOG-12: classes that say the same share one list, and types that come out the same are
// shared between classes that don't.
func TestSharing(t *testing.T) {
	c := small(t)
	m := market(t, c)
	var store offerings.Store
	first := stored(t, &store, m, view(t, c, class("one")))
	shuffled := class("one", func(c *awsv1.EC2NodeClass) { c.Name = "two"; slices.Reverse(c.Status.Subnets) })
	if got := changedTypes(first, stored(t, &store, m, view(t, c, shuffled))); len(got) != 0 {
		t.Errorf("of a class that says the same %v are others", got)
	}
	otherSubnets := view(t, c, class("three"))
	if got := changedTypes(first, stored(t, &store, m, otherSubnets)); len(got) != 0 {
		t.Errorf("of a class with other subnets %v are others", got)
	}
	m.Unavailable = mark(unavailable.Failure{Code: "InsufficientFreeAddressesInSubnet", SubnetID: "subnet-three-a"})
	if got := changedTypes(first, stored(t, &store, m, otherSubnets)); len(got) != 3 {
		t.Errorf("without addresses in a zone %v changed, want the three that could be had there", got)
	}
	if got := changedTypes(first, stored(t, &store, m, view(t, c, class("one")))); len(got) != 0 {
		t.Errorf("of the class whose subnets have addresses %v changed", got)
	}
}

// CP-CATALOG-12: a hundred NodePools of one class, at a hundred moments, take no more memory than one.
func TestMemoryDoesNotGrowWithNodePools(t *testing.T) {
	if testing.Short() {
		t.Skip("resolves the whole catalogue many times")
	}
	c := embedded(t)
	m := market(t, c)
	var store offerings.Store
	ask := func(pools int) {
		for range pools {
			stored(t, &store, m, view(t, c, class("c")))
		}
	}
	heap := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	ask(1)
	one := heap()
	ask(100)
	memory := unavailable.New(unavailable.Options{Now: start})
	for i := range 100 { // a mark a moment
		memory.Observe(ice("spot", c.Types[i*7].Name, "us-east-1a"))
		m.Unavailable = memory.Snapshot()
		ask(2)
	}
	if grown := heap() - one; grown > 1<<20 {
		t.Errorf("memory grew by %d KiB", grown>>10)
	}
	runtime.KeepAlive(&store)
}

// AWI-026, AWI-098: what was just discovered, and a price that was just read, show in the next answer.
func TestNewsShowAtOnce(t *testing.T) {
	c := small(t)
	m := market(t, c)
	var store offerings.Store
	stored(t, &store, m, view(t, c, class("c")))
	seen := view(t, c, class("c"), offerings.Options{Settings: instancetype.Options{DiscoveredMemory: map[string]int64{"m5.large": 7900 << 20}}})
	if got := stored(t, &store, m, seen)["m5.large"].Capacity.Memory().String(); got != "7900Mi" {
		t.Errorf("memory that was seen counts as %s", got)
	}
	m.Prices = bookOf(t, &prices.List{Source: "new", OnDemand: map[string]prices.Price{"m5.large": {PerHour: 7}}})
	if got := stored(t, &store, m, seen)["m5.large"].Offerings[0].Price; got != 7 {
		t.Errorf("a new price counts as %g", got)
	}
}

// AWI-020, AWI-024: one type, as it is in the list.
func TestOneType(t *testing.T) {
	c := small(t)
	m, v := market(t, c), view(t, c, class("c"))
	var store offerings.Store
	one, err := store.Type(m, v, "m5.large")
	if err != nil || one != stored(t, &store, m, v)["m5.large"] {
		t.Errorf("is %v, %v", one, err)
	}
	var unknown *offerings.UnknownTypeError
	if _, err := store.Type(m, v, "m9.large"); !errors.As(err, &unknown) || unknown.InstanceType != "m9.large" {
		t.Errorf("a type that is not there: %v", err)
	}
}

// AWI-088, AWI-089, AWI-095: there is no chain of resolvers and no key of some of the inputs: with reservations,
// partitions and marks together, the answer is the same whether it is the first or follows any other.
func TestAnswersDontDependOnHistory(t *testing.T) {
	c := small(t)
	group := &placement.Group{ID: "pg-1", Strategy: placement.StrategyPartition, Partitions: 2}
	m := market(t, c)
	m.Rooms = rooms(map[string]int{"cr-1": 1})
	v := view(t, c, reserving(reservation("cr-1", "m5.large", "us-east-1a")), offerings.Options{Group: group})
	var store offerings.Store
	for _, marks := range []*unavailable.Snapshot{nil, mark(ice("spot", "m5.large", "us-east-1a")), mark(ice("spot", "t3.large", "us-east-1a")), nil} {
		m.Unavailable = marks
		fresh := resolve(t, m, v)
		for name, it := range stored(t, &store, m, v) {
			if !equalTypes(it, fresh[name]) {
				t.Errorf("%s is another in the store", name)
			}
		}
	}
}

// A first answer for 1,354 types in 6 zones takes at most 10 MB, and one after a mark a fraction of that.
func TestAnswersAreSmall(t *testing.T) {
	c := everywhere(t)
	m, v := market(t, c), view(t, c, class("c"))
	var store offerings.Store
	taken := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := store.Types(m, v); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if n := taken(); n > 10_000_000 {
		t.Errorf("the first answer takes %d bytes", n)
	}
	m.Unavailable = mark(ice("spot", "m5.large", "us-east-1a"))
	if n := taken(); n > 1_000_000 {
		t.Errorf("an answer after a mark takes %d bytes", n)
	}
}

// The number of views is bounded, and the ones in use stay.
func TestViewsAreBounded(t *testing.T) {
	c := small(t)
	m := market(t, c)
	store := offerings.Store{Views: 3}
	first := stored(t, &store, m, view(t, c, class("first")))
	for i := range 10 {
		v := view(t, c, class("first"), offerings.Options{Settings: instancetype.Options{ReservedENIs: int64(i % 2), VMMemoryOverheadPercent: ptr(0.01 * float64(i))}})
		stored(t, &store, m, v)
		if got := changedTypes(first, stored(t, &store, m, view(t, c, class("first")))); len(got) != 0 {
			t.Fatalf("the view in use was dropped: %v", got)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// OPP-02: whatever a view consists of is in its key, and what decides an answer is nothing else. A field that is added
// and forgotten fails here.
func TestKeyHasAllOfAView(t *testing.T) {
	change := map[string]func(*offerings.View){
		"Settings":      func(v *offerings.View) { v.Settings.AMIFamily = "Bottlerocket" },
		"Subnets":       func(v *offerings.View) { v.Subnets = map[string][]string{"us-east-1a": {"subnet-9"}} },
		"Reservations":  func(v *offerings.View) { v.Reservations = []awsv1.CapacityReservation{{ID: "cr-1"}} },
		"Volumes":       func(v *offerings.View) { v.Volumes = []string{"gp3"} },
		"Group":         func(v *offerings.View) { v.Group = &placement.Group{ID: "pg-1"} },
		"HostRoom":      func(v *offerings.View) { v.HostRoom = hosts.Room{} },
		"Outposts":      func(v *offerings.View) { v.Outposts = map[string]outposts.Outpost{"us-east-1a": {ARN: "arn"}} },
		"Host":          func(v *offerings.View) { v.Host = "h-1" },
		"StandInPrices": func(v *offerings.View) { v.StandInPrices = map[string]float64{"m5.large": 1} },
	}
	for field := range fields(reflect.TypeFor[offerings.View]()) {
		f, ok := change[field]
		if !ok {
			t.Errorf("View.%s is new: add a change of it here", field)
			continue
		}
		var plain, changed offerings.View
		if f(&changed); plain.Key() == changed.Key() {
			t.Errorf("View.%s is not in the key", field)
		}
	}
	settings := map[string]func(*instancetype.Settings){
		"AMIFamily":               func(s *instancetype.Settings) { s.AMIFamily = "AL2" },
		"Images":                  func(s *instancetype.Settings) { s.Images = [][]corev1.NodeSelectorRequirement{{}} },
		"Kubelet":                 func(s *instancetype.Settings) { s.Kubelet.MaxPods = ptr(int32(1)) },
		"BlockDevices":            func(s *instancetype.Settings) { s.BlockDevices = []instancetype.BlockDevice{{SizeBytes: 1}} },
		"InstanceStorePolicy":     func(s *instancetype.Settings) { s.InstanceStorePolicy = "RAID0" },
		"NetworkInterfaces":       func(s *instancetype.Settings) { s.NetworkInterfaces = []instancetype.NetworkInterface{} },
		"IPPrefixCount":           func(s *instancetype.Settings) { s.IPPrefixCount = 1 },
		"NestedVirtualization":    func(s *instancetype.Settings) { s.NestedVirtualization = true },
		"ConnectionTracking":      func(s *instancetype.Settings) { s.ConnectionTracking = true },
		"PlacementStrategy":       func(s *instancetype.Settings) { s.PlacementStrategy = "spread" },
		"PlacementGroupID":        func(s *instancetype.Settings) { s.PlacementGroupID = "pg-1" },
		"PlacementPartitions":     func(s *instancetype.Settings) { s.PlacementPartitions = 2 },
		"Zones":                   func(s *instancetype.Settings) { s.Zones = []catalog.Zone{} },
		"VMMemoryOverheadPercent": func(s *instancetype.Settings) { s.VMMemoryOverheadPercent = ptr(0.1) },
		"MemoryPrior":             func(s *instancetype.Settings) { s.MemoryPrior = instancetype.MemoryPriorMeasured },
		"PodDensity":              func(s *instancetype.Settings) { s.PodDensity = instancetype.FixedDensity(10) },
		"FractionalGPUs":          func(s *instancetype.Settings) { s.FractionalGPUs = true },
		"NVIDIAMIG":               func(s *instancetype.Settings) { s.NVIDIAMIG = true },
		"NVIDIAShares":            func(s *instancetype.Settings) { s.NVIDIAShares = "4" },
		"DeviceDrivers":           func(s *instancetype.Settings) { s.DeviceDrivers = map[string]string{"nvidia": "gpu.nvidia.com"} },
		"DeviceResources":         func(s *instancetype.Settings) { s.DeviceResources = map[string]string{"U30": "x.y/z"} },
		"HugePages":               func(s *instancetype.Settings) { s.HugePages = map[string]string{"hugepages-2Mi": "1Gi"} },
		"WithoutPodENI":           func(s *instancetype.Settings) { s.WithoutPodENI = true },
		"ThreadsPerCore":          func(s *instancetype.Settings) { s.ThreadsPerCore = 1 },
		"BandwidthWeighting":      func(s *instancetype.Settings) { s.BandwidthWeighting = awsv1.BandwidthWeightingVPC },
		"Tenancy":                 func(s *instancetype.Settings) { s.Tenancy = awsv1.TenancyHost },
		"UnlimitedCredits":        func(s *instancetype.Settings) { s.UnlimitedCredits = true },
		"CoreCount":               func(s *instancetype.Settings) { s.CoreCount = 2 },
		"ReservedENIs":            func(s *instancetype.Settings) { s.ReservedENIs = 1 },
		"DiscoveredMemory":        func(s *instancetype.Settings) { s.DiscoveredMemory = map[string]int64{"m5.large": 1} },
	}
	for field := range fields(reflect.TypeFor[instancetype.Settings]()) {
		f, ok := settings[field]
		if !ok {
			t.Errorf("Settings.%s is new: add a change of it here", field)
			continue
		}
		var plain, changed offerings.View
		if f(&changed.Settings); plain.Key() == changed.Key() {
			t.Errorf("Settings.%s is not in the key", field)
		}
	}
	want := []string{"Catalog", "Prices", "Rooms", "Shifted", "Time", "Unavailable"}
	var got []string
	for field := range fields(reflect.TypeFor[offerings.Market]()) {
		got = append(got, field)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the market has fields %v: the store must compare all of them", got)
	}
}

func fields(t reflect.Type) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i).Name) {
				return
			}
		}
	}
}

// OPP-01, OPP-02, AWI-096: whatever marks, prices and reads of several classes are interleaved, an answer of the store is
// exactly what Resolve gives for the market of that moment; hence no read returns an offering as available that was
// marked before it. Types in which nothing changed keep their pointers (CP-CATALOG-09).
func TestNoStaleAnswers(t *testing.T) {
	c := small(t)
	views := []offerings.View{
		view(t, c, class("one")), view(t, c, class("two")),
		view(t, c, class("three", func(c *awsv1.EC2NodeClass) {
			c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2@latest"}}
			c.Status.Subnets = c.Status.Subnets[:2]
		})),
		view(t, c, reserving(reservation("cr-1", "m5.large", "us-east-1a"))),
		view(t, c, class("five"), offerings.Options{Group: &placement.Group{ID: "pg-1", Strategy: placement.StrategyPartition, Partitions: 2}}),
	}
	books := []*prices.Book{book(t, c), book(t, c), bookOf(t, &prices.List{Source: "x", OnDemand: map[string]prices.Price{"m5.large": {PerHour: 1}}})}
	seeded.Check(t, func(t *rapid.T) {
		now := start()
		memory := unavailable.New(unavailable.Options{Now: func() time.Time { return now }})
		store := offerings.Store{Views: rapid.IntRange(1, 6).Draw(t, "views")}
		m := offerings.Market{Catalog: c, Prices: books[0], Time: now, Rooms: rooms(map[string]int{"cr-1": 1})}
		marked := map[unavailable.Key]time.Time{}
		last := map[int]map[string]*cloudprovider.InstanceType{}
		t.Repeat(map[string]func(*rapid.T){
			"mark": func(t *rapid.T) {
				f := ice(rapid.SampledFrom([]string{"spot", "on-demand"}).Draw(t, "capacityType"),
					rapid.SampledFrom([]string{"m5.large", "m5.xlarge", "t3.large"}).Draw(t, "type"),
					rapid.SampledFrom([]string{"us-east-1a", "us-east-1b"}).Draw(t, "zone"))
				f.GroupID = rapid.SampledFrom([]string{"", "pg-1"}).Draw(t, "group")
				if f.GroupID == "" {
					marked[unavailable.Key{CapacityType: f.CapacityType, InstanceType: f.InstanceType, Zone: f.Zone}] = now
				}
				memory.Observe(f)
			},
			"subnet": func(t *rapid.T) {
				memory.Observe(unavailable.Failure{Code: "InsufficientFreeAddressesInSubnet", SubnetID: rapid.SampledFrom([]string{"subnet-one-a", "subnet-two-a"}).Draw(t, "subnet")})
			},
			"pass": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 240).Draw(t, "seconds")) * time.Second)
			},
			"prices": func(t *rapid.T) { m.Prices = rapid.SampledFrom(books).Draw(t, "book") },
			"room":   func(t *rapid.T) { m.Rooms = rooms(map[string]int{"cr-1": rapid.IntRange(0, 2).Draw(t, "room")}) },
			"read": func(t *rapid.T) {
				i := rapid.IntRange(0, len(views)-1).Draw(t, "class")
				m.Unavailable, m.Time = memory.Snapshot(), now
				types, err := store.Types(m, views[i])
				if err != nil {
					t.Fatal(err)
				}
				fresh, err := offerings.Resolve(m, views[i])
				if err != nil || len(fresh) != len(types) {
					t.Fatalf("%d types, want %d, %v", len(types), len(fresh), err)
				}
				for j := range types {
					if !equalTypes(types[j], fresh[j]) {
						t.Fatalf("%s is stale", types[j].Name)
					}
					for k := range types[j].Offerings {
						o := &types[j].Offerings[k]
						at, ok := marked[unavailable.Key{CapacityType: o.CapacityType(), InstanceType: types[j].Name, Zone: o.Zone()}]
						if ok && o.Available && now.Sub(at) < 162*time.Second {
							t.Fatalf("%s was marked %s ago", cloudprovider.KeyOf(types[j], o), now.Sub(at))
						}
					}
					if old := last[i][types[j].Name]; store.Views == 6 && old != nil && old != types[j] && equalTypes(old, types[j]) {
						t.Fatalf("%s is the same but another pointer", old.Name)
					}
				}
				last[i] = byName(types)
			},
		})
	})
}

func equalTypes(a, b *cloudprovider.InstanceType) bool {
	return a.Name == b.Name && a.Requirements.Equal(b.Requirements) && fmt.Sprint(a.Allocatable()) == fmt.Sprint(b.Allocatable()) &&
		slices.EqualFunc(a.Offerings, b.Offerings, func(x, y cloudprovider.Offering) bool {
			return x.Price == y.Price && x.PriceSource == y.PriceSource && x.Available == y.Available &&
				x.ReservationCapacity == y.ReservationCapacity && x.Requirements.Equal(y.Requirements)
		})
}

// OPP-03: many readers at once, of classes alike and not, while marks come in (run with -race).
func TestConcurrentReaders(t *testing.T) {
	c := small(t)
	base := market(t, c)
	memory := unavailable.New(unavailable.Options{})
	var (
		store offerings.Store
		group sync.WaitGroup
	)
	for i := range 8 {
		v := view(t, c, class(fmt.Sprint("c", i/2)))
		group.Go(func() {
			m := base
			for j := range 20 {
				f := ice("spot", "m5.large", []string{"us-east-1a", "us-east-1b"}[j%2])
				memory.Observe(f)
				m.Unavailable = memory.Snapshot()
				types, err := store.Types(m, v)
				if err != nil {
					t.Error(err)
					return
				}
				for _, o := range byName(types)["m5.large"].Offerings {
					if o.Zone() == f.Zone && o.CapacityType() == "spot" && o.Available {
						t.Error("a mark is not seen by who made it")
					}
				}
			}
		})
	}
	group.Wait()
}
