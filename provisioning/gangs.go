package provisioning

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// groupPatience is how long pods that no gang needs may wait for a gang on the same planned node. After this time, the node is launched
// even if the gang's other nodes can't be launched.
const groupPatience = 3 * time.Minute

// gangNodes says which new nodes of a plan must be launched together, because they have pods of the same gangs.
type gangNodes struct {
	d    *decision
	plan *scheduling.Plan
	// gangOf has, for each waiting pod that a gang needs, the index of the gang in Plan.Gangs.
	gangOf map[scheduling.PodKey]int
	// group has, for each gang, the index of another gang of the same group, which leads to the root of the group. The root is the gang
	// with the lowest index of the group. For the root, group has the root's own index.
	group []int
	// pending says, by the index of a group's root, whether gangs of the group have places on nodes of an earlier launch group that is not
	// complete yet.
	pending []bool
	// families has, by the key that Gang.Whole returns, the index of the first gang with that key.
	families map[scheduling.GangKey]int
	// claims has the number of new nodes of each group, by the group's root.
	claims map[int]int
}

// gangsOf returns the gangNodes of the plan, or nil if the plan has no gangs.
func (d *decision) gangsOf(plan *scheduling.Plan) *gangNodes {
	if len(plan.Gangs) == 0 {
		return nil
	}
	g := &gangNodes{
		d: d, plan: plan, gangOf: map[scheduling.PodKey]int{}, group: make([]int, len(plan.Gangs)), pending: make([]bool, len(plan.Gangs)),
		claims: map[int]int{}, families: map[scheduling.GangKey]int{},
	}
	for i := range g.group {
		g.group[i] = i
	}
	g.findMembers()
	for i := range plan.NewNodes {
		g.join(g.on(plan.NewNodes[i].Pods))
	}
	for i := range plan.NewNodes {
		if on := g.on(plan.NewNodes[i].Pods); len(on) > 0 {
			g.claims[g.root(on[0])]++
		}
	}
	g.findPending()
	return g
}

// findMembers fills gangOf with the waiting members that gangs need to reach their minimum. Members beyond the minimum are left out.
func (g *gangNodes) findMembers() {
	gangs := make(map[scheduling.GangKey]*scheduling.Gang, len(g.d.snapshot.Gangs))
	for i := range g.d.snapshot.Gangs {
		gangs[g.d.snapshot.Gangs[i].Key()] = &g.d.snapshot.Gangs[i]
	}
	for i := range g.plan.Gangs {
		placement := &g.plan.Gangs[i]
		gang := gangs[placement.Gang]
		if placement.Reason != nil || gang == nil {
			continue
		}
		g.joinFamily(i, gang)
		needed := placement.Minimum - placement.Bound
		for key := range g.d.waitingMembers(gang) {
			if needed <= 0 {
				break
			}
			g.gangOf[key] = i
			needed--
		}
	}
}

// joinFamily puts the gang into one group with the gangs with which it is placed together or not at all: see Gang.Whole.
func (g *gangNodes) joinFamily(number int, gang *scheduling.Gang) {
	whole, ok := gang.Whole()
	if !ok {
		return
	}
	if first, known := g.families[whole]; known {
		g.join([]int{first, number})
		return
	}
	g.families[whole] = number
}

// waitingMembers yields the members of the gang that have no node. Pending pods come first, and then the pods of the gang's templates,
// which do not exist yet.
func (d *decision) waitingMembers(gang *scheduling.Gang) iter.Seq[scheduling.PodKey] {
	return func(yield func(scheduling.PodKey) bool) {
		for _, key := range gang.Members {
			if d.pods[key] != nil && !yield(key) {
				return
			}
		}
		for i := range gang.Templates {
			t := &gang.Templates[i]
			name := cmp.Or(t.Name, gang.Name)
			for n := range t.Count {
				if !yield(scheduling.PodKey{Namespace: gang.Namespace, Name: fmt.Sprintf("%s-%d", name, n)}) {
					return
				}
			}
		}
	}
}

// on returns the indexes in Plan.Gangs of the gangs that need at least one of the given pods.
func (g *gangNodes) on(pods []scheduling.PodKey) (list []int) {
	for _, key := range pods {
		if gang, ok := g.gangOf[key]; ok && !slices.Contains(list, gang) {
			list = append(list, gang)
		}
	}
	return list
}

// join merges the groups of the gangs into one group.
func (g *gangNodes) join(gangs []int) {
	for _, gang := range gangs {
		a, b := g.root(gangs[0]), g.root(gang)
		g.group[max(a, b)] = min(a, b)
	}
}

func (g *gangNodes) root(gang int) int {
	for g.group[gang] != gang {
		gang = g.group[gang]
	}
	return gang
}

// findPending sets the field pending for each group whose gangs have places on nodes of an incomplete launch group.
func (g *gangNodes) findPending() {
	launching := map[string]bool{}
	for i := range g.d.snapshot.Nodes {
		n := &g.d.snapshot.Nodes[i]
		if group, ok := v1.LaunchGroupOf(n.Claim); ok && !group.Kept && !wasRegistered(n.Claim) {
			launching[n.Name] = true
		}
	}
	for _, node := range g.plan.Existing {
		if launching[node.Name] {
			for _, gang := range g.on(node.Pods) {
				g.pending[g.root(gang)] = true
			}
		}
	}
}

// wasRegistered reports whether the claim's node is or was registered.
func wasRegistered(claim *v1.NodeClaim) bool {
	return NodeLost(claim) || slices.ContainsFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == v1.ConditionRegistered && c.Status == metav1.ConditionTrue
	})
}

// groupOf returns the launch group of a new node, or nil if the node is launched alone. If the second result is not empty, the node must
// not be launched in this pass, and this result is the reason.
func (g *gangNodes) groupOf(node *scheduling.NewNode) (group *v1.LaunchGroup, held string) {
	if g == nil {
		return nil, ""
	}
	gangs := g.on(node.Pods)
	if len(gangs) == 0 {
		return nil, ""
	}
	root := g.root(gangs[0])
	kept := g.hasPatientPods(node)
	switch {
	case g.pending[root] && kept:
		return nil, ""
	case g.pending[root]:
		return nil, fmt.Sprintf("gang %s waits until nodes that were launched for it are ready or given up", g.plan.Gangs[gangs[0]].Gang)
	case g.claims[root] < 2:
		return nil, ""
	}
	return &v1.LaunchGroup{
		Name: g.plan.Gangs[root].Gang.String() + "@" + g.d.snapshot.Time.UTC().Format(time.RFC3339Nano), Claims: g.claims[root], Kept: kept,
	}, ""
}

// hasPatientPods reports whether the node has a pod that no gang needs and that has waited for groupPatience or longer.
func (g *gangNodes) hasPatientPods(node *scheduling.NewNode) bool {
	return slices.ContainsFunc(node.Pods, func(key scheduling.PodKey) bool {
		pod := g.d.pods[key]
		if _, needed := g.gangOf[key]; needed || pod == nil {
			return false
		}
		since := waitingSince(pod)
		return !since.IsZero() && !g.d.snapshot.Time.Before(since.Add(groupPatience))
	})
}

// waitingSince returns when kube-scheduler first found no place for the pod, or when the pod was created if this is unknown.
func waitingSince(pod *corev1.Pod) time.Time {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// hold does not launch a planned node in this pass. It adds an event with the reason for each pod of the node, and a later pass plans these
// pods again.
func (d *decision) hold(orders *Orders, node *scheduling.NewNode, why string) {
	orders.Held = append(orders.Held, HeldNode{Node: *node, Why: why})
	for _, pod := range d.real(node.Pods) {
		orders.Events = append(orders.Events, Event{
			Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: d.pods[pod].UID, Warning: true, Reason: EventLaunchHeldBack, Message: why,
			Every: every(failedSchedulingEvery),
		})
	}
}

// dropRefusedGroups drops all launches of a group if no claim can be created for one of the group's nodes.
func (o *Orders) dropRefusedGroups(d *decision) {
	if len(o.refusedGroups) == 0 {
		return
	}
	o.Launches = slices.DeleteFunc(o.Launches, func(l Launch) bool {
		drop := l.Group != "" && slices.Contains(o.refusedGroups, l.Group)
		for _, pod := range l.Pods {
			if drop {
				d.failed(o, pod, "another node of launch group "+l.Group+" can't be launched")
			}
		}
		return drop
	})
}
