package scheduling_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

func names(options []scheduling.InstanceTypeOption) []string {
	var out []string
	for _, o := range options {
		out = append(out, o.Name)
	}
	return out
}

// SCH-157, SCH-158, SCH-173: the instance types of a node are all that would hold its pods, cheapest first.
func TestInstanceTypesOfANewMachine(t *testing.T) {
	for _, c := range []struct {
		name string
		pool scheduling.NodePool
		pod  []podOption
		want []string
	}{
		{"all", nodePool("p"), nil, []string{"small", "arm", "medium", "large"}},
		{"those of the pool", nodePool("p", poolNeeds(typeKey, opNotIn, "small", "arm")), nil, []string{"medium", "large"}},
		{"those the pod takes", nodePool("p"), []podOption{selector(archKey + "=amd64")}, []string{"small", "medium", "large"}},
		{"those that are large enough", nodePool("p"), []podOption{requests("cpu=3")}, []string{"arm", "medium", "large"}},
		{"those that the limit allows", nodePool("p", limit("cpu=4")), []podOption{requests("cpu=3")}, []string{"arm", "medium"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(c.pool, pod("p", c.pod...)))
			if diff := cmp.Diff(c.want, names(newNodeOf(t, p, "p").InstanceTypes)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// SCH-158: capacity less overhead is what pods get, memory less huge pages.
func TestAllocatableOfANewMachine(t *testing.T) {
	it := typeOf("big", 1, "cpu=4", "memory=16Gi", "hugepages-2Mi=1Gi")
	it.Overhead = cloudprovider.Overhead{KubeReserved: amounts("cpu=100m", "memory=1Gi"), SystemReserved: amounts("memory=512Mi"), EvictionThreshold: amounts("memory=100Mi")}
	for _, c := range []struct {
		request string
		want    bool
	}{{"cpu=3900m", true}, {"cpu=3901m", false}, {"memory=13724Mi", true}, {"memory=13725Mi", false}} {
		p := solve(t, cluster(it, pod("p", requests(c.request))))
		if placed := len(p.NewNodes) == 1; placed != c.want {
			t.Errorf("%s: placed %v, want %v", c.request, placed, c.want)
		}
	}
}

// SCH-158: only available offerings count, each with its zone and capacity type together.
func TestOfferings(t *testing.T) {
	gone := func(o cloudprovider.Offering) cloudprovider.Offering { o.Available = false; return o }
	it := func() *cloudprovider.InstanceType {
		return sold(typeOf("x", 1, "cpu=4", "memory=16Gi"),
			offering("a", v1.CapacityTypeOnDemand, 0.5), offering("b", v1.CapacityTypeSpot, 0.2), gone(offering("a", v1.CapacityTypeSpot, 0.1)))
	}
	for _, c := range []struct {
		name string
		pod  []podOption
		want string
	}{
		{"the cheapest that is available", nil, "new x/b/spot"},
		{"in another zone", []podOption{selector(zoneKey + "=a")}, "new x/a/on-demand"},
		{"zone and capacity type are sold together", []podOption{selector(zoneKey+"=a", capacityKey+"=spot")}, "nowhere"},
		{"alternatives of pairs", []podOption{required(in(zoneKey, "a"), in(capacityKey, "spot")), required(in(zoneKey, "a"), in(capacityKey, "on-demand"))}, "new x/a/on-demand"},
	} {
		t.Run(c.name, func(t *testing.T) { wantPlace(t, solve(t, cluster(it(), pod("p", c.pod...))), "p", c.want) })
	}
}

// SCH-158: an offering may have another capacity or overhead than its type.
func TestOfferingOverrides(t *testing.T) {
	big := offering("b", v1.CapacityTypeOnDemand, 0.9)
	big.Capacity = amounts("memory=32Gi")
	lean := offering("c", v1.CapacityTypeOnDemand, 0.8)
	lean.Overhead = &cloudprovider.Overhead{KubeReserved: amounts("cpu=0")}
	it := sold(typeOf("x", 1, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.5), big, lean)
	it.Overhead.KubeReserved = amounts("cpu=500m")
	for _, c := range []struct{ name, request, want string }{
		{"the type's own", "cpu=3500m", "new x/a/on-demand"},
		{"more memory", "memory=20Gi", "new x/b/on-demand"},
		{"less overhead", "cpu=4", "new x/c/on-demand"},
	} {
		t.Run(c.name, func(t *testing.T) { wantPlace(t, solve(t, cluster(it, pod("p", requests(c.request)))), "p", c.want) })
	}
}

// SCH-156, SCH-159: which of the three checks ruled out how many types, in words and numbers.
func TestNoInstanceTypeFits(t *testing.T) {
	unsold := sold(typeOf("unsold", 1, "cpu=64", "memory=256Gi"))
	spotless := sold(typeOf("spotless", 1, "cpu=64", "memory=256Gi"), offering("a", v1.CapacityTypeOnDemand, 1))
	for _, c := range []struct {
		name  string
		parts []any
		pod   []podOption
		want  planning.Removed
		text  string
	}{
		{"too large", nil, []podOption{requests("cpu=9", "memory=1Gi")}, planning.Removed{Resources: 4},
			`incompatible with nodepool "default", no instance type fits: of 4, 4 are too small for cpu 9, memory 1Gi`},
		{"too large for the one type it wants", nil, []podOption{requests("cpu=3"), selector(typeKey + "=small")}, planning.Removed{Requirements: 3, Resources: 1},
			`incompatible with nodepool "default", no instance type fits: of 4, 3 don't meet the requirements, 1 are too small for cpu 3`},
		{"not sold that way", []any{spotless}, []podOption{selector(capacityKey + "=spot")}, planning.Removed{Offering: 1},
			`incompatible with nodepool "default", no instance type has karpenter.sh/capacity-type spot (known: on-demand): of 1, 1 have no available offering that meets the requirements`},
		{"all three", []any{catalogue(), unsold}, []podOption{requests("cpu=9"), selector(archKey + "=amd64")}, planning.Removed{Requirements: 1, Resources: 3, Offering: 1},
			`incompatible with nodepool "default", no instance type fits: of 5, 1 don't meet the requirements, 3 are too small for cpu 9, 1 have no available offering that meets the requirements`},
		{"a resource nobody has", nil, []podOption{requests("example.com/gpu=1")}, planning.Removed{Resources: 4},
			`incompatible with nodepool "default", no instance type has resource example.com/gpu: of 4, 4 are too small for example.com/gpu 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(append(c.parts, pod("p", c.pod...))...))
			r := reasonsOf(t, p, "p")
			if len(r) != 1 || r[0].Code != scheduling.ReasonInstanceTypes || r[0].Removed != c.want {
				t.Errorf("reasons %+v, want one with %+v", r, c.want)
			}
			wantReason(t, p, "p", c.text)
		})
	}
}

// SCH-156, API-193: a pod is told about each pool, in the pools' order: by weight, the heavier first, then by name, the later first.
func TestReasonsOfSeveralPools(t *testing.T) {
	p := solve(t, cluster(
		nodePool("banana", poolTaints("example.com/special-taint=:NoSchedule")),
		nodePool("apple", poolNeeds(archKey, opIn, "amd64"), weight(1)),
		nodePool("cherry"),
		pod("p", requests("cpu=64"), selector(archKey+"=arm64"))))
	var got []string
	for _, r := range reasonsOf(t, p, "p") {
		got = append(got, r.String())
	}
	want := []string{
		`incompatible with nodepool "apple", incompatible requirements, key kubernetes.io/arch: the pod wants In [arm64], the pool allows In [amd64]; ` +
			`also no instance type fits: of 4, 1 don't meet the requirements, 3 are too small for cpu 64`,
		`incompatible with nodepool "cherry", no instance type fits: of 4, 3 don't meet the requirements, 1 are too small for cpu 64`,
		`incompatible with nodepool "banana", did not tolerate example.com/special-taint=:NoSchedule; also no instance type fits: of 4, 3 don't meet the requirements, 1 are too small for cpu 64`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// SCH-156: pods alike are explained alike, each by name, in the snapshot's order.
func TestUnschedulableOrder(t *testing.T) {
	p := solve(t, cluster(pod("z", requests("cpu=99")), pod("ok"), pod("a", requests("cpu=98")), pod("m", requests("cpu=99"))))
	var got []string
	for _, u := range p.Unschedulable {
		got = append(got, u.Pod.Name)
	}
	if want := []string{"z", "a", "m"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// A label that instance types state but no type has the value of is told by type counts, not as unknown.
func TestUnknownValueOfAKnownLabel(t *testing.T) {
	it := with(typeOf("x", 1, "cpu=4", "memory=16Gi"), requirements.In("example.com/gen", "7"), requirements.DoesNotExist("example.com/disk"))
	for _, c := range []struct {
		name string
		pod  podOption
		want bool
	}{
		{"the value", selector("example.com/gen=7"), true},
		{"another", selector("example.com/gen=8"), false},
		{"greater", required(expression("example.com/gen", opGt, "6")), true},
		{"not greater", required(expression("example.com/gen", opGt, "7")), false},
		{"a label the type says it lacks", required(expression("example.com/disk", opExists)), false},
		{"and must lack", required(expression("example.com/disk", opDoesNotExist)), true},
		{"not in of it", required(expression("example.com/disk", opNotIn, "ssd")), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(it, pod("p", c.pod)))
			if placed := len(p.NewNodes) == 1; placed != c.want {
				t.Errorf("placed %v, want %v: %v", placed, c.want, p.Unschedulable)
			}
			if !c.want && reasonsOf(t, p, "p")[0].Removed.Requirements != 1 {
				t.Errorf("reason %+v, want one type that fails the requirements", reasonsOf(t, p, "p"))
			}
		})
	}
}
