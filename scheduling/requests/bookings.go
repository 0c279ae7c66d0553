package requests

import (
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// slot is the booked room for one pod on a node. The pod does not exist yet, or it is a pending pod that uses the request.
type slot struct {
	set, number int
	node        string
	// taker is the pending pod that uses the booked room. It is nil if the pod does not exist yet.
	taker *corev1.Pod
}

// slots returns the room that the booking still holds, in a fixed order. Consumers that have a node use room themselves, so the booking
// releases as many slots as there are such consumers. It releases slots first on the consumers' nodes, and then on the last of the
// booking's other nodes by name.
func (d *demand) slots() []slot {
	var out []slot
	for set := range d.moulds {
		left, total := map[string]int{}, 0
		for node, counts := range d.booked {
			left[node] = counts[set]
			total += counts[set]
		}
		hold := max(min(total, d.want(set)), 0)
		free := total - hold
		for _, c := range d.bound[set] {
			if free > 0 && left[c.node] > 0 {
				left[c.node]--
				free--
			}
		}
		nodes := d.booked.nodes()
		for _, node := range slices.Backward(nodes) {
			n := min(free, left[node])
			left[node] -= n
			free -= n
		}
		waiting, number := d.waiting[set], 0
		for _, node := range nodes {
			for range left[node] {
				s := slot{set: set, number: number, node: node}
				if number < len(waiting) {
					s.taker = waiting[number].pod
				}
				out = append(out, s)
				number++
			}
		}
	}
	return out
}

// asPod returns the slot as a pod that is nominated for its node. The pod preempts no other pods.
func (d *demand) asPod(s slot) *corev1.Pod {
	if s.taker != nil {
		return nominated(s.taker, s.node)
	}
	pod := d.pod(s.set, s.number)
	lowest := int32(math.MinInt32)
	pod.Spec.Priority, pod.Spec.PriorityClassName = &lowest, ""
	pod.Status.NominatedNodeName = s.node
	return pod
}

// nominated returns the pod, nominated for the node. If the pod is already nominated for another node, it returns the pod unchanged.
func nominated(pod *corev1.Pod, node string) *corev1.Pod {
	if pod.Status.NominatedNodeName != "" {
		return pod
	}
	out := *pod
	out.Status.NominatedNodeName = node
	return &out
}

// holdBookings checks whether the room of all bookings still exists. If a booking has lost its room, holdBookings looks for room on other
// existing nodes. If these nodes have no room, the booking ends.
func (r *Round) holdBookings(ctx context.Context) error {
	slots := map[*demand][]slot{}
	var pods []*corev1.Pod
	for _, d := range r.booked {
		slots[d] = d.slots()
		for _, s := range slots[d] {
			pods = append(pods, d.asPod(s))
		}
	}
	if len(pods) == 0 {
		return nil
	}
	at, err := r.placeOnExisting(ctx, pods)
	if err != nil {
		return err
	}
	for _, d := range r.booked {
		if len(slots[d]) == 0 {
			continue
		}
		lost := 0
		var moved []slot
		for _, s := range slots[d] {
			node, ok := at[planning.KeyOf(d.asPod(s))]
			if !ok {
				lost++
				continue
			}
			if node != s.node {
				d.booked.add(s.node, s.set, len(d.moulds), -1)
				d.booked.add(node, s.set, len(d.moulds), 1)
				s.node = node
			}
			moved = append(moved, s)
		}
		if lost > 0 {
			r.revoke(d, v1.ReasonCapacityIsLost, fmt.Sprintf("%d of the %d pods with booked room have lost their room: nodes have ended, or other pods use it", lost, len(slots[d])))
			continue
		}
		d.booked.write(d.answer.Status.ProvisioningClassDetails)
		r.keep(d, moved)
	}
	return nil
}

// keep reserves the room of the slots on the slots' nodes.
func (r *Round) keep(d *demand, slots []slot) {
	for _, s := range slots {
		if s.taker != nil {
			r.nominee[planning.KeyOf(s.taker)] = s.node
			continue
		}
		r.held[s.node] = append(r.held[s.node], d.heldPod(s.set, s.number, s.node))
	}
}

// Held are pods that represent booked room, by the node that they are on. They are for planners that must not use this room, such as those
// of disruption. Held does not check whether the room still exists: Begin does that for a Round.
func Held(in Input) map[string][]*corev1.Pod {
	if in.Snapshot == nil {
		return nil
	}
	r := newRound(in)
	for _, d := range r.booked {
		r.keep(d, d.slots())
	}
	return r.held
}

// With returns the snapshot with pods on its nodes that represent booked room. It shares the unchanged parts with s.
func With(s *scheduling.Snapshot, held map[string][]*corev1.Pod) *scheduling.Snapshot {
	if s == nil || len(held) == 0 {
		return s
	}
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for i := range out.Nodes {
		if pods := held[out.Nodes[i].Name]; len(pods) > 0 {
			out.Nodes[i].Pods = slices.Concat(out.Nodes[i].Pods, pods)
		}
	}
	return &out
}
