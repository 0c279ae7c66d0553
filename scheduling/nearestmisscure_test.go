package scheduling_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// podOf finds a waiting pod of the snapshot.
func podOf(s *scheduling.Snapshot, name string) *corev1.Pod {
	return s.Pods[slices.IndexFunc(s.Pods, func(p *corev1.Pod) bool { return p.Name == name })]
}

// cure changes the snapshot as the nearest miss of the pod p in the pool says; value is the one chosen of Values. It
// returns the query to ask then.
func cure(t testingT, s *scheduling.Snapshot, pool v1.PoolKey, miss *scheduling.NearestMiss, value string, less int64) scheduling.Query {
	t.Helper()
	if miss.Also != nil {
		also := ""
		if len(miss.Also.Values) > 0 {
			also = miss.Also.Values[0]
		}
		cure(t, s, pool, miss.Also, also, 0)
	}
	p := podOf(s, "p")
	var np *v1.NodePool
	for i := range s.NodePools {
		if s.NodePools[i].Key == pool {
			np = s.NodePools[i].Object
		}
	}
	switch miss.Code {
	case scheduling.MissToleration:
		for _, taint := range miss.Taints {
			tolerates(corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect})(p)
		}
	case scheduling.MissLimits:
		for name, q := range miss.Amounts {
			limit := np.Spec.Limits[name]
			limit.Add(q)
			if less > 0 {
				limit.Set(limit.Value() - less)
			}
			np.Spec.Limits[name] = limit
		}
	case scheduling.MissReservation:
		for _, it := range s.Catalogs["types"] {
			for i := range it.Offerings {
				if labels := it.Offerings[i].Requirements; labels.Without(zoneKey, capacityKey).String() == miss.Reservation {
					it.Offerings[i].ReservationCapacity++
				}
			}
		}
	case scheduling.MissMinValues:
		return scheduling.Query{MinValues: scheduling.MinValuesBestEffort}
	case scheduling.MissTopology:
		unrule(s, p, miss, less)
	case scheduling.MissLabel:
		relabel(p, miss.Key, value)
		if miss.Rule == "spec.os" {
			p.Spec.OS = nil
			if value != "" {
				ofOS(value)(p)
			}
		}
	case scheduling.MissResources, scheduling.MissResourceGivenUp:
		for name, q := range miss.Amounts {
			if strings.HasPrefix(string(name), "attachable-volumes-") {
				p.Spec.Volumes = p.Spec.Volumes[q.Value()-less:]
				continue
			}
			list := p.Spec.Containers[0].Resources.Requests
			left := list[name]
			left.Sub(q)
			if less > 0 {
				left.SetMilli(left.MilliValue() + less)
			}
			list[name] = left
		}
	case scheduling.MissVolumes:
		s.PersistentVolumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0] = in(miss.Key, value)
	case scheduling.MissNodePool:
		spec := &np.Spec.Template.Spec
		spec.Requirements = slices.DeleteFunc(spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == miss.Key })
		delete(np.Spec.Template.Labels, miss.Key)
		if value != "" {
			spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: miss.Key, Operator: opIn, Values: []string{value}})
		}
	case scheduling.MissOffering:
		for _, it := range s.Catalogs["types"] {
			for i := range it.Offerings {
				o := &it.Offerings[i]
				if it.Name == miss.InstanceType.Name && o.Requirements.Get(zoneKey).Has(miss.InstanceType.Zone) && o.Requirements.Get(capacityKey).Has(miss.InstanceType.CapacityType) {
					o.Available = true
				}
			}
		}
	default:
		t.Fatal("no cure for", miss)
	}
	return scheduling.Query{}
}

// unrule takes the miss's rule away from all pods, or gives it the maxSkew that would do.
func unrule(s *scheduling.Snapshot, p *corev1.Pod, miss *scheduling.NearestMiss, less int64) {
	all := slices.Clone(s.Pods)
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].Pods...)
	}
	for _, other := range all {
		switch a := other.Spec.Affinity; {
		case strings.HasPrefix(miss.Rule, "host port"):
			other.Spec.Containers[0].Ports = nil
		case strings.HasPrefix(miss.Rule, "topology spread") && miss.MaxSkew > 0:
			for i := range other.Spec.TopologySpreadConstraints {
				if strings.Contains(miss.Rule, other.Spec.TopologySpreadConstraints[i].TopologyKey) {
					other.Spec.TopologySpreadConstraints[i].MaxSkew = miss.MaxSkew - int32(less)
				}
			}
		case strings.HasPrefix(miss.Rule, "topology spread"):
			other.Spec.TopologySpreadConstraints = nil
		case a == nil:
		case strings.HasPrefix(miss.Rule, "pod affinity") && other == p:
			a.PodAffinity = nil
		case strings.HasPrefix(miss.Rule, "pod anti-affinity"):
			a.PodAntiAffinity = nil
		}
	}
}

// relabel makes all that the pod asks of a label into value, or nothing.
func relabel(p *corev1.Pod, key, value string) {
	delete(p.Spec.NodeSelector, key)
	terms := []corev1.NodeSelectorTerm{}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	for i := range terms {
		if name, is := strings.CutPrefix(key, "field:"); is {
			terms[i].MatchFields = slices.DeleteFunc(terms[i].MatchFields, func(e corev1.NodeSelectorRequirement) bool { return e.Key == name })
			if value != "" {
				terms[i].MatchFields = append(terms[i].MatchFields, in(name, value))
			}
			continue
		}
		terms[i].MatchExpressions = slices.DeleteFunc(terms[i].MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return e.Key == key })
		if value != "" {
			terms[i].MatchExpressions = append(terms[i].MatchExpressions, in(key, value))
		}
	}
	switch {
	case slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions)+len(t.MatchFields) == 0 }):
		p.Spec.Affinity.NodeAffinity = nil
	case len(terms) == 0 && value != "":
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[key] = value
	}
}

// linuxless is an instance type that does not say what it runs.
func linuxless() *cloudprovider.InstanceType {
	it := typeOf("silent", 0.1, "cpu=4", "memory=16Gi")
	it.Requirements = it.Requirements.Without(corev1.LabelOSStable)
	return it
}

// missCase is a snapshot in which the pod p has no place in its first pool.
type missCase struct {
	name  string
	parts []any
	// also changes the snapshot further.
	also  func(*scheduling.Snapshot)
	query scheduling.Query
	// reason is the code; miss the sentence of the nearest miss.
	reason scheduling.ReasonCode
	miss   string
	// exact says that a unit less than the miss says is not enough.
	exact bool
}

func (c *missCase) snapshot() *scheduling.Snapshot {
	s := cluster(c.parts...)
	if c.also != nil {
		c.also(s)
	}
	return copyOf(s) // cases share their parts
}

func missCases() []missCase {
	small, medium, large := catalogue()[0], catalogue()[1], catalogue()[2]
	attaching := func(p *corev1.Pod) {
		for i := range 4 {
			claiming(fmt.Sprintf("c%d", i))(p)
		}
	}
	few := typeOf("few", 1, "cpu=4", "memory=16Gi")
	few.VolumeLimits = map[string]int32{"csi.example.com": 3}
	zoned := func(zones ...string) *cloudprovider.InstanceType {
		var list []cloudprovider.Offering
		for _, z := range zones {
			list = append(list, offering(z, v1.CapacityTypeOnDemand, 0.2))
		}
		return sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), list...)
	}
	varied := func(np *scheduling.NodePool) {
		n := 3
		np.Object.Spec.Template.Spec.Requirements = append(np.Object.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: typeKey, Operator: opExists, MinValues: &n})
	}
	reserved := func(left int) *cloudprovider.InstanceType {
		return sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.2), reservedOffering("a", "r1", left))
	}
	return []missCase{
		{name: "a taint", parts: []any{nodePool("banana", poolTaints("example.com/x=:NoSchedule")), pod("p")},
			reason: scheduling.ReasonTaint, miss: "would fit if it tolerated example.com/x=:NoSchedule"},
		{name: "two taints and one that is tolerated", parts: []any{nodePool("banana", poolTaints("x=1:NoSchedule", "y=:NoExecute", "z=:NoSchedule", "soft=:PreferNoSchedule")),
			pod("p", tolerates(corev1.Toleration{Key: "z", Operator: corev1.TolerationOpExists}))},
			reason: scheduling.ReasonTaint, miss: "would fit if it tolerated x=1:NoSchedule and y=:NoExecute"},
		{name: "a taint and nothing large enough", parts: []any{nodePool("banana", poolTaints("x=:NoSchedule")), pod("p", requests("cpu=9"))},
			reason: scheduling.ReasonTaint, miss: "would fit if it tolerated x=:NoSchedule and it asked for 1 less cpu"},
		{name: "limits", parts: []any{nodePool("banana", limit("cpu=6")), large, pod("p", requests("cpu=3"))},
			reason: scheduling.ReasonLimits, miss: "would fit if limit cpu were raised by 2", exact: true},
		{name: "the number of nodes", parts: []any{nodePool("banana", limit("nodes=0")), pod("p")},
			reason: scheduling.ReasonLimits, miss: "would fit if limit nodes were raised by 1", exact: true},
		{name: "two limits", parts: []any{nodePool("banana", limit("cpu=6", "memory=20Gi")), large, pod("p", requests("cpu=3"))},
			reason: scheduling.ReasonLimits, miss: "would fit if limits were raised, cpu by 2 and memory by 12Gi"},
		{name: "limits in use", parts: []any{nodePool("banana", limit("cpu=4", "nodes=1")), medium,
			node("n", ofPool("banana"), bound(pod("full", requests("cpu=4")))), pod("p")},
			reason: scheduling.ReasonLimits, miss: "would fit if limits were raised, cpu by 4 and nodes by 1"},
		{name: "a reservation", parts: []any{reserved(0), pod("p", selector(capacityKey+"=reserved"))},
			reason: scheduling.ReasonReservation, miss: "would fit if reservation example.com/reservation In [r1] had one more instance"},
		{name: "a reservation that others use", parts: []any{reserved(1), pod("first", requests("cpu=4"), labelled("a"), func(p *corev1.Pod) { n := int32(9); p.Spec.Priority = &n }), pod("p", requests("cpu=4"))},
			query:  scheduling.Query{Reserved: scheduling.ReservedStrict},
			reason: scheduling.ReasonReservation, miss: "would fit if reservation example.com/reservation In [r1] had one more instance"},
		{name: "minValues", parts: []any{nodePool("banana", varied), small, medium, large, pod("p", requests("cpu=3"))},
			reason: scheduling.ReasonMinValues, miss: "would fit if the nodepool's minValues were not strict"},
		{name: "topology spread by zone", parts: []any{
			node("full", nodeLabel(zoneKey, "c"), allocatable("cpu=0", "memory=0")),
			zoned("a"), pod("a", labelled("w"), spreadBy(zoneKey, 1, "w"), requests("cpu=4")), pod("p", labelled("w"), spreadBy(zoneKey, 1, "w"), requests("cpu=4"))},
			reason: scheduling.ReasonTopology, exact: true,
			miss: "would fit if maxSkew were 2 in topology spread by topology.kubernetes.io/zone with maxSkew 1 of pods that match app=w in namespace default"},
		{name: "pod anti-affinity by zone", parts: []any{zoned("a"), pod("a", labelled("w"), awayFrom(zoneKey, "w")), pod("p", labelled("w"), awayFrom(zoneKey, "w"))},
			reason: scheduling.ReasonTopology,
			miss:   "would fit without pod anti-affinity by topology.kubernetes.io/zone to pods that match app=w in namespace default"},
		{name: "pod anti-affinity of others", parts: []any{zoned("a"), pod("one", awayFrom(zoneKey, "w"), func(p *corev1.Pod) { n := int32(9); p.Spec.Priority = &n }), pod("p", labelled("w"))},
			reason: scheduling.ReasonTopology,
			miss:   "would fit without pod anti-affinity by topology.kubernetes.io/zone of pods that have a place to pods that match app=w in namespace default"},
		{name: "pod affinity to nobody", parts: []any{pod("p", closeTo(zoneKey, "db"))},
			reason: scheduling.ReasonTopology,
			miss:   "would fit without pod affinity by topology.kubernetes.io/zone to pods that match app=db in namespace default, of which none has a place yet"},
		{name: "pod affinity to pods elsewhere", parts: []any{zoned("a"), node("c", nodeLabel(zoneKey, "c"), bound(pod("db", labelled("db"), requests("cpu=4")))), pod("p", closeTo(zoneKey, "db"))},
			reason: scheduling.ReasonTopology,
			miss:   "would fit without pod affinity by topology.kubernetes.io/zone to pods that match app=db in namespace default, which have their places elsewhere"},
		{name: "a host port", parts: []any{daemonSet("proxy", []string{"cpu=100m"}, onHostPort(80)), pod("p", onHostPort(80))},
			reason: scheduling.ReasonHostPorts, miss: "would fit if host port TCP/80 were free"},
		{name: "a zone", parts: []any{zoned("a", "b"), pod("p", selector(zoneKey+"=us-east-1c"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it allowed topology.kubernetes.io/zone a or b"},
		{name: "a capacity type", parts: []any{zoned("a"), pod("p", selector(zoneKey+"=a", capacityKey+"=spot"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it allowed karpenter.sh/capacity-type on-demand"},
		{name: "a zone the pool does not have", parts: []any{nodePool("banana", poolNeeds(zoneKey, opIn, "b")), pod("p", selector(zoneKey+"=a"))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it allowed topology.kubernetes.io/zone b"},
		{name: "an architecture, in each alternative", parts: []any{nodePool("banana", poolNeeds(archKey, opIn, "amd64")),
			pod("p", required(in(archKey, "arm64"), in(zoneKey, "a")), required(in(archKey, "arm64"), in(zoneKey, "b")))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it allowed kubernetes.io/arch amd64"},
		{name: "instance types, the cheapest", parts: []any{pod("p", selector(typeKey+"=huge"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it allowed node.kubernetes.io/instance-type small or arm or medium or others"},
		{name: "an operating system", parts: []any{pod("p", ofOS("windows"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if spec.os and label kubernetes.io/os allowed linux"},
		{name: "an operating system that only the selector excludes", parts: []any{pod("p", ofOS("linux"), selector(corev1.LabelOSStable+"=windows"))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it allowed kubernetes.io/os linux"},
		{name: "an operating system that no pool states", parts: []any{linuxless(), pod("p", ofOS("windows"))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it stated neither spec.os nor label kubernetes.io/os"},
		{name: "a label nobody states", parts: []any{pod("p", selector("team=a"))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it asked nothing of label team"},
		{name: "a node's name", parts: []any{pod("p", selector(corev1.LabelHostname+"=n"))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it asked nothing of label kubernetes.io/hostname"},
		{name: "a value of the pool's label", parts: []any{nodePool("banana", poolLabel("team", "b")), pod("p", selector("team=a"))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it allowed team b"},
		{name: "values of the pool's label, each excluded", parts: []any{nodePool("banana", poolNeeds("team", opIn, "a", "b")),
			pod("p", required(expression("team", opNotIn, "a"), expression("team", opNotIn, "b")))},
			reason: scheduling.ReasonRequirements, miss: "would fit if it allowed team a"},
		{name: "a label under a spread rule", parts: []any{zoned("a"), pod("p", labelled("w"), spreadBy(zoneKey, 1, "w"), selector(zoneKey+"=b"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it allowed topology.kubernetes.io/zone a"},
		{name: "memory", parts: []any{pod("p", requests("cpu=1", "memory=34Gi"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it asked for 2Gi less memory", exact: true},
		{name: "cpu", parts: []any{pod("p", requests("cpu=8500m"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it asked for 500m less cpu", exact: true},
		{name: "cpu next to DaemonSets", parts: []any{daemonSet("agent", []string{"cpu=200m"}), pod("p", requests("cpu=8"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it asked for 200m less cpu", exact: true},
		{name: "cpu and memory", parts: []any{pod("p", requests("cpu=9", "memory=99Gi"))}, reason: scheduling.ReasonInstanceTypes},
		{name: "a resource that nobody has", parts: []any{pod("p", requests("cpu=1", "example.com/gpu=2"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it asked for 2 less example.com/gpu"},
		{name: "volumes attached", parts: []any{few, pod("p", attaching)},
			also: func(s *scheduling.Snapshot) {
				for i := range 4 {
					boundVolume(s, fmt.Sprintf("c%d", i), "a")
				}
			},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it asked for 1 less attached volumes of csi.example.com", exact: true},
		{name: "a volume elsewhere", parts: []any{zoned("a"), pod("p", claiming("data"))},
			also:   func(s *scheduling.Snapshot) { boundVolume(s, "data", "z") },
			reason: scheduling.ReasonVolumes, miss: "would fit if its volumes could be used where topology.kubernetes.io/zone is a"},
		{name: "a volume where the pool is not", parts: []any{nodePool("banana", poolNeeds(zoneKey, opIn, "b")), pod("p", claiming("data"))},
			also:   func(s *scheduling.Snapshot) { boundVolume(s, "data", "a") },
			reason: scheduling.ReasonVolumes, miss: "would fit if its volumes could be used where topology.kubernetes.io/zone is b"},
		{name: "a volume where the pod does not want to be", parts: []any{zoned("a", "b"), pod("p", claiming("data"), selector(zoneKey+"=b"))},
			also:   func(s *scheduling.Snapshot) { boundVolume(s, "data", "a") },
			reason: scheduling.ReasonVolumes, miss: "would fit if it allowed topology.kubernetes.io/zone a"},
		{name: "types that the pool leaves out", parts: []any{nodePool("banana", poolNeeds(typeKey, opIn, "medium", "small")), pod("p", requests("cpu=5", "memory=20Gi"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if the nodepool allowed node.kubernetes.io/instance-type large"},
		{name: "a pool that leaves out all types", parts: []any{nodePool("banana", poolNeeds(archKey, opIn, "sparc")), pod("p")},
			reason: scheduling.ReasonNoInstanceTypes, miss: "would fit if the nodepool allowed kubernetes.io/arch amd64 or arm64"},
		{name: "a resource rather than a change of the pool", parts: []any{nodePool("banana", poolNeeds(typeKey, opIn, "small")), pod("p", requests("cpu=3"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if it asked for 1 less cpu", exact: true},
		{name: "an offering", parts: []any{sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), shut(offering("a", v1.CapacityTypeSpot, 0.1)), shut(offering("b", v1.CapacityTypeSpot, 0.05))), pod("p")},
			reason: scheduling.ReasonNoInstanceTypes, miss: "would fit if medium, spot in b, were available"},
		{name: "an offering of the zone", parts: []any{sold(typeOf("big", 0.2, "cpu=4", "memory=16Gi"), shut(offering("a", v1.CapacityTypeSpot, 0.1)), shut(offering("b", v1.CapacityTypeSpot, 0.05))),
			typeOf("tiny", 0.01, "cpu=1", "memory=1Gi", "pods=0"), pod("p", requests("cpu=4", "memory=8Gi"), selector(zoneKey+"=a"))},
			reason: scheduling.ReasonInstanceTypes, miss: "would fit if big, spot in a, were available"},
	}
}

// SCH-156, SCH-159, OPP-17: every kind of refusal has its code and, where one change would do, its nearest miss; and
// it is true: with that change alone the pod has a place, with any of the values named, and with a unit less it has not.
func TestNearestMissIsACure(t *testing.T) {
	seen := map[scheduling.MissCode]bool{}
	for _, c := range missCases() {
		t.Run(c.name, func(t *testing.T) {
			plan := solveQuery(t, c.snapshot(), c.query)
			r := reasonsOf(t, plan, "p")[0]
			if r.Code != c.reason {
				t.Errorf("code %s, want %s: %s", r.Code, c.reason, r)
			}
			if r.NearestMiss == nil || c.miss == "" {
				if r.NearestMiss != nil || c.miss != "" {
					t.Fatalf("nearest miss %v, want %q", r.NearestMiss, c.miss)
				}
				return
			}
			if got := r.NearestMiss.String(); got != c.miss {
				t.Fatalf("nearest miss %q, want %q", got, c.miss)
			}
			seen[r.NearestMiss.Code] = true
			for _, value := range append(slices.Clone(r.NearestMiss.Values), "") {
				if value == "" && len(r.NearestMiss.Values) > 0 {
					continue
				}
				s := c.snapshot()
				q := cure(t, s, r.Pool, r.NearestMiss, value, 0)
				q.Reserved = c.query.Reserved
				if after := solveQuery(t, s, q); place(after, "p") == "nowhere" {
					t.Errorf("still without a place after the cure (value %q): %s", value, reasonsOf(t, after, "p"))
				}
				if !c.exact {
					continue
				}
				s = c.snapshot()
				cure(t, s, r.Pool, r.NearestMiss, value, 1)
				if after := solveQuery(t, s, c.query); place(after, "p") != "nowhere" {
					t.Error("a smaller change would have done")
				}
			}
		})
	}
	for _, code := range []scheduling.MissCode{
		scheduling.MissToleration, scheduling.MissLimits, scheduling.MissReservation, scheduling.MissMinValues, scheduling.MissTopology,
		scheduling.MissLabel, scheduling.MissResources, scheduling.MissVolumes, scheduling.MissNodePool, scheduling.MissResourceGivenUp, scheduling.MissOffering,
	} {
		if !seen[code] {
			t.Errorf("no case has a nearest miss of code %s", code)
		}
	}
}
