package reconcilers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
)

// denied is what a webhook that refuses answers.
func denied(kind string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: v1.GroupVersion().Group, Resource: kind}, "x", errors.New("denied by a webhook"))
}

// outdated is a world with a node that has drifted and is to be replaced.
func outdated(t *testing.T, change func(*Options)) (*world, *prometheus.Registry, *v1.NodeClaim) {
	t.Helper()
	w, registry := measured(t, change)
	_, claim := w.settledNode(newPod("a"))
	w.change("default", func(p *v1.NodePool) {
		p.Spec.Template.Labels = map[string]string{"team": "blue"}
		p.Spec.Disruption.ConsolidateAfter = v1.Never()
	})
	return w, registry, claim
}

// isReplaced lets two minutes go by and checks that the claim is replaced by one other.
func (w *world) isReplaced(claim *v1.NodeClaim) {
	w.t.Helper()
	for range 150 {
		w.disrupt(1)
		if old := get(w, &v1.NodeClaim{}, claim.Name); old != nil && old.DeletionTimestamp != nil && get(w, &corev1.Pod{}, "a") != nil {
			w.delete(newPod("a")) // it is evicted, and runs elsewhere
		}
	}
	if claims := w.allClaims(); len(claims) != 1 || claims[0].UID == claim.UID || claims[0].Labels["team"] != "blue" {
		w.t.Errorf("%d claims in the end, want the replacement alone", len(claims))
	}
}

// A command whose launches the launch rate limiter would not let through is not begun: nothing is written for it, it says why, and what is planned
// besides goes on.
func TestHeldBackReplacementsAreNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry, claim := outdated(t, func(o *Options) { asKarpenter(o); o.RateLimiter.NodesPerMinute = 1 })
		tainted := 0
		w.faults = func(verb string, o client.Object) error {
			if node, is := o.(*corev1.Node); is && v1.DisruptionMarked(node) {
				tainted++
			}
			return nil
		}
		time.Sleep(time.Minute) // since the first node was launched
		for i := range 4 {
			if err := w.disruptor.rateLimiter.Admit(fmt.Sprint("other ", i), 1, time.Now()); err != nil {
				t.Fatal(err)
			}
			w.disrupt(60)
		}
		if n := len(w.allClaims()); n != 1 || tainted != 0 || len(w.disruptor.running) != 0 {
			t.Errorf("%d claims, %d writes of taints, %d commands", n, tainted, len(w.disruptor.running))
		}
		if told := w.events("DisruptionHeldBack NodeClaim/" + claim.Name); len(told) == 0 || !strings.Contains(told[0], "NodesPerMinute is 1") {
			t.Errorf("events %q", told)
		}
		if n := gathered(t, registry)["karpenter_voluntary_disruption_command_failures_total{cause=held_back,consolidation_type=,reason=drifted}"]; n < 2 || n > 8 {
			t.Errorf("%v commands were held back, says the metric", n)
		}
		w.isReplaced(claim)
	})
}

// Commands launch no more nodes than NodesPerMinute, whichever planner is set: disruption.Global plans none that do, and of other planners
// those that only save money are not begun. What has drifted has to go.
func TestNodesPerMinuteBoundsEachPlanner(t *testing.T) {
	own := &disruption.Global{MinSaving: 1}
	for _, c := range []struct{ set, most, want int }{{0, 0, 0}, {0, 2, 2}, {5, 2, 2}, {1, 2, 1}, {0, 1000, disruption.DefaultMaxBins}} {
		if own.MaxBins = nil; c.set > 0 {
			own.MaxBins = &c.set
		}
		o := DisruptionOptions{Planner: own}
		if err := o.complete(&Options{RateLimiter: provisioning.RateLimiterOptions{NodesPerMinute: c.most}}); err != nil {
			t.Fatal(err)
		}
		if got := o.Planner.(*disruption.Global); option.Or(got.MaxBins, 0) != c.want || got.MinSaving != 1 || option.Or(own.MaxBins, 0) != c.set {
			t.Errorf("MaxBins %d with %d nodes per minute: %d, want %d", c.set, c.most, option.Or(got.MaxBins, 0), c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w, _, claim := outdated(t, func(o *Options) {
			asKarpenter(o)
			o.RateLimiter.NodesPerMinute = 2
		})
		time.Sleep(time.Minute) // since the first node was launched
		command := func(reason disruption.Reason, launches int) *disruption.Command {
			return &disruption.Command{
				ID: string(reason), Reason: reason, Members: []disruption.Member{{Node: claim.Status.NodeName, Claim: claim.Name, UID: claim.UID}},
				Replacements: make([]disruption.Replacement, launches),
			}
		}
		if w.disruptor.holdBack(command(disruption.ReasonUnderutilized, 2)) || w.disruptor.holdBack(command(disruption.ReasonDrifted, 3)) {
			t.Error("a command is held back that may be launched, or has to be")
		}
		if !w.disruptor.holdBack(command(disruption.ReasonUnderutilized, 3)) {
			t.Error("a command of three new nodes begins where two may be launched in a minute")
		}
		if told := w.events("DisruptionHeldBack NodeClaim/" + claim.Name); len(told) == 0 || !strings.Contains(told[0], "launches 3 new nodes, and NodesPerMinute is 2") {
			t.Errorf("events %q", told)
		}
	})
}

// A command that has begun when the launch rate limiter holds its launch back is taken back within seconds, and does not keep others from being planned.
func TestHeldBackReplacementsAreTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, claim := outdated(t, func(o *Options) {
			asKarpenter(o)
			o.RateLimiter.CostIncrease, o.RateLimiter.CostWindow = 100, 10*time.Minute
		})
		time.Sleep(10 * time.Minute) // since the first node was launched
		began := time.Time{}
		w.faults = func(verb string, o client.Object) error {
			if c, is := o.(*v1.NodeClaim); is && c.Annotations[v1.DisruptionCommandAnnotationKey] != "" && began.IsZero() {
				began = time.Now()
				return w.disruptor.rateLimiter.Admit("another", 100, time.Now())
			}
			return nil
		}
		for range 60 {
			if w.disrupt(1); !began.IsZero() && time.Since(began) > 10*time.Second {
				break
			}
		}
		node := get(w, &corev1.Node{}, w.allNodes()[0].Name)
		if began.IsZero() || len(w.allClaims()) != 1 || len(w.disruptor.running) != 0 || v1.DisruptionMarked(node) || w.disruptor.beginning() {
			t.Errorf("begun %s: %d claims, %d commands, marked %v", began, len(w.allClaims()), len(w.disruptor.running), v1.DisruptionMarked(node))
		}
		if told := w.events("DisruptionHeldBack Node/" + node.Name); len(told) == 0 || !strings.Contains(told[0], "CostIncrease is 100") {
			t.Errorf("events %q", told)
		}
		time.Sleep(10 * time.Minute)
		w.isReplaced(claim)
	})
}

// What refuses writes is not tried again and again: nothing is launched and taken back for nothing, later and later it is tried again, and once
// it takes writes the node is replaced. Somebody says what the matter is.
func TestRefusedWritesBackOff(t *testing.T) {
	for name, c := range map[string]struct {
		refused func(verb string, o client.Object) error
		// most are how many writes are refused in twelve minutes at most, launches how many instances are launched in vain.
		most, launches int
		event          string
	}{
		"creation of NodeClaims": {func(verb string, o client.Object) error {
			if _, is := o.(*v1.NodeClaim); is && verb == "create" {
				return denied("nodeclaims")
			}
			return nil
		}, 10, 0, "DisruptionFailed NodeClaim/"},
		"records on NodeClaims": {func(verb string, o client.Object) error {
			if c, is := o.(*v1.NodeClaim); is && verb == "patch" && c.Annotations[v1.DisruptionCommandAnnotationKey] != "" {
				return denied("nodeclaims")
			}
			return nil
		}, 10, 0, "DisruptionFailed NodeClaim/"},
		"taints on Nodes": {func(verb string, o client.Object) error {
			if n, is := o.(*corev1.Node); is && verb == "patch" && v1.DisruptionMarked(n) {
				return denied("nodes")
			}
			return nil
		}, 10, 0, "DisruptionFailed Node/"},
		"history on NodePools": {func(verb string, o client.Object) error {
			if _, is := o.(*v1.NodePool); is && verb == "patch" {
				return denied("nodepools")
			}
			return nil
		}, 75, 1, "DisruptionBlocked NodePool/default: no node is disrupted: its disruption history could not be stored"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, _, claim := outdated(t, asKarpenter)
			launches, refusals := w.cloud.Calls(fake.MethodCreate), 0
			w.faults = func(verb string, o client.Object) error {
				err := c.refused(verb, o)
				if err != nil {
					refusals++
				}
				return err
			}
			w.disrupt(12 * 60)
			if refusals < 3 || refusals > c.most || w.cloud.Calls(fake.MethodCreate)-launches != c.launches {
				t.Errorf("%s: %d writes were refused and %d instances launched in twelve minutes", name, refusals, w.cloud.Calls(fake.MethodCreate)-launches)
			}
			nodes, claims := w.allNodes(), w.allClaims()
			if len(nodes) != 1 || len(claims) != 1 || v1.DisruptionMarked(nodes[0]) {
				t.Errorf("%s: %d nodes and %d claims, taints %v", name, len(nodes), len(claims), nodes[0].Spec.Taints)
			}
			if told := w.events(c.event); len(told) == 0 || !strings.Contains(told[0], "denied by a webhook") {
				t.Errorf("%s: events %q", name, told)
			}
			w.faults = nil
			w.disrupt(11 * 60)
			w.isReplaced(claim)
		})
	}
}

// While the API server refuses the NodeClaims of a pool, pods get their nodes from another; the pool is tried again later.
func TestPoolThatRefusesClaimsIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		preferred := build.Pool("preferred")
		weight := int32(50)
		preferred.Spec.Weight = &weight
		w.create(preferred)
		w.pool("preferred")
		refused := 0
		w.faults = func(verb string, o client.Object) error {
			if c, is := o.(*v1.NodeClaim); is && verb == "create" && c.Labels[v1.NodePoolLabelKey] == "preferred" {
				refused++
				return denied("nodeclaims")
			}
			return nil
		}
		w.create(newPod("a"))
		w.watch()
		if err := w.planner.pass(t.Context()); err == nil {
			t.Error("the pass found nothing amiss")
		}
		w.plan()
		if claims := w.allClaims(); len(claims) != 1 || claims[0].Labels[v1.NodePoolLabelKey] != "default" || refused != 1 {
			t.Errorf("%d claims, %d were refused", len(claims), refused)
		}
		w.faults = nil
		time.Sleep(time.Second)
		big := newPod("b")
		big.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
		w.create(big)
		w.plan()
		if claims := w.allClaims(); len(claims) != 2 || claims[0].Labels[v1.NodePoolLabelKey] == claims[1].Labels[v1.NodePoolLabelKey] {
			t.Errorf("%d claims, want one of each pool", len(claims))
		}
	})
}
