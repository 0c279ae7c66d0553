package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

// headroom contains the placeholders of a plan. They are not pods of the cluster, but the plan keeps capacity free for them.
type headroom struct {
	// buffer is the CapacityBuffer of each placeholder, as "namespace/name".
	buffer map[scheduling.PodKey]string
	// launched and existing are the placeholders on planned nodes and on existing nodes, by node name.
	launched, existing map[string][]scheduling.PodKey
	// relaxed[i] are the placeholders that the plan's relaxation i concerns.
	relaxed [][]scheduling.PodKey
	// unplaced are the placeholders without a place.
	unplaced []scheduling.Unschedulable
}

// separate splits a plan: it returns the plan with only the real pods, and the placeholders. The original plan is not changed.
func separate(snapshot *scheduling.Snapshot, plan *scheduling.Plan) (*scheduling.Plan, headroom) {
	h := headroom{
		buffer:   make(map[scheduling.PodKey]string, len(snapshot.Placeholders)),
		launched: make(map[string][]scheduling.PodKey),
		existing: make(map[string][]scheduling.PodKey),
		relaxed:  make([][]scheduling.PodKey, len(plan.Relaxations)),
	}
	if len(snapshot.Placeholders) == 0 {
		return plan, h
	}
	for _, pod := range snapshot.Placeholders {
		key := scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}
		h.buffer[key] = key.String() // a placeholder without a buffer is counted separately
		if buffer, ok := buffers.BufferOf(pod); ok {
			h.buffer[key] = buffer.String()
		}
	}
	pods := *plan
	pods.NewNodes = slices.Clone(plan.NewNodes)
	for i := range pods.NewNodes {
		node := &pods.NewNodes[i]
		node.Pods, h.launched[node.Name] = h.split(node.Pods)
	}
	pods.Existing = slices.Clone(plan.Existing)
	for i := range pods.Existing {
		node := &pods.Existing[i]
		node.Pods, h.existing[node.Name] = h.split(node.Pods)
	}
	pods.Relaxations = slices.Clone(plan.Relaxations)
	for i := range pods.Relaxations {
		relaxation := &pods.Relaxations[i]
		relaxation.Pods, h.relaxed[i] = h.split(relaxation.Pods)
	}
	pods.Unschedulable = nil
	for _, pod := range plan.Unschedulable {
		if _, ok := h.buffer[pod.Pod]; ok {
			h.unplaced = append(h.unplaced, pod)
		} else {
			pods.Unschedulable = append(pods.Unschedulable, pod)
		}
	}
	return &pods, h
}

// split separates real pods from placeholders.
func (h headroom) split(keys []scheduling.PodKey) (pods, placeholders []scheduling.PodKey) {
	for _, key := range keys {
		if _, ok := h.buffer[key]; ok {
			placeholders = append(placeholders, key)
		} else {
			pods = append(pods, key)
		}
	}
	return pods, placeholders
}

// bufferCount is a number of placeholders of a buffer.
type bufferCount struct {
	buffer string
	count  int
}

// counts returns the number of placeholders of each buffer, the largest first.
func (h headroom) counts(placeholders []scheduling.PodKey) []bufferCount {
	sums := make(map[string]int)
	for _, key := range placeholders {
		sums[h.buffer[key]]++
	}
	counts := make([]bufferCount, 0, len(sums))
	for buffer, n := range sums {
		counts = append(counts, bufferCount{buffer, n})
	}
	slices.SortFunc(counts, func(a, b bufferCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.buffer, b.buffer))
	})
	return counts
}

// bufferRoom is the plan's result for one buffer.
type bufferRoom struct {
	name string
	// pods is the number of placeholders of the buffer, the sum of launched, existing and unplaced.
	pods, launched, existing, unplaced int
	// reasons say why placeholders of the buffer are unplaced. The placeholders of a buffer are equal, so they all have the same reasons.
	reasons []scheduling.Reason
}

// rooms returns the plan's result for each buffer, in the order of the buffers' names.
func (h headroom) rooms() []bufferRoom {
	byName := make(map[string]*bufferRoom)
	for _, name := range h.buffer {
		if byName[name] == nil {
			byName[name] = &bufferRoom{name: name}
		}
		byName[name].pods++
	}
	for _, placeholders := range h.launched {
		for _, key := range placeholders {
			byName[h.buffer[key]].launched++
		}
	}
	for _, placeholders := range h.existing {
		for _, key := range placeholders {
			byName[h.buffer[key]].existing++
		}
	}
	for _, pod := range h.unplaced {
		room := byName[h.buffer[pod.Pod]]
		room.unplaced++
		if room.reasons == nil {
			room.reasons = pod.Reasons
		}
	}
	rooms := make([]bufferRoom, 0, len(byName))
	for _, room := range byName {
		rooms = append(rooms, *room)
	}
	slices.SortFunc(rooms, func(a, b bufferRoom) int { return strings.Compare(a.name, b.name) })
	return rooms
}

// placed returns how many placeholders have a place.
func (h headroom) placed() int { return len(h.buffer) - len(h.unplaced) }

// headroomLead precedes placeholders in the text if they are listed after pods.
const headroomLead = "headroom: "

// bufferItems writes placeholders as "shop/spare x3", ….
func (r textReport) bufferItems(placeholders []scheduling.PodKey) []string {
	var items []string
	for _, c := range r.held.counts(placeholders) {
		items = append(items, fmt.Sprintf("%s %s%d", c.buffer, r.times(), c.count))
	}
	return items
}

// writeHeadroom prints how many placeholders of each buffer have a place, and why the other placeholders have none.
func (r textReport) writeHeadroom(w io.Writer) {
	rooms := r.held.rooms()
	if len(rooms) == 0 {
		return
	}
	t := table{columns: []column{
		{title: "CAPACITY BUFFER"}, {title: "PODS", right: true}, {title: "ON EXISTING NODES", right: true},
		{title: "ON NEW NODES", right: true}, {title: "NO ROOM", right: true},
	}}
	for _, room := range rooms {
		t.rows = append(t.rows, row{cells: []string{
			room.name, number(room.pods), number(room.existing), number(room.launched), number(room.unplaced),
		}})
	}
	fmt.Fprintf(w, "\n%s: room kept for %d of %s\n", r.paint(bold, "Headroom"), r.held.placed(), counted(len(r.held.buffer), "pod"))
	t.write(w, r.canvas)
	for _, room := range rooms {
		if room.unplaced == 0 {
			continue
		}
		fmt.Fprintf(w, "  no room for %d of %s\n", room.unplaced, room.name)
		r.writeReasons(w, room.reasons)
	}
}
