package requests

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
)

// places says on which nodes room is booked. It has, for each node, the number of pods of each PodSet.
type places map[string][]int

// add books room on the node for more pods of the PodSet with the index set. The parameter sets is the number of PodSets of the request.
func (p places) add(node string, set, sets, pods int) {
	if p[node] == nil {
		p[node] = make([]int, sets)
	}
	p[node][set] += pods
}

// nodes returns the sorted names of the nodes.
func (p places) nodes() []string { return slices.Sorted(maps.Keys(p)) }

// maxDetail is the maximum length of a detail, and maxBookingDetails is how many of the 64 details a booking may use.
const (
	maxDetail         = 32768
	maxBookingDetails = 32
)

// write stores the places in the details, and replaces the places that the details had before. It reports whether the details have room for
// all places.
func (p places) write(details map[string]v1.Detail) bool {
	maps.DeleteFunc(details, func(key string, _ v1.Detail) bool { return isBooking(key) })
	var b strings.Builder
	n := 0
	flush := func() {
		if b.Len() > 0 {
			details[bookingKey(n)] = v1.Detail(b.String())
			b.Reset()
			n++
		}
	}
	for _, node := range p.nodes() {
		counts, total := make([]string, len(p[node])), 0
		for i, c := range p[node] {
			counts[i] = strconv.Itoa(c)
			total += c
		}
		if total == 0 {
			continue // its pods were moved to other nodes
		}
		line := node + " " + strings.Join(counts, ",") + "\n"
		if b.Len()+len(line) > maxDetail {
			flush()
		}
		b.WriteString(line)
	}
	flush()
	return n <= maxBookingDetails
}

func bookingKey(n int) string {
	if n == 0 {
		return v1.DetailBooking
	}
	return fmt.Sprintf("%s-%d", v1.DetailBooking, n)
}

func isBooking(key string) bool {
	return key == v1.DetailBooking || strings.HasPrefix(key, v1.DetailBooking+"-")
}

// readPlaces returns the places that the details name, for the given number of PodSets. It ignores invalid lines, which another writer may
// have added.
func readPlaces(details map[string]v1.Detail, sets int) places {
	p := places{}
	for _, key := range slices.Sorted(maps.Keys(details)) {
		if !isBooking(key) {
			continue
		}
		for line := range strings.Lines(string(details[key])) {
			node, counts, ok := strings.Cut(strings.TrimSpace(line), " ")
			list := strings.Split(counts, ",")
			if !ok || node == "" || len(list) != sets {
				continue
			}
			for set, text := range list {
				if n, err := strconv.Atoi(text); err == nil && n > 0 {
					p.add(node, set, sets, n)
				}
			}
		}
	}
	return p
}
