package claimed

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Pods that share a ResourceClaim with devices of one node run on that node together. They are planned as one pod. The first pod, the
// leader, requests the resources and devices of all pods of the group. The other pods, the followers, request nothing. So the leader's node
// has room for the whole group. The node must meet the node selectors of all pods of the group. Other rules of the followers are checked
// when the pods are placed. If a rule of one follower excludes the node, the whole group stays pending.

// deviceGroup is a group of pods that share claims, directly or through other pods.
type deviceGroup struct {
	// id identifies the group. It is the first of the keys of the group's claims.
	id string
	// pods are the pods of the group, in the order of likeness.Compare. The first pod is the leader.
	pods []*corev1.Pod
	// nodes are the node selectors of all pods of the group: see selectors.
	nodes []*corev1.NodeSelector
}

// leads reports whether the pod is the leader.
func (g *deviceGroup) leads(pod *corev1.Pod) bool { return g.pods[0] == pod }

// deviceGroups contains the group of each pod.
type deviceGroups map[*corev1.Pod]*deviceGroup

// newDeviceGroups finds the pods that must run together. These are pending pods that share an unallocated claim, and running pods that
// share a claim allocated on their node. If the node of such running pods is removed, they must move to another node together.
func newDeviceGroups(s *planning.Snapshot, claims map[planning.PodKey]*resourcev1.ResourceClaim) deviceGroups {
	if len(claims) == 0 {
		return nil
	}
	users := map[string][]*corev1.Pod{}
	note := func(pod *corev1.Pod, node string) {
		for i := range pod.Spec.ResourceClaims {
			name := pod.Spec.ResourceClaims[i].ResourceClaimName
			if name == nil {
				continue
			}
			claim := claims[planning.PodKey{Namespace: pod.Namespace, Name: *name}]
			if claim == nil || (claim.Status.Allocation != nil) != (node != "") || node != "" && !ofOneNode(claim.Status.Allocation) {
				continue
			}
			id := pod.Namespace + "/" + *name
			if node != "" {
				id += " on " + node
			}
			if !slices.Contains(users[id], pod) {
				users[id] = append(users[id], pod)
			}
		}
	}
	for _, list := range [][]*corev1.Pod{s.Pods, s.Placeholders} {
		for _, pod := range list {
			if pod != nil && len(pod.Spec.ResourceClaims) > 0 {
				note(pod, "")
			}
		}
	}
	for i := range s.Nodes {
		for _, pod := range s.Nodes[i].Pods {
			if pod != nil && len(pod.Spec.ResourceClaims) > 0 && !likeness.Ended(pod) && movesAlone(pod) {
				note(pod, s.Nodes[i].Name)
			}
		}
	}
	return joinedBy(users)
}

// movesAlone reports whether the pod is owned neither by a DaemonSet nor by a node.
func movesAlone(pod *corev1.Pod) bool {
	_, ofDaemon := match.DaemonOwner(pod)
	owner := metav1.GetControllerOf(pod)
	return !ofDaemon && (owner == nil || owner.Kind != "Node")
}

// ofOneNode reports whether the claim's allocated devices can be used on one node only.
func ofOneNode(a *resourcev1.AllocationResult) bool {
	if a.NodeSelector == nil || len(a.NodeSelector.NodeSelectorTerms) != 1 {
		return false
	}
	return slices.ContainsFunc(a.NodeSelector.NodeSelectorTerms[0].MatchFields, func(r corev1.NodeSelectorRequirement) bool {
		return r.Key == metav1.ObjectNameField && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1
	})
}

// joinedBy groups pods that use the same claims. The parameter users has the pods that use each claim, by claim.
func joinedBy(users map[string][]*corev1.Pod) deviceGroups {
	out := deviceGroups{}
	for _, id := range slices.Sorted(maps.Keys(users)) {
		if len(users[id]) < 2 {
			continue
		}
		joined := &deviceGroup{id: id}
		for _, pod := range users[id] {
			g := out[pod]
			if g == nil {
				g = &deviceGroup{id: id, pods: []*corev1.Pod{pod}}
			}
			if g == joined {
				continue
			}
			joined.id = min(joined.id, g.id)
			joined.pods = append(joined.pods, g.pods...)
			for _, other := range g.pods {
				out[other] = joined
			}
		}
	}
	for _, g := range out {
		if !slices.IsSortedFunc(g.pods, likeness.Compare) {
			slices.SortFunc(g.pods, likeness.Compare)
		}
		if g.nodes == nil {
			g.nodes = g.selectors()
		}
	}
	return out
}

// follows returns the id of the group that the pod must run with, and whether the pod leads this group. The id is empty for a pod that
// shares no claim.
func (g deviceGroups) follows(pod *corev1.Pod) (id string, leads bool) {
	of := g[pod]
	if of == nil {
		return "", false
	}
	return of.id, of.leads(pod)
}

// share makes the leader of a group request the sum of the requests of its pods. The other pods of the group request nothing.
func (g deviceGroups) share(table *resources.Table, pod *corev1.Pod, requests []int64) {
	of := g[pod]
	if of == nil {
		return
	}
	if !of.leads(pod) {
		places := requests[resources.Pods]
		clear(requests)
		requests[resources.Pods] = places
		return
	}
	own := make([]int64, len(requests))
	for _, other := range of.pods[1:] {
		table.Requests(resources.OfPod(other), own)
		own[resources.Pods] = 0
		resources.AddScaled(requests, own, 1)
	}
}
