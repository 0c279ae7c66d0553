package replay_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/commands/simulate/internal/replay"
	"github.com/drawknife/drawknife/scheduling"
)

const driver = "gpu.example.com"

// byModel takes expressions that are "model" and the name of one.
type byModel struct{}

func (byModel) Matches(expression, driver string, d *resourcev1.Device) (bool, error) {
	model := d.Attributes["model"].StringValue
	return model != nil && "model "+*model == expression, nil
}

// deviceSnapshot is a cluster whose types of 8 cores have two GPUs of model A, those of 16 cores one of model B in two halves, of which three are
// published; each with a class, a template and a claim for one device. Nodes are on demand.
func deviceSnapshot() *scheduling.Snapshot {
	s := snapshot()
	s.NodePools[0].Object.Spec.Template.Spec.Requirements = append(s.NodePools[0].Object.Spec.Template.Spec.Requirements,
		v1.NodeSelectorRequirementWithMinValues{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeOnDemand}})
	for _, it := range s.Catalogs["generic"] {
		pool := cloudprovider.DevicePool{Driver: driver}
		cpu := it.Capacity[corev1.ResourceCPU]
		switch cpu.Value() {
		case 8:
			pool.Devices = []resourcev1.Device{ofModel("gpu-0", "A"), ofModel("gpu-1", "A")}
		case 16:
			pool.SharedCounters = []resourcev1.CounterSet{{Name: "gpu", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse("4")}}}}
			for i := range 3 {
				half := ofModel(fmt.Sprint("half-", i), "B")
				half.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse("2")}}}}
				pool.Devices = append(pool.Devices, half)
			}
		default:
			continue
		}
		it.Devices = []cloudprovider.DevicePool{pool}
	}
	for _, model := range []string{"A", "B"} {
		name := strings.ToLower(model)
		s.DeviceClasses = append(s.DeviceClasses, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "model " + model}}},
		}})
		spec := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
		}}}}
		s.ResourceClaimTemplates = append(s.ResourceClaimTemplates, &resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: spec},
		})
		s.ResourceClaims = append(s.ResourceClaims, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name + "-for-all"}, Spec: spec})
	}
	return s
}

func ofModel(name, model string) resourcev1.Device {
	return resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}}}
}

// claiming is a pod that is there between two minutes, with its own device of the template.
func claiming(name, template string, from, until int) replay.Arrival {
	return replay.Arrival{
		Name: name, At: time.Duration(from) * time.Minute, Until: time.Duration(until) * time.Minute, MilliCPU: 500, Memory: 1 << 30,
		Namespace: "ml", ClaimTemplates: []string{template},
	}
}

// sharing is a pod that is there between two minutes and uses the claim.
func sharing(name, claim string, from, until int) replay.Arrival {
	a := claiming(name, "", from, until)
	a.ClaimTemplates, a.Claims = nil, []string{claim}
	return a
}

// Pods with claims get devices of nodes; those of pods that end are free for others, and those of a shared claim once its last pod has ended.
func TestClaims(t *testing.T) {
	for name, c := range map[string]struct {
		trace  []replay.Arrival
		change func(*scheduling.Snapshot)
		// launches that are needed: a node has two devices.
		launches int
	}{
		"two on a node":                 {trace: []replay.Arrival{claiming("a", "a", 0, 60), claiming("b", "a", 1, 60)}, launches: 1},
		"three are one too many":        {trace: []replay.Arrival{claiming("a", "a", 0, 60), claiming("b", "a", 0, 60), claiming("c", "a", 5, 60)}, launches: 2},
		"the device of one that ended":  {trace: []replay.Arrival{claiming("a", "a", 0, 30), claiming("b", "a", 0, 60), claiming("c", "a", 31, 60)}, launches: 1},
		"halves":                        {trace: []replay.Arrival{claiming("a", "b", 0, 60), claiming("b", "b", 0, 60), claiming("c", "b", 5, 60)}, launches: 2},
		"a half of one that ended":      {trace: []replay.Arrival{claiming("a", "b", 0, 30), claiming("b", "b", 0, 60), claiming("c", "b", 31, 60)}, launches: 1},
		"shared":                        {trace: []replay.Arrival{sharing("a", "a-for-all", 0, 60), sharing("b", "a-for-all", 5, 60), claiming("c", "a", 10, 60)}, launches: 1},
		"shared while one pod is there": {trace: []replay.Arrival{sharing("a", "a-for-all", 0, 20), sharing("b", "a-for-all", 5, 60), claiming("c", "a", 30, 60), claiming("d", "a", 35, 60)}, launches: 2},
		"shared until all have ended":   {trace: []replay.Arrival{sharing("a", "a-for-all", 0, 20), sharing("b", "a-for-all", 5, 30), claiming("c", "a", 6, 60), claiming("d", "a", 35, 60)}, launches: 1},
		"an extended resource": {
			trace: []replay.Arrival{
				{Name: "a", Until: time.Hour, MilliCPU: 500, Memory: 1 << 30, GPU: 1}, {Name: "b", Until: time.Hour, MilliCPU: 500, Memory: 1 << 30, GPU: 1},
				{Name: "c", At: 5 * time.Minute, Until: time.Hour, MilliCPU: 500, Memory: 1 << 30, GPU: 1},
			},
			change: func(s *scheduling.Snapshot) {
				name := "nvidia.com/gpu"
				s.DeviceClasses[0].Spec.ExtendedResourceName = &name
			},
			launches: 2,
		},
		"devices that several nodes can use": {
			trace: []replay.Arrival{claiming("a", "net", 0, 20), claiming("b", "net", 5, 60), claiming("c", "net", 25, 60)},
			change: func(s *scheduling.Snapshot) {
				all := true
				s.ResourceSlices = []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "net"}, Spec: resourcev1.ResourceSliceSpec{
					Driver: "net.example.com", AllNodes: &all, Pool: resourcev1.ResourcePool{Name: "net", ResourceSliceCount: 1}, Devices: []resourcev1.Device{ofModel("n-0", "N"), ofModel("n-1", "N")},
				}}}
				class := s.DeviceClasses[0].DeepCopy()
				class.Name, class.Spec.Selectors[0].CEL.Expression = "net", "model N"
				template := s.ResourceClaimTemplates[0].DeepCopy()
				template.Name, template.Spec.Spec.Devices.Requests[0].Exactly.DeviceClassName = "net", "net"
				s.DeviceClasses, s.ResourceClaimTemplates = append(s.DeviceClasses, class), append(s.ResourceClaimTemplates, template)
			},
			launches: 2, // small ones
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := deviceSnapshot()
			if c.change != nil {
				c.change(s)
			}
			r := run(t, replay.Options{Snapshot: s, DeviceMatcher: byModel{}, Trace: c.trace, Length: time.Hour, Seed: 1, Consolidate: -1})
			if r.Unplaced+r.Never+r.WithoutDevices != 0 || len(r.Waits) != len(c.trace) {
				t.Errorf("%d wait, %d never had a node, %d times no devices; %d of %d pods had a node", r.Unplaced, r.Never, r.WithoutDevices, len(r.Waits), len(c.trace))
			}
			if r.Launches != c.launches {
				t.Errorf("%d launches, want %d", r.Launches, c.launches)
			}
			if longest := r.Pending(1); longest > replay.DefaultBoot+15*time.Second {
				t.Errorf("a pod waited %s", longest)
			}
		})
	}
}

// Without what evaluates selectors, pods whose claims have some wait, and the result says why. So do pods for which there are too few devices.
func TestClaimsRefused(t *testing.T) {
	list := []replay.Arrival{claiming("x", "a", 0, 120), claiming("w", "a", 0, 120), {Name: "plain", Until: time.Hour, MilliCPU: 500, Memory: 1 << 30}}
	r := run(t, replay.Options{Snapshot: deviceSnapshot(), Trace: list, Length: time.Hour, Seed: 1})
	if len(r.Waits) != 1 || r.Refused != 2 || len(r.Refusals) != 1 || r.Refusals[0].Pods != 2 || r.Refusals[0].Pod != "ml/w" || !strings.Contains(r.Refusals[0].Reasons[0], "no matcher to evaluate them") {
		t.Errorf("%d pods had a node, %d are refused: %+v", len(r.Waits), r.Refused, r.Refusals)
	}
	many := deviceSnapshot()
	many.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests[0].Exactly.Count = 3
	r = run(t, replay.Options{Snapshot: many, DeviceMatcher: byModel{}, Trace: list, Length: time.Hour, Seed: 1})
	if r.Refused != 2 || len(r.Refusals) != 1 || !strings.Contains(strings.Join(r.Refusals[0].Reasons, " "), "wants 3") {
		t.Errorf("%d are refused: %+v", r.Refused, r.Refusals)
	}
	list = append(list, claiming("later", "a", 30, 59)) // done before the end: its reason stays
	if r = run(t, replay.Options{Snapshot: many, DeviceMatcher: byModel{}, Trace: list, Length: time.Hour, Seed: 1}); r.Refused != 2 || r.Never != 1 || r.Refusals[0].Pods != 3 {
		t.Errorf("%d are refused, %d had no node: %+v", r.Refused, r.Never, r.Refusals)
	}
	for says, p := range map[string]replay.Arrival{
		"pod x of the trace: there is no ResourceClaimTemplate ml/c": claiming("x", "c", 0, 9), "pod x of the trace: there is no ResourceClaim ml/c": sharing("x", "c", 0, 9),
	} {
		if _, err := replay.Run(t.Context(), replay.Options{Snapshot: deviceSnapshot(), Trace: []replay.Arrival{p}, Length: time.Hour}); err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
	twice := deviceSnapshot()
	twice.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "x"}}}
	if _, err := replay.Run(t.Context(), replay.Options{Snapshot: twice, Trace: list, Length: time.Hour}); err == nil || !strings.Contains(err.Error(), "pod ml/x occurs twice") {
		t.Errorf("a pod of both: %v", err)
	}
}

// A pod without a place does not keep nodes from being consolidated.
func TestRefusedPodsHoldNothingUp(t *testing.T) {
	s := deviceSnapshot()
	s.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests[0].Exactly.Count = 3
	with := append([]replay.Arrival{claiming("none", "a", 0, 0)}, trace(120)...)
	r := run(t, replay.Options{Snapshot: s, DeviceMatcher: byModel{}, Trace: with, Length: 6 * time.Hour, Seed: 1, Consolidate: 15 * time.Minute})
	if r.Refused != 1 || r.Commands == 0 {
		t.Errorf("%d refused, %d commands", r.Refused, r.Commands)
	}
}

// A fleet of pods with and without claims, in which nodes go and come: the same each time, with any number of processors, and each pod gets its devices.
func TestClaimsSeed(t *testing.T) {
	s := deviceSnapshot()
	s.NodePools[0].Object.Spec.Template.Spec.Requirements = nil // spot, too
	list := trace(60)
	for i := range 60 {
		from := i * 4
		switch i % 4 {
		case 0:
			list = append(list, sharing(fmt.Sprint("shares-", i), "b-for-all", from, from+50+i%7*10))
		case 1:
			list = append(list, claiming(fmt.Sprint("half-", i), "b", from, from+60+i%5*30))
		default:
			list = append(list, claiming(fmt.Sprint("whole-", i), "a", from, from+60+i%5*30))
		}
	}
	slices.SortStableFunc(list, func(a, b replay.Arrival) int { return int(a.At - b.At) })
	o := replay.Options{Snapshot: s, DeviceMatcher: byModel{}, Trace: list, Length: 8 * time.Hour, Seed: 7, Interruptions: 500, Consolidate: 15 * time.Minute}
	first := run(t, o)
	if first.Unplaced+first.Never+first.Refused != 0 || len(first.Waits) != len(list) || first.EvictionsBySpot == 0 || first.EvictionsByPlan == 0 {
		t.Errorf("%d wait, %d never had a node, %d are refused, %d of %d had one; evicted: %d by spot, %d by commands",
			first.Unplaced, first.Never, first.Refused, len(first.Waits), len(list), first.EvictionsBySpot, first.EvictionsByPlan)
	}
	if first.WithoutDevices > 0 {
		t.Errorf("%d times a node had no devices for a pod", first.WithoutDevices)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	text := func(r *replay.Result) string {
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if diff := cmp.Diff(text(first), text(run(t, o))); diff != "" {
		t.Errorf("a second time:\n%s", diff)
	}
}
