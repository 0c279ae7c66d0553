package clusterdebug

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/commands/top/clusterreport"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// reportAge is how long a report is used for other requests, so that many viewers cost no more than one.
const reportAge = time.Second

// longestReason is the maximum length of a text about a pending pod, in bytes.
const longestReason = 1000

// Sources are the components that know the cluster. Their functions are called by several goroutines, and return quickly.
type Sources struct {
	// Leader reports whether this process is the leader. Only the leader has a report.
	Leader func() bool
	// State is the view of the cluster.
	State *cluster.State
	// Pools returns the NodePools with their instance types, as the last planning pass saw them; nil before the first pass.
	Pools func() *provisioning.PoolSet
	// Plan returns the plan of the last planning pass; nil before the first pass.
	Plan func() *scheduling.Plan
	// Commands returns the disruption commands under way, by ID, and what the completed ones save.
	Commands func() ([]Command, clusterreport.Saved)
	// Now returns the time.
	Now func() time.Time
	Log *slog.Logger
}

// Command is a disruption command under way, with its state.
type Command struct {
	*disruption.Command
	State disruption.State
}

// Reporter reports on the cluster. It makes no calls to the API server. It is safe for concurrent use.
type Reporter struct {
	sources Sources
	mu      sync.Mutex
	last    *clusterreport.Report
}

// New returns a reporter that reads the sources, all of which are required.
func New(sources Sources) *Reporter { return &Reporter{sources: sources} }

// readOnly sends an error and returns false if the request may change something.
func readOnly(w http.ResponseWriter, request *http.Request) bool {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "use GET", http.StatusMethodNotAllowed)
	return false
}

// ServeHTTP answers requests for clusterreport.Path with the report as JSON.
func (r *Reporter) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if !readOnly(w, request) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(r.Current()); err != nil {
		r.sources.Log.Debug("cannot send cluster report", "error", err)
		http.Error(w, "cannot send the report", http.StatusInternalServerError) // has no effect if a part was sent
	}
}

// Current returns the last report if it is new enough, and otherwise a new report. The report must not be changed.
func (r *Reporter) Current() *clusterreport.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, leader := r.sources.Now(), r.sources.Leader()
	if r.last == nil || r.last.Leader != leader || now.Sub(r.last.Time).Abs() >= reportAge {
		r.last = r.sources.report(now, leader)
	}
	return r.last
}

func (s *Sources) report(now time.Time, leader bool) *clusterreport.Report {
	out := &clusterreport.Report{
		APIVersion: clusterreport.APIVersion, Kind: clusterreport.Kind, Time: now, Leader: leader,
		Commands: []clusterreport.Command{}, Pending: []clusterreport.Pod{}, Nodes: []clusterreport.Node{},
	}
	if !leader {
		out.Note = "this process is not the leader: only the leader has a report"
		return out
	}
	if !s.State.Synced() {
		out.Note = "the controller has not read the whole cluster yet: the report is not complete"
	}
	commands, saved := s.Commands()
	out.Saved = saved
	view := s.State.Snapshot(cluster.Query{Time: now})
	addNodes(out, view, addCommands(out, commands), s.Pools())
	addPending(out, view, s.Plan())
	return out
}

// addCommands adds the commands under way, and returns the command that removes each node.
func addCommands(out *clusterreport.Report, commands []Command) map[string]*disruption.Command {
	removedBy := map[string]*disruption.Command{}
	for _, cmd := range commands {
		for i := range cmd.Members {
			removedBy[cmd.Members[i].Node] = cmd.Command
		}
		if out.Totals.Commands++; out.Totals.Commands > clusterreport.MaxCommands {
			continue
		}
		shown := clusterreport.Command{
			ID: cmd.ID, Reason: string(cmd.Reason), State: string(cmd.State), Nodes: cmd.Nodes(), Saves: cmd.Savings, Since: cmd.Planned,
		}
		for _, replacement := range cmd.Replacements {
			to := clusterreport.Replacement{NodePool: replacement.Pool.String()}
			if replacement.Node != nil && len(replacement.Node.InstanceTypes) > 0 {
				best := &replacement.Node.InstanceTypes[0]
				to.InstanceType, to.Zone, to.CapacityType = best.Name, best.Zone, best.CapacityType
			}
			shown.Replacements = append(shown.Replacements, to)
		}
		out.Commands = append(out.Commands, shown)
	}
	return removedBy
}

// addNodes adds the nodes, and the sums over all nodes. set may be nil.
func addNodes(out *clusterreport.Report, view *cluster.View, removedBy map[string]*disruption.Command, set *provisioning.PoolSet) {
	prices, total := Prices(set), &out.Totals
	for i := range view.Nodes {
		m := &view.Nodes[i]
		node := nodeReport(m)
		if cmd := removedBy[m.Name]; cmd != nil {
			node.Command, node.Reason = cmd.ID, string(cmd.Reason)
		}
		if price, ok := prices[m.Pool][cloudprovider.OfferingKey{InstanceType: node.InstanceType, Zone: node.Zone, CapacityType: node.CapacityType}]; ok {
			node.Price = &price
		}
		switch {
		case m.Claim != nil && m.ProviderID == "": // nothing is launched yet, so nothing is paid
		case node.Price == nil:
			total.WithoutPrice++
		default:
			if total.ByCapacityType == nil {
				total.ByCapacityType = map[string]float64{}
			}
			total.HourlyCost += *node.Price
			total.ByCapacityType[node.CapacityType] += *node.Price
		}
		total.Nodes++
		total.Pods += node.Pods
		addTo(&total.Allocatable, node.Allocatable)
		addTo(&total.Requested, node.Requested)
		if len(out.Nodes) < clusterreport.MaxNodes {
			out.Nodes = append(out.Nodes, node)
		}
	}
}

// Prices returns the prices of the pools' offerings, USD per hour. Pools with the same catalog have the same map. set may be nil.
func Prices(set *provisioning.PoolSet) map[v1.PoolKey]map[cloudprovider.OfferingKey]float64 {
	if set == nil {
		return nil
	}
	byCatalog := map[string]map[cloudprovider.OfferingKey]float64{}
	for name, list := range set.Catalogs {
		byOffering := map[cloudprovider.OfferingKey]float64{}
		for _, t := range list {
			for i := range t.Offerings {
				o := &t.Offerings[i]
				byOffering[cloudprovider.OfferingKey{InstanceType: t.Name, Zone: o.Zone(), CapacityType: o.CapacityType()}] = o.Price
			}
		}
		byCatalog[name] = byOffering
	}
	prices := make(map[v1.PoolKey]map[cloudprovider.OfferingKey]float64, len(set.NodePools))
	for _, pool := range set.NodePools {
		prices[pool.Key] = byCatalog[pool.Catalog]
	}
	return prices
}

// OfferingOf returns the offering that the labels of an instance name.
func OfferingOf(labels map[string]string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{
		InstanceType: labels[corev1.LabelInstanceTypeStable], Zone: labels[corev1.LabelTopologyZone], CapacityType: labels[v1.CapacityTypeLabelKey],
	}
}

func addTo(sum *clusterreport.Amounts, more clusterreport.Amounts) {
	sum.CPU += more.CPU
	sum.Memory += more.Memory
}

// nodeReport returns the facts about a node that the view of the cluster has.
func nodeReport(m *cluster.NodeState) clusterreport.Node {
	n := clusterreport.Node{Name: m.Name, State: nodeState(m), Pods: len(m.Pods)}
	if !m.Pool.IsZero() {
		n.NodePool = m.Pool.String()
	}
	var labels map[string]string
	if m.Node != nil {
		labels, n.Since = m.Node.Labels, m.Node.CreationTimestamp.Time
		n.Allocatable = amountsOf(m.Node.Status.Allocatable)
		for _, pod := range m.Pods {
			addTo(&n.Requested, amountsOf(scheduling.PodRequests(pod)))
		}
	}
	if m.Claim != nil {
		labels, n.Since, n.NodeClaim = m.Claim.Labels, m.Claim.CreationTimestamp.Time, m.Claim.Name
	}
	of := OfferingOf(labels)
	n.InstanceType, n.Zone, n.CapacityType = of.InstanceType, of.Zone, of.CapacityType
	return n
}

func amountsOf(list corev1.ResourceList) clusterreport.Amounts {
	return clusterreport.Amounts{CPU: list.Cpu().AsApproximateFloat64(), Memory: list.Memory().AsApproximateFloat64()}
}

// nodeState returns what a node does.
func nodeState(m *cluster.NodeState) clusterreport.NodeState {
	deleted := m.Claim != nil && m.Claim.DeletionTimestamp != nil || m.Node != nil && m.Node.DeletionTimestamp != nil
	switch {
	case deleted && m.Claim != nil && terminating(m.Claim):
		return clusterreport.StateTerminating
	case deleted:
		return clusterreport.StateDraining
	case m.Leaving:
		return clusterreport.StateLeaving
	case m.Phase == cluster.PhaseLaunching:
		return clusterreport.StateLaunching
	case m.Phase == cluster.PhaseLaunched:
		return clusterreport.StateRegistering
	case m.Phase == cluster.PhaseRegistered:
		return clusterreport.StateInitializing
	case m.Node == nil || !isReady(m.Node):
		return clusterreport.StateNotReady
	}
	return clusterreport.StateReady
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// terminating reads a condition without changing the claim, because other goroutines read it.
func terminating(claim *v1.NodeClaim) bool {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionInstanceTerminating {
			return c.Status == "True"
		}
	}
	return false
}

// addPending adds the pods that wait for a place. Pods of nodes that are leaving are not among them, because they still run. plan may be
// nil.
func addPending(out *clusterreport.Report, view *cluster.View, plan *scheduling.Plan) {
	moving := map[types.UID]bool{}
	for i := range view.Nodes {
		if m := &view.Nodes[i]; m.Leaving {
			for _, pod := range m.Pods {
				moving[pod.UID] = true
			}
		}
	}
	for _, pod := range view.Snapshot.Pods {
		if moving[pod.UID] {
			continue
		}
		if out.Totals.Pending++; out.Totals.Pending <= clusterreport.MaxPending {
			out.Pending = append(out.Pending, clusterreport.Pod{Namespace: pod.Namespace, Name: pod.Name, Since: pod.CreationTimestamp.Time})
		}
	}
	if plan == nil || len(out.Pending) == 0 {
		return
	}
	wanted := map[scheduling.PodKey]*clusterreport.Pod{}
	for i := range out.Pending {
		p := &out.Pending[i]
		wanted[scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}] = p
	}
	addPlaces(wanted, plan)
}

// addPlaces says where the plan puts the wanted pods, or why it has no place for them.
func addPlaces(wanted map[scheduling.PodKey]*clusterreport.Pod, plan *scheduling.Plan) {
	put := func(list []scheduling.PodKey, where func() string) {
		text := ""
		for _, key := range list {
			if p := wanted[key]; p != nil {
				if text == "" {
					text = shortened(where())
				}
				p.Planned = text
			}
		}
	}
	for i := range plan.NewNodes {
		n := &plan.NewNodes[i]
		put(n.Pods, func() string {
			return fmt.Sprintf("a new node of NodePool %s, such as %s in %s, %s", n.Pool, n.InstanceTypes[0].Name, n.InstanceTypes[0].Zone, n.InstanceTypes[0].CapacityType)
		})
	}
	for i := range plan.Existing {
		n := &plan.Existing[i]
		put(n.Pods, func() string { return "node " + n.Name })
	}
	for i := range plan.Unschedulable {
		u := &plan.Unschedulable[i]
		p := wanted[u.Pod]
		if p == nil {
			continue
		}
		var reasons []string
		for length, j := 0, 0; j < len(u.Reasons) && length <= longestReason; j++ {
			reasons = append(reasons, u.Reasons[j].String())
			length += len(reasons[j])
		}
		p.Reason = shortened(strings.Join(reasons, "; "))
	}
}

// shortened returns the beginning of a long text.
func shortened(text string) string {
	if len(text) <= longestReason {
		return text
	}
	return strings.ToValidUTF8(text[:longestReason], "") + "…"
}
