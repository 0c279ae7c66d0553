// Package planner answers Karpenter's Scheduler.Solve with this project's plan. It is compiled here, and it is also copied into the patched
// copy of Karpenter in which the suites run.
package planner

import (
	"context"
	"errors"
	"os"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/state"

	dkv1 "github.com/drawknife/drawknife/api/v1"
	dk "github.com/drawknife/drawknife/scheduling"
	dkclaims "github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// Enabled reports whether the suites run with this project's planner. Otherwise they run the unchanged release.
func Enabled() bool { return os.Getenv("COMPAT_PLANNER") == "drawknife" }

// Question contains the inputs of Karpenter's scheduler.
type Question struct {
	Client           client.Client
	Now              time.Time
	NodePools        []*v1.NodePool
	InstanceTypes    map[string][]*cloudprovider.InstanceType
	Cluster          *state.Cluster
	StateNodes       []*state.StateNode // nodes that may receive pods
	Pods             []*corev1.Pod
	UnsupportedKeys  []string
	UnsupportedCSI   []string
	MaxInstanceTypes int
	GracePeriod      *metav1.Duration // the default for NodeClaims without a grace period in their pool

	IgnorePreferences, BestEffortMinValues, StrictReservations bool
	// Devices is true if pods may claim devices.
	Devices bool
	// Placeholder reports whether a pod belongs to a capacity buffer.
	Placeholder func(*corev1.Pod) bool
}

// Answer is the plan in Karpenter's terms.
type Answer struct {
	New      []NewNode
	Existing map[string][]*corev1.Pod // by node name
	Refused  map[*corev1.Pod]Refusal
	// Order is an order in which all placed pods can get the devices that they claim.
	Order []*corev1.Pod
}

// NewNode is a planned node.
type NewNode struct {
	Pool          string
	Claim         *v1.NodeClaim
	InstanceTypes []*cloudprovider.InstanceType
	Pods          []*corev1.Pod
}

// Refusal says why a pod has no place.
type Refusal struct {
	error
	// Reserved is true if the reason is a reservation without remaining capacity.
	Reserved bool
}

// Solve plans with this project's planner.
func Solve(ctx context.Context, q Question) (Answer, error) {
	recordReached()
	answer := Answer{Existing: map[string][]*corev1.Pod{}, Refused: map[*corev1.Pod]Refusal{}}
	snapshot, waiting, err := snapshotOf(ctx, &q)
	if err != nil {
		return answer, err
	}
	model, err := dk.Compile(snapshot, dk.WithDeviceMatcher(matcher(&q)))
	if err != nil {
		for _, p := range q.Pods {
			answer.Refused[p] = Refusal{error: err}
		}
		log(q, answer)
		return answer, nil
	}
	query := queryOf(&q)
	plan, err := model.Solve(ctx, query)
	if err != nil {
		return answer, err
	}

	find := func(keys []dk.PodKey) (pods []*corev1.Pod) {
		for _, k := range keys {
			if p := waiting[k.String()]; p != nil {
				pods = append(pods, p)
			}
		}
		return pods
	}
	for i := range plan.NewNodes {
		n := &plan.NewNodes[i]
		pods := find(n.Pods)
		planned, err := newNodeOf(&q, snapshot, n, query.MinValues)
		if err != nil {
			for _, p := range pods {
				answer.Refused[p] = Refusal{error: err}
			}
			continue
		}
		planned.Pods = pods
		answer.New = append(answer.New, planned)
	}
	answer.Order = find(plan.Order)
	for _, e := range plan.Existing {
		answer.Existing[e.Name] = find(e.Pods)
	}
	for _, u := range plan.Unschedulable {
		refusal := Refusal{}
		var sentences []string
		for _, reason := range u.Reasons {
			sentences = append(sentences, reason.String())
			refusal.Reserved = refusal.Reserved || reason.Code == dk.ReasonReservation
		}
		refusal.error = errors.New(strings.Join(sentences, "; "))
		for _, p := range find([]dk.PodKey{u.Pod}) {
			answer.Refused[p] = refusal
		}
	}
	log(q, answer)
	return answer, nil
}

func queryOf(q *Question) (query dk.Query) {
	if q.IgnorePreferences {
		query.Preferences = dk.PreferencesIgnore
	}
	if q.BestEffortMinValues {
		query.MinValues = dk.MinValuesBestEffort
	}
	if q.StrictReservations {
		query.Reserved = dk.ReservedStrict
	}
	return query
}

// newNodeOf returns a planned node in Karpenter's terms, without its pods.
func newNodeOf(q *Question, s *dk.Snapshot, n *dk.NewNode, minValues dk.MinValuesPolicy) (NewNode, error) {
	var grace *dkv1.Duration
	var err error
	if q.GracePeriod != nil {
		if grace, err = convert[dkv1.Duration](q.GracePeriod); err != nil {
			return NewNode{}, err
		}
	}
	claim, err := dkclaims.New(n, poolOf(s, n.Pool.Name), dkclaims.Options{
		Lookup: s.Vocabulary.Compile(), InstanceTypes: s.Catalogs[n.Pool.Name], MaxInstanceTypes: mostTypes(q.MaxInstanceTypes), MinValues: minValues,
		TerminationGracePeriod: grace,
	})
	if err != nil {
		return NewNode{}, err
	}
	nameDrivers(q, s, n, claim)
	theirs, err := convert[v1.NodeClaim](claim)
	if err != nil {
		return NewNode{}, err
	}
	planned := NewNode{Pool: n.Pool.Name, Claim: theirs}
	for _, option := range n.InstanceTypes {
		for _, t := range q.InstanceTypes[n.Pool.Name] {
			if t.Name == option.Name {
				planned.InstanceTypes = append(planned.InstanceTypes, t)
			}
		}
	}
	return planned, nil
}

func poolOf(s *dk.Snapshot, name string) *dk.NodePool {
	for i := range s.NodePools {
		if s.NodePools[i].Object.Name == name {
			return &s.NodePools[i]
		}
	}
	return nil
}

// nodesOf returns the nodes of the cluster. It sets Leaving for nodes that Karpenter ignores when it plans.
func nodesOf(q *Question, pods []*corev1.Pod, waiting map[string]*corev1.Pod) ([]dk.Node, error) {
	active := map[string]bool{}
	for _, n := range q.StateNodes {
		active[n.Name()] = true
	}
	var out []dk.Node
	for n := range q.Cluster.Nodes() {
		node := dk.Node{Name: n.Name(), Leaving: !active[n.Name()]}
		if n.Node != nil {
			node.Object = n.Node.DeepCopy()
			for _, p := range pods {
				if p.Spec.NodeName == n.Node.Name && waiting[p.Namespace+"/"+p.Name] == nil {
					node.Pods = append(node.Pods, p)
				}
			}
		}
		if n.NodeClaim != nil {
			claim, err := claimOf(n.NodeClaim)
			if err != nil {
				return nil, err
			}
			node.Claim = claim
		}
		if pool := n.Labels()[v1.NodePoolLabelKey]; pool != "" {
			node.Pool = poolKey(pool)
		}
		out = append(out, node)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// mostTypes converts the limit on a claim's types to the form of options. 0 means the default.
func mostTypes(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
