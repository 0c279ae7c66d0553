package simulate

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/simulate/internal/gate"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// policyOptions say by which policy a difference is judged.
type policyOptions struct {
	// file is the file with the policy; empty if there is no policy.
	file string
	// reports are further files to write.
	reports []policyReport
}

// policyReport is a value of --report.
type policyReport struct {
	form outputFormat
	file string
}

// addPolicy declares --policy and --report.
func (l *commandLine) addPolicy() {
	l.text(&l.read.policy.file, "policy", "judge the change by the limits of this `FILE`; each broken rule has its own exit status; docs/gate.md shows the format")
	l.flags.Var((*policyReports)(&l.read.policy.reports), "report", "also write the answer to a file: `FORMAT=FILE`, with each format of --output, and with --policy also sarif and junit; repeatable")
}

// policyReports reads values of --report.
type policyReports []policyReport

var _ flag.Value = (*policyReports)(nil)

func (r *policyReports) String() string { return "" }

func (r *policyReports) Set(text string) error {
	form, file, found := strings.Cut(text, "=")
	if !found || file == "" || !outputFormat(form).known() {
		return errors.New("write FORMAT=FILE, such as markdown=comment.md; the formats are text, wide, markdown, csv, json, yaml, sarif and junit")
	}
	for _, other := range *r {
		if other.file == file {
			return fmt.Errorf("%s is given twice", file)
		}
	}
	*r = append(*r, policyReport{outputFormat(form), file})
	return nil
}

// check refuses output formats that need a policy, if there is none.
func (o policyOptions) check(output outputFormat) error {
	if o.file != "" {
		return nil
	}
	if output.judged() {
		return fmt.Errorf("--output %s: prints only the judgement of a policy; use it with diff --policy FILE", output)
	}
	for _, r := range o.reports {
		if r.form.judged() {
			return fmt.Errorf("--report %s=%s: writes only the judgement of a policy; use it with --policy FILE", r.form, r.file)
		}
	}
	return nil
}

// read reads the policy; nil without --policy.
func (o policyOptions) read() (*gate.Policy, error) {
	if o.file == "" {
		return nil, nil
	}
	file, err := os.Open(o.file)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	return gate.Read(o.file, file)
}

// policyStatuses are the exit statuses of broken rules.
func policyStatuses() []commands.ExitStatus {
	var list []commands.ExitStatus
	for _, r := range gate.Rules() {
		list = append(list, commands.ExitStatus{Code: r.Status, Meaning: "with --policy: the change breaks the rule " + r.Name + ", and no other"})
	}
	return append(list, commands.ExitStatus{Code: gate.StatusSeveral, Meaning: "with --policy: the change breaks several rules"})
}

// judgement is the result of a policy, with the places of workloads in files. It is nil without a policy.
type judgement struct {
	gate.Report
	places gate.Index
}

// largestIndexed is the size of the largest file in which workloads are looked up for SARIF.
const largestIndexed = 16 << 20

// judge checks the facts against a policy; it returns nil without one.
func judge(policy *gate.Policy, facts *gate.Facts, sources []manifests.Source) *judgement {
	if policy == nil {
		return nil
	}
	j := &judgement{Report: gate.Evaluate(policy, facts)}
	for _, source := range sources {
		if len(source.Data) <= largestIndexed {
			j.places.Add(source.Name, source.Data)
		}
	}
	return j
}

func (j *judgement) status() int {
	if j == nil {
		return exitPlaced
	}
	return j.Status()
}

// facts returns what the change does to the cluster. before and after are the results of the two plans. cluster is the cluster with the
// other set, before its drifted nodes are removed.
func (d *difference) facts(before, after result, cluster *scheduling.Snapshot) *gate.Facts {
	f := &gate.Facts{
		CostBefore: d.before.cost, CostAfter: d.after.cost, Nodes: len(cluster.Nodes), Drifted: len(d.nodes), Evicted: d.evicted,
		Running:  evictedFrom(cluster, nil),
		Unplaced: unplacedWorkloads(after), UnplacedBefore: unplacedWorkloads(before),
		SingleNode: singleNodeWorkloads(after), SingleNodeBefore: singleNodeWorkloads(before),
	}
	for i := range d.nodes {
		if !d.nodes[i].price.known {
			f.UnpricedGone++
		}
	}
	add := func(cpu float64, capacityType string) {
		f.CPU += cpu
		if capacityType == v1.CapacityTypeSpot {
			f.SpotCPU += cpu
		}
	}
	for i := range after.snapshot.Nodes {
		if n := after.snapshot.Nodes[i].Object; n != nil {
			add(n.Status.Allocatable.Cpu().AsApproximateFloat64(), boughtAs(n.Labels))
		}
	}
	for i := range after.plan.NewNodes {
		n := &after.plan.NewNodes[i]
		add(n.Allocatable.Cpu().AsApproximateFloat64(), kindOf(n).capacityType)
	}
	return f
}

// evictedFrom counts the pods that are evicted if the nodes in names are drained; nil means all nodes.
func evictedFrom(snapshot *scheduling.Snapshot, names map[string]bool) int {
	count := 0
	for i := range snapshot.Nodes {
		if names != nil && !names[snapshot.Nodes[i].Name] {
			continue
		}
		for _, pod := range snapshot.Nodes[i].Pods {
			if pods.Reschedulable(pod) {
				count++
			}
		}
	}
	return count
}

// objectOf returns the object that names a workload in a report. A pod without an owner is an object of its own.
func objectOf(w workload, pod string) gate.Object {
	if w.bare() {
		return gate.Object{Namespace: w.namespace, Name: pod}
	}
	return gate.Object{Kind: w.kind, Namespace: w.namespace, Name: w.name}
}

// unplacedWorkloads returns the workloads with pods that have no place, each with the first reason of one pod.
func unplacedWorkloads(r result) []gate.Object {
	index := indexWorkloads(r.snapshot)
	found := map[gate.Object]int{}
	var list []gate.Object
	for _, u := range r.plan.Unschedulable {
		o := objectOf(index[u.Pod], u.Pod.Name)
		if index[u.Pod] == (workload{}) {
			o.Namespace = u.Pod.Namespace
		}
		at, known := found[o]
		if !known {
			at = len(list)
			found[o] = at
			list = append(list, o)
			if len(u.Reasons) > 0 {
				list[at].Detail = u.Reasons[0].String()
			}
		}
		list[at].Pods++
	}
	sortObjects(list)
	return list
}

func sortObjects(list []gate.Object) {
	slices.SortFunc(list, func(a, b gate.Object) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
	})
}

// singleNodeWorkloads returns the workloads with several pods that are all on one node. Pods of Jobs end by themselves, and pods of
// DaemonSets and static pods can't move: they don't count.
func singleNodeWorkloads(r result) []gate.Object {
	type spread struct {
		pods  int
		nodes map[string]bool
	}
	of := map[workload]*spread{}
	add := func(w workload, node string) {
		if w.bare() || slices.Contains([]string{"DaemonSet", "Job", "CronJob", "Node"}, w.kind) {
			return
		}
		if of[w] == nil {
			of[w] = &spread{nodes: map[string]bool{}}
		}
		of[w].pods++
		of[w].nodes[node] = true
	}
	deployments, index := deploymentsOf(r.snapshot), indexWorkloads(r.snapshot)
	running := func(pod *corev1.Pod) bool { return !pods.Terminal(pod) && pod.DeletionTimestamp == nil }
	for i := range r.snapshot.Nodes {
		for _, pod := range r.snapshot.Nodes[i].Pods {
			if running(pod) {
				add(workloadOf(pod, deployments), r.snapshot.Nodes[i].Name)
			}
		}
	}
	for i := range r.plan.Existing {
		for _, pod := range r.plan.Existing[i].Pods {
			add(index[pod], r.plan.Existing[i].Name)
		}
	}
	for i := range r.plan.NewNodes {
		for _, pod := range r.plan.NewNodes[i].Pods {
			add(index[pod], "new "+r.plan.NewNodes[i].Name)
		}
	}
	for _, u := range r.plan.Unschedulable {
		add(index[u.Pod], "") // a pod without a place is on no node, so it is not on the same node as the other pods
	}
	var list []gate.Object
	for w, s := range of {
		if s.pods < 2 || len(s.nodes) != 1 || s.nodes[""] {
			continue
		}
		o := objectOf(w, "")
		o.Pods = s.pods
		for node := range s.nodes {
			o.Detail = "all on node " + node
			if name, isNew := strings.CutPrefix(node, "new "); isNew {
				o.Detail = "all on the new node " + name
			}
		}
		list = append(list, o)
	}
	sortObjects(list)
	return list
}
