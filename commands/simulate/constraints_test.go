package simulate

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestConstraints plans manifests as people write them, with all that may constrain pods. The golden files show what
// the command prints; the checks say what must hold of every plan for these manifests, however pods are packed.
func TestConstraints(t *testing.T) {
	manifests := func(names ...string) []string {
		args := []string{"--catalog", smallCatalog, "testdata/constraints/class.yaml"}
		for _, name := range names {
			args = append(args, "testdata/constraints/"+name+".yaml")
		}
		return args
	}
	tests := []struct {
		name  string
		args  []string
		code  int
		check func(*testing.T, document)
	}{
		{name: "spread", args: manifests("pool", "spread"), check: checkSpread},
		{name: "statefulset", args: manifests("pool", "statefulset"), check: checkStatefulSet},
		{name: "affinity", args: manifests("pool", "affinity"), check: checkAffinity},
		{name: "hostports", args: manifests("pool", "hostports"), code: exitUnschedulable, check: checkHostPorts},
		{name: "preferences", args: manifests("pool", "preferences"), check: checkPreferences},
		{
			name: "preferences-ignored", args: append(manifests("pool", "preferences"), "--preferences", "ignore"),
			check: checkIgnoredPreferences,
		},
		{name: "priority", args: manifests("priority"), code: exitUnschedulable, check: checkPriority},
		{name: "preemption", args: manifests("pool", "preemption"), check: checkPreemption(2)},
		{
			name: "preemption-expect", args: append(manifests("pool", "preemption"), "--preemption", "expect"),
			check: checkPreemption(1),
		},
		{name: "buffer", args: manifests("buffer"), check: checkBuffer},
		{name: "overlay", args: manifests("pool", "overlay"), check: checkOverlay},
		{name: "minvalues", args: manifests("minvalues"), code: exitUnschedulable, check: checkMinValues},
		{
			name: "minvalues-best-effort", args: append(manifests("minvalues"), "--min-values", "best-effort"),
			check: checkMinValuesBestEffort,
		},
		{name: "volumes", args: manifests("pool", "volumes"), check: checkVolumes},
		{
			name: "reserved", args: []string{"--snapshot", "testdata/constraints/reserved.yaml"},
			check: checkReservations("on-demand", "reserved", "reserved"),
		},
		{
			name: "reserved-strict", code: exitUnschedulable,
			args:  []string{"--snapshot", "testdata/constraints/reserved.yaml", "--reserved", "strict"},
			check: checkReservations("reserved", "reserved"),
		},
		{name: "static", args: manifests("pool", "static"), code: exitUnschedulable, check: checkStatic},
		{
			name: "defaultspread", args: []string{"--snapshot", "testdata/constraints/defaultspread.yaml"},
			check: checkDefaultSpread,
		},
		{
			name: "costs", args: append(manifests("pool", "ondemand"), "--cost-model", "testdata/constraints/costs.yaml"),
			check: checkCosts,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.check(t, checkRun(t, runCase{name: "constraints-" + test.name, args: test.args, code: test.code}))
		})
	}
}

// of lists the pods of a list that belong to the workload "namespace/name".
func of(workload string, pods []string) []string {
	return slices.DeleteFunc(slices.Clone(pods), func(pod string) bool { return !strings.HasPrefix(pod, workload+"-") })
}

// unplaced lists the workload's pods that have no place.
func unplaced(d document, workload string) []string {
	var pods []string
	for _, pod := range d.Unschedulable {
		pods = append(pods, pod.Pod)
	}
	return of(workload, pods)
}

// byZone counts the workload's pods on new nodes by zone.
func byZone(d document, workload string) map[string]int {
	zones := make(map[string]int)
	for _, node := range d.Nodes {
		if n := len(of(workload, node.Pods)); n > 0 {
			zones[node.Zone] += n
		}
	}
	return zones
}

// onlyUnplaced makes sure that all pods but these have a place.
func onlyUnplaced(t *testing.T, d document, workload string, count int) {
	t.Helper()
	if got := len(unplaced(d, workload)); got != count || len(d.Unschedulable) != count {
		t.Errorf("%d pods have no place, %d of them of %s; want just %d of that", len(d.Unschedulable), got, workload, count)
	}
}

func allPlaced(t *testing.T, d document) {
	t.Helper()
	for _, pod := range d.Unschedulable {
		t.Errorf("%s has no place: %+v", pod.Pod, pod.Reasons)
	}
}

func checkSpread(t *testing.T, d document) {
	allPlaced(t, d)
	zones := byZone(d, "shop/web")
	if counts := slices.Sorted(maps.Values(zones)); !slices.Equal(counts, []int{3, 3, 4}) {
		t.Errorf("pods by zone are %v, want 3, 3 and 4 in the three zones", zones)
	}
	var counts []int
	for _, node := range d.Nodes {
		counts = append(counts, len(node.Pods))
	}
	if len(counts) == 0 {
		return // said above
	}
	least, most := slices.Min(counts), slices.Max(counts)
	given := wishesNotKept(d)["ScheduleAnyway maxSkew 1 by kubernetes.io/hostname"]
	if uneven := most-least > 1; uneven != (len(given) > 0) {
		t.Errorf("nodes have %d to %d pods, and the spread over nodes is said to be broken for %v", least, most, given)
	}
}

func checkStatefulSet(t *testing.T, d document) {
	allPlaced(t, d)
	if zones := byZone(d, "stream/kafka"); len(zones) != 2 {
		t.Errorf("brokers by zone are %v, want both zones used: the more expensive one costs little more", zones)
	}
	for _, node := range d.Nodes {
		if brokers := of("stream/kafka", node.Pods); len(brokers) > 1 {
			t.Errorf("%s has the brokers %v, which exclude each other", node.Name, brokers)
		}
		if !slices.Contains([]string{"us-east-1a", "us-east-1b"}, node.Zone) {
			t.Errorf("%s is in %s, where the storage class makes no volumes", node.Name, node.Zone)
		}
	}
}

func checkAffinity(t *testing.T, d document) {
	allPlaced(t, d)
	cacheZones := byZone(d, "shop/cache")
	for zone := range byZone(d, "jobs/warmer") {
		if cacheZones[zone] == 0 {
			t.Errorf("a warmer is in %s, where no cache is", zone)
		}
	}
	for _, node := range d.Nodes {
		caches, webs := of("shop/cache", node.Pods), of("shop/web", node.Pods)
		if len(caches) > 1 || len(webs) > 1 {
			t.Errorf("%s has %v and %v, of which each may have one", node.Name, caches, webs)
		}
		if len(webs) > len(caches) {
			t.Errorf("%s has %v without a cache", node.Name, webs)
		}
		if probes := of("jobs/probe", node.Pods); len(probes) > 0 && len(caches)+len(webs) > 0 {
			t.Errorf("%s has %v next to %v %v", node.Name, probes, caches, webs)
		}
	}
}

func checkHostPorts(t *testing.T, d document) {
	onlyUnplaced(t, d, "monitoring/old-exporter", 2)
	for _, node := range d.Nodes {
		if controllers := of("ingress/nginx", node.Pods); len(controllers) > 1 {
			t.Errorf("%s has %v, which use the same ports", node.Name, controllers)
		}
	}
}

// wishesNotKept are the pods concerned, by code and detail.
func wishesNotKept(d document) map[string][]string {
	wishes := make(map[string][]string)
	for _, r := range d.Relaxations {
		wishes[r.Code+" "+r.Detail] = r.Pods
	}
	return wishes
}

func checkPreferences(t *testing.T, d document) {
	allPlaced(t, d)
	wishes := wishesNotKept(d)
	if pods := wishes["PreferredNodeAffinity weight 50: topology.kubernetes.io/zone In [us-west-2a]"]; len(pods) != 3 {
		t.Errorf("%v are said to wish for a zone that is not there, want the three of shop/recommend:\n%v", pods, wishes)
	}
	var together []string
	for _, node := range d.Nodes {
		if pods := of("shop/search", node.Pods); len(pods) > 1 {
			together = append(together, pods...)
		}
	}
	slices.Sort(together)
	got := slices.Sorted(slices.Values(wishes["PreferredPodAntiAffinity weight 100: by kubernetes.io/hostname"]))
	if !slices.Equal(got, together) {
		t.Errorf("said to share a node against their wish are %v, those that do are %v", got, together)
	}
	for _, node := range d.Nodes {
		if pods := of("shop/checkout", node.Pods); len(pods) > 0 && node.CapacityType != "on-demand" {
			t.Errorf("%v are on %s node %s, although on-demand is within the premium", pods, node.CapacityType, node.Name)
		}
	}
}

func checkIgnoredPreferences(t *testing.T, d document) {
	allPlaced(t, d)
	for _, node := range d.Nodes {
		if node.CapacityType != "spot" {
			t.Errorf("%s is %s; spot is cheaper and no wish counts", node.Name, node.CapacityType)
		}
	}
}

// checkPreemption checks that so many pods have a place, and that one preempts another.
func checkPreemption(placed int) func(*testing.T, document) {
	return func(t *testing.T, d document) {
		if d.Summary.Placed != placed || len(d.Preemptions) != 1 {
			t.Errorf("%d pods have a place, %d preempt others, want %d and 1", d.Summary.Placed, len(d.Preemptions), placed)
		}
	}
}

func checkPriority(t *testing.T, d document) {
	if waiting := unplaced(d, "reports/backfill"); len(waiting) == 0 || len(waiting) != len(d.Unschedulable) {
		t.Errorf("%d pods wait, %d of them of the batch; want batch pods alone", len(d.Unschedulable), len(waiting))
	}
	cores := map[string]int{"c7g.large": 2, "c7g.xlarge": 4, "c7g.4xlarge": 16}
	used := 0
	for _, node := range d.Nodes {
		used += cores[node.InstanceType]
	}
	if used == 0 || used > 24 {
		t.Errorf("nodes have %d cores, the limit is 24", used)
	}
}

func checkBuffer(t *testing.T, d document) {
	allPlaced(t, d)
	if d.Summary.Pods != 10 || d.Summary.Placed != 10 {
		t.Errorf("summary says %d of %d pods, want 10: headroom is none", d.Summary.Placed, d.Summary.Pods)
	}
	var names []string
	for _, buffer := range d.Buffers {
		names = append(names, buffer.Name)
		if want := map[string]int{"ci/builds": 1}[buffer.Name]; buffer.Pods != 2 || buffer.Unplaced != want {
			t.Errorf("%s has no room for %d of %d, want %d of 2", buffer.Name, buffer.Unplaced, buffer.Pods, want)
		}
	}
	if want := []string{"ci/builds", "shop/web-spare"}; !slices.Equal(names, want) {
		t.Errorf("buffers are %v, want %v", names, want)
	}
}

func checkOverlay(t *testing.T, d document) {
	allPlaced(t, d)
	for _, node := range d.Nodes {
		builders := of("ci/image-builder", node.Pods)
		if len(builders) > 0 && (!strings.HasPrefix(node.InstanceType, "m7i.") || node.Allocatable["smarter-devices/fuse"] != "2") {
			t.Errorf("%s, a %s, has %v but not the devices of the overlay", node.Name, node.InstanceType, builders)
		}
		if len(builders) > 2 {
			t.Errorf("%s has %v and two devices", node.Name, builders)
		}
		if webs := of("shop/web", node.Pods); len(webs) > 0 && (node.InstanceType != "c7g.large" || node.Price != 0.03625) {
			t.Errorf("%v are on %s at $%v, want c7g.large at half of its $0.0725", webs, node.InstanceType, node.Price)
		}
	}
}

func families(types []string) int {
	seen := make(map[string]bool)
	for _, name := range types {
		family, _, _ := strings.Cut(name, ".")
		seen[family] = true
	}
	return len(seen)
}

func checkMinValues(t *testing.T, d document) {
	onlyUnplaced(t, d, "ml/simulation", 1)
	for _, node := range d.Nodes {
		if n := families(node.InstanceTypes); n < 3 || node.MinValuesRelaxed {
			t.Errorf("%s may be of %d families, want at least 3: %v", node.Name, n, node.InstanceTypes)
		}
	}
}

func checkMinValuesBestEffort(t *testing.T, d document) {
	allPlaced(t, d)
	for _, node := range d.Nodes {
		if n := families(node.InstanceTypes); (n < 3) != node.MinValuesRelaxed {
			t.Errorf("%s may be of %d families, minValuesRelaxed is %v", node.Name, n, node.MinValuesRelaxed)
		}
	}
}

func checkVolumes(t *testing.T, d document) {
	allPlaced(t, d)
	if zones := byZone(d, "data/db"); len(zones) != 1 || zones["us-east-1b"] != 1 {
		t.Errorf("db-1 goes to %v, want a new node in us-east-1b, where its volume is", zones)
	}
	if zones := byZone(d, "data/queue"); len(zones) != 1 || zones["us-east-1a"] != 1 {
		t.Errorf("queue-0 goes to %v, want a new node in us-east-1a: the node there attaches no more", zones)
	}
}

// Nodes of static pools are filled, and none is added: SCH-182.
func checkStatic(t *testing.T, d document) {
	onlyUnplaced(t, d, "shop/licences", 1)
	for _, node := range d.Nodes {
		if node.NodePool != "general" {
			t.Errorf("%s is of nodepool %s, which has a fixed number of nodes", node.Name, node.NodePool)
		}
	}
	filled := 0
	for _, node := range d.Existing {
		filled += len(of("shop/web", node.Pods))
	}
	if filled != 6 {
		t.Errorf("%d pods are on the fixed nodes, want the 6 that fit there", filled)
	}
}

// Pods that a Service selects are spread as the cluster does by default, those that nothing selects are not: SCH-145,
// SCH-146.
func checkDefaultSpread(t *testing.T, d document) {
	allPlaced(t, d)
	if zones := byZone(d, "shop/web"); !maps.Equal(zones, map[string]int{"us-east-1a": 2, "us-east-1b": 2, "us-east-1c": 2}) {
		t.Errorf("pods by zone are %v, want two in each", zones)
	}
}

func checkReservations(want ...string) func(*testing.T, document) {
	return func(t *testing.T, d document) {
		var got []string
		for _, node := range d.Nodes {
			got = append(got, node.CapacityType)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("nodes are %v, want %v", got, want)
		}
	}
}
