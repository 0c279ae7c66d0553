package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// counts are samples as "name{label=value,…} amount", the prefix left out, labels by name; each has the labels of its metric.
func counts(t *testing.T, list []disruption.Sample) []string {
	t.Helper()
	byName := map[string]disruption.Metric{}
	for _, m := range disruption.Metrics() {
		byName[m.Name] = m
	}
	var out []string
	for _, s := range list {
		keys := slices.Sorted(maps.Keys(s.Labels))
		if want := slices.Sorted(slices.Values(byName[s.Metric].Labels)); !slices.Equal(keys, want) {
			t.Errorf("%s has the labels %q, its metric %q", s.Metric, keys, want)
		}
		for i, k := range keys {
			keys[i] = k + "=" + s.Labels[k]
		}
		out = append(out, fmt.Sprintf("%s{%s} %g", strings.TrimPrefix(s.Metric, disruption.MetricPrefix), strings.Join(keys, ","), s.Value))
	}
	return out
}

// DIS-234, DIS-283: the names, kinds and labels that dashboards know. Those of the provisioning half are the controller's.
func TestMetrics(t *testing.T) {
	var got []string
	for _, m := range disruption.Metrics() {
		got = append(got, fmt.Sprintf("%s %s %s", m.Kind, strings.TrimPrefix(m.Name, "karpenter_"), strings.Join(m.Labels, " ")))
		if m.Help == "" || (m.Kind == disruption.Histogram) != (len(m.Buckets) > 0) || !slices.IsSorted(m.Buckets) {
			t.Errorf("%+v", m)
		}
		if m.Name == disruption.MetricScore && !slices.Equal(m.Buckets, []float64{0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10}) {
			t.Errorf("buckets of scores %v", m.Buckets)
		}
	}
	const disrupted = " reason nodepool capacity_type consolidation_policy termination_mode"
	want := []string{
		"gauge voluntary_disruption_eligible_nodes reason",
		"counter voluntary_disruption_decisions_total decision reason consolidation_type",
		"counter voluntary_disruption_decisions_by_nodepool_total nodepool decision reason consolidation_type",
		"histogram voluntary_disruption_decision_evaluation_duration_seconds reason consolidation_type",
		"counter voluntary_disruption_consolidation_timeouts_total consolidation_type",
		"counter voluntary_disruption_failed_validations_total consolidation_type",
		"counter voluntary_disruption_queue_failures_total decision reason consolidation_type",
		"counter voluntary_disruption_command_failures_total reason consolidation_type cause", // not the reference's
		"gauge nodepools_allowed_disruptions nodepool reason",
		"gauge nodepools_nodes_consuming_budgets nodepool reason",
		"histogram consolidation_score decision nodepool policy",
		"counter consolidation_moves_total decision nodepool policy",
		"counter nodeclaims_disrupted_total" + disrupted,
		"counter pods_disruption_initiated_total" + disrupted,
		"counter nodeclaims_unhealthy_disrupted_total condition nodepool capacity_type image_id",
		"counter voluntary_disruption_backoff_failures_total nodepool",
		"gauge voluntary_disruption_backoff_seconds nodepool",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// DIS-075: how many nodes each reason has, budgets aside; a node that two methods accept counts once.
func TestEligibleSamples(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "0"}))
	w.node("empty", "c4")
	w.node("drifted", "c4", drifted(time.Hour), holding(pods("p", 1, "1")...))
	w.node("busy", "c4", holding(pods("q", 1, "1")...))
	w.node("kept", "c4", annotated(v1.DoNotDisruptAnnotationKey, "true"))
	want := []string{
		"voluntary_disruption_eligible_nodes{reason=empty} 1",
		"voluntary_disruption_eligible_nodes{reason=drifted} 1",
		"voluntary_disruption_eligible_nodes{reason=underutilized} 2",
	}
	if diff := cmp.Diff(want, counts(t, w.fleet(t).Samples())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// DIS-213: gauges of the pools' own budgets; a budget of the whole cluster is none of theirs.
func TestBudgetSamples(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "20%"}, v1.Budget{Nodes: "0", Reasons: []v1.DisruptionReason{v1.DisruptionReasonDrifted}}))
	w.input.Budgets = []disruption.Budget{{Name: "all", Unit: disruption.UnitNodes}}
	w.fill("n", 7)
	w.node("unready", "c4", notReady)
	_, l := w.tracker(t)
	if diff := cmp.Diff([]string{
		"nodepools_allowed_disruptions{nodepool=default,reason=Empty} 2", "nodepools_nodes_consuming_budgets{nodepool=default,reason=Empty} 1",
		"nodepools_allowed_disruptions{nodepool=default,reason=Drifted} 0", "nodepools_nodes_consuming_budgets{nodepool=default,reason=Drifted} 1",
		"nodepools_allowed_disruptions{nodepool=default,reason=Underutilized} 2", "nodepools_nodes_consuming_budgets{nodepool=default,reason=Underutilized} 1",
	}, counts(t, l.Samples())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w = newWorld()
	w.fill("n", 1)
	if _, l := w.tracker(t); l.Samples()[0].Value != disruption.Unlimited {
		t.Errorf("without budgets %v", l.Samples()[0])
	}
}

// DIS-184, DIS-287: what a command counts when it starts, when it is void and when it fails: each label holds what its name says.
func TestCommandSamples(t *testing.T) {
	cmd, s := newStage(2, 2)
	cmd.Members[0].Pool, cmd.Members[1].Pool = v1.NewPoolKey("b"), v1.NewPoolKey("a")
	if diff := cmp.Diff([]string{
		"voluntary_disruption_decisions_total{consolidation_type=multi,decision=replace,reason=underutilized} 1",
		"voluntary_disruption_decisions_by_nodepool_total{consolidation_type=multi,decision=replace,nodepool=a,reason=underutilized} 1",
		"voluntary_disruption_decisions_by_nodepool_total{consolidation_type=multi,decision=replace,nodepool=b,reason=underutilized} 1",
		"voluntary_disruption_failed_validations_total{consolidation_type=multi} 1",
	}, counts(t, slices.Concat(cmd.StartedSamples(), cmd.RejectionSamples()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e := disruption.Execute(cmd)
	s.run(e, disruption.StateWaiting)
	s.initialize(0)
	s.step(e)
	if got := e.FailureSamples(); got != nil {
		t.Errorf("while all is well: %v", got)
	}
	s.repl[1].Stored, s.repl[1].Known = nil, false
	s.run(e, disruption.StateFailed)
	if diff := cmp.Diff([]string{
		"voluntary_disruption_command_failures_total{cause=replacement_gone,consolidation_type=multi,reason=underutilized} 1",
		"voluntary_disruption_queue_failures_total{consolidation_type=multi,decision=replace,reason=underutilized} 1",
	}, counts(t, e.FailureSamples())); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
	void, s := newStage(1, 1)
	s.verdict = &disruption.Validation{Err: errors.New("void")}
	e = disruption.Execute(void)
	s.run(e, disruption.StateFailed)
	if got := e.FailureSamples(); got != nil {
		t.Errorf("a command that never started: %v", got)
	}
}

// DIS-192, DIS-284, DIS-285: a member's disruption, with its pool's policy where a method consolidates, and with its pods.
func TestDisruptedSamples(t *testing.T) {
	w := newWorld()
	pool := w.pool("default")
	claim := w.node("n", "c4", grace(time.Hour)).Claim
	member := &disruption.Member{Pods: make([]scheduling.PodKey, 3)}
	for m, want := range map[disruption.Method]string{
		disruption.MethodSingleNode: "consolidation_policy=when_empty_or_underutilized,nodepool=default,reason=underutilized",
		disruption.MethodEmptiness:  "consolidation_policy=when_empty_or_underutilized,nodepool=default,reason=empty",
		disruption.MethodDrift:      "consolidation_policy=,nodepool=default,reason=drifted",
	} {
		labels := "{capacity_type=on-demand," + want + ",termination_mode=eventual} "
		cmd := &disruption.Command{Method: m, Reason: m.Reason()}
		if diff := cmp.Diff([]string{"nodeclaims_disrupted_total" + labels + "1", "pods_disruption_initiated_total" + labels + "3"},
			counts(t, cmd.DisruptedSamples(member, claim, pool))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m, diff)
		}
	}
}

// DIS-027: how a node ends does not depend on what ends it.
func TestTerminationMode(t *testing.T) {
	w := newWorld()
	for i, c := range []struct {
		options []nodeOption
		want    string
	}{{nil, "graceful"}, {[]nodeOption{grace(0)}, "forceful"}, {[]nodeOption{grace(time.Second)}, "eventual"}} {
		if got := disruption.TerminationMode(w.node(fmt.Sprint(i), "c4", c.options...).Claim); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// DIS-238, DIS-271, DIS-284, DIS-285: what forces nodes out is counted with the pods that have to move: interruptions by their
// kind, and with a termination mode like the others.
func TestRemovalSamples(t *testing.T) {
	w := newWorld()
	claim := w.node("n", "c4").Claim
	claim.Status.ImageID = "ami-1"
	claim.Spec.ExpireAfter = v1.NewNillableDuration(time.Hour)
	const rest = ",termination_mode=graceful} "
	check := func(r *disruption.Removal, label string, more ...string) {
		t.Helper()
		labels := "{capacity_type=on-demand,consolidation_policy=,nodepool=default,reason=" + label + rest
		want := append([]string{"nodeclaims_disrupted_total" + labels + "1", "pods_disruption_initiated_total" + labels + "4"}, more...)
		if diff := cmp.Diff(want, counts(t, r.Samples(4))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", label, diff)
		}
	}
	check(disruption.Expire(claim, now()).Removal, "expired")
	for kind, label := range map[cloudprovider.InterruptionKind]string{
		cloudprovider.InterruptionSpotReclaim: "spot_interrupted", cloudprovider.InterruptionReservationReclaim: "capacity_reservation_interrupted",
		cloudprovider.InterruptionMaintenance: "scheduled_change", cloudprovider.InterruptionStopped: "instance_stopped",
		cloudprovider.InterruptionTerminated: "instance_terminated", cloudprovider.InterruptionUnhealthy: "instance_status",
	} {
		check(disruption.Interrupted(claim, cloudprovider.Interruption{Kind: kind, ProviderID: claim.Status.ProviderID}, now()).Removal, label)
	}
	list, broken := unhealthyNodes(10, 1, time.Hour)
	broken.Status.ImageID = "ami-1"
	step := disruption.Repair(disruption.RepairState{Node: list[0], Claim: broken, Policies: repairPolicies(), Nodes: list}, now())
	check(step.Removal, "unhealthy", "nodeclaims_unhealthy_disrupted_total{capacity_type=on-demand,condition=ready,image_id=ami-1,nodepool=default} 1")
}

// DIS-173, DIS-286: moves are counted for every policy, scores for Balanced pools; batches of one search that are rejected
// count once.
func TestMoveSamples(t *testing.T) {
	run := func(w *world, r disruption.Reference) []string {
		f := w.fleet(t)
		p, err := r.Plan(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		return counts(t, p.Samples(f))
	}
	w := newWorld()
	w.node("n", "c16", holding(pods("p", 3, "1")...))
	if diff := cmp.Diff([]string{"consolidation_moves_total{decision=approved,nodepool=default,policy=when_empty_or_underutilized} 1"}, run(w, disruption.Reference{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.pool("default", policy(v1.ConsolidationPolicyBalanced))
	if diff := cmp.Diff([]string{
		"consolidation_moves_total{decision=approved,nodepool=default,policy=balanced} 1", "consolidation_score{decision=approved,nodepool=default,policy=balanced} 0.75",
	}, run(w, disruption.Reference{})); diff != "" {
		t.Errorf("Balanced (-want +got):\n%s", diff)
	}
	w = newWorld()
	onlyTypes(instanceType("c4", 4, "on-demand=0.2"), instanceType("d8", 8, "on-demand=0.3"))(w)
	w.pool("default", policy(v1.ConsolidationPolicyBalanced))
	for _, name := range []string{"m", "n"} {
		w.node(name, "c4", holding(pods(name, 4, "1")...))
	}
	if diff := cmp.Diff([]string{
		"consolidation_moves_total{decision=rejected,nodepool=default,policy=balanced} 1", "consolidation_score{decision=rejected,nodepool=default,policy=balanced} 0.25",
	}, run(w, disruption.Reference{})); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
	w = newWorld()
	onlyTypes(instanceType("c4", 4, "on-demand=0.2"), instanceType("d4", 4, "on-demand=0.12"))(w)
	w.pool("default", policy(v1.ConsolidationPolicyBalanced))
	for _, name := range []string{"m", "n"} {
		w.node(name, "c4", holding(pods(name, 3, "1")...))
	}
	rejected := "consolidation_moves_total{decision=rejected,nodepool=default,policy=balanced} 1"
	score := "consolidation_score{decision=rejected,nodepool=default,policy=balanced} 0.4"
	if diff := cmp.Diff([]string{rejected, score, rejected, score}, run(w, disruption.Reference{})); diff != "" {
		t.Errorf("DIS-286: each node that is looked at alone counts (-want +got):\n%s", diff)
	}
	w = newWorld()
	w.pool("other")
	w.node("a", "c4", holding(pods("a", 4, "1")...))
	w.node("o", "c4", ofPool("other"), holding(pods("o", 4, "1")...))
	if diff := cmp.Diff([]string{"voluntary_disruption_consolidation_timeouts_total{consolidation_type=single} 1"}, run(w, disruption.Reference{MaxTrials: ptr(1)})); diff != "" {
		t.Errorf("DIS-110, DIS-121: a search that ends early (-want +got):\n%s", diff)
	}
}

// DIS-234: how long pools are left alone.
func TestBackOffSamples(t *testing.T) {
	b := disruption.NewBackOff(0)
	if !b.Failed(v1.NewPoolKey("b"), now()) || b.Failed(v1.NewPoolKey("b"), now()) {
		t.Error("a failure while the pool is left alone counts, or the first does not")
	}
	b.Failed(v1.NewPoolKey("a"), now())
	var none *disruption.BackOff
	if got := counts(t, b.Samples(now().Add(time.Hour))); !slices.Equal(got, []string{"voluntary_disruption_backoff_seconds{nodepool=a} 0", "voluntary_disruption_backoff_seconds{nodepool=b} 0"}) || none.Samples(now()) != nil {
		t.Errorf("%q", got)
	}
	if s := b.Samples(now())[0]; s.Value < 30 || s.Value >= 60 {
		t.Errorf("%v", s)
	}
}

// API-220, API-262, DIS-213, DIS-238: what is counted of a pool of the first generation is told from what is counted of a later pool
// of its name, whichever label its claims bear.
func TestSamplesOfTheFirstGeneration(t *testing.T) {
	const pool = "nodepool=v1alpha5/default"
	w := newWorld()
	w.pool("default")
	alpha := w.alphaPool()
	n := w.node("n", "c4", ofAlpha)
	_, l := w.tracker(t)
	of := map[string]int{}
	for _, s := range l.Samples() {
		of[s.Labels["nodepool"]]++
	}
	if diff := cmp.Diff(map[string]int{"default": 6, "v1alpha5/default": 6}, of); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
	cmd := &disruption.Command{Method: disruption.MethodDrift, Reason: disruption.ReasonDrifted, Members: []disruption.Member{{Pool: alphaKey}}}
	list, broken := unhealthyNodes(10, 1, time.Hour)
	broken.Labels = map[string]string{v1alpha5.ProvisionerNameLabelKey: alphaKey.Name}
	list[0].Labels = broken.Labels
	repair := disruption.Repair(disruption.RepairState{Node: list[0], Claim: broken, Policies: repairPolicies(), Nodes: list[:1]}, now()).Removal
	b := disruption.NewBackOff(0)
	b.Failed(alphaKey, now())
	for _, sample := range counts(t, slices.Concat(cmd.StartedSamples()[1:], cmd.DisruptedSamples(&cmd.Members[0], n.Claim, alpha), repair.Samples(1), b.Samples(now().Add(time.Hour)))) {
		if !strings.Contains(sample, pool) {
			t.Errorf("%s: not of %s", sample, pool)
		}
	}
}
