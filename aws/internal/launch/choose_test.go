package launch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

func TestChoose(t *testing.T) {
	const block, plain = "capacity-block", "default"
	gpu := func(name string, o ...cloudprovider.Offering) *cloudprovider.InstanceType {
		return with(instanceType(name, o...), "nvidia.com/gpu", "1")
	}
	for name, c := range map[string]struct {
		types []*cloudprovider.InstanceType
		wish  launch.Wish
		want  []string
	}{
		"AWI-152: what has no room, does not suit or is too small is left out": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large", offering("on-demand", "a", 1), offering("on-demand", "b", 1, soldOut)),
				instanceType("c5.large", offering("on-demand", "c", 1)),
				with(instanceType("t3.nano", offering("on-demand", "a", 0.1)), corev1.ResourceCPU, "500m"),
			},
			wish: launch.Wish{
				Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "a", "b")),
				Requests:     corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			},
			want: []string{"m5.large a on-demand"},
		},
		"AWI-159: reserved before spot before on-demand": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large", offering("on-demand", "a", 1), offering("spot", "a", 0.3), offering("reserved", "b", 0.0001, reservation("cr-1", plain, false, 2))),
			},
			want: []string{"m5.large b reserved cr-1"},
		},
		"AWI-159: spot before on-demand": {
			types: []*cloudprovider.InstanceType{instanceType("m5.large", offering("on-demand", "a", 1), offering("spot", "a", 0.3))},
			want:  []string{"m5.large a spot"},
		},
		"AWI-153: the cheapest kind of reservation, the default kind where prices are equal": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large", offering("reserved", "a", 0.1, reservation("cr-1", plain, false, 1)), offering("spot", "a", 0.01)),
				instanceType("p5.large", offering("reserved", "a", 0.1, reservation("cr-2", block, false, 1))),
				instanceType("m6.large", offering("reserved", "a", 0.1, reservation("cr-3", plain, true, 1))),
			},
			want: []string{"m5.large a reserved cr-1"},
		},
		"AWI-153: interruptible reservations when they are cheapest": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large", offering("reserved", "a", 0.1, reservation("cr-1", plain, false, 1))),
				instanceType("m6.large", offering("reserved", "a", 0.05, reservation("cr-3", plain, true, 1))),
			},
			want: []string{"m6.large a reserved cr-3"},
		},
		"AWI-153: a full reservation does not count": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large", offering("reserved", "a", 0.1, reservation("cr-1", plain, false, 0)), offering("on-demand", "a", 1)),
			},
			want: []string{"m5.large a on-demand"},
		},
		"AWI-154: one capacity block alone, the cheapest": {
			types: []*cloudprovider.InstanceType{
				instanceType("p5.large", offering("reserved", "a", 0.2, reservation("cr-1", block, false, 1)), offering("reserved", "b", 0.1, reservation("cr-2", block, false, 1))),
				instanceType("p4.large", offering("reserved", "a", 0.15, reservation("cr-3", block, false, 1))),
			},
			want: []string{"p5.large b reserved cr-2"},
		},
		"AWI-155: of several reservations of a type in a zone the one with most room": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large",
					offering("reserved", "a", 0.1, reservation("cr-1", plain, false, 1)),
					offering("reserved", "a", 0.1, reservation("cr-2", plain, false, 9)),
					offering("reserved", "b", 0.1, reservation("cr-3", plain, false, 2))),
			},
			want: []string{"m5.large a reserved cr-2", "m5.large b reserved cr-3"},
		},
		"API-446, AWI-156: nothing exotic where something plain would do": {
			types: []*cloudprovider.InstanceType{
				gpu("g5.large", offering("on-demand", "a", 0.01)),
				instanceType("m5.metal", offering("on-demand", "a", 0.01)),
				with(instanceType("i2.large", offering("on-demand", "a", 0.01)), "aws.amazon.com/neuron", "1"),
				withDevices(instanceType("g6.large", offering("on-demand", "a", 0.01))),
				instanceType("m5.large", offering("on-demand", "a", 1)),
			},
			want: []string{"m5.large a on-demand"},
		},
		"AWI-156: exotic types when there are no others": {
			types: []*cloudprovider.InstanceType{gpu("g5.large", offering("on-demand", "a", 1)), instanceType("m5.metal", offering("on-demand", "a", 1))},
			want:  []string{"g5.large a on-demand", "m5.metal a on-demand"},
		},
		"AWI-156: exotic types stay when minValues asks for variety": {
			types: []*cloudprovider.InstanceType{gpu("g5.large", offering("on-demand", "a", 1)), instanceType("m5.large", offering("on-demand", "a", 1))},
			wish:  wish(requirements.Exists(awsv1.LabelInstanceFamily).WithMinValues(2)),
			want:  []string{"g5.large a on-demand", "m5.large a on-demand"},
		},
		"AWI-157: no spot more expensive than the cheapest on-demand": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large", offering("on-demand", "a", 1), offering("spot", "a", 0.9)),
				instanceType("m6.large", offering("spot", "a", 1), offering("spot", "b", 1.01)),
				instanceType("x2.large", offering("spot", "a", 5), offering("on-demand", "a", 9)),
			},
			want: []string{"m5.large a spot", "m6.large a spot"},
		},
		"AWI-157: dear spot stays when on-demand is not allowed": {
			types: []*cloudprovider.InstanceType{
				instanceType("m5.large", offering("on-demand", "a", 1), offering("spot", "a", 0.9)),
				instanceType("x2.large", offering("spot", "a", 5)),
			},
			wish: wish(requirements.In(v1.CapacityTypeLabelKey, "spot")),
			want: []string{"m5.large a spot", "x2.large a spot"},
		},
		"AWI-139: of several partitions the first": {
			types: []*cloudprovider.InstanceType{instanceType("m5.large", partitioned("2"), partitioned("1"), partitioned("3"))},
			wish:  wish(requirements.In(awsv1.LabelPlacementGroupPartition, "2", "3")),
			want:  []string{"m5.large a on-demand"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			choice, err := launch.Choose(c.types, c.wish)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, keys(choice)); diff != "" {
				t.Error(diff)
			}
			for _, candidate := range choice.Candidates {
				if candidate.Offering.CapacityType() != choice.CapacityType {
					t.Errorf("%v is not %s", candidate.Key(), choice.CapacityType)
				}
			}
		})
	}
}

func partitioned(partition string) cloudprovider.Offering {
	return offering("on-demand", "a", 1, func(o *cloudprovider.Offering) {
		o.Requirements = o.Requirements.With(requirements.In(awsv1.LabelPlacementGroupPartition, partition))
	})
}

// many are n types of n/2 families, each more expensive than the one before.
func many(n int) []*cloudprovider.InstanceType {
	var types []*cloudprovider.InstanceType
	for i := range n {
		types = append(types, instanceType(fmt.Sprintf("%c%c.size%03d", 'a'+i/2/26, 'a'+i/2%26, i), offering("on-demand", "a", float64(1+i)), offering("on-demand", "b", float64(1+i))))
	}
	return types
}

// AWI-158: the 60 cheapest types, whatever the order they come in. OPP-19: and always the same choice.
func TestTruncate(t *testing.T) {
	types := many(100)
	want, err := launch.Choose(types, wish())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(want.InstanceTypes()); n != launch.MaxInstanceTypes || want.InstanceTypes()[59].Name != types[59].Name {
		t.Errorf("%d types are left, want the 60 cheapest", n)
	}
	if len(want.Ruled) != 1 || len(want.Ruled[0].InstanceTypes) != 40 || !strings.HasSuffix(want.Ruled[0].String(), "and 35 more") {
		t.Errorf("ruled out: %v", want.Ruled)
	}
	for range 5 {
		shuffled := slices.Clone(types)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got, _ := launch.Choose(shuffled, wish()); !slices.Equal(keys(got), keys(want)) {
			t.Error("another order of the types gives another choice")
		}
	}
}

// AWI-158: minValues is kept where it can be, and otherwise is an error unless the claim is relaxed.
func TestTruncateMinValues(t *testing.T) {
	families := func(n int) launch.Wish {
		return wish(requirements.Exists(awsv1.LabelInstanceFamily).WithMinValues(n))
	}
	choice, err := launch.Choose(many(100), families(45))
	if err != nil {
		t.Fatal(err)
	}
	distinct := map[string]bool{}
	for _, it := range choice.InstanceTypes() {
		distinct[it.Name[:2]] = true
	}
	if len(distinct) < 45 || len(choice.InstanceTypes()) != 60 {
		t.Errorf("%d families of %d types, want at least 45 of 60: more expensive types bring the families that the cheapest lack", len(distinct), len(choice.InstanceTypes()))
	}
	_, err = launch.Choose(many(100), families(51))
	if !cloudprovider.IsInsufficientCapacity(err) || !strings.Contains(err.Error(), "minValues is 51") {
		t.Errorf("got %v", err)
	}
	relaxed := families(51)
	relaxed.MinValuesRelaxed = true
	if _, err := launch.Choose(many(100), relaxed); err != nil {
		t.Errorf("a relaxed claim got %v", err)
	}
}

// AWI-151, CP-CREATE-07: nothing with room is an error that names all that suits; nothing that suits says what was
// wanted.
func TestChooseNothing(t *testing.T) {
	types := []*cloudprovider.InstanceType{instanceType("m5.large", offering("spot", "b", 1, soldOut), offering("spot", "a", 1, soldOut), offering("on-demand", "a", 1))}
	_, err := launch.Choose(types, wish(requirements.In(v1.CapacityTypeLabelKey, "spot")))
	if got := cloudprovider.ExhaustedOfferings(err); !cloudprovider.IsInsufficientCapacity(err) || len(got) != 2 || got[0].String() != "m5.large/a/spot" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = launch.Choose(types, wish(requirements.In(corev1.LabelArchStable, "arm64"), requirements.In(corev1.LabelTopologyZone, "z")))
	if !cloudprovider.IsInsufficientCapacity(err) || !strings.Contains(err.Error(), "arm64") || len(cloudprovider.ExhaustedOfferings(err)) != 0 {
		t.Errorf("got %v", err)
	}
	if _, err = launch.Choose(nil, launch.Wish{}); !cloudprovider.IsInsufficientCapacity(err) {
		t.Errorf("without types: %v", err)
	}
}

// AWI-160, AWI-161.
func TestAdviceAndTenancy(t *testing.T) {
	onDemand := []*cloudprovider.InstanceType{instanceType("m5.large", offering("on-demand", "a", 1))}
	choice, err := launch.Choose(onDemand, wish(requirements.In(v1.CapacityTypeLabelKey, "spot", "on-demand")))
	if err != nil || !strings.Contains(choice.Advice, "with 1 instance types") {
		t.Errorf("advice %q, %v", choice.Advice, err)
	}
	if choice, _ = launch.Choose(onDemand, wish(requirements.In(v1.CapacityTypeLabelKey, "on-demand"))); choice.Advice != "" {
		t.Errorf("advice %q for a claim that does not want spot", choice.Advice)
	}
	if choice, _ = launch.Choose(many(9), wish()); choice.Advice != "" {
		t.Errorf("advice %q for a claim with a wide choice", choice.Advice)
	}
	for values, want := range map[string]string{"dedicated": "dedicated", "default": "default", "dedicated,default": "default"} {
		choice, err := launch.Choose(onDemand, wish(requirements.In(awsv1.LabelInstanceTenancy, strings.Split(values, ",")...)))
		if err != nil || choice.Tenancy != want {
			t.Errorf("%s: tenancy %q, %v", values, choice.Tenancy, err)
		}
	}
}

// Choose changes nothing of what it is given (CP-CATALOG-09).
func TestChooseChangesNothing(t *testing.T) {
	types := many(70)
	before := fmt.Sprintf("%+v", *types[3])
	choice, err := launch.Choose(types, wish())
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range choice.InstanceTypes() {
		it.Offerings[0].Price = -1
	}
	if fmt.Sprintf("%+v", *types[3]) != before {
		t.Error("an instance type was changed")
	}
}

// withDevices has a GPU of a driver of Dynamic Resource Allocation.
func withDevices(t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	t.Devices = []cloudprovider.DevicePool{{Driver: "gpu.nvidia.com", Devices: []resourcev1.Device{{Name: "gpu-0"}}}}
	return t
}
