package devices_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/devices"
)

// allocate allocates the claims one after the other on one node, and returns what the last one got.
func allocate(t *testing.T, list []*resourcev1.ResourceSlice, byName map[string]*resourcev1.DeviceClass, specs ...*resourcev1.DeviceClaim) (*devices.Allocation, *devices.Miss) {
	t.Helper()
	u := devices.NewUsage(devices.NewInventory(list))
	var a *devices.Allocation
	var miss *devices.Miss
	for _, spec := range specs {
		a, miss = devices.Allocate([]devices.Source{{Usage: u}}, []*devices.Claim{newClaim(t, spec, byName)}, devices.NewMatches(&words{}))
	}
	return a, miss
}

func gpus(n int, options ...deviceOption) []*resourcev1.ResourceSlice {
	s := slice("node")
	for i := range n {
		s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprintf("g%d", i), options...))
	}
	return []*resourcev1.ResourceSlice{s}
}

func TestExactCount(t *testing.T) {
	a, miss := allocate(t, gpus(3), classes(), claimOf(exactly("r", 1)), claimOf(exactly("r", 2)))
	wantDevices(t, a, miss, "g1", "g2")
	a, miss = allocate(t, gpus(3), classes(), claimOf(exactly("r", 2)), claimOf(exactly("r", 2)))
	wantMiss(t, a, miss, devices.MissInUse, "request r of claim c wants 2; 1 of 3 matching devices of gpu.example.com are free")
	a, miss = allocate(t, nil, classes(), claimOf(exactly("r", 2)))
	wantMiss(t, a, miss, devices.MissNoDevices, "request r of claim c wants 2, there are none")
}

func TestAll(t *testing.T) {
	a, miss := allocate(t, gpus(3), classes(), claimOf(all("r")))
	wantDevices(t, a, miss, "g0", "g1", "g2")
	a, miss = allocate(t, gpus(3), classes(), claimOf(exactly("r", 1)), claimOf(all("r")))
	wantMiss(t, a, miss, devices.MissInUse, "request r of claim c wants all devices; 2 of 3 matching devices of gpu.example.com are free")
	a, miss = allocate(t, gpus(33), classes(), claimOf(all("r")))
	wantMiss(t, a, miss, devices.MissCount, "request r of claim c wants all devices, with which the claim has more devices than the 32 it can have")
	updated := gpus(3)
	updated[0].Spec.Pool.ResourceSliceCount = 2
	a, miss = allocate(t, updated, classes(), claimOf(all("r")))
	wantMiss(t, a, miss, devices.MissPool, "request r of claim c wants all devices: pool node of gpu.example.com has 1 slices of 2: it is being updated")
}

func TestSelectors(t *testing.T) {
	list := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("model", "A100"), attribute("arm", "x")), device("h", attribute("model", "H100")))}
	a, miss := allocate(t, list, classes(), claimOf(exactly("r", 1, where("model=H100"))))
	wantDevices(t, a, miss, "h")
	a, miss = allocate(t, list, classes("model=H100"), claimOf(exactly("r", 2)))
	wantMiss(t, a, miss, devices.MissSelector, "request r of claim c wants 2; 1 of 2 devices of gpu.example.com meet model=H100; they have model A100")
	a, miss = allocate(t, list, classes("model=A100"), claimOf(exactly("r", 1, where("error"))))
	wantMiss(t, a, miss, devices.MissSelectorError, "request r of claim c has a selector without a value: no such key")
}

// The scheduler looks at selectors of a device when its turn comes, and not before.
func TestErrorAfterEnough(t *testing.T) {
	m := errorsOn("b")
	list := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("id", "a")), device("b", attribute("id", "b")))}
	u := devices.NewUsage(devices.NewInventory(list))
	one := newClaim(t, claimOf(exactly("r", 1, where("id"))), classes())
	a, miss := devices.Allocate([]devices.Source{{Usage: u}}, []*devices.Claim{one}, devices.NewMatches(m))
	wantDevices(t, a, miss, "a")
	a, miss = devices.Allocate([]devices.Source{{Usage: u}}, []*devices.Claim{one}, devices.NewMatches(m))
	wantMiss(t, a, miss, devices.MissSelectorError, "request r of claim c has a selector without a value: b")
}

// errorsOn has an error for the device with that id, and accepts others.
type errorsOn string

func (e errorsOn) Matches(_, _ string, d *resourcev1.Device) (bool, error) {
	if id := *d.Attributes["id"].StringValue; id == string(e) {
		return false, fmt.Errorf("%s", id)
	}
	return true, nil
}

func TestNoMatcher(t *testing.T) {
	u := devices.NewUsage(devices.NewInventory(gpus(1)))
	claim := newClaim(t, claimOf(exactly("r", 1)), classes("x=y"))
	if !claim.Selects() {
		t.Error("the class has a selector")
	}
	a, miss := devices.Allocate([]devices.Source{{Usage: u}}, []*devices.Claim{claim}, devices.NewMatches(nil))
	wantMiss(t, a, miss, devices.MissNoMatcher, "request r of claim c has selectors, and nothing was given that evaluates them")
}

func TestMatchAttribute(t *testing.T) {
	domains := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("domain", "1")), device("b", attribute(driver+"/domain", "2")),
		device("c", attribute("domain", "2")), device("d"))}
	a, miss := allocate(t, domains, classes(), constrained(claimOf(exactly("r", 2)), match(driver+"/domain")))
	wantDevices(t, a, miss, "b", "c")
	a, miss = allocate(t, domains, classes(), constrained(claimOf(exactly("r", 1), exactly("s", 1)), match(driver+"/domain")))
	wantDevices(t, a, miss, "b", "c")
	a, miss = allocate(t, domains, classes(), constrained(claimOf(exactly("r", 1), exactly("s", 1)), match(driver+"/domain", "r")))
	wantDevices(t, a, miss, "a", "b")
	a, miss = allocate(t, domains, classes(), constrained(claimOf(exactly("r", 3)), match(driver+"/domain")))
	wantMiss(t, a, miss, devices.MissConstraint, "request r of claim c wants 3; no choice of the 4 matching devices of gpu.example.com that are free meets the constraint on gpu.example.com/domain")
}

func TestAllUnderAConstraint(t *testing.T) {
	domains := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("domain", "1")), device("b", attribute("domain", "2")))}
	a, miss := allocate(t, domains, classes(), constrained(claimOf(firstOf("r", all("x"), exactly("y", 1))), match(driver+"/domain")))
	wantMiss(t, a, miss, devices.MissAllConstraint, "request r/x of claim c wants all devices; the constraint on gpu.example.com/domain excludes some of them")
}

func TestDistinctAttribute(t *testing.T) {
	list := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("board", "1")), device("b", attribute("board", "1")), device("c", attribute("board", "2")))}
	a, miss := allocate(t, list, classes(), constrained(claimOf(exactly("r", 2)), distinct(driver+"/board")))
	wantDevices(t, a, miss, "a", "c")
}

func TestFirstAvailable(t *testing.T) {
	list := []*resourcev1.ResourceSlice{slice("n", device("a", attribute("model", "A100")), device("h", attribute("model", "H100")))}
	want := claimOf(firstOf("r", exactly("big", 2, where("model=H100")), exactly("small", 1, where("model=A100"))))
	a, miss := allocate(t, list, classes(), want)
	wantDevices(t, a, miss, "a")
	if a.Results[0].Request != "r/small" {
		t.Errorf("got %s", a.Results[0].Request)
	}
	a, miss = allocate(t, list, classes(), want, want)
	wantMiss(t, a, miss, devices.MissInUse, "request r/small of claim c wants 1; 0 of 1 matching devices of gpu.example.com are free")
	// A constraint on one alternative leaves the other alone.
	a, miss = allocate(t, list, classes(), constrained(claimOf(firstOf("r", exactly("two", 2), exactly("one", 1))), match(driver+"/none", "r/two")))
	wantDevices(t, a, miss, "a")
}

func TestTaints(t *testing.T) {
	list := []*resourcev1.ResourceSlice{slice("n", device("a", taint("sick", resourcev1.DeviceTaintEffectNoSchedule)), device("b", taint("seen", resourcev1.DeviceTaintEffectNone)))}
	a, miss := allocate(t, list, classes(), claimOf(exactly("r", 1)))
	wantDevices(t, a, miss, "b")
	a, miss = allocate(t, list, classes(), claimOf(exactly("r", 2, tolerates("sick"))))
	wantDevices(t, a, miss, "a", "b")
	a, miss = allocate(t, list, classes(), claimOf(all("r")))
	wantMiss(t, a, miss, devices.MissTaint, "request r of claim c wants all devices; 1 of 2 matching devices of gpu.example.com are without the taint sick=:NoSchedule, which the request does not tolerate")
}

func TestAdminAccess(t *testing.T) {
	a, miss := allocate(t, gpus(2), classes(), claimOf(exactly("r", 2)), claimOf(all("watch", admin)))
	wantDevices(t, a, miss, "g0", "g1")
	a, miss = allocate(t, gpus(2), classes(), claimOf(all("watch", admin)), claimOf(exactly("r", 2)))
	wantDevices(t, a, miss, "g0", "g1")
	a, miss = allocate(t, gpus(1), classes(), claimOf(exactly("r", 1), exactly("watch", 1, admin)))
	if a != nil {
		t.Errorf("a claim has a device twice: %v, %s", a.Results, miss)
	}
}

func TestPartitions(t *testing.T) {
	list := func() []*resourcev1.ResourceSlice {
		s := counters(counters(slice("n",
			device("whole0", attribute("size", "7"), consumes("gpu0", "memory", "40Gi")), device("half0", attribute("size", "3"), consumes("gpu0", "memory", "20Gi")),
			device("other0", attribute("size", "3"), consumes("gpu0", "memory", "20Gi")), device("whole1", attribute("size", "7"), consumes("gpu1", "memory", "40Gi")),
		), "gpu0", "memory", "40Gi"), "gpu1", "memory", "40Gi")
		return []*resourcev1.ResourceSlice{s}
	}
	half, whole := claimOf(exactly("r", 1, where("size=3"))), claimOf(exactly("r", 1, where("size=7")))
	a, miss := allocate(t, list(), classes(), half, whole)
	wantDevices(t, a, miss, "whole1")
	a, miss = allocate(t, list(), classes(), half, whole, half)
	wantDevices(t, a, miss, "other0")
	a, miss = allocate(t, list(), classes(), whole, half)
	wantMiss(t, a, miss, devices.MissInUse, "request r of claim c wants 1; 0 of 2 matching devices of gpu.example.com are free")
	wrong := list()
	wrong[0].Spec.SharedCounters = wrong[0].Spec.SharedCounters[:1]
	a, miss = allocate(t, wrong, classes(), half)
	wantMiss(t, a, miss, devices.MissPool, "request r of claim c wants 1: pool n of gpu.example.com has no counter set gpu1, which the device whole1 consumes")
}

func TestSharedDevices(t *testing.T) {
	step := resource.MustParse("4Gi")
	policy := &resourcev1.CapacityRequestPolicy{Default: &step, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &step, Step: &step}}
	list := []*resourcev1.ResourceSlice{slice("n", device("a", shared, capacity("memory", "16Gi", policy)))}
	five := claimOf(exactly("r", 1, asks("memory", "5Gi"))) // takes 8
	a, miss := allocate(t, list, classes(), five, five)
	wantDevices(t, a, miss, "a")
	if got := a.Of(0).Results[0].ConsumedCapacity["memory"]; got.String() != "8Gi" {
		t.Errorf("consumes %s", got.String())
	}
	a, miss = allocate(t, list, classes(), five, five, claimOf(exactly("r", 1)))
	wantMiss(t, a, miss, devices.MissInUse, "request r of claim c wants 1; 0 of 1 matching devices of gpu.example.com are free")
	a, miss = allocate(t, list, classes(), five, claimOf(exactly("r", 1), exactly("s", 1)))
	wantDevices(t, a, miss, "a", "a")
	a, miss = allocate(t, list, classes(), claimOf(exactly("r", 2)))
	if a != nil {
		t.Errorf("one request has a device twice: %v, %s", a.Results, miss)
	}
	a, miss = allocate(t, list, classes(), claimOf(exactly("r", 1, asks("memory", "20Gi"))))
	wantMiss(t, a, miss, devices.MissCapacity, "request r of claim c wants 1; 0 of 1 matching devices of gpu.example.com have the capacity; they have memory 16Gi")
	a, miss = allocate(t, list, classes(), claimOf(exactly("r", 1, asks("cores", "2"))))
	wantMiss(t, a, miss, devices.MissCapacity, "request r of claim c wants 1; 0 of 1 matching devices of gpu.example.com have the capacity; they have no cores")
}

func TestGenerations(t *testing.T) {
	old, current := slice("n", device("old")), slice("n", device("new"))
	current.Spec.Pool.Generation = 2
	a, miss := allocate(t, []*resourcev1.ResourceSlice{current, old}, classes(), claimOf(all("r")))
	wantDevices(t, a, miss, "new")
	twice := slice("n", device("d"), device("d"))
	inv := devices.NewInventory([]*resourcev1.ResourceSlice{twice})
	if diff := cmp.Diff([]string{"pool n of gpu.example.com has the device d twice"}, inv.Problems()); diff != "" || inv.Len() != 0 {
		t.Errorf("%d devices, problems: %s", inv.Len(), diff)
	}
}

func TestReach(t *testing.T) {
	node := "n1"
	local, labelled, mixed := slice("local", device("l")), slice("labelled", device("s")), slice("mixed", device("m1"), device("m2"))
	local.Spec.AllNodes, local.Spec.NodeName = nil, &node
	labelled.Spec.AllNodes, labelled.Spec.NodeSelector = nil, &onGPU
	mixed.Spec.AllNodes, mixed.Spec.PerDeviceNodeSelection = nil, yes()
	mixed.Spec.Devices[0].NodeName, mixed.Spec.Devices[1].AllNodes = &node, yes()
	inv := devices.NewInventory([]*resourcev1.ResourceSlice{local, labelled, mixed})
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   []string
	}{
		{"n1", nil, []string{"l", "m1", "m2"}},
		{"n2", map[string]string{"gpu": ""}, []string{"s", "m2"}},
		{"n3", nil, []string{"m2"}},
	} {
		source := devices.Source{Usage: devices.NewUsage(inv), Reach: inv.Reach(c.name, c.labels)}
		a, miss := devices.Allocate([]devices.Source{source}, []*devices.Claim{newClaim(t, claimOf(all("r")), classes())}, devices.NewMatches(nil))
		wantDevices(t, a, miss, c.want...)
	}
}

// Several claims of a pod are allocated together, from several sources.
func TestTogether(t *testing.T) {
	own, net := devices.NewUsage(devices.NewInventory([]*resourcev1.ResourceSlice{slice("n", device("a", attribute("model", "x")))})),
		devices.NewUsage(devices.NewInventory([]*resourcev1.ResourceSlice{slice("net", device("z"))}))
	any, x := newClaim(t, claimOf(exactly("r", 1)), classes()), newClaim(t, claimOf(exactly("r", 1, where("model=x"))), classes())
	sources := []devices.Source{{Usage: own}, {Usage: net}}
	a, miss := devices.Allocate(sources, []*devices.Claim{any, x}, devices.NewMatches(&words{}))
	wantDevices(t, a, miss, "z", "a")
	a.Release()
	a, miss = devices.Allocate(sources, []*devices.Claim{x, x}, devices.NewMatches(&words{}))
	wantMiss(t, a, miss, devices.MissTogether, "request r of claim c wants 1; 1 matching devices of gpu.example.com are free, too few for all requests together")
}

func TestHold(t *testing.T) {
	inv := devices.NewInventory(gpus(2))
	u := devices.NewUsage(inv)
	held := &resourcev1.DeviceRequestAllocationResult{Driver: driver, Pool: "node", Device: "g0"}
	if !u.Hold(held) || u.Hold(&resourcev1.DeviceRequestAllocationResult{Driver: driver, Pool: "node", Device: "gone"}) {
		t.Error("g0 is there, gone is not")
	}
	one := []*devices.Claim{newClaim(t, claimOf(exactly("r", 1)), classes())}
	c := u.Clone()
	a, miss := devices.Allocate([]devices.Source{{Usage: c}}, one, devices.NewMatches(nil))
	wantDevices(t, a, miss, "g1")
	u.LetGo(held)
	a, miss = devices.Allocate([]devices.Source{{Usage: u}}, one, devices.NewMatches(nil))
	wantDevices(t, a, miss, "g0")
}

// Devices that differ in nothing cost one question each, and no search.
func TestEqualDevicesAreOneShape(t *testing.T) {
	w := &words{}
	u := devices.NewUsage(devices.NewInventory(gpus(30, attribute("model", "x"), attribute("domain", "1"))))
	claim := newClaim(t, constrained(claimOf(exactly("r", 16, where("model=x")), exactly("s", 15, where("model=x"))), match(driver+"/domain")), classes())
	a, miss := devices.Allocate([]devices.Source{{Usage: u}}, []*devices.Claim{claim}, devices.NewMatches(w))
	wantMiss(t, a, miss, devices.MissConstraint, "request r of claim c wants 16; no choice of the 30 matching devices of gpu.example.com that are free meets the constraint on gpu.example.com/domain")
	if w.asked != 1 {
		t.Errorf("asked %d times", w.asked)
	}
}

// An expression is asked once for devices that differ only in what it can't see, and once for each if it may see everything.
func TestWhatExpressionsSee(t *testing.T) {
	s := slice("n")
	for i := range 4 {
		s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprint("d", i), attribute("uuid", fmt.Sprint(i)), attribute("model", fmt.Sprint("m", i%2)), capacity("memory", fmt.Sprint(1+i%2))))
	}
	inv := devices.NewInventory([]*resourcev1.ResourceSlice{s})
	for expression, want := range map[string]int{
		`device.driver == "x"`:                         1,
		`device.attributes["x"].model == "m0"`:         2,
		`device.attributes["x"]["model"] == "m0"`:      2,
		`"model" in device.attributes["x"]`:            2,
		`device.capacity["x"].memory == y`:             2,
		`device.attributes["x"].uuid == "1"`:           4,
		`device.attributes["x"].exists(k, k == "a")`:   4,
		`device.attributes["x"]["uu" + "id"] == "1"`:   4,
		`device.attributes["x"][device.driver] == "1"`: 4,
		`device.driver in device.attributes["x"]`:      4,
		`device.attributes["x"].model in ["m0"]`:       4,
	} {
		w := &words{}
		claim := newClaim(t, claimOf(exactly("r", 1, where(expression))), classes())
		_, _ = devices.Allocate([]devices.Source{{Usage: devices.NewUsage(inv)}}, []*devices.Claim{claim}, devices.NewMatches(w))
		if w.asked != want {
			t.Errorf("%s: asked %d times, want %d", expression, w.asked, want)
		}
	}
}

// A search that leads nowhere ends.
func TestStepsAreBounded(t *testing.T) {
	s := slice("n")
	for i := range 30 {
		s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprint(i), attribute("a", fmt.Sprint(i%6)), attribute("b", fmt.Sprint(i%5))))
	}
	claim := constrained(claimOf(exactly("r", 5), exactly("s", 5), exactly("t", 6)), distinct(driver+"/a", "r", "s"), distinct(driver+"/b", "t"))
	a, miss := allocate(t, []*resourcev1.ResourceSlice{s}, classes(), claim)
	wantMiss(t, a, miss, devices.MissSteps, fmt.Sprintf("request %s of claim c wants %d; no choice was found in 20000 steps, and the search was given up", miss.Request, miss.Wanted))
}

func TestClaimsThatNoNodeCanMeet(t *testing.T) {
	for want, spec := range map[string]*resourcev1.DeviceClaim{
		`request r of claim c asks for the DeviceClass "none", which does not exist`:                     claimOf(exactly("r", 1, func(e *resourcev1.ExactDeviceRequest) { e.DeviceClassName = "none" })),
		`request r of claim c has the allocation mode "Some", which is not known`:                        claimOf(exactly("r", 1, func(e *resourcev1.ExactDeviceRequest) { e.AllocationMode = "Some" })),
		`request r of claim c asks for -1 devices`:                                                       claimOf(exactly("r", -1)),
		`request r of claim c is of a kind that is not known: neither exactly nor firstAvailable is set`: claimOf(resourcev1.DeviceRequest{Name: "r"}),
		`claim c has a constraint (number 0) of a kind that is not known`:                                constrained(claimOf(exactly("r", 1)), resourcev1.DeviceConstraint{}),
		`request r of claim c has a selector of a kind that is not known, or its class has`: claimOf(exactly("r", 1, func(e *resourcev1.ExactDeviceRequest) {
			e.Selectors = append(e.Selectors, resourcev1.DeviceSelector{})
		})),
	} {
		if _, err := devices.NewClaim("c", spec, classes()); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
