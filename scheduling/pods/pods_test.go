package pods_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling/pods"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

type option = func(*corev1.Pod)

func pod(options ...option) *corev1.Pod {
	p := build.Pod("p", build.Labels("app", "web"))
	p.Spec.Containers, p.Status.Phase = nil, corev1.PodRunning
	for _, o := range options {
		o(p)
	}
	return p
}

func owner(apiVersion, kind string) option {
	return func(p *corev1.Pod) {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "o"})
	}
}

func phase(phase corev1.PodPhase) option { return func(p *corev1.Pod) { p.Status.Phase = phase } }

func TestNominated(t *testing.T) {
	nominated := func(options ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{Status: corev1.PodStatus{NominatedNodeName: "n"}}
		for _, o := range options {
			o(p)
		}
		return p
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"promised":     {nominated(), true},
		"bound":        {nominated(func(p *corev1.Pod) { p.Spec.NodeName = "n" }), false},
		"not promised": {&corev1.Pod{}, false},
		"ended":        {nominated(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false},
		"gated":        {nominated(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }), false},
	} {
		if got := pods.Nominated(c.pod); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// deleted is a pod whose deletion timestamp is that long before now.
func deleted(ago time.Duration) option {
	return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now.Add(-ago)} }
}

func annotated(key, value string) option {
	return func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, value) }
}

func protected(value string) option { return annotated(v1.DoNotDisruptAnnotationKey, value) }

func started(ago time.Duration) option {
	return func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: now.Add(-ago)} }
}

func ready(status corev1.ConditionStatus) option {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: status})
	}
}

func scheduled(reason string) option {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason})
	}
}

func tolerating(t corev1.Toleration) option {
	return func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, t) }
}

var (
	daemon      = owner("apps/v1", "DaemonSet")
	stateful    = owner("apps/v1", "StatefulSet")
	static      = owner("v1", "Node")
	tolerant    = tolerating(corev1.Toleration{Key: v1.DisruptedTaintKey, Operator: corev1.TolerationOpExists})
	unscheduled = scheduled(corev1.PodReasonUnschedulable)
)

// SCH-090, DIS-029, DIS-040: which pods wait for a node that is not there.
func TestProvisionable(t *testing.T) {
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"SCH-090: marked unschedulable":            {pod(unscheduled), true},
		"SCH-090: not looked at yet":               {pod(), false},
		"SCH-090: gated":                           {pod(scheduled(corev1.PodReasonSchedulingGated)), false},
		"an error of the scheduler":                {pod(scheduled(corev1.PodReasonSchedulerError)), false},
		"SCH-090: bound":                           {pod(unscheduled, func(p *corev1.Pod) { p.Spec.NodeName = "n" }), false},
		"SCH-090: preempting":                      {pod(unscheduled, func(p *corev1.Pod) { p.Status.NominatedNodeName = "n" }), false},
		"SCH-090: of a DaemonSet":                  {pod(unscheduled, daemon), false},
		"SCH-090: static":                          {pod(unscheduled, static), false},
		"SCH-090: being deleted":                   {pod(unscheduled, deleted(0)), true},
		"SCH-090: ended":                           {pod(unscheduled, phase(corev1.PodFailed)), true},
		"SCH-090: of another scheduler":            {pod(unscheduled, func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" }), true},
		"DIS-029: DaemonSet of another group":      {pod(unscheduled, owner("example.com/v1", "DaemonSet")), true},
		"DIS-029: DaemonSet of an old version":     {pod(unscheduled, owner("apps/v1beta2", "DaemonSet")), false},
		"DIS-029: DaemonSet of an older version":   {pod(unscheduled, owner("extensions/v1beta1", "DaemonSet")), false},
		"DIS-029: Node of another group":           {pod(unscheduled, owner("example.com/v1", "Node")), true},
		"mirror of a file":                         {pod(unscheduled, annotated(corev1.MirrorPodAnnotationKey, "x")), false},
		"DIS-029: any owner counts, not the first": {pod(unscheduled, owner("example.com/v1", "Job"), daemon), false},
	} {
		if got := pods.Provisionable(c.pod); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// DIS-031: which tolerations let a pod stay on a node that is going away.
func TestToleratesDisruption(t *testing.T) {
	for name, c := range map[string]struct {
		toleration corev1.Toleration
		want       bool
	}{
		"the key":                    {corev1.Toleration{Key: v1.DisruptedTaintKey, Operator: corev1.TolerationOpExists}, true},
		"the key with its value":     {corev1.Toleration{Key: v1.DisruptedTaintKey}, true},
		"the key with another value": {corev1.Toleration{Key: v1.DisruptedTaintKey, Value: "x"}, false},
		"everything":                 {corev1.Toleration{Operator: corev1.TolerationOpExists}, true},
		"everything, NoExecute":      {corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, false},
		"another key":                {corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists}, false},
		"a number above":             {corev1.Toleration{Key: v1.DisruptedTaintKey, Operator: "Gt", Value: ""}, false},
	} {
		if got := pods.ToleratesDisruption(pod(tolerating(c.toleration))); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// What pods tolerate of nodes that are marked.
var (
	unschedulable = tolerating(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	disrupted     = tolerating(corev1.Toleration{Key: v1.DisruptedTaintKey, Operator: corev1.TolerationOpExists})
	everything    = tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists})
)

// API-244, DIS-315: from a node that is cordoned pods of DaemonSets, which tolerate that, do not go, and pods that tolerate the
// taint of v1 do; from one that bears the taint it is the other way round. Budgets hold only who goes.
func TestPodsThatStayByMarker(t *testing.T) {
	one := intstr.FromInt32(1)
	budgets, err := pods.NewBudgets([]*policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod().Namespace, Name: "all"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pod           *corev1.Pod
		taint, cordon bool // it has to go
	}{
		"any":                 {pod(), true, true},
		"of a DaemonSet":      {pod(daemon, unschedulable), true, false},
		"tolerates the taint": {pod(disrupted), false, true},
		"tolerates all":       {pod(everything), false, false},
		"static":              {pod(static), false, false},
	} {
		for marker, goes := range map[v1.DisruptionMarker]bool{v1.MarkerTaint: c.taint, v1.MarkerCordon: c.cordon, "": c.taint} {
			got := []bool{
				!pods.ToleratesMarker(c.pod, marker) && !pods.Static(c.pod), pods.EvictableFrom(marker, c.pod, now),
				pods.DrainableFrom(marker, c.pod, now), pods.AwaitedByDrainFrom(marker, c.pod, now), budgets.BlocksFrom(marker, c.pod, now) != nil,
			}
			if want := []bool{goes, goes, goes, goes, goes}; !slices.Equal(got, want) {
				t.Errorf("%s, %q: %t, want %t", name, marker, got, goes)
			}
		}
	}
}

// DIS-032, PRV-008: the annotation, its durations and what has no meaning.
func TestProtection(t *testing.T) {
	for name, c := range map[string]struct {
		pod   *corev1.Pod
		want  bool
		until time.Time
		fault bool
	}{
		"none":                       {pod: pod()},
		"true":                       {pod: pod(protected("true")), want: true},
		"true has no end":            {pod: pod(protected("true"), started(time.Hour)), want: true},
		"True":                       {pod: pod(protected("True")), fault: true},
		"false":                      {pod: pod(protected("false")), fault: true},
		"1":                          {pod: pod(protected("1")), fault: true},
		"0s":                         {pod: pod(protected("0s")), fault: true},
		"negative":                   {pod: pod(protected("-1h")), fault: true},
		"2h, started 1h59m ago":      {pod: pod(protected("2h"), started(119*time.Minute)), want: true, until: now.Add(time.Minute)},
		"2h, started 2h ago":         {pod: pod(protected("2h"), started(2*time.Hour)), until: now},
		"2h, not started":            {pod: pod(protected("2h")), want: true},
		"empty":                      {pod: pod(protected("")), fault: true},
		"another key with a meaning": {pod: pod(annotated("karpenter.sh/do-not-evict", "true"))},
	} {
		got := pods.ProtectionOf(c.pod, now)
		var fault *pods.AnnotationError
		if got.Active != c.want || !got.Until.Equal(c.until) || errors.As(got.Err, &fault) != c.fault {
			t.Errorf("%s: %+v, want active %t until %v, fault %t", name, got, c.want, c.until, c.fault)
		}
	}
}

// DIS-028, DIS-034 to DIS-039, SCH-091, PRV-067: each predicate on each kind of pod.
func TestPredicates(t *testing.T) {
	type answers struct{ Evictable, Reschedulable, Now, Drainable, Awaited, Disruptable bool }
	all := answers{true, true, true, true, true, true}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want answers
	}{
		"running":                      {pod(), all},
		"pending":                      {pod(phase(corev1.PodPending)), all},
		"succeeded":                    {pod(phase(corev1.PodSucceeded)), answers{Drainable: true, Disruptable: true}},
		"terminating":                  {pod(deleted(0)), answers{Drainable: true, Awaited: true, Disruptable: true}},
		"stuck":                        {pod(deleted(time.Minute + time.Second)), answers{Disruptable: true}},
		"nearly stuck":                 {pod(deleted(time.Minute)), answers{Drainable: true, Awaited: true, Disruptable: true}},
		"stateful":                     {pod(stateful), all},
		"stateful and terminating":     {pod(stateful, deleted(0)), answers{Reschedulable: true, Now: true, Drainable: true, Awaited: true, Disruptable: true}},
		"daemon":                       {pod(daemon), answers{Evictable: true, Drainable: true, Awaited: true, Disruptable: true}},
		"static":                       {pod(static), answers{Disruptable: true}},
		"tolerant":                     {pod(tolerant), answers{Reschedulable: true, Now: true, Disruptable: true}},
		"protected":                    {pod(protected("true")), answers{Reschedulable: true, Drainable: true, Awaited: true}},
		"protected daemon":             {pod(protected("true"), daemon), answers{Drainable: true, Awaited: true}},
		"protected and terminating":    {pod(protected("true"), deleted(0)), answers{Drainable: true, Awaited: true, Disruptable: true}},
		"API-441, DIS-030: no owner":   {pod(), all},
		"protected, stateful, leaving": {pod(protected("true"), stateful, deleted(0)), answers{Reschedulable: true, Now: true, Drainable: true, Awaited: true, Disruptable: true}},
	} {
		p := c.pod
		got := answers{
			Evictable: pods.Evictable(p, now), Reschedulable: pods.Reschedulable(p), Now: pods.ReschedulableNow(p, nil, now),
			Drainable: pods.Drainable(p, now), Awaited: pods.AwaitedByDrain(p, now), Disruptable: pods.Disruptable(p, now),
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// PRV-068: the order of a drain.
func TestDrainTier(t *testing.T) {
	class := func(name string) option { return func(p *corev1.Pod) { p.Spec.PriorityClassName = name } }
	for want, list := range map[pods.DrainTier][]*corev1.Pod{
		pods.TierOrdinary:       {pod(), pod(class("high"))},
		pods.TierOrdinaryDaemon: {pod(daemon)},
		pods.TierCritical:       {pod(class("system-cluster-critical")), pod(class("system-node-critical"))},
		pods.TierCriticalDaemon: {pod(daemon, class("system-node-critical"))},
	} {
		for i, p := range list {
			if got := pods.DrainTierOf(p); got != want {
				t.Errorf("%v %d: %v", want, i, got)
			}
		}
	}
}

// PRV-122, DIS-123 to DIS-125, DIS-127: costs and lifetimes.
func TestCosts(t *testing.T) {
	deletion := func(value string) option { return annotated(corev1.PodDeletionCost, value) }
	priority := func(n int32) option { return func(p *corev1.Pod) { p.Spec.Priority = &n } }
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want float64
	}{
		"neutral":            {pod(), 1},
		"deletion cost":      {pod(deletion("134217728")), 2},
		"fraction":           {pod(deletion("-67108864.0")), 0.5},
		"no number":          {pod(deletion("much")), 1},
		"not finite":         {pod(deletion("Inf")), 1},
		"priority":           {pod(priority(1 << 25)), 2},
		"both":               {pod(priority(1<<25), deletion("134217728")), 3},
		"clamped above":      {pod(priority(2_000_000_000)), 10},
		"clamped below":      {pod(priority(-2_147_483_648)), -10},
		"deletion at bounds": {pod(deletion("2147483647")), 1 + 2147483647.0/(1<<27)},
	} {
		if got := pods.EvictionCost(c.pod); got != max(-10, min(10, c.want)) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	list := []*corev1.Pod{pod(), pod(daemon), pod(priority(-1 << 27)), pod(phase(corev1.PodFailed))}
	if got := pods.RescheduleCost(list); got != 2 {
		t.Errorf("DIS-124: %v, want the node and one ordinary pod", got)
	}
	if got := pods.RescheduleCost(list[1:]); got != 1 {
		t.Errorf("DIS-125: %v, want that of an empty node", got)
	}
	hour := time.Hour
	for name, c := range map[string]struct {
		age    time.Duration
		expire *time.Duration
		want   float64
	}{
		"DIS-127: never":   {time.Hour, nil, 1},
		"DIS-127: half":    {30 * time.Minute, &hour, 0.5},
		"DIS-127: overdue": {2 * time.Hour, &hour, 0},
		"DIS-127: future":  {-time.Hour, &hour, 1},
	} {
		if got := pods.RemainingLifetime(now.Add(-c.age), now, c.expire); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// SCH-060, SCH-107: what the API server fills in.
func TestDefault(t *testing.T) {
	cpu := func(q string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(q)}
	}
	shared := cpu("1")
	spec := &corev1.PodSpec{
		HostNetwork: true,
		Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("1Gi"),
		}},
		InitContainers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: cpu("2")}}},
		Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Requests: shared, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), "example.com/gpu": resource.MustParse("1")}},
			Ports:     []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 53, HostPort: 5353, Protocol: corev1.ProtocolUDP}},
		}},
	}
	pods.Default(spec)
	want := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), "example.com/gpu": resource.MustParse("1")}
	if diff := cmp.Diff(want, spec.Containers[0].Resources.Requests); diff != "" {
		t.Errorf("container (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(cpu("2"), spec.InitContainers[0].Resources.Requests); diff != "" {
		t.Errorf("init container (-want +got):\n%s", diff)
	}
	// Containers ask for cpu, so that the pod's own limit on it is not a request.
	if diff := cmp.Diff(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}, spec.Resources.Requests); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	ports := []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}, {ContainerPort: 53, HostPort: 5353, Protocol: corev1.ProtocolUDP}}
	if diff := cmp.Diff(ports, spec.Containers[0].Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if len(shared) != 1 {
		t.Errorf("the map that was shared has changed: %v", shared)
	}
}

// budget is a PodDisruptionBudget over the pods of app=web.
func budget(name string, edit ...func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, e := range edit {
		e(b)
	}
	return b
}

func allows(n int32) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptionsAllowed = n }
}

func maxUnavailable(text string) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { v := intstr.Parse(text); b.Spec.MaxUnavailable = &v }
}

func minAvailable(text string) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { v := intstr.Parse(text); b.Spec.MinAvailable = &v }
}

func sparing(b *policyv1.PodDisruptionBudget) {
	policy := policyv1.AlwaysAllow
	b.Spec.UnhealthyPodEvictionPolicy = &policy
}

func budgets(t *testing.T, list ...*policyv1.PodDisruptionBudget) *pods.Budgets {
	t.Helper()
	b, err := pods.NewBudgets(list)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// SCH-092, DIS-046: which budgets never let a pod go.
func TestNeverAllow(t *testing.T) {
	for name, c := range map[string]struct {
		budgets []*policyv1.PodDisruptionBudget
		pod     *corev1.Pod
		want    bool
	}{
		"none":                        {nil, pod(), false},
		"maxUnavailable 0":            {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0"))}, pod(), true},
		"maxUnavailable 0%":           {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0%"))}, pod(), true},
		"maxUnavailable 1":            {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("1"))}, pod(), false},
		"minAvailable 100%":           {[]*policyv1.PodDisruptionBudget{budget("a", minAvailable("100%"))}, pod(), true},
		"minAvailable 100":            {[]*policyv1.PodDisruptionBudget{budget("a", minAvailable("100"))}, pod(), false},
		"allowed now or not is equal": {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("1"), allows(0))}, pod(), false},
		"two budgets":                 {[]*policyv1.PodDisruptionBudget{budget("a", allows(1)), budget("b", allows(1))}, pod(), true},
		"of another namespace":        {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0"), func(b *policyv1.PodDisruptionBudget) { b.Namespace = "x" })}, pod(), false},
		"spares what is not ready":    {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0"), sparing)}, pod(ready(corev1.ConditionFalse)), false},
		"does not spare what is":      {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0"), sparing)}, pod(ready(corev1.ConditionTrue)), true},
		"tolerant":                    {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0"))}, pod(tolerant), false},
		"static":                      {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0"))}, pod(static), false},
		"terminating":                 {[]*policyv1.PodDisruptionBudget{budget("a", maxUnavailable("0"))}, pod(stateful, deleted(0)), false},
	} {
		b := budgets(t, c.budgets...)
		if got := b.NeverAllow(c.pod); got != c.want {
			t.Errorf("SCH-092: %s: %t, want %t", name, got, c.want)
		}
		if got := pods.ReschedulableNow(c.pod, b, now); got != (pods.Reschedulable(c.pod) && !c.want) {
			t.Errorf("DIS-037: %s: rescheduled now: %t", name, got)
		}
	}
}

// SCH-092, DIS-037, API-243, API-244: who tolerates how its node is marked is not evicted, so that no budget keeps it.
func TestNeverAllowFromMarkedNodes(t *testing.T) {
	b := budgets(t, budget("a", maxUnavailable("0")))
	for name, c := range map[string]struct {
		pod           *corev1.Pod
		taint, cordon bool // it is kept
	}{
		"any":                  {pod(), true, true},
		"tolerates the cordon": {pod(unschedulable), true, false},
		"tolerates the taint":  {pod(disrupted), false, true},
		"tolerates all":        {pod(everything), false, false},
	} {
		for marker, kept := range map[v1.DisruptionMarker]bool{v1.MarkerTaint: c.taint, v1.MarkerCordon: c.cordon, "": c.taint} {
			if got := b.NeverAllowFrom(marker, c.pod); got != kept {
				t.Errorf("%s, %q: never allowed: %t", name, marker, got)
			}
			if got := pods.ReschedulableNowFrom(marker, c.pod, b, now); got == kept {
				t.Errorf("%s, %q: rescheduled now: %t", name, marker, got)
			}
		}
	}
}

// DIS-041 to DIS-047: what budgets say now.
func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		budgets []*policyv1.PodDisruptionBudget
		pod     *corev1.Pod
		want    string
	}{
		"DIS-045: allows":                        {[]*policyv1.PodDisruptionBudget{budget("a", allows(1))}, pod(), ""},
		"DIS-045: allows none":                   {[]*policyv1.PodDisruptionBudget{budget("a")}, pod(), "pod default/p: disruption budget default/a allows no disruption now"},
		"DIS-043: two":                           {[]*policyv1.PodDisruptionBudget{budget("b", allows(5)), budget("a", allows(5))}, pod(), "pod default/p: the eviction API refuses pods that several disruption budgets select: [default/a default/b]: leave one of them"},
		"DIS-044: not ready":                     {[]*policyv1.PodDisruptionBudget{budget("a", sparing)}, pod(ready(corev1.ConditionFalse)), ""},
		"DIS-044: readiness unknown":             {[]*policyv1.PodDisruptionBudget{budget("a", sparing)}, pod(), "pod default/p: disruption budget default/a allows no disruption now"},
		"DIS-042: daemons are evictable":         {[]*policyv1.PodDisruptionBudget{budget("a")}, pod(daemon), "pod default/p: disruption budget default/a allows no disruption now"},
		"DIS-042: static":                        {[]*policyv1.PodDisruptionBudget{budget("a")}, pod(static), ""},
		"DIS-042: protected":                     {[]*policyv1.PodDisruptionBudget{budget("a")}, pod(protected("true")), ""},
		"DIS-042: terminating":                   {[]*policyv1.PodDisruptionBudget{budget("a")}, pod(deleted(0)), ""},
		"DIS-041: no selector":                   {[]*policyv1.PodDisruptionBudget{budget("a", func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = nil })}, pod(), ""},
		"DIS-041: empty selector":                {[]*policyv1.PodDisruptionBudget{budget("a", func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = &metav1.LabelSelector{} })}, pod(), "pod default/p: disruption budget default/a allows no disruption now"},
		"DIS-045: spec newer than the status":    {[]*policyv1.PodDisruptionBudget{budget("a", allows(1), func(b *policyv1.PodDisruptionBudget) { b.Generation = 2; b.Status.ObservedGeneration = 1 })}, pod(), "pod default/p: disruption budget default/a allows no disruption now"},
		"DIS-042: tolerating pods are not asked": {[]*policyv1.PodDisruptionBudget{budget("a")}, pod(tolerant), ""},
	} {
		got := ""
		if why := budgets(t, c.budgets...).Blocks(c.pod, now); why != nil {
			got = why.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	_, err := pods.NewBudgets([]*policyv1.PodDisruptionBudget{budget("a", func(b *policyv1.PodDisruptionBudget) {
		b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}}
	})})
	var fault *pods.BudgetError
	if !errors.As(err, &fault) || fault.Key.Name != "a" || fault.Field != "spec.selector" {
		t.Errorf("DIS-047: %v, want a fault of the selector", err)
	}
}

// A tracker counts what is taken, all pods of a list or none.
func TestPDBTracker(t *testing.T) {
	b := budgets(t, budget("a", allows(2)))
	l := pods.NewPDBTracker(b)
	three := []*corev1.Pod{pod(), pod(), pod()}
	if why := l.TakeAll(three, now); why == nil {
		t.Error("three pods were let go of a budget that allows two")
	}
	if left := l.Left(b.Of(pod())[0]); left != 2 {
		t.Errorf("%d left after a refusal, want all 2", left)
	}
	if why := l.TakeAll(three[:2], now); why != nil {
		t.Errorf("two pods: %v", why)
	}
	if why := l.Take(pod(protected("true")), now); why != nil {
		t.Errorf("a pod that is not evictable is refused: %v", why)
	}
	if why := l.Take(pod(), now); why == nil {
		t.Error("a third disruption of two")
	}
	l.Return(pod(), now)
	if why := l.Take(pod(), now); why != nil {
		t.Errorf("after one was returned: %v", why)
	}
	if why := pods.NewPDBTracker(nil).TakeAll(three, now); why != nil {
		t.Errorf("without budgets: %v", why)
	}
}

// The arithmetic of the disruption controller.
func TestDisruptionsAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		spec              *policyv1.PodDisruptionBudget
		expected, healthy int
		want              int
	}{
		"minAvailable 2 of 3":          {budget("a", minAvailable("2")), 3, 3, 1},
		"one of them is not healthy":   {budget("a", minAvailable("2")), 3, 2, 0},
		"minAvailable 50% of 10":       {budget("a", minAvailable("50%")), 10, 10, 5},
		"maxUnavailable 50% of 4":      {budget("a", maxUnavailable("50%")), 4, 4, 2},
		"minAvailable 50% of 3":        {budget("a", minAvailable("50%")), 3, 3, 1},
		"maxUnavailable 1":             {budget("a", maxUnavailable("1")), 3, 3, 1},
		"maxUnavailable 30% of 10":     {budget("a", maxUnavailable("30%")), 10, 9, 2},
		"maxUnavailable rounded up":    {budget("a", maxUnavailable("10%")), 3, 3, 1},
		"maxUnavailable more than all": {budget("a", maxUnavailable("9")), 3, 3, 3},
		"neither":                      {budget("a"), 3, 3, 2},
		"no pods":                      {budget("a", maxUnavailable("1")), 0, 0, 0},
	} {
		got, err := pods.DisruptionsAllowed(&c.spec.Spec, c.expected, c.healthy)
		if err != nil || got != c.want {
			t.Errorf("%s: %d %v, want %d", name, got, err, c.want)
		}
	}
	for _, bad := range []*policyv1.PodDisruptionBudget{budget("a", minAvailable("many")), budget("a", maxUnavailable("-1"))} {
		if _, err := pods.DisruptionsAllowed(&bad.Spec, 3, 3); err == nil {
			t.Errorf("%v %v is accepted", bad.Spec.MinAvailable, bad.Spec.MaxUnavailable)
		}
	}
}
