package reconcilers

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
	"github.com/drawknife/drawknife/fake/build"
)

// reported is the answer to a request for the report on the cluster, a while after the last one.
func (w *world) reported() *clusterreport.Report {
	w.t.Helper()
	time.Sleep(time.Second)
	answer := httptest.NewRecorder()
	w.report.ServeHTTP(answer, httptest.NewRequest("GET", ClusterReportPath, nil))
	report := &clusterreport.Report{}
	if err := json.Unmarshal(answer.Body.Bytes(), report); err != nil || answer.Code != 200 {
		w.t.Fatalf("%d, %v: %s", answer.Code, err, answer.Body)
	}
	return report
}

// The report has nodes from the launch on, with their pods and prices, and pods without a place with the reason.
func TestClusterReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.leader.Store(true)
		w.create(newPod("a"), build.Pod("huge", build.CPU("9000"), build.OwnedBy("apps/v1", "ReplicaSet", "web"), build.Unschedulable()))
		w.watch()
		r := w.reported()
		if r.APIVersion != "drawknife.dev/v1" || r.Kind != "ClusterReport" || !r.Leader || r.Note != "" || !r.Time.Equal(time.Now()) {
			t.Errorf("head: %+v", r)
		}
		if len(r.Pending) != 2 || r.Totals.Pending != 2 || r.Pending[0].Planned != "" || r.Pending[0].Since.IsZero() || len(r.Nodes) != 0 {
			t.Errorf("before the first plan: %+v", r)
		}
		w.plan()
		r = w.reported()
		if !strings.HasPrefix(r.Pending[0].Planned, "a new node of NodePool default, such as ") || r.Pending[1].Reason == "" || r.Pending[1].Planned != "" {
			t.Errorf("pending: %+v", r.Pending)
		}
		if len(r.Nodes) != 1 || r.Nodes[0].State != clusterreport.StateLaunching || r.Nodes[0].NodePool != "default" || r.Totals.HourlyCost != 0 || r.Totals.WithoutPrice != 0 {
			t.Fatalf("launching: %+v", r)
		}
		w.live(8)
		pod := get(w, &corev1.Pod{}, "a")
		pod.Spec.NodeName = w.allNodes()[0].Name
		if err := w.client.Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		w.watch()
		r = w.reported()
		n := &r.Nodes[0]
		if n.State != clusterreport.StateReady || n.Pods != 1 || n.Requested.CPU != 0.1 || n.Requested.Memory != 64<<20 || n.Allocatable.CPU <= 0 || n.Use() <= 0 ||
			n.Price == nil || *n.Price <= 0 || n.InstanceType == "" || n.Zone == "" || n.CapacityType == "" || n.NodeClaim == "" || n.Since.IsZero() {
			t.Errorf("ready: %+v", n)
		}
		want := clusterreport.Totals{
			HourlyCost: *n.Price, ByCapacityType: map[string]float64{n.CapacityType: *n.Price}, Nodes: 1, Pods: 1, Pending: 1,
			Allocatable: n.Allocatable, Requested: n.Requested,
		}
		if got, _ := json.Marshal(r.Totals); string(got) != string(encoded(t, want)) {
			t.Errorf("totals: %s, want %s", got, encoded(t, want))
		}
	})
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The report has commands from their plan on, and counts what the completed ones save.
func TestClusterReportOfCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		w.leader.Store(true)
		began := time.Now()
		node, _ := w.settledNode(newPod("a"))
		price := *w.reported().Nodes[0].Price
		w.delete(newPod("a"))
		states := map[clusterreport.NodeState]bool{}
		under := 0
		for range 60 {
			w.disrupt(1)
			r := w.reported()
			for _, c := range r.Commands {
				under++
				if c.ID == "" || c.Reason != "Empty" || c.State == "" || len(c.Nodes) != 1 || c.Nodes[0] != node.Name || c.Saves != price || c.Since.IsZero() {
					t.Errorf("command: %+v", c)
				}
			}
			for _, n := range r.Nodes {
				if states[n.State] = true; len(r.Commands) == 1 && (n.Command != r.Commands[0].ID || n.Reason != "Empty") {
					t.Errorf("node: %+v", n)
				}
			}
		}
		if under == 0 || !states[clusterreport.StateReady] || !states[clusterreport.StateDraining] && !states[clusterreport.StateTerminating] {
			t.Errorf("%d reports with a command, states %v", under, states)
		}
		r := w.reported()
		if r.Saved.PerHour != price || r.Saved.Commands != 1 || r.Saved.Since.After(began) || r.Totals.HourlyCost != 0 || len(r.Nodes)+len(r.Commands) != 0 {
			t.Errorf("in the end: %+v", r)
		}
	})
}

// A process that does not lead says so, and reports nothing; a report is used again for a second, but not after a change of leader.
func TestClusterReportOfStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.node(newPod("a"))
		r := w.reported()
		if r.Leader || !strings.Contains(r.Note, "not the leader") || len(r.Nodes) != 0 || r.Totals.Nodes != 0 {
			t.Errorf("standby: %+v", r)
		}
		w.leader.Store(true)
		first := w.report.Current()
		if !first.Leader || len(first.Nodes) != 1 {
			t.Errorf("leader: %+v", first)
		}
		if w.report.Current() != first {
			t.Error("there is a new report at once")
		}
		time.Sleep(time.Second)
		if w.report.Current() == first {
			t.Error("there is no new report after a second")
		}
		for method, code := range map[string]int{"POST": 405, "DELETE": 405, "HEAD": 200, "GET": 200} {
			answer := httptest.NewRecorder()
			w.report.ServeHTTP(answer, httptest.NewRequest(method, ClusterReportPath, nil))
			if answer.Code != code || answer.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s is answered %d with %v", method, answer.Code, answer.Header())
			}
		}
	})
}

// The page is served only if the option asks for it; the JSON always is.
func TestPagesServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.leader.Store(true)
		node, _ := w.node(newPod("a"))
		if pages := w.pages(&Options{}); pages[DebugPagePath] != nil || pages[ClusterReportPath] == nil || pages[DisruptionReportPath] == nil {
			t.Errorf("by default: %v", pages)
		}
		answer := httptest.NewRecorder()
		w.pages(&Options{DebugPage: true})[DebugPagePath].ServeHTTP(answer, httptest.NewRequest("GET", DebugPagePath, nil))
		if answer.Code != 200 || !strings.Contains(answer.Body.String(), node.Name) {
			t.Errorf("%d: %s", answer.Code, answer.Body)
		}
	})
}
