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

// Pods that share a ResourceClaim whose devices are those of one node run on that node together. They are planned as one: the first of
// them, their leader, asks for the resources and devices of all, and the others follow it for nothing. So its node has room for all of
// them, and it is one that all of them select. Other rules of their own are looked at when they follow: if those of one exclude that node
// all of them wait.

// deviceGroup are pods that share claims, directly or by way of others.
type deviceGroup struct {
	// id is the first of the claims.
	id string
	// pods are in the order of likeness.Compare: the first leads.
	pods []*corev1.Pod
	// nodes are those that all of them select.
	nodes []*corev1.NodeSelector
}

// leads reports whether the others follow the pod.
func (g *deviceGroup) leads(pod *corev1.Pod) bool { return g.pods[0] == pod }

// deviceGroups are by pod.
type deviceGroups map[*corev1.Pod]*deviceGroup

// newDeviceGroups finds the pods that have to run together: those that wait and share a claim that is not allocated, and those on a node
// that share one that is allocated there, which would need another one if the node went.
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

// movesAlone reports whether neither a DaemonSet nor a node owns the pod.
func movesAlone(pod *corev1.Pod) bool {
	_, ofDaemon := match.DaemonOwner(pod)
	owner := metav1.GetControllerOf(pod)
	return !ofDaemon && (owner == nil || owner.Kind != "Node")
}

// ofOneNode reports whether the allocated devices can be used on one node alone.
func ofOneNode(a *resourcev1.AllocationResult) bool {
	if a.NodeSelector == nil || len(a.NodeSelector.NodeSelectorTerms) != 1 {
		return false
	}
	return slices.ContainsFunc(a.NodeSelector.NodeSelectorTerms[0].MatchFields, func(r corev1.NodeSelectorRequirement) bool {
		return r.Key == metav1.ObjectNameField && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1
	})
}

// joinedBy are the groups that the users of claims make.
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

// follows says with which pods the pod has to run, and whether these follow it. It is empty for a pod that shares no claim.
func (g deviceGroups) follows(pod *corev1.Pod) (id string, leads bool) {
	of := g[pod]
	if of == nil {
		return "", false
	}
	return of.id, of.leads(pod)
}

// share has the leader of a group ask for what all of its pods request, and the others for nothing.
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
