package devices_test

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/seeded"
)

// parted has GPUs each of which can be had whole or in parts: of 7 slices, and 8 places of memory that parts have side by side, as with MIG.
func parted(gpus int) *resourcev1.ResourceSlice {
	s := slice("n")
	for g := range gpus {
		set := fmt.Sprint("s", g)
		s.Spec.SharedCounters = append(s.Spec.SharedCounters, resourcev1.CounterSet{Name: set, Counters: slicesAndPlaces(7, 0, 8)})
		add := func(model string, slices, first, places int) {
			d := device(fmt.Sprint(model, g, "-", first), attribute("m", model))
			d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: slicesAndPlaces(slices, first, places)}}
			s.Spec.Devices = append(s.Spec.Devices, d)
		}
		add("whole", 7, 0, 8)
		for i := range 7 {
			add("small", 1, i, 1)
		}
		for i := range 3 {
			add("medium", 2, 2*i, 2)
		}
		for i := range 2 {
			add("large", 3, 4*i, 4)
		}
	}
	return s
}

func slicesAndPlaces(slices, first, places int) map[string]resourcev1.Counter {
	out := map[string]resourcev1.Counter{"slices": {Value: *resource.NewQuantity(int64(slices), resource.DecimalSI)}}
	for i := first; i < first+places; i++ {
		out[fmt.Sprint("place", i)] = resourcev1.Counter{Value: *resource.NewQuantity(1, resource.DecimalSI)}
	}
	return out
}

// Whole GPUs and partitions of one size fit by counting if and only if there are GPUs for all.
func TestWholesAndPartitionsOfOneSizeAreCountedExactly(t *testing.T) {
	for gpus := 1; gpus <= 3; gpus++ {
		for model, parts := range map[string]int{"small": 7, "medium": 3, "large": 2} {
			for wholes := 0; wholes <= gpus+1; wholes++ {
				for n := 0; n <= gpus*parts+1; n++ {
					var specs []*resourcev1.DeviceClaim
					for range wholes {
						specs = append(specs, claimOf(exactly("r", 1, where("m=whole"))))
					}
					for range n {
						specs = append(specs, claimOf(exactly("r", 1, where("m="+model))))
					}
					want := wholes <= gpus && n <= (gpus-wholes)*parts
					if c := mustCount(t, []*resourcev1.ResourceSlice{parted(gpus)}, specs...); c.fits() != want || c.mayFit() != want {
						t.Errorf("%d GPUs, %d whole and %d %s: want %t, got %s, at most %v", gpus, wholes, n, model, want, c, c.most)
					}
				}
			}
		}
	}
}

// What can be allocated of GPUs and their partitions fits by counting, and there is little else that does.
func TestSharesExcludeNothingThatCanBeHad(t *testing.T) {
	fit, over, not := 0, 0, 0
	seeded.Times(t, 1500, func(t *rapid.T) {
		gpus := rapid.IntRange(1, 3).Draw(t, "gpus")
		models := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"whole", "small", "medium", "large"}), 2, 4, rapid.ID).Draw(t, "models")
		var specs []*resourcev1.DeviceClaim
		for range rapid.IntRange(1, 4*gpus).Draw(t, "claims") {
			specs = append(specs, claimOf(exactly("r", 1, where("m="+rapid.SampledFrom(models).Draw(t, "model")))))
		}
		s := parted(gpus)
		if rapid.Bool().Draw(t, "one is gone") {
			s.Spec.Devices = s.Spec.Devices[1:]
		}
		c := mustCount(t, []*resourcev1.ResourceSlice{s}, specs...)
		a, miss := devices.Allocate(c.sources, c.claims, c.matches)
		switch {
		case miss != nil && miss.Code == devices.MissSteps:
			t.Skip("the allocator gives up")
		case a == nil && !c.fits():
			not++
		case a != nil && !(c.fits() && c.mayFit()):
			t.Fatalf("%s, at most %v, but %v", c, c.most, a.Results)
		case a != nil:
			fit++
		case c.fits():
			over++
		}
	})
	if !t.Failed() && !testing.Short() && (over*20 > fit || fit < 200 || not < 200) {
		t.Errorf("%d fit, %d don't, and %d do by counting alone", fit, not, over)
	}
}

// Any device will do for some, and some devices are in use: still nothing is excluded that can be had.
func TestSharesOfDrawnGroups(t *testing.T) {
	fit, over := 0, 0
	seeded.Times(t, 2000, func(t *rapid.T) {
		s := slice("n")
		sets := rapid.IntRange(1, 3).Draw(t, "sets")
		for g := range sets {
			counters(s, fmt.Sprint("s", g), "x", fmt.Sprint(rapid.IntRange(2, 6).Draw(t, "x")))
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "devices") {
			set := fmt.Sprint("s", rapid.IntRange(0, sets-1).Draw(t, "set"))
			s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprint("d", i), attribute("m", rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "m")),
				consumes(set, "x", fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "takes")))))
		}
		var specs []*resourcev1.DeviceClaim
		for range rapid.IntRange(1, 5).Draw(t, "claims") {
			request := exactly("r", int64(rapid.IntRange(1, 2).Draw(t, "count")))
			if model := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "asks"); model != "" {
				where("m=" + model)(request.Exactly)
			}
			specs = append(specs, claimOf(request))
		}
		c := mustCount(t, []*resourcev1.ResourceSlice{s}, specs...)
		switch a, _ := devices.Allocate(c.sources, c.claims, c.matches); {
		case a != nil && !(c.fits() && c.mayFit()):
			t.Fatalf("%s, at most %v, but %v", c, c.most, a.Results)
		case a != nil:
			fit++
		case c.fits():
			over++
		}
	})
	if !t.Failed() && !testing.Short() && (over*20 > fit || fit < 200) {
		t.Errorf("%d fit, and %d do by counting alone", fit, over)
	}
}
