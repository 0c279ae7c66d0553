package scheduling_test

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
	"github.com/drawknife/drawknife/scheduling"
)

// Random snapshots: small, but with every feature in every combination. Values come from short lists, so that pods,
// pools and nodes often agree and often don't.

// draw is a number below n, evenly spread. Rapid's own ranges favour small values, which makes every rare feature common
// and every list short; a drawn zero stays zero, so that failures still shrink towards the simplest snapshot.
func draw(t *rapid.T, n int) int {
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

func oneOf[T any](t *rapid.T, list ...T) T { return list[draw(t, len(list))] }

// chance is true n times out of ten.
func chance(t *rapid.T, n int) bool { return draw(t, 10) >= 10-n }

func number(t *rapid.T, lo, hi int) int { return lo + draw(t, hi-lo+1) }

func someOf(t *rapid.T, list ...string) []string {
	var out []string
	for _, x := range list {
		if chance(t, 5) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		out = append(out, oneOf(t, list...))
	}
	return out
}

func randomType(t *rapid.T, name string) *cloudprovider.InstanceType {
	cpu := oneOf(t, 1, 2, 4, 8, 16)
	it := machineType(name, 0, fmt.Sprintf("cpu=%d", cpu), fmt.Sprintf("memory=%dGi", cpu*oneOf(t, 1, 2, 4, 8)))
	it.Capacity[corev1.ResourcePods] = amounts("pods=" + oneOf(t, "3", "8", "110"))["pods"]
	if chance(t, 2) {
		it.Capacity[gpuName] = amounts("g=" + oneOf(t, "1", "4"))["g"]
	}
	if chance(t, 5) {
		it.Overhead.KubeReserved = amounts("cpu="+oneOf(t, "80m", "100m"), "memory="+oneOf(t, "255Mi", "300Mi"))
	}
	arch := oneOf(t, "amd64", "amd64", "arm64")
	with(it, requirements.In(archKey, arch))
	switch number(t, 0, 5) {
	case 0:
		with(it, requirements.In("example.com/gen", oneOf(t, "5", "6", "7")))
	case 1:
		with(it, requirements.In("example.com/gen", "6", "7"))
	case 2:
		with(it, requirements.DoesNotExist("example.com/gen"))
	}
	it.Offerings = nil
	base := float64(cpu) * float64(number(t, 30, 60)) / 1000
	for _, zone := range someOf(t, "a", "b", "c") {
		for _, ct := range someOf(t, "on-demand", "spot") {
			price := base
			if ct == "spot" {
				price = base * float64(number(t, 25, 60)) / 100
			}
			o := offering(zone, ct, price)
			o.Available = chance(t, 9)
			if chance(t, 1) {
				o.Capacity = amounts("memory=" + oneOf(t, "1Gi", "64Gi"))
			}
			if chance(t, 1) {
				o.Overhead = &cloudprovider.Overhead{KubeReserved: amounts("cpu=" + oneOf(t, "0", "900m"))}
			}
			it.Offerings = append(it.Offerings, o)
		}
	}
	return it
}

func randomTaints(t *rapid.T) []corev1.Taint {
	var out []corev1.Taint
	for _, text := range []string{"x=1:NoSchedule", "y=:NoExecute", "soft=:PreferNoSchedule"} {
		if chance(t, 1) {
			out = append(out, taint(text))
		}
	}
	return out
}

func randomPool(t *rapid.T, name string) scheduling.NodePool {
	np := nodePool(name)
	if chance(t, 3) {
		weight(int32(number(t, 1, 3)))(&np)
	}
	np.Object.Spec.Template.Spec.Taints = randomTaints(t)
	if chance(t, 3) {
		poolNeeds(zoneKey, opIn, someOf(t, "a", "b", "c")...)(&np)
	}
	if chance(t, 3) {
		poolNeeds(capacityKey, opIn, someOf(t, "on-demand", "spot")...)(&np)
	}
	if chance(t, 2) {
		poolNeeds(archKey, opIn, oneOf(t, "amd64", "arm64"))(&np)
	}
	switch number(t, 0, 6) {
	case 0:
		poolLabel("team", oneOf(t, "a", "b"))(&np)
	case 1:
		poolNeeds("team", opIn, "a", "b")(&np)
	case 2:
		poolNeeds("team", opExists)(&np)
	case 3:
		poolNeeds("team", opNotIn, "a")(&np)
	}
	if chance(t, 2) {
		poolNeeds("example.com/gen", "Gte", oneOf(t, "5", "6", "7"))(&np)
	}
	if chance(t, 3) {
		limit(oneOf(t, []string{"cpu=9"}, []string{"nodes=2"}, []string{"cpu=17", "memory=40Gi"}, []string{"nodes=3", gpuLimit}, []string{"cpu=33"})...)(&np)
	}
	if chance(t, 1) {
		np.NotReady = "its NodeClass is not ready"
	}
	return np
}

const gpuLimit = "example.com/gpu=1"

// randomExpression is one that some nodes meet and some don't.
func randomExpression(t *rapid.T) corev1.NodeSelectorRequirement {
	switch number(t, 0, 8) {
	case 0:
		return expression(zoneKey, oneOf(t, opIn, opNotIn), someOf(t, "a", "b", "c")...)
	case 1:
		return expression(capacityKey, oneOf(t, opIn, opNotIn), oneOf(t, "spot", "on-demand"))
	case 2:
		return in(archKey, oneOf(t, "amd64", "arm64"))
	case 3:
		return expression("team", oneOf(t, opIn, opNotIn), someOf(t, "a", "b", "z")...)
	case 4:
		return expression("team", opExists)
	case 5:
		return expression("example.com/gen", oneOf(t, opGt, opLt), oneOf(t, "5", "6"))
	case 6:
		return expression("example.com/gen", oneOf(t, opIn, opNotIn), oneOf(t, "6", "7"))
	case 7:
		return expression(typeKey, oneOf(t, opIn, opNotIn), oneOf(t, "t0", "t1", "t2"))
	}
	return expression(oneOf(t, "example.com/gen", "absent"), opDoesNotExist)
}

// randomSpec shapes a pod that waits or is bound.
func randomSpec(t *rapid.T) []podOption {
	list := []string{"cpu=" + oneOf(t, "50m", "100m", "100m", "300m", "300m", "500m", "500m", "1", "1500m", "3", "7"), "memory=" + oneOf(t, "64Mi", "64Mi", "256Mi", "256Mi", "1Gi", "1Gi", "3Gi", "10Gi")}
	if chance(t, 1) {
		list = append(list, "example.com/gpu="+oneOf(t, "0", "1", "2"))
	}
	out := []podOption{requests(list...)}
	if chance(t, 2) {
		out = append(out, selector(oneOf(t, zoneKey+"=a", zoneKey+"=b", capacityKey+"=on-demand", capacityKey+"=spot", archKey+"=arm64", "team=a", "team=b", "team=z", "example.com/gen=6")))
	}
	if chance(t, 2) {
		for range number(t, 1, 2) {
			var terms []corev1.NodeSelectorRequirement
			for range (number(t, 0, 5) + 1) / 2 {
				terms = append(terms, randomExpression(t))
			}
			out = append(out, required(terms...))
		}
	}
	if draw(t, 40) == 39 {
		out = append(out, requiredFields(expression("metadata.name", oneOf(t, opIn, opNotIn), oneOf(t, "n0", "n1", "n2"))))
	}
	if draw(t, 40) == 39 {
		out = append(out, ofOS(oneOf(t, "linux", "windows")))
	}
	if chance(t, 2) {
		out = append(out, preferred(int32(number(t, 1, 3)), randomExpression(t)))
	}
	for _, key := range []string{"x", "y", "soft"} {
		if chance(t, 4) {
			out = append(out, tolerates(toleration(key, corev1.TolerationOpExists, "", "")))
		}
	}
	if chance(t, 1) {
		out = append(out, initContainers(container("i", "cpu="+oneOf(t, "100m", "2")), sidecar("s", "memory=100Mi")), overhead("cpu=10m"))
	}
	return out
}

func randomNode(t *rapid.T, name string, spec [][]podOption) scheduling.Node {
	n := node(name, allocatable("cpu="+oneOf(t, "2", "4", "8"), "memory="+oneOf(t, "4Gi", "16Gi")),
		nodeLabel(zoneKey, oneOf(t, "a", "b")), nodeLabel(capacityKey, oneOf(t, "spot", "on-demand")))
	if chance(t, 5) {
		nodeLabel("team", oneOf(t, "a", "b"))(&n)
	}
	if chance(t, 3) {
		nodeLabel(typeKey, oneOf(t, "t0", "t1", "t2"))(&n)
	}
	if chance(t, 7) {
		ofPool(oneOf(t, "p0", "p1", "p2"))(&n)
		switch number(t, 0, 5) {
		case 0:
			n.Object = nil
		case 1:
			n.Object.Labels[v1.NodeRegisteredLabelKey] = "false"
			n.Object.Labels[v1.NodeInitializedLabelKey] = "false"
		case 2:
			n.Object.Labels[v1.NodeInitializedLabelKey] = "false"
			n.Claim.Spec.StartupTaints = taints("x=1:NoSchedule")
		}
	}
	if n.Object != nil {
		n.Object.Spec.Taints = randomTaints(t)
	}
	for i := range number(t, 0, 3) {
		bound(pod(fmt.Sprintf("%s-pod-%d", name, i), oneOf(t, spec...)...))(&n)
	}
	n.Leaving = chance(t, 1)
	return n
}

// randomSnapshot has up to five instance types, three pools, three DaemonSets, five nodes and 30 pods of up to six
// kinds.
func randomSnapshot(t *rapid.T) *scheduling.Snapshot {
	return randomSnapshotOf(t, func(int) []podOption { return randomSpec(t) })
}

// randomSnapshotOf is a random snapshot with pods of the kinds that spec makes, given their numbers.
func randomSnapshotOf(t *rapid.T, spec func(kind int) []podOption) *scheduling.Snapshot {
	s := &scheduling.Snapshot{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Vocabulary: requirements.CoreVocabulary()}
	s.Vocabulary.WellKnown = append(s.Vocabulary.WellKnown, "example.com/gen")
	slices.Sort(s.Vocabulary.WellKnown)
	var types []*cloudprovider.InstanceType
	for i := range number(t, 1, 5) {
		types = append(types, randomType(t, fmt.Sprintf("t%d", i)))
	}
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"types": types}
	for i := range number(t, 0, 6) / 2 {
		s.NodePools = append(s.NodePools, randomPool(t, fmt.Sprintf("p%d", i)))
	}
	if len(s.NodePools) > 0 && chance(t, 1) {
		twin := randomPool(t, "p0")
		twin.Key.Generation = v1.GenerationV1Alpha5
		s.NodePools = append(s.NodePools, twin)
	}
	var kinds [][]podOption
	for i := range number(t, 1, 6) {
		kinds = append(kinds, spec(i))
	}
	for i := range number(t, 0, 5) {
		s.Nodes = append(s.Nodes, randomNode(t, fmt.Sprintf("n%d", i), kinds))
	}
	for i := range max(0, number(t, -2, 2)) {
		options := []podOption{tolerates(toleration("x", corev1.TolerationOpExists, "", ""))}
		if chance(t, 5) {
			options = append(options, selector(oneOf(t, archKey+"=arm64", "team=a", typeKey+"=t1", zoneKey+"=a", capacityKey+"=spot")))
		}
		d := daemonSet(fmt.Sprintf("d%d", i), []string{"cpu=" + oneOf(t, "50m", "200m"), "memory=" + oneOf(t, "50Mi", "700Mi")}, options...)
		s.DaemonSets = append(s.DaemonSets, d)
		for j := range s.Nodes {
			if chance(t, 5) {
				p := pod(fmt.Sprintf("d%d-%d", i, j), append(options, requests("cpu=50m", "memory=50Mi"), ownedBy(d))...)
				p.CreationTimestamp = metav1.NewTime(s.Time.Add(time.Duration(-j) * time.Hour))
				bound(p)(&s.Nodes[j])
			}
		}
	}
	for i := range number(t, 0, 30) {
		s.Pods = append(s.Pods, pod(fmt.Sprintf("w%d", i), oneOf(t, kinds...)...))
	}
	if chance(t, 2) {
		s.CostModel = randomCostModel(t)
	}
	return s
}

// randomCostModel has up to four terms, about half of them commitments.
func randomCostModel(t *rapid.T) *scheduling.CostModel {
	out := &scheduling.CostModel{}
	for i := range number(t, 1, 4) {
		term := scheduling.CostTerm{Name: fmt.Sprintf("term %d", i), Source: "drawn"}
		if chance(t, 2) {
			term.Where.NodePools = someOf(t, "p0", "p1", "v1alpha5/p0")
		}
		if chance(t, 4) {
			term.Where.Requirements = append(term.Where.Requirements, oneOf(t,
				in(typeKey, "t0", "t2"), in(zoneKey, "a"), in(capacityKey, "spot"), expression(archKey, opNotIn, "arm64"), expression("example.com/gen", opExists)))
		}
		x := float64(number(t, 1, 12))
		switch number(t, 0, 7) {
		case 0:
			term.Percent = percent(oneOf(t, -x*5, x, -100))
		case 1:
			term.PerNode = percent(oneOf(t, x/100, -x/100))
		case 2:
			term.PerResource = map[corev1.ResourceName]float64{corev1.ResourceCPU: x / 1000, corev1.ResourceMemory: x / 10000, gpuName: 0.1}
		case 3:
			term.Price = percent(x / 20)
		case 4:
			term.Offerings = []scheduling.OfferingAmount{{Offering: cloudprovider.OfferingKey{InstanceType: "t0", Zone: "a", CapacityType: "spot"}, Amount: x / 50}}
		case 5:
			term.Commitment = &scheduling.Commitment{Amount: float64(number(t, 1, 4)), RemainingPercent: oneOf(t, 0, 0, 30.0)}
		case 6:
			term.Commitment = &scheduling.Commitment{Amount: x / 10, PercentOfPrice: 70}
		default:
			term.Commitment = &scheduling.Commitment{Amount: x, ByType: map[string]float64{"t0": 1, "t1": 2.5, "t3": 3}}
		}
		out.Terms = append(out.Terms, term)
	}
	return out
}
