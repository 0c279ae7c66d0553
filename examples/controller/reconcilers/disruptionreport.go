package reconcilers

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/controller/clusterdebug"
)

// DisruptionReportPath is the path on the manager's metrics server that returns, as JSON, the last plan's verdict on each node: why it
// stays, or which command removes it. With "?node=NAME", it returns the verdict on one node. Only the leader has a report.
const DisruptionReportPath = "/debug/disruption"

// ClusterReportPath is the path on the manager's metrics server that returns, as JSON, the nodes with their pods, the pods that wait for a
// place, the commands in progress, and the costs. Only the leader has a report. "drawknife top" shows it.
const ClusterReportPath = clusterreport.Path

// DebugPagePath is the path of the page with the same report, with Options.DebugPage.
const DebugPagePath = "/debug/top"

// DisruptionReport is the JSON object that DisruptionReportPath returns.
type DisruptionReport struct {
	// Time is the time of the last plan; zero before the first plan.
	Time time.Time `json:"time,omitzero"`
	// Again is the time when the result may change without an event; zero if this time is not known.
	Again time.Time `json:"again,omitzero"`
	// Verdicts by node.
	Verdicts []NodeVerdict `json:"verdicts"`
	// Budgets are the current states of the NodePools' budgets.
	Budgets []disruption.PoolUse `json:"budgets,omitempty"`
	// Commands are the commands in progress.
	Commands []RunningCommand `json:"commands,omitempty"`
}

// NodeVerdict is a verdict, together with a sentence that describes it.
type NodeVerdict struct {
	disruption.Verdict
	// Says is Verdict.String.
	Says string `json:"says"`
}

// RunningCommand is a command in progress.
type RunningCommand struct {
	State   disruption.State    `json:"state"`
	Command *disruption.Command `json:"command"`
}

// disruptionReport stores the last plan.
type disruptionReport struct {
	mu   sync.Mutex
	plan *disruption.Plan
	uses []disruption.PoolUse
	says map[string]string
	// saved counts the commands that this process has completed.
	saved clusterreport.Saved
}

// completed counts a command that has been completed.
func (r *disruptionReport) completed(cmd *disruption.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved.Commands++
	r.saved.PerHour += cmd.Savings
}

// underWay returns the commands in progress, and what the completed commands save.
func (d *disruptor) underWay() ([]clusterdebug.Command, clusterreport.Saved) {
	d.report.mu.Lock()
	saved := d.report.saved
	d.report.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []clusterdebug.Command
	for _, e := range d.queue.Executions() {
		list = append(list, clusterdebug.Command{Command: e.Command(), State: e.State()})
	}
	return list, saved
}

// update stores the plan, and returns the verdicts that differ from the last plan.
func (r *disruptionReport) update(plan *disruption.Plan, uses []disruption.PoolUse) []disruption.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	says := make(map[string]string, len(plan.Verdicts))
	var news []disruption.Verdict
	for _, v := range plan.Verdicts {
		says[v.Node] = v.String()
		if r.says[v.Node] != says[v.Node] {
			news = append(news, v)
		}
	}
	r.plan, r.uses, r.says = plan, uses, says
	return news
}

// ServeHTTP answers requests for DisruptionReportPath.
func (d *disruptor) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
		return
	}
	report := d.current(request.URL.Query().Get("node"))
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		d.log.Debug("cannot send disruption report", "error", err)
	}
}

// current returns the current report, with the verdict on one node, or on all nodes if node is empty.
func (d *disruptor) current(node string) DisruptionReport {
	out := DisruptionReport{Verdicts: []NodeVerdict{}}
	d.report.mu.Lock()
	plan, uses, says := d.report.plan, d.report.uses, d.report.says
	d.report.mu.Unlock()
	if plan != nil {
		out.Time, out.Again, out.Budgets = plan.Time, plan.Again, uses
		for _, v := range plan.Verdicts {
			if node == "" || v.Node == node {
				out.Verdicts = append(out.Verdicts, NodeVerdict{v, says[v.Node]})
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.queue.Executions() {
		out.Commands = append(out.Commands, RunningCommand{e.State(), e.Command()})
	}
	return out
}
