package parts

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// Draw draws a number from 0 to n-1, all with the same probability. With rapid's own generators, which prefer small values, rare features
// would be too frequent and lists too short. If rapid draws 0, Draw returns 0, so that rapid still shrinks failures to the simplest
// snapshot.
func Draw(t *rapid.T, n int) int {
	x := rapid.Uint64().Draw(t, "draw")
	if x == 0 {
		return 0
	}
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return int(x % uint64(n))
}

// OneOf draws an element of the list.
func OneOf[T any](t *rapid.T, list ...T) T { return list[Draw(t, len(list))] }

// Chance returns true with the probability n/10.
func Chance(t *rapid.T, n int) bool { return Draw(t, 10) >= 10-n }

// Number draws a number from lo to hi.
func Number(t *rapid.T, lo, hi int) int { return lo + Draw(t, hi-lo+1) }

// SomeOf draws at least one element of the list.
func SomeOf(t *rapid.T, list ...string) []string {
	var out []string
	for _, x := range list {
		if Chance(t, 5) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		out = append(out, OneOf(t, list...))
	}
	return out
}

// RandomType draws an instance type.
func RandomType(t *rapid.T, name string) *cloudprovider.InstanceType {
	cpu := OneOf(t, 1, 2, 4, 8, 16)
	it := InstanceType(name, 0, fmt.Sprintf("cpu=%d", cpu), fmt.Sprintf("memory=%dGi", cpu*OneOf(t, 1, 2, 4, 8)))
	it.Capacity[corev1.ResourcePods] = Amounts("pods=" + OneOf(t, "3", "8", "110"))["pods"]
	if Chance(t, 2) {
		it.Capacity[GPUName] = Amounts("g=" + OneOf(t, "1", "4"))["g"]
	}
	if Chance(t, 5) {
		it.Overhead.KubeReserved = Amounts("cpu="+OneOf(t, "80m", "100m"), "memory="+OneOf(t, "255Mi", "300Mi"))
	}
	arch := OneOf(t, "amd64", "amd64", "arm64")
	With(it, requirements.In(ArchKey, arch))
	switch Number(t, 0, 5) {
	case 0:
		With(it, requirements.In("example.com/gen", OneOf(t, "5", "6", "7")))
	case 1:
		With(it, requirements.In("example.com/gen", "6", "7"))
	case 2:
		With(it, requirements.DoesNotExist("example.com/gen"))
	}
	it.Offerings = nil
	base := float64(cpu) * float64(Number(t, 30, 60)) / 1000
	for _, zone := range SomeOf(t, "a", "b", "c") {
		for _, ct := range SomeOf(t, "on-demand", "spot") {
			price := base
			if ct == "spot" {
				price = base * float64(Number(t, 25, 60)) / 100
			}
			o := Offering(zone, ct, price)
			o.Available = Chance(t, 9)
			if Chance(t, 1) {
				o.Capacity = Amounts("memory=" + OneOf(t, "1Gi", "64Gi"))
			}
			if Chance(t, 1) {
				o.Overhead = &cloudprovider.Overhead{KubeReserved: Amounts("cpu=" + OneOf(t, "0", "900m"))}
			}
			it.Offerings = append(it.Offerings, o)
		}
	}
	return it
}

// RandomTaints draws up to three taints.
func RandomTaints(t *rapid.T) []corev1.Taint {
	var out []corev1.Taint
	for _, text := range []string{"x=1:NoSchedule", "y=:NoExecute", "soft=:PreferNoSchedule"} {
		if Chance(t, 1) {
			out = append(out, build.Taint(text))
		}
	}
	return out
}

// RandomPool draws a NodePool.
func RandomPool(t *rapid.T, name string) scheduling.NodePool {
	np := NodePool(name)
	if Chance(t, 3) {
		Weight(int32(Number(t, 1, 3)))(&np)
	}
	np.Object.Spec.Template.Spec.Taints = RandomTaints(t)
	if Chance(t, 3) {
		PoolNeeds(ZoneKey, OpIn, SomeOf(t, "a", "b", "c")...)(&np)
	}
	if Chance(t, 3) {
		PoolNeeds(CapacityKey, OpIn, SomeOf(t, "on-demand", "spot")...)(&np)
	}
	if Chance(t, 2) {
		PoolNeeds(ArchKey, OpIn, OneOf(t, "amd64", "arm64"))(&np)
	}
	switch Number(t, 0, 6) {
	case 0:
		PoolLabel("team", OneOf(t, "a", "b"))(&np)
	case 1:
		PoolNeeds("team", OpIn, "a", "b")(&np)
	case 2:
		PoolNeeds("team", OpExists)(&np)
	case 3:
		PoolNeeds("team", OpNotIn, "a")(&np)
	}
	if Chance(t, 2) {
		PoolNeeds("example.com/gen", "Gte", OneOf(t, "5", "6", "7"))(&np)
	}
	if Chance(t, 3) {
		Limit(OneOf(t, []string{"cpu=9"}, []string{"nodes=2"}, []string{"cpu=17", "memory=40Gi"}, []string{"nodes=3", GPULimit}, []string{"cpu=33"})...)(&np)
	}
	if Chance(t, 1) {
		np.NotReady = "its NodeClass is not ready"
	}
	return np
}

// GPULimit limits a pool to one GPU.
const GPULimit = "example.com/gpu=1"

// RandomExpression draws an expression that only some of the nodes meet.
func RandomExpression(t *rapid.T) corev1.NodeSelectorRequirement {
	switch Number(t, 0, 8) {
	case 0:
		return Expression(ZoneKey, OneOf(t, OpIn, OpNotIn), SomeOf(t, "a", "b", "c")...)
	case 1:
		return Expression(CapacityKey, OneOf(t, OpIn, OpNotIn), OneOf(t, "spot", "on-demand"))
	case 2:
		return In(ArchKey, OneOf(t, "amd64", "arm64"))
	case 3:
		return Expression("team", OneOf(t, OpIn, OpNotIn), SomeOf(t, "a", "b", "z")...)
	case 4:
		return Expression("team", OpExists)
	case 5:
		return Expression("example.com/gen", OneOf(t, OpGt, OpLt), OneOf(t, "5", "6"))
	case 6:
		return Expression("example.com/gen", OneOf(t, OpIn, OpNotIn), OneOf(t, "6", "7"))
	case 7:
		return Expression(TypeKey, OneOf(t, OpIn, OpNotIn), OneOf(t, "t0", "t1", "t2"))
	}
	return Expression(OneOf(t, "example.com/gen", "absent"), OpDoesNotExist)
}

// RandomSpec draws options for a pending or bound pod.
func RandomSpec(t *rapid.T) []PodOption {
	list := []string{"cpu=" + OneOf(t, "50m", "100m", "100m", "300m", "300m", "500m", "500m", "1", "1500m", "3", "7"), "memory=" + OneOf(t, "64Mi", "64Mi", "256Mi", "256Mi", "1Gi", "1Gi", "3Gi", "10Gi")}
	if Chance(t, 1) {
		list = append(list, "example.com/gpu="+OneOf(t, "0", "1", "2"))
	}
	out := []PodOption{Requests(list...)}
	if Chance(t, 2) {
		out = append(out, Selector(OneOf(t, ZoneKey+"=a", ZoneKey+"=b", CapacityKey+"=on-demand", CapacityKey+"=spot", ArchKey+"=arm64", "team=a", "team=b", "team=z", "example.com/gen=6")))
	}
	if Chance(t, 2) {
		for range Number(t, 1, 2) {
			var terms []corev1.NodeSelectorRequirement
			for range (Number(t, 0, 5) + 1) / 2 {
				terms = append(terms, RandomExpression(t))
			}
			out = append(out, Required(terms...))
		}
	}
	if Draw(t, 40) == 39 {
		out = append(out, RequiredFields(Expression("metadata.name", OneOf(t, OpIn, OpNotIn), OneOf(t, "n0", "n1", "n2"))))
	}
	if Draw(t, 40) == 39 {
		out = append(out, OfOS(OneOf(t, "linux", "windows")))
	}
	if Chance(t, 2) {
		out = append(out, Preferred(int32(Number(t, 1, 3)), RandomExpression(t)))
	}
	for _, key := range []string{"x", "y", "soft"} {
		if Chance(t, 4) {
			out = append(out, Tolerates(Toleration(key, corev1.TolerationOpExists, "", "")))
		}
	}
	if Chance(t, 1) {
		out = append(out, InitContainers(Container("i", "cpu="+OneOf(t, "100m", "2")), Sidecar("s", "memory=100Mi")), Overhead("cpu=10m"))
	}
	return out
}

// RandomNode draws a node with pods of the kinds in spec.
func RandomNode(t *rapid.T, name string, spec [][]PodOption) scheduling.Node {
	n := Node(name, Allocatable("cpu="+OneOf(t, "2", "4", "8"), "memory="+OneOf(t, "4Gi", "16Gi")),
		NodeLabel(ZoneKey, OneOf(t, "a", "b")), NodeLabel(CapacityKey, OneOf(t, "spot", "on-demand")))
	if Chance(t, 5) {
		NodeLabel("team", OneOf(t, "a", "b"))(&n)
	}
	if Chance(t, 3) {
		NodeLabel(TypeKey, OneOf(t, "t0", "t1", "t2"))(&n)
	}
	if Chance(t, 7) {
		OfPool(OneOf(t, "p0", "p1", "p2"))(&n)
		switch Number(t, 0, 5) {
		case 0:
			n.Object = nil
		case 1:
			n.Object.Labels[v1.NodeRegisteredLabelKey] = "false"
			n.Object.Labels[v1.NodeInitializedLabelKey] = "false"
		case 2:
			n.Object.Labels[v1.NodeInitializedLabelKey] = "false"
			n.Claim.Spec.StartupTaints = Taints("x=1:NoSchedule")
		}
	}
	if n.Object != nil {
		n.Object.Spec.Taints = RandomTaints(t)
	}
	for i := range Number(t, 0, 3) {
		Bound(Pod(fmt.Sprintf("%s-pod-%d", name, i), OneOf(t, spec...)...))(&n)
	}
	n.Leaving = Chance(t, 1)
	return n
}

// RandomSnapshot draws a snapshot with up to five instance types, three pools, three DaemonSets, five nodes and 30 pods of up to six kinds.
func RandomSnapshot(t *rapid.T) *scheduling.Snapshot {
	return RandomSnapshotOf(t, func(int) []PodOption { return RandomSpec(t) })
}

// RandomSnapshotOf does the same as RandomSnapshot, but spec makes the options of the pods of each kind. The argument of spec is the number
// of the kind.
func RandomSnapshotOf(t *rapid.T, spec func(kind int) []PodOption) *scheduling.Snapshot {
	s := &scheduling.Snapshot{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Vocabulary: requirements.CoreVocabulary()}
	s.Vocabulary.WellKnown = append(s.Vocabulary.WellKnown, "example.com/gen")
	slices.Sort(s.Vocabulary.WellKnown)
	var types []*cloudprovider.InstanceType
	for i := range Number(t, 1, 5) {
		types = append(types, RandomType(t, fmt.Sprintf("t%d", i)))
	}
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"types": types}
	for i := range Number(t, 0, 6) / 2 {
		s.NodePools = append(s.NodePools, RandomPool(t, fmt.Sprintf("p%d", i)))
	}
	if len(s.NodePools) > 0 && Chance(t, 1) {
		twin := RandomPool(t, "p0")
		twin.Key.Generation = v1.GenerationV1Alpha5
		s.NodePools = append(s.NodePools, twin)
	}
	var kinds [][]PodOption
	for i := range Number(t, 1, 6) {
		kinds = append(kinds, spec(i))
	}
	for i := range Number(t, 0, 5) {
		s.Nodes = append(s.Nodes, RandomNode(t, fmt.Sprintf("n%d", i), kinds))
	}
	for i := range max(0, Number(t, -2, 2)) {
		options := []PodOption{Tolerates(Toleration("x", corev1.TolerationOpExists, "", ""))}
		if Chance(t, 5) {
			options = append(options, Selector(OneOf(t, ArchKey+"=arm64", "team=a", TypeKey+"=t1", ZoneKey+"=a", CapacityKey+"=spot")))
		}
		d := DaemonSet(fmt.Sprintf("d%d", i), []string{"cpu=" + OneOf(t, "50m", "200m"), "memory=" + OneOf(t, "50Mi", "700Mi")}, options...)
		s.DaemonSets = append(s.DaemonSets, d)
		for j := range s.Nodes {
			if Chance(t, 5) {
				p := Pod(fmt.Sprintf("d%d-%d", i, j), append(options, Requests("cpu=50m", "memory=50Mi"), OwnedBy(d))...)
				p.CreationTimestamp = metav1.NewTime(s.Time.Add(time.Duration(-j) * time.Hour))
				Bound(p)(&s.Nodes[j])
			}
		}
	}
	for i := range Number(t, 0, 30) {
		s.Pods = append(s.Pods, Pod(fmt.Sprintf("w%d", i), OneOf(t, kinds...)...))
	}
	if Chance(t, 2) {
		s.CostModel = RandomCostModel(t)
	}
	return s
}

// RandomCostModel draws a cost model with up to four terms. About half of the terms are commitments.
func RandomCostModel(t *rapid.T) *scheduling.CostModel {
	out := &scheduling.CostModel{}
	for i := range Number(t, 1, 4) {
		term := scheduling.CostTerm{Name: fmt.Sprintf("term %d", i), Source: "drawn"}
		if Chance(t, 2) {
			term.Where.NodePools = SomeOf(t, "p0", "p1", "v1alpha5/p0")
		}
		if Chance(t, 4) {
			term.Where.Requirements = append(term.Where.Requirements, OneOf(t,
				In(TypeKey, "t0", "t2"), In(ZoneKey, "a"), In(CapacityKey, "spot"), Expression(ArchKey, OpNotIn, "arm64"), Expression("example.com/gen", OpExists)))
		}
		x := float64(Number(t, 1, 12))
		switch Number(t, 0, 7) {
		case 0:
			term.Percent = Percent(OneOf(t, -x*5, x, -100))
		case 1:
			term.PerNode = Percent(OneOf(t, x/100, -x/100))
		case 2:
			term.PerResource = map[corev1.ResourceName]float64{corev1.ResourceCPU: x / 1000, corev1.ResourceMemory: x / 10000, GPUName: 0.1}
		case 3:
			term.Price = Percent(x / 20)
		case 4:
			term.Offerings = []scheduling.OfferingAmount{{Offering: cloudprovider.OfferingKey{InstanceType: "t0", Zone: "a", CapacityType: "spot"}, Amount: x / 50}}
		case 5:
			term.Commitment = &scheduling.Commitment{Amount: float64(Number(t, 1, 4)), RemainingPercent: OneOf(t, 0, 0, 30.0)}
		case 6:
			term.Commitment = &scheduling.Commitment{Amount: x / 10, PercentOfPrice: 70}
		default:
			term.Commitment = &scheduling.Commitment{Amount: x, ByType: map[string]float64{"t0": 1, "t1": 2.5, "t3": 3}}
		}
		out.Terms = append(out.Terms, term)
	}
	return out
}
