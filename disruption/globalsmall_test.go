package disruption_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// writtenWorld has the nodes of drawnWorld and nodes as written: "c4 a other spot drifted: 500 apart, 200 here" is a node of
// 4 cores in zone a, of the pool "other", with two pods that ask for so many millicores, the second bound to the zone.
func writtenWorld(t *testing.T, nodes ...string) *world {
	t.Helper()
	w := newWorld()
	w.catalog("all", instanceType("c2", 2, "on-demand=0.1", "spot=0.04"), instanceType("c4", 4, "on-demand=0.2", "spot=0.07"),
		instanceType("c8", 8, "on-demand=0.4", "spot=0.15"), instanceType("c16", 16, "on-demand=0.75"))
	w.pool("other", policy(v1.ConsolidationPolicyWhenEmptyOrUnderutilized))
	for i, text := range nodes {
		head, tail, _ := strings.Cut(text, ":")
		words := strings.Fields(head)
		zone := words[1]
		more := []nodeOption{ofPool(words[2]), labelled(corev1.LabelTopologyZone, zone)}
		for _, word := range words[3:] {
			switch word {
			case "spot":
				more = append(more, bought("spot"))
			case "drifted":
				more = append(more, drifted(1))
			default:
				t.Fatalf("%q is no property of nodes", word)
			}
		}
		var list []*corev1.Pod
		for k, asked := range strings.Split(tail, ",") {
			words := strings.Fields(asked)
			if len(words) == 0 {
				continue
			}
			options := []podOption{asks("cpu="+words[0]+"m", "memory=100Mi")}
			for _, word := range words[1:] {
				switch word {
				case "here":
					options = append(options, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone} })
				case "apart":
					options = append(options, app("apart"), keptApart)
				case "wide":
					options = append(options, app("wide"), spreadWide)
				default:
					t.Fatalf("%q is no property of pods", word)
				}
			}
			list = append(list, pod(fmt.Sprintf("n-%d-%d", i, k), options...))
		}
		w.node(fmt.Sprintf("n-%d", i), words[0], append(more, holding(list...))...)
	}
	return w
}

// Fleets for which the first new nodes that hold their pods are not the cheapest: Global came to more than Reference on
// them as long as it did not go back on what it had opened.
func TestGlobalSmallFleets(t *testing.T) {
	for name, nodes := range map[string][]string{
		"two of 4 cores where pods kept apart come last": {
			"c4 a other spot:", "c8 a other spot: 500 apart, 200, 500, 1700", "c2 b other drifted: 500 here", "c4 a default spot: 200 wide, 200, 200 apart",
			"c2 b default drifted: 200", "c4 b other: 1700 here, 200", "c2 a default drifted:", "c4 b other spot:",
		},
		"8 and 2 cores instead of three of 4, drifted": {
			"c4 a other drifted: 500 apart", "c8 a default:", "c2 b other spot: 1000, 200", "c4 b other spot: 1700, 500 wide, 1000 wide, 500",
			"c2 a other spot drifted: 1700", "c2 a other: 1700 here", "c8 b default drifted: 500 wide, 200 apart", "c2 a other: 500",
		},
		"8, 2 and 2 cores instead of 4, 4, 4 and 2": {
			"c4 b other: 500, 500 here, 200 apart", "c2 b other: 500 apart, 200 wide", "c4 b default: 200 wide, 1700, 1000", "c2 a other: 1700",
			"c2 a other: 1700", "c2 a other: 1000, 200 apart", "c8 a default spot: 1000 wide", "c8 a other spot: 1000, 500 here",
		},
		"8, 4 and 2 cores instead of four of 4": {
			"c4 b default spot: 1700", "c8 b default: 1700 apart, 1000 here", "c4 a other spot drifted:", "c4 b default: 200 here, 500, 1000",
			"c4 a other: 200 wide, 1700 apart", "c4 b other: 500, 500 wide, 1700 here", "c8 a default: 500 wide, 1000 wide", "c8 a default drifted: 1000 here, 500, 200 wide",
		},
		"8 and 2 cores instead of three of 4, half empty": {
			"c8 b other: 500 here, 1000 wide", "c2 b other: 1700 wide, 200", "c4 a default: 1700 apart", "c2 a other spot drifted: 500, 1000",
			"c2 b default drifted: 1700 here", "c2 a default: 500, 200, 500 apart", "c8 b default:", "c8 a other: 500",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := writtenWorld(t, nodes...)
			last, _, _ := rounds(t, thrifty(), w.snapshot, 3, true)
			ref, _, _ := rounds(t, referenceOf(), w.snapshot, 50, false)
			if got, want := costOf(t, last), costOf(t, ref); got > want+1e-9 {
				t.Errorf("Global ends at %.4f USD/h, Reference at %.4f", got, want)
			}
		})
	}
}
