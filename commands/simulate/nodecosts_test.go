package simulate

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/disruption"
)

// fleetWith is the cluster of the tests of consolidation, with texts replaced.
func fleetWith(t *testing.T, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/fleet/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(pairs...).Replace(string(text))
}

func noteOf(notes []planNote, code string) string {
	for _, n := range notes {
		if n.Code == code {
			return n.Message
		}
	}
	return ""
}

// A price that is not known is never a number: not of a node, not in a sum, not in what a command saves. The nodes are named, and
// estimates are marked.
func TestConsolidateUnknownPrices(t *testing.T) {
	now := []string{"-", "--now", "2026-05-04T10:00:00Z", "--consolidate"}
	const allUnknown = "What 6 nodes cost is not known, no catalogue has an offering like theirs: batch-1 (z9.huge in us-east-1a), group-1 (z9.huge in us-east-1a), "
	for name, c := range map[string]struct {
		input  string
		text   []string
		counts nodeCounts
		// unknown are commands whose saving is not known.
		unknown int
		none    bool
	}{
		"none known": {
			fleetWith(t, `"m7g.xlarge"`, "z9.huge", `"c7g.2xlarge"`, "z9.huge", `"m7i.large"`, "z9.huge", `"m6i.large"`, "z9.huge", `"m5.large"`, "z9.huge"),
			[]string{"6 nodes at an unknown price, ", "  1  delete  empty      1     0    unknown", "     1  1            0     0s     0.0000    unknown", "What 1 command saves is unknown: "},
			nodeCounts{Unpriced: 6, UnpricedAfter: 5}, 1, true,
		},
		"one not known": {
			fleetWith(t, `"c7g.2xlarge"`, "z9.huge"),
			[]string{"6 nodes (5 of them at $0.7488/h, 1 at an unknown price), ", "unknown", "0.3264 + unknown", "What 1 command saves is unknown: ", "$0.4224/h instead of $0.7488/h and 1 node at an unknown price: $0.3264/h less by the other commands, "},
			nodeCounts{Unpriced: 1}, 1, false,
		},
		"estimates": {
			fleetWith(t, "us-east-1", "ap-southeast-1"),
			[]string{"6 nodes at ~$", "  ~0.", "/h instead of ~$", ": ~$"},
			nodeCounts{Estimated: 1}, 0, false,
		},
	} {
		a := simulate(t, c.input, now...)
		for _, want := range c.text {
			if !strings.Contains(a.stdout, want) {
				t.Errorf("%s: no %q in\n%s%s", name, want, a.stdout, a.stderr)
			}
		}
		if strings.Contains(a.stdout, "at $0.0000") {
			t.Errorf("%s: an unknown price is a number:\n%s", name, a.stdout)
		}
		d := decode[consolidationDocument](t, simulate(t, c.input, append(now, "-o", "json")...))
		if diff := cmp.Diff(c.counts, d.Summary.nodeCounts); diff != "" || d.Summary.SavingsUnknown != c.unknown || (d.Summary.HourlyCost == nil) != c.none {
			t.Errorf("%s: %+v (-want +got):\n%s", name, d.Summary, diff)
		}
		if note := noteOf(d.Notes, "UnknownPrice"); (note != "") != (c.counts.Unpriced > 0) || c.none && !strings.HasPrefix(note, allUnknown) {
			t.Errorf("%s: note %q", name, note)
		}
		unpriced, estimated, unknown := 0, 0, 0
		for _, n := range d.Nodes {
			if n.Price == nil {
				unpriced++
			}
			if n.PriceEstimated {
				estimated++
			}
		}
		for _, cmd := range d.Commands {
			if cmd.Savings == nil {
				unknown++
			}
		}
		if unpriced != c.counts.Unpriced || estimated != c.counts.Estimated || unknown != c.unknown {
			t.Errorf("%s: %d nodes without a price, %d estimated, %d commands without a saving", name, unpriced, estimated, unknown)
		}
	}
}

// What a command saves that replaces a node of a static pool nobody knows, and a node that does not say how it was bought costs what
// it costs on demand, though the planner does not know.
func TestSavingOf(t *testing.T) {
	c := consolidation{
		prices: nodePrices{"a": {price: 2, known: true}, "b": {}},
		plan: &disruption.Plan{Commands: []*disruption.Command{
			{ID: "1", Savings: 2, Members: []disruption.Member{{Node: "a", Price: 2}}},
			{ID: "2", Savings: 0, Members: []disruption.Member{{Node: "a"}}},
			{ID: "3", Savings: 0, Members: []disruption.Member{{Node: "b"}}},
			{ID: "4", Savings: 0, Members: []disruption.Member{{Node: "a", Price: 2}}, Replacements: []disruption.Replacement{{Static: true}}},
		}},
	}
	c.count(nil)
	want := []saving{{price: 2, known: true}, {price: 2, known: true}, {}, {}}
	if !slices.Equal(c.savings, want) {
		t.Errorf("%+v, want %+v", c.savings, want)
	}
	if got := c.saved([]string{"1", "3"}); got != "2.0000 + unknown" {
		t.Errorf("a wave of both saves %q", got)
	}
}

// The same holds where other NodePools are compared.
func TestDiffUnknownPrices(t *testing.T) {
	now := []string{"-", "--now", "2026-05-04T10:00:00Z", "--diff", "testdata/otherpools.yaml"}
	for name, c := range map[string]struct {
		input  string
		text   []string
		counts nodeCounts
		prices int
	}{
		"some not known": {
			fleetWith(t, `"m7g.xlarge"`, "z9.huge"),
			[]string{"What 4 nodes cost is not known", "web       NodePoolDrifted      4  unknown", "$0.2000/h and 4 nodes at an unknown price with these NodePools", "what that changes is unknown"},
			nodeCounts{Unpriced: 4}, 1,
		},
		"one that stays": {
			fleetWith(t, `"m5.large"`, "z9.huge"),
			[]string{"$0.7568/h and 1 node at an unknown price with these", "$0.0471/h and 1 node at an unknown price with the others", ": $0.7097/h less"},
			nodeCounts{Unpriced: 1, UnpricedAfter: 1}, 5,
		},
		"estimates": {
			fleetWith(t, "us-east-1", "ap-southeast-1"),
			[]string{"  ~0.", "batch     NodePoolGone         1  ~0.", "~$"},
			nodeCounts{Estimated: 1, EstimatedAfter: 1}, 5,
		},
	} {
		a := simulate(t, c.input, now...)
		for _, want := range c.text {
			if !strings.Contains(a.stdout, want) {
				t.Errorf("%s: no %q in\n%s%s", name, want, a.stdout, a.stderr)
			}
		}
		d := decode[differenceDocument](t, simulate(t, c.input, append(now, "-o", "json")...))
		if diff := cmp.Diff(c.counts, d.Summary.nodeCounts); diff != "" || (noteOf(d.Notes, "UnknownPrice") != "") != (c.counts.Unpriced > 0) {
			t.Errorf("%s: %+v (-want +got):\n%s", name, d, diff)
		}
		prices := 0
		for _, n := range d.Nodes {
			if n.Price != nil {
				prices++
			}
		}
		if prices != c.prices {
			t.Errorf("%s: %d nodes have a price, want %d", name, prices, c.prices)
		}
	}
}
