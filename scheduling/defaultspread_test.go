package scheduling_test

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/scheduling"
)

func defaultConstraint(key string, skew int32) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: corev1.DoNotSchedule}
}

// SCH-145: what kube-scheduler's configuration refuses is refused, with the path; so is a snapshot with it.
func TestValidateDefaultTopologySpread(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*corev1.TopologySpreadConstraint)
		want   string
	}{
		{"legal", func(*corev1.TopologySpreadConstraint) {}, ""},
		{"no skew", func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 0 }, "[0].maxSkew"},
		{"a negative skew", func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = -1 }, "[0].maxSkew"},
		{"no key", func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "" }, "[0].topologyKey"},
		{"no label key", func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "a b" }, "[0].topologyKey"},
		{"no reaction", func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = "" }, "[0].whenUnsatisfiable"},
		{"an unknown reaction", func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = "Cry" }, "[0].whenUnsatisfiable"},
		{"a selector", func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = selecting("w") }, "[0].labelSelector"},
		{"label keys", func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"x"} }, "[0].matchLabelKeys"},
		{"a duplicate", func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "twice" }, "[1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := []corev1.TopologySpreadConstraint{defaultConstraint(zoneKey, 1), defaultConstraint("twice", 1)}
			c.change(&list[0])
			errs := scheduling.ValidateDefaultTopologySpread(list, field.NewPath("list"))
			s := cluster(pod("p"))
			s.DefaultTopologySpread = list
			_, err := scheduling.Compile(s)
			if c.want == "" {
				if len(errs) > 0 || err != nil {
					t.Errorf("refused: %v, %v", errs, err)
				}
				return
			}
			if len(errs) == 0 || errs[0].Field != "list"+c.want {
				t.Errorf("%v, want an error at list%s", errs, c.want)
			}
			var refused *scheduling.SnapshotError
			if !errors.As(err, &refused) || refused.Path != "defaultTopologySpread"+c.want || refused.Cure == "" {
				t.Errorf("Compile: %v, want it to name defaultTopologySpread%s", err, c.want)
			}
		})
	}
}

// controlledBy makes the pod one of the workload's.
func controlledBy(apiVersion, kind, name string) podOption {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "u", Controller: &yes}}
	}
}

// SCH-145, SCH-146: which pods get the defaults, and which pods are then counted. The node in zone a has pods of the
// labels given, that in zone b has none; a pod that the default is applied to, and whose selector counts one of them, goes
// to zone b, which has just as little room; every other to zone a.
func TestDefaultTopologySpread(t *testing.T) {
	service := func(namespace string, pairs ...string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s" + strings.Join(pairs, "")}, Spec: corev1.ServiceSpec{Selector: labelsOf(pairs...)}}
	}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rs"}}
	rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: labelsOf("hash", "new")}
	ss := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ss"}}
	ss.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "hash", Operator: metav1.LabelSelectorOpExists}}}
	rc := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rc"}}
	rc.Spec.Selector = labelsOf("hash", "new")
	ofRS, ofSS, ofRC := controlledBy("apps/v1", "ReplicaSet", "rs"), controlledBy("apps/v1", "StatefulSet", "ss"), controlledBy("v1", "ReplicationController", "rc")
	for _, c := range []struct {
		name     string
		services []*corev1.Service
		there    []string // labels of the pod in zone a
		options  []podOption
		spread   bool
	}{
		{"nothing selects the pod", nil, []string{"app", "w"}, nil, false},
		{"a service", []*corev1.Service{service("default", "app", "w")}, []string{"app", "w"}, nil, true},
		{"a service of another namespace", []*corev1.Service{service("other", "app", "w")}, []string{"app", "w"}, nil, false},
		{"a service that selects others", []*corev1.Service{service("default", "app", "v")}, []string{"app", "w"}, nil, false},
		{"a service without a selector", []*corev1.Service{service("default")}, []string{"app", "w"}, nil, false},
		{"both of two services", []*corev1.Service{service("default", "app", "w"), service("default", "hash", "new")}, []string{"app", "w", "hash", "new"}, nil, true},
		{"one of two services is not enough", []*corev1.Service{service("default", "app", "w"), service("default", "hash", "new")}, []string{"app", "w"}, nil, false},
		{"its ReplicaSet", nil, []string{"hash", "new"}, []podOption{ofRS}, true},
		{"not another ReplicaSet's", nil, []string{"hash", "old"}, []podOption{ofRS}, false},
		{"a ReplicaSet and a service", []*corev1.Service{service("default", "app", "w")}, []string{"app", "w"}, []podOption{ofRS}, false},
		{"its StatefulSet", nil, []string{"hash", "any"}, []podOption{ofSS}, true},
		{"its ReplicationController", nil, []string{"hash", "new"}, []podOption{ofRC}, true},
		{"a controller that is not there", nil, []string{"app", "w"}, []podOption{controlledBy("apps/v1", "ReplicaSet", "gone")}, false},
		{"constraints of its own", []*corev1.Service{service("default", "app", "w")}, []string{"app", "w"}, []podOption{spreadBy("rack", 1, "nobody"), soft}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			there := pod("there", requests("cpu=1"))
			there.Labels = labelsOf(c.there...)
			s := cluster(nothingNew(), node("a", allocatable("cpu=2", "memory=4Gi"), bound(there)), node("b", inZone("b")),
				pod("p", append([]podOption{podLabel("app", "w"), podLabel("hash", "new")}, c.options...)...))
			s.Services, s.ReplicaSets, s.StatefulSets, s.ReplicationControllers = c.services, []*appsv1.ReplicaSet{rs}, []*appsv1.StatefulSet{ss}, []*corev1.ReplicationController{rc}
			s.DefaultTopologySpread = []corev1.TopologySpreadConstraint{defaultConstraint(zoneKey, 1)}
			want := map[bool]string{true: "on b", false: "on a"}[c.spread]
			if got := place(solveQuery(t, s, scheduling.Query{}), "p"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.DefaultTopologySpread = nil
			if got := place(solveQuery(t, s, scheduling.Query{}), "p"); got != "on a" {
				t.Errorf("without a default: %s; the node with least room comes first", got)
			}
		})
	}
}

// soft makes the pod's spread constraint one that may be broken.
func soft(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = corev1.ScheduleAnyway
}

func labelsOf(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}
