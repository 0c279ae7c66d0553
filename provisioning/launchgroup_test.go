package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// grouped are claims of one launch group, as stored, with their finalizers.
func grouped(n int) []*v1.NodeClaim {
	var list []*v1.NodeClaim
	group := build.Annotations(v1.LaunchGroupAnnotationKey, v1.LaunchGroup{Name: "ns/train@t", Claims: n}.String())
	for i := range n {
		name := fmt.Sprintf("c%d", i)
		list = append(list, build.Claim(name, build.UID(name), build.Created(start), build.Finalizers(v1.TerminationFinalizer), group))
	}
	return list
}

func nextOf(t *testing.T, claims []*v1.NodeClaim, i int, seconds int) string {
	t.Helper()
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	step := l.Next(provisioning.ClaimState{Claim: claims[i], Group: claims}, at(float64(seconds)))
	var texts []string
	for _, e := range step.Effects {
		texts = append(texts, e.String())
		if put, ok := e.(provisioning.PutClaim); ok {
			claims[i] = put.Claim
		}
	}
	if len(texts) == 0 && step.Again > 0 {
		return "wait"
	}
	return strings.Join(texts, ", ")
}

// No claim of a group launches before all have seen each other; one that is missing from then on takes the others with it at once, and
// claims that never appear do after half a minute.
func TestGroupsLaunchTogether(t *testing.T) {
	claims := grouped(3)
	expect := func(list []*v1.NodeClaim, i, seconds int, want string) {
		t.Helper()
		if got := nextOf(t, list, i, seconds); got != want {
			t.Errorf("claim %d at %d s: %q, want %q", i, seconds, got, want)
		}
	}
	late := grouped(3)
	expect(late[:2], 0, 1, "put nodeclaim c0")
	expect(late[:2], 0, 30, "wait")
	expect(late[:2], 0, 31, "delete nodeclaim c0 (launch_group_incomplete)")
	slow := grouped(3) // as many claims are created one after the other
	expect(slow[:1], 0, 1, "put nodeclaim c0")
	expect(slow[:2], 0, 25, "put nodeclaim c0")
	expect(slow[:2], 0, 54, "wait")
	expect(slow[:2], 0, 55, "delete nodeclaim c0 (launch_group_incomplete)")
	for i := range claims {
		expect(claims, i, 1, fmt.Sprintf("put nodeclaim c%d", i))
		if i < 2 {
			expect(claims, i, 1, "wait")
		}
	}
	for i := range claims {
		expect(claims, i, 2, fmt.Sprintf("create instance of c%d", i))
	}
	expect(claims[:2], 0, 2, "delete nodeclaim c0 (launch_group_incomplete)") // the third is gone
	claims[2] = claims[2].DeepCopy()
	claims[2].DeletionTimestamp = &metav1.Time{Time: at(2)}
	expect(claims, 1, 2, "delete nodeclaim c1 (launch_group_incomplete)")
	claims[2].DeletionTimestamp = nil
	expect(claims, 1, int(provisioning.DefaultGroupTimeout/time.Second), "delete nodeclaim c1 (launch_timeout)")
}

// Nodes of a group are registered when the last has joined, and from then on each is on its own. One that takes too long gives up all.
func TestGroupsRegisterTogether(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	claims := grouped(2)
	for _, c := range claims {
		c.Status.ProviderID = "p-" + c.Name
		c.Conditions().SetTrue(v1.ConditionLaunched, at(1))
	}
	next := func(i, seconds int, joined bool) provisioning.Step {
		var nodes []*corev1.Node
		if joined {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: claims[i].Name, Labels: map[string]string{}}, Spec: corev1.NodeSpec{ProviderID: claims[i].Status.ProviderID, Taints: []corev1.Taint{v1.UnregisteredTaint()}}}
			nodes = append(nodes, node)
		}
		step := l.Next(provisioning.ClaimState{Claim: claims[i], Nodes: nodes, Group: claims}, at(float64(seconds)))
		for _, e := range step.Effects {
			switch e := e.(type) {
			case provisioning.PutClaim:
				claims[i] = e.Claim
			case provisioning.PutNode:
				if e.Node.Annotations[v1.LaunchGroupAnnotationKey] != "" {
					t.Error("the node bears the mark of a launch")
				}
			}
		}
		return step
	}
	reason := func(i int) string { return claims[i].DeepCopy().Conditions().Get(v1.ConditionRegistered).Reason }
	next(0, 5, true)
	if reason(0) != provisioning.ReasonGroupJoining {
		t.Fatalf("the first node: %s", reason(0))
	}
	if step := next(0, 6, true); len(step.Effects) > 0 || step.Again == 0 {
		t.Errorf("the first node does not wait: %v", step)
	}
	next(1, 6, false)
	given := claims[0].DeepCopy()
	if step := next(0, int(provisioning.DefaultGroupTimeout/time.Second), true); len(step.Effects) != 0 { // they were launched after a second
		t.Errorf("before the timeout: %v", step)
	}
	if step := next(0, 1+int(provisioning.DefaultGroupTimeout/time.Second), true); len(step.Effects) != 1 || step.Effects[0].String() != "delete nodeclaim c0 (launch_group_incomplete)" || len(step.Events) != 1 {
		t.Errorf("after the timeout: %v", step)
	}
	slow := l.Next(provisioning.ClaimState{Claim: claims[1], Group: claims}, at(float64(1+provisioning.DefaultGroupTimeout/time.Second)))
	if fmt.Sprint(slow.Effects) != "[delete nodeclaim c1 (registration_timeout)]" { // what the pool's health is told
		t.Errorf("the one that has not joined: %v", slow.Effects)
	}
	claims[0] = given
	next(1, 7, true)
	next(1, 7, true)
	next(0, 8, true)
	for i := range claims {
		if !claims[i].DeepCopy().Conditions().IsTrue(v1.ConditionRegistered) {
			t.Errorf("node %d is not registered: %s", i, reason(i))
		}
	}
	claims = claims[:1]
	if step := next(0, 3600, true); strings.Contains(fmt.Sprint(step.Effects), "delete") {
		t.Errorf("a claim of a complete group goes with another: %v", step)
	}
}

// A claim that is kept neither waits nor goes with its group.
func TestKeptClaimsGoTheirOwnWay(t *testing.T) {
	claims := grouped(3)
	claims[0].Annotations[v1.LaunchGroupAnnotationKey] = v1.LaunchGroup{Name: "ns/train@t", Claims: 3, Kept: true}.String()
	if got := nextOf(t, claims[:1], 0, 1); got != "create instance of c0" {
		t.Errorf("a kept claim: %s", got)
	}
	if got := nextOf(t, claims[:2], 1, 1); got != "put nodeclaim c1" { // that two are there
		t.Errorf("another of the group: %s", got)
	}
	if got := nextOf(t, claims[:2], 1, 2); got != "wait" {
		t.Errorf("another of the group: %s", got)
	}
}

func gangSnapshot(pods ...*corev1.Pod) *scheduling.Snapshot {
	s := passSnapshot(pods...)
	s.Nodes = nil
	return s
}

func gangOf(name string, members ...string) scheduling.Gang {
	g := scheduling.Gang{Namespace: "default", Name: name}
	for _, m := range members {
		g.Members = append(g.Members, scheduling.PodKey{Namespace: "default", Name: m})
	}
	return g
}

// Claims of a gang are one group, by a name that a repeated pass gives them again; gangs that share a node are one group, too. A gang on
// one node, and pods of no gang, are launched as ever.
func TestDecideGroupsGangs(t *testing.T) {
	var pods []*corev1.Pod
	for _, name := range []string{"a-0", "a-1", "a-2", "lone"} {
		pods = append(pods, build.Pod(name, build.CPU("6")))
	}
	for _, name := range []string{"small-0", "small-1"} {
		pods = append(pods, build.Pod(name, build.CPU("500m")))
	}
	s := gangSnapshot(pods...)
	s.Gangs = []scheduling.Gang{gangOf("a", "a-0", "a-1", "a-2"), gangOf("small", "small-0", "small-1")}
	first, again := decide(t, s), decide(t, s)
	groups := map[string]int{}
	for i, l := range first.Launches {
		group, ok := v1.LaunchGroupOf(l.Claim)
		if ok != (l.Group != "") || group.Name != l.Group || again.Launches[i].Group != l.Group {
			t.Errorf("launch %d: group %q, of the claim %+v, again %q", i, l.Group, group, again.Launches[i].Group)
		}
		groups[l.Group]++
		if ok && group.Claims != 3 {
			t.Errorf("a group of %d claims", group.Claims)
		}
		for _, pod := range l.Pods {
			if pod.Name == "lone" && l.Group != "" {
				t.Error("a node for a pod of no gang alone is in a group")
			}
		}
	}
	if groups["default/a@2026-05-04T12:00:00Z"] != 3 || len(groups) != 2 {
		t.Errorf("groups: %v", groups)
	}
}

// Members that nobody has made yet, as those of a ProvisioningRequest, are of their gang's group like others, and wait for nodes that were
// launched for it.
func TestDecideGroupsMembersOfTemplates(t *testing.T) {
	s := gangSnapshot(build.Pod("lone", build.CPU("6")))
	worker := corev1.PodTemplateSpec{Spec: build.Pod("worker", build.CPU("6")).Spec}
	s.Gangs = []scheduling.Gang{{Namespace: "default", Name: "a", Templates: []scheduling.GangTemplate{{Count: 2, Template: worker}, {Name: "b", Count: 1, Template: worker}}}}
	groups := map[string]int{}
	for _, l := range decide(t, s).Launches {
		group, ok := v1.LaunchGroupOf(l.Claim)
		if ok && group.Claims != 3 {
			t.Errorf("a group of %d claims", group.Claims)
		}
		groups[l.Group]++
	}
	if groups["default/a@2026-05-04T12:00:00Z"] != 3 || groups[""] != 1 || len(groups) != 2 {
		t.Errorf("groups: %v", groups)
	}
	claim := grouped(3)[0]
	claim.Labels = map[string]string{v1.NodePoolLabelKey: "default"}
	claim.Status.Allocatable = corev1.ResourceList{}
	for name, q := range passSnapshot().Catalogs["all"][1].Allocatable() {
		claim.Status.Allocatable[name] = q
	}
	claim.Status.Capacity = claim.Status.Allocatable
	s.Nodes = []scheduling.Node{{Name: claim.Name, Claim: claim, Pool: v1.NewPoolKey("default")}}
	if orders := decide(t, s); len(orders.Held) != 2 || len(orders.Launches) != 1 || orders.Launches[0].Group != "" {
		t.Errorf("while a node is on its way: launches %+v, held %v", orders.Launches, orders.Held)
	}
}

// While nodes that were launched for a gang are not complete, nothing more is launched for it; pods of no gang are not held up for long.
func TestDecideHoldsBackGangs(t *testing.T) {
	s := gangSnapshot(build.Pod("a-0", build.CPU("6")), build.Pod("a-1", build.CPU("6")))
	s.Gangs = []scheduling.Gang{gangOf("a", "a-0", "a-1")}
	claim := grouped(2)[0]
	claim.Labels = map[string]string{v1.NodePoolLabelKey: "default"}
	claim.Status.Allocatable = corev1.ResourceList{}
	for name, q := range passSnapshot().Catalogs["all"][1].Allocatable() {
		claim.Status.Allocatable[name] = q
	}
	claim.Status.Capacity = claim.Status.Allocatable
	s.Nodes = []scheduling.Node{{Name: claim.Name, Claim: claim, Pool: v1.NewPoolKey("default")}}
	orders := decide(t, s)
	if len(orders.Launches) != 0 || len(orders.Held) != 1 || len(orders.Events) == 0 {
		t.Errorf("launches %v, held %v, events %v", orders.Launches, orders.Held, orders.Events)
	}
	claim.Conditions().SetTrue(v1.ConditionRegistered, start)
	if orders := decide(t, s); len(orders.Launches) != 1 || orders.Launches[0].Group != "" {
		t.Errorf("once its earlier nodes are complete: %+v", orders.Launches)
	}
}

// storeFunc stores claims.
type storeFunc func(context.Context, string, *v1.NodeClaim) (*v1.NodeClaim, error)

func (f storeFunc) CreateNodeClaim(ctx context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	return f(ctx, token, claim)
}

// Limits and the launch rate limiter let a group through as a whole or not at all.
func TestLauncherAdmitsGroupsWhole(t *testing.T) {
	s := gangSnapshot(build.Pod("a-0", build.CPU("6")), build.Pod("a-1", build.CPU("6")), build.Pod("lone", build.CPU("6")))
	s.Gangs = []scheduling.Gang{gangOf("a", "a-0", "a-1")}
	orders := decide(t, s).Launches
	created := func(o provisioning.LauncherOptions) (groups, others int, errs []error) {
		o.Claims = storeFunc(func(_ context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
			out := claim.DeepCopy()
			out.Name, out.UID = token, types.UID(token)
			return out, nil
		})
		l, err := provisioning.NewLauncher(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, done := range l.Launch(t.Context(), "pass", orders, start).Launched {
			switch {
			case done.Err != nil:
				errs = append(errs, done.Err)
			case done.Launch.Group != "":
				groups++
			default:
				others++
			}
		}
		return groups, others, errs
	}
	tracker := limits.NewTracker()
	if err := tracker.SetLimits(v1.NewPoolKey("default"), corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("12")}); err != nil {
		t.Fatal(err)
	}
	groups, others, errs := created(provisioning.LauncherOptions{Limits: tracker})
	var whole *provisioning.GroupError
	var exceeded *limits.ExceededError
	if groups != 0 || others != 1 || len(errs) != 2 || !errors.As(errs[0], &whole) || !errors.As(errs[1], &exceeded) {
		t.Errorf("a limit with room for one of two: %d of the group, %d others, %v", groups, others, errs)
	}
	limiter, err := provisioning.NewRateLimiter(provisioning.RateLimiterOptions{NodesPerMinute: 2})
	if err != nil {
		t.Fatal(err)
	}
	limited := provisioning.LauncherOptions{RateLimiter: limiter}
	if groups, others, errs = created(limited); groups != 2 || others != 0 || len(errs) != 1 {
		t.Errorf("two nodes a minute: %d of the group, %d others, %v", groups, others, errs)
	}
	if groups, _, _ = created(limited); groups != 2 {
		t.Error("the same orders again, since their answers were lost, are refused")
	}
}

// One member too few in stock: what was launched of the group is gone within seconds, and where the provider launches groups as a whole
// nothing was; a pod of no gang is served although the gang wants the same nodes, and once there is stock, the gang runs.
func TestGroupsAreGivenUpAtOnce(t *testing.T) {
	t.Run("one by one", func(t *testing.T) { givenUpAtOnce(t, true, 2, 3) })
	t.Run("as a whole", func(t *testing.T) { givenUpAtOnce(t, false, 1, 1) })
}

func givenUpAtOnce(t *testing.T, alone bool, least, largest int) {
	w := newGangWorld(t, t, -1, false)
	w.alone = alone
	w.gangs["train"] = 3
	for i := range 3 {
		w.wants(fmt.Sprintf("train-%d", i), "train", "3", false)
	}
	w.wants("lone", "", "200m", false)
	w.cloud.SetStock(0, all)
	scarce := func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == "m1.xlarge" && k.Zone == "test-region-1a" && k.CapacityType == v1.CapacityTypeOnDemand
	}
	most, after := 0, 0
	for second := range 600 { // the cloud shows what was sold out as such for minutes
		if second%60 == 0 { // the cloud gives no room back by itself
			w.cloud.SetStock(2-len(w.cloud.Instances()), scarce)
		}
		if second%5 == 0 {
			w.pass()
		}
		w.step()
		most = max(most, len(w.cloud.Instances()))
		if second > 60 && second < 180 || second > 540 {
			after = max(after, len(w.cloud.Instances()))
		}
	}
	if most < least || most > largest || after > 1 {
		t.Fatalf("at most %d instances ran, %d after a minute: %v", most, after, w.log)
	}
	if got := w.waiting(); len(got) != 3 {
		t.Fatalf("waiting: %v", got)
	}
	w.cloud.SetStock(100, all)
	for second := 0; len(w.waiting()) > 0; second++ {
		if second > 600 {
			t.Fatalf("waiting in the end: %v", w.waiting())
		}
		if second%5 == 0 {
			w.pass()
		}
		w.step()
	}
}
