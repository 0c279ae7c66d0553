package disruption_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

func startedFor(node, command string, ago time.Duration) disruption.Disruption {
	return disruption.Disruption{
		Node: node, Command: command, Time: now().Add(-ago), Reason: disruption.ReasonDrifted, Pool: v1.NewPoolKey("default"), Zone: "a",
		Labels: map[string]string{"team": "blue"}, Pods: 3, Price: 0.25, Owners: []types.UID{"rs"},
	}
}

// A history comes back from its pools as it was, a command that is noted twice counts once, and what is too old is left out.
func TestHistory(t *testing.T) {
	h := disruption.History{}.Add(startedFor("b", "x", time.Minute), startedFor("a", "x", time.Hour), startedFor("f", "", time.Minute), startedFor("f", "", time.Minute))
	h = h.Add(startedFor("b", "x", 0))
	if len(h) != 4 || h[0].Node != "a" {
		t.Fatalf("%+v", h)
	}
	other := startedFor("o", "y", 0)
	other.Pool = v1.NewPoolKey("other")
	h = h.Add(other)
	var back disruption.History
	for _, name := range []string{"default", "other"} {
		pool := &v1.NodePool{}
		pool.Name = name
		pool.Annotations = map[string]string{v1.DisruptionHistoryAnnotationKey: h.Annotation(pool.Key())}
		list, err := disruption.HistoryOf(pool)
		if err != nil {
			t.Fatal(err)
		}
		back = back.Add(list...)
	}
	if diff := cmp.Diff(h, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if got := h.Within(time.Hour, now()); len(got) != 4 {
		t.Errorf("%d within the hour", len(got))
	}
	if got := h.Annotation(v1.NewPoolKey("none")); got != "" {
		t.Errorf("of a pool without any: %q", got)
	}
	pool := &v1.NodePool{}
	for _, bad := range []string{"x", `{"lines":[{"l":1}]}`, `{"lines":[{"l":0,"k":2000000000}],"labels":[{}]}`} {
		pool.Annotations = map[string]string{v1.DisruptionHistoryAnnotationKey: bad}
		var fault *disruption.HistoryError
		if _, err := disruption.HistoryOf(pool); !errors.As(err, &fault) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// DIS-198 and budgets with a rate: what is written is bounded, and as long as it counts nodes that are alike it lets no more go
// than the history itself would.
func TestHistoryIsBounded(t *testing.T) {
	var h disruption.History
	for i := range 5000 {
		d := startedFor(fmt.Sprintf("node-%d", i), fmt.Sprintf("command-%d", i), time.Duration(5000-i)*time.Second/10)
		d.Labels = map[string]string{"team": fmt.Sprint(i % 7)}
		h = append(h, d)
	}
	pool := &v1.NodePool{}
	pool.Name = "default"
	text := h.Annotation(pool.Key())
	if len(text) == 0 || len(text) > disruption.MaxHistoryBytes {
		t.Fatalf("%d bytes", len(text))
	}
	pool.Annotations = map[string]string{v1.DisruptionHistoryAnnotationKey: text}
	back, err := disruption.HistoryOf(pool)
	if err != nil {
		t.Fatal(err)
	}
	pods := func(h disruption.History) (n, sum int) {
		for i := range h {
			if labels.SelectorFromSet(labels.Set{"team": "3"}).Matches(labels.Set(h[i].Labels)) {
				n, sum = n+1, sum+h[i].Pods
			}
		}
		return n, sum
	}
	for _, window := range []time.Duration{time.Minute, 10 * time.Minute} {
		exact, exactPods := pods(h.Within(window, now()))
		kept, keptPods := pods(back.Within(window, now()))
		if kept < exact || keptPods < exactPods {
			t.Errorf("within %s: %d nodes and %d pods are left of %d and %d", window, kept, keptPods, exact, exactPods)
		}
	}
	for i := range h { // nothing is alike
		h[i].Labels = map[string]string{"name": fmt.Sprint(i, "-", h[i].Node)}
	}
	if text := h.Annotation(pool.Key()); len(text) == 0 || len(text) > disruption.MaxHistoryBytes {
		t.Errorf("%d bytes", len(text))
	}
	for i := range h {
		h[i].Zone = h[i].Node
	}
	if text := h.Annotation(pool.Key()); len(text) == 0 || len(text) > disruption.MaxHistoryBytes {
		t.Errorf("%d bytes with a zone each", len(text))
	}
}

// However many disruptions there were and however little their nodes are alike, what is written is bounded and can be read again, and
// budgets of the cluster, a zone, or labels that all nodes share count all of them.
func TestHistoryOfManyKindsOfNodes(t *testing.T) {
	for name, c := range map[string]struct {
		many  int
		kinds int
	}{"kinds that no labels are shared by": {3000, 3000}, "as many kinds as instance types": {400, 60}, "more than can be read of one kind": {10_100, 1}} {
		t.Run(name, func(t *testing.T) {
			var h disruption.History
			for i := range c.many {
				d := startedFor(fmt.Sprintf("node-%d", i), fmt.Sprintf("command-%d", i), time.Duration(c.many-i)*time.Second/100)
				d.Labels = map[string]string{"team": "all", "type": fmt.Sprint(i%c.kinds) + strings.Repeat("x", 1500)}
				h = append(h, d)
			}
			pool := &v1.NodePool{}
			pool.Name = "default"
			text := h.Annotation(pool.Key())
			if len(text) > disruption.MaxHistoryBytes {
				t.Fatalf("%d bytes", len(text))
			}
			pool.Annotations = map[string]string{v1.DisruptionHistoryAnnotationKey: text}
			back, err := disruption.HistoryOf(pool)
			if err != nil {
				t.Fatal(err)
			}
			n, pods, exact := 0, 0, 0
			for i := range back {
				if back[i].Labels["team"] == "all" {
					n, pods = n+1, pods+back[i].Pods
				}
			}
			for i := range h {
				exact += h[i].Pods
			}
			if n < min(c.many, 10_000) || pods != exact {
				t.Errorf("%d nodes and %d pods are left of %d and %d", n, pods, c.many, exact)
			}
		})
	}
}

// A process that begins counts what was started before it: the rate holds over restarts.
func TestRecoverHistory(t *testing.T) {
	for _, remembers := range []bool{false, true} {
		w := newWorld()
		w.node("empty", "c4")
		w.input.Budgets = []disruption.Budget{{Name: "rate", Unit: disruption.UnitNodes, Amount: 1, Window: time.Hour}}
		if remembers {
			h := disruption.History{startedFor("earlier", "x", 10*time.Minute)}
			w.pool("default").Annotations = map[string]string{v1.DisruptionHistoryAnnotationKey: h.Annotation(v1.NewPoolKey("default"))}
		}
		w.input.History = disruption.Recover(disruption.ViewOf(w.snapshot)).History
		f, l := w.tracker(t)
		if why := l.Blocks(f.Candidate("empty"), disruption.ReasonEmpty); (why != nil) != remembers {
			t.Errorf("remembers %v: %v", remembers, why)
		}
	}
}
