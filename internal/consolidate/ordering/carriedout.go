package ordering

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// after returns the snapshot of a.model as it is after the commands: their members are gone and their new nodes exist. The result moving
// has the keys of the moved pods. If bound is true, the moved pods are bound to their planned nodes. If bound is false, they are pending.
func (a *agreement) after(list []*decision.Command, bound bool) (next *planning.Snapshot, moving map[planning.PodKey]bool) {
	members, places := map[string]bool{}, map[planning.PodKey]string{}
	moving = map[planning.PodKey]bool{}
	out := *a.model.Snapshot
	var added []planning.Node
	place := func(node string, pods []planning.PodKey) {
		for _, key := range pods {
			places[key], moving[key] = node, true
		}
	}
	for _, cmd := range list {
		for i := range cmd.Members {
			members[cmd.Members[i].Node] = true
		}
		for i := range cmd.Receivers {
			place(cmd.Receivers[i].Name, cmd.Receivers[i].Pods)
		}
		for i := range cmd.Replacements {
			if n := cmd.Replacements[i].Node; n != nil {
				name := newName(cmd, i)
				place(name, n.Pods)
				added = append(added, a.launched(n, name))
			}
		}
	}
	out.Nodes = make([]planning.Node, 0, len(a.model.Snapshot.Nodes)+len(added))
	out.Pods = slices.Clone(out.Pods)
	received := map[string][]*corev1.Pod{}
	for i := range a.model.Snapshot.Nodes {
		n := &a.model.Snapshot.Nodes[i]
		if !members[n.Name] {
			out.Nodes = append(out.Nodes, *n)
			continue
		}
		for _, pod := range n.Pods {
			key := survey.KeyOf(pod)
			if !moving[key] {
				continue
			}
			moved := *pod
			if bound {
				moved.Spec.NodeName = places[key]
				received[places[key]] = append(received[places[key]], &moved)
				continue
			}
			moved.Spec.NodeName, moved.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
			out.Pods = append(out.Pods, &moved)
		}
	}
	out.Nodes = append(out.Nodes, added...)
	for i := range out.Nodes {
		if more := received[out.Nodes[i].Name]; len(more) > 0 {
			out.Nodes[i].Pods = slices.Concat(out.Nodes[i].Pods, more)
		}
	}
	return &out, moving
}

// launched returns the ready node that would be launched as the first type of the planned node.
func (a *agreement) launched(planned *planning.NewNode, name string) planning.Node {
	o := planned.InstanceTypes[0]
	labels := map[string]string{}
	p := a.Fleet.Pools[planned.Pool]
	if p != nil {
		maps.Copy(labels, p.Object.Spec.Template.Labels)
	}
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	object.Status.Allocatable, object.Status.Capacity = planned.Allocatable, planned.Allocatable
	snapshot := a.model.Snapshot
	at := slices.IndexFunc(snapshot.NodePools, func(p planning.NodePool) bool { return p.Identity() == planned.Pool })
	if at >= 0 {
		for _, it := range snapshot.Catalogs[snapshot.NodePools[at].Catalog] {
			if it.Name != o.Name {
				continue
			}
			for r := range it.Requirements.All {
				if values := r.Values(); !r.Complement() && len(values) == 1 {
					labels[r.Key()] = values[0]
				}
			}
			if object.Status.Capacity = it.Capacity; planned.Allocatable == nil {
				object.Status.Allocatable = it.Allocatable()
			}
			break
		}
		object.Spec.Taints = snapshot.NodePools[at].Object.Spec.Template.Spec.Taints
	}
	for r := range planned.Requirements.All {
		if values := r.Values(); !r.Complement() && len(values) == 1 {
			labels[r.Key()] = values[0]
		}
	}
	maps.Copy(labels, map[string]string{
		planned.Pool.LabelKey(): planned.Pool.Name, corev1.LabelInstanceTypeStable: o.Name, corev1.LabelTopologyZone: o.Zone,
		v1.CapacityTypeLabelKey: o.CapacityType, corev1.LabelHostname: name, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
	})
	return planning.Node{Name: name, Object: object, Pool: planned.Pool}
}

// newName returns the name of a command's new node in queries to provisioning. i is the index of the node's replacement.
func newName(cmd *decision.Command, i int) string { return fmt.Sprintf("~%s-%d", cmd.ID, i) }
