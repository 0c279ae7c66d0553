package planvalidator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Fault is one fault of a plan.
type Fault struct {
	// Where names the part of the plan that is wrong: a node, a pod or a pool.
	Where string
	// What describes the fault, as a sentence.
	What string
}

// Error returns "where: what".
func (f Fault) Error() string { return f.Where + ": " + f.What }

// Check returns all faults of the plan, or nil if the plan is valid.
func Check(s *scheduling.Snapshot, p *scheduling.Plan) []Fault {
	c := newChecker(s, p)
	c.podsOnce()
	c.newNodes()
	c.existingNodes()
	c.preemptions()
	c.gangs()
	c.spotLimits()
	c.limits()
	c.order()
	c.unschedulable()
	c.prices()
	c.costs()
	return c.faults
}

// CheckBound returns the faults in the plan's cost, its bound and the bound's certificate. This part of Check is fast even for hundreds of
// nodes.
func CheckBound(s *scheduling.Snapshot, p *scheduling.Plan) []Fault {
	c := newChecker(s, p)
	c.costs()
	return c.faults
}

type checker struct {
	s     *scheduling.Snapshot
	p     *scheduling.Plan
	words requirements.Vocabulary
	pods  map[scheduling.PodKey]*corev1.Pod
	pools map[v1.PoolKey]*scheduling.NodePool
	nodes map[string]*scheduling.Node
	sets  []*corev1.Pod // one pod for each DaemonSet
	// spreading are the pending and bound pods with spread constraints.
	spreading []*corev1.Pod
	// asTheyAre is a map from changed copies of pods to the original pods. The copies have additional requirements, for the domains of
	// their gangs.
	asTheyAre map[*corev1.Pod]*corev1.Pod
	// namespaces has the labels of each namespace.
	namespaces map[string]apilabels.Set
	// statedOf has, for each instance type, the label keys that the catalogs with this type state.
	statedOf map[*cloudprovider.InstanceType]statedKeys
	faults   []Fault
}

func newChecker(s *scheduling.Snapshot, p *scheduling.Plan) *checker {
	whole := withTemplates(s)
	s, narrowed := withSpotSplits(whole, p)
	s = withRunTimes(s, narrowed)
	c := &checker{
		s: s, p: p, words: s.Vocabulary,
		pods: map[scheduling.PodKey]*corev1.Pod{}, pools: map[v1.PoolKey]*scheduling.NodePool{}, nodes: map[string]*scheduling.Node{}, asTheyAre: narrowed,
	}
	if c.words.IsZero() {
		c.words = requirements.CoreVocabulary()
	}
	for _, pod := range slices.Concat(s.Pods, s.Placeholders) {
		c.pods[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
	c.readNamespaces()
	c.readCatalogs()
	for i := range s.Nodes {
		c.spreading = append(c.spreading, s.Nodes[i].Pods...)
	}
	c.spreading = slices.DeleteFunc(slices.Concat(c.spreading, whole.Pods), func(pod *corev1.Pod) bool { return len(pod.Spec.TopologySpreadConstraints) == 0 })
	for i := range s.NodePools {
		key := s.NodePools[i].Key
		if key.IsZero() {
			key = v1.NewPoolKey(s.NodePools[i].Object.Name)
		}
		c.pools[key] = &s.NodePools[i]
	}
	for i := range s.Nodes {
		c.nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for _, set := range s.DaemonSets {
		pod := c.daemonPod(set)
		tolerateDistress(&pod.Spec)
		c.sets = append(c.sets, pod)
	}
	return c
}

func (c *checker) fault(where, format string, args ...any) {
	c.faults = append(c.faults, Fault{where, fmt.Sprintf(format, args...)})
}

// podsOnce checks that the plan lists each pending pod exactly once, and no other pod.
func (c *checker) podsOnce() {
	seen := map[scheduling.PodKey]int{}
	for i := range c.p.NewNodes {
		if len(c.p.NewNodes[i].Pods) == 0 {
			c.fault(c.p.NewNodes[i].Name, "is launched for no pod")
		}
		for _, key := range c.p.NewNodes[i].Pods {
			seen[key]++
		}
	}
	for i := range c.p.Existing {
		for _, key := range c.p.Existing[i].Pods {
			seen[key]++
		}
	}
	for i := range c.p.Unschedulable {
		seen[c.p.Unschedulable[i].Pod]++
	}
	for key, n := range seen {
		if c.pods[key] == nil {
			c.fault(key.String(), "is planned, but does not wait")
		} else if n != 1 {
			c.fault(key.String(), "stands %d times", n)
		}
	}
	for i := range c.p.Preemptions {
		if key := c.p.Preemptions[i].Pod; seen[key] == 0 {
			seen[key]++ // kube-scheduler will preempt other pods for this pod, so the plan need not place it
		}
	}
	for key := range c.pods {
		if seen[key] == 0 {
			c.fault(key.String(), "is forgotten")
		}
	}
}

// typesOf returns the instance types that the pool may launch, or nil if the pool may launch no node.
func (c *checker) typesOf(np *scheduling.NodePool) []*cloudprovider.InstanceType {
	if np.NotReady != "" || np.Object.DeletionTimestamp != nil || np.Object.Spec.Replicas != nil {
		return nil
	}
	return c.s.Catalogs[np.Catalog]
}
