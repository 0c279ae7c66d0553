package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// fleetsWanted are the numbers of the random fleets to look at, from the first to before the last: those of DRAWKNIFE_FLEETS, as 200,
// 40-200 or 33-34, or as many as usual.
func fleetsWanted(t *testing.T, usual int) (first, last int) {
	t.Helper()
	text := os.Getenv("DRAWKNIFE_FLEETS")
	if text == "" {
		return 0, usual
	}
	from, to, both := strings.Cut(text, "-")
	if !both {
		from, to = "0", from
	}
	first, err := strconv.Atoi(from)
	if err == nil {
		last, err = strconv.Atoi(to)
	}
	if err != nil || first >= last {
		t.Fatalf("DRAWKNIFE_FLEETS=%q: neither a number nor a range such as 40-200", text)
	}
	return first, last
}

// randomFleet is the fleet with that number. Each third one is sparse: 20 to 60 pods on 100 to 200 nodes. Others have 5 to 60
// nodes, a fifth to three quarters full. Half of all have pods under rules.
func randomFleet(number int) (name string, s *scheduling.Snapshot) {
	r := rand.New(rand.NewPCG(uint64(number), 11))
	f := workload.Fleet{Nodes: 5 + r.IntN(56), Fill: 0.2 + 0.55*r.Float64(), Mixed: r.IntN(2) == 0, Dense: r.IntN(4) == 0, Seed: uint64(number) + 1}
	sparse := number%3 == 0
	if sparse {
		f.Nodes, f.Dense = 100+r.IntN(101), false
	}
	s = f.Snapshot()
	name = fmt.Sprintf("fleet %d: %d nodes, mixed %v, dense %v, %.2f full", number, f.Nodes, f.Mixed, f.Dense, f.Fill)
	if sparse {
		pods := 20 + r.IntN(41)
		thin(s, pods, r)
		name = fmt.Sprintf("fleet %d: %d nodes, mixed %v, %d pods", number, f.Nodes, f.Mixed, pods)
	}
	return name, s
}

// thin leaves so many pods, whichever.
func thin(s *scheduling.Snapshot, pods int, r *rand.Rand) {
	var all []*corev1.Pod
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].Pods...)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	kept := map[*corev1.Pod]bool{}
	for _, p := range all[:min(pods, len(all))] {
		kept[p] = true
	}
	for i := range s.Nodes {
		s.Nodes[i].Pods = slices.DeleteFunc(slices.Clone(s.Nodes[i].Pods), func(p *corev1.Pod) bool { return !kept[p] })
	}
}

// eachFleet calls f for the random fleets that were asked for.
func eachFleet(t *testing.T, usual int, f func(name string, s *scheduling.Snapshot)) {
	first, last := fleetsWanted(t, usual)
	for i := first; i < last; i++ {
		f(randomFleet(i))
	}
}

// Without thresholds a fleet ends, after three rounds, no more expensive than by Karpenter's methods once these find nothing more.
// For 200 fleets:
//
//	DRAWKNIFE_FLEETS=200 go test ./disruption -run TestGlobalEndsNotAboveReference -v -timeout 0
//
// and for one of them, say 33, DRAWKNIFE_FLEETS=33-34. With -v each fleet is logged, with its end with default thresholds, too.
func TestGlobalEndsNotAboveReference(t *testing.T) {
	var fleets, above, aboveByDefault int
	var got, want, byDefault, worst float64
	eachFleet(t, 2, func(name string, s *scheduling.Snapshot) {
		last, _, moved := rounds(t, thrifty(), s, 3, false)
		ref, _, movedBy := rounds(t, referenceOf(), s, 200, false)
		ours, theirs := costOf(t, last), costOf(t, ref)
		fleets, got, want, worst = fleets+1, got+ours, want+theirs, max(worst, ours/theirs)
		if ours > theirs+1e-9 {
			above++
			t.Errorf("%s: it ends at %.4f USD/h (%d pods moved), Reference at %.4f (%d)", name, ours, moved, theirs, movedBy)
		}
		if testing.Verbose() {
			usual, _, movedUsual := rounds(t, restless(), s, 3, false)
			cost := costOf(t, usual)
			byDefault += cost
			if cost > theirs+1e-9 {
				aboveByDefault++
			}
			t.Logf("%s: %.4f USD/h (%d pods moved), with default thresholds %.4f (%d), Reference %.4f (%d)", name, ours, moved, cost, movedUsual, theirs, movedBy)
		}
	})
	t.Logf("%d fleets: %.4f of Reference's cost in sum, %.4f for the worst, %d above; with default thresholds %.4f in sum, %d above",
		fleets, got/want, worst, above, byDefault/want, aboveByDefault)
}

// Fleets of many small pods end no more expensive than by Karpenter's methods only if many nodes are exchanged at once: for one new node,
// or for what provisioning would launch.
func TestGlobalExchangesManyNodesAtOnce(t *testing.T) {
	for _, number := range []int{53, 82, 112} {
		name, s := randomFleet(number)
		last, _, _ := rounds(t, thrifty(), s, 3, true)
		ref, _, _ := rounds(t, referenceOf(), s, 200, false)
		if ours, theirs := costOf(t, last), costOf(t, ref); ours > theirs+1e-9 {
			t.Errorf("%s: it ends at %.4f USD/h, Reference at %.4f", name, ours, theirs)
		}
	}
}

// A fleet that nothing happens to is at rest after three rounds: the fourth plan has no command. For 500 fleets:
//
//	DRAWKNIFE_FLEETS=500 go test ./disruption -run TestGlobalRestsAfterThreeRounds -v -timeout 0
func TestGlobalRestsAfterThreeRounds(t *testing.T) {
	counts := map[int]int{}
	eachFleet(t, 6, func(name string, s *scheduling.Snapshot) {
		_, n, _ := rounds(t, restless(), s, 8, false)
		counts[n]++
		if n > 3 {
			t.Errorf("%s: %d rounds had commands", name, n)
		}
	})
	t.Logf("rounds with commands, and fleets that took so many: %v", counts)
}
