package reconcilers

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
)

// DIS-269 to DIS-272, DIS-281, DIS-283: a message about an instance has its claim deleted with the deadline that the cloud names, and
// is acknowledged; a recommendation is only told; an instance that nobody knows is nobody's.
func TestInterruptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, asKarpenter)
		_, claim := w.node(newPod("a"))
		w.running(w.interruptions.Start)
		interrupt := func(kind cloudprovider.InterruptionKind, notice time.Duration) {
			if err := w.cloud.Interrupt(claim.Status.ProviderID, kind, notice); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		interrupt(cloudprovider.InterruptionRebalance, 0)
		if get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp != nil {
			t.Error("a recommendation has the node leave")
		}
		interrupt(cloudprovider.InterruptionSpotReclaim, 2*time.Minute)
		claim = get(w, &v1.NodeClaim{}, claim.Name)
		if claim.DeletionTimestamp == nil || claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] != time.Now().Add(2*time.Minute).UTC().Format(time.RFC3339) {
			t.Errorf("deleted %v, deadline %q", claim.DeletionTimestamp, claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey])
		}
		interrupt(cloudprovider.InterruptionSpotReclaim, 2*time.Minute) // again: it is going already
		for _, event := range []string{"SpotRebalanceRecommendation NodeClaim/", "SpotInterrupted Node/", "TerminatingOnInterruption NodeClaim/"} {
			if len(w.events(event)) != 1 {
				t.Errorf("%d events %q, want 1", len(w.events(event)), event)
			}
		}
		all := gathered(t, registry)
		for series, want := range map[string]float64{
			"karpenter_interruption_received_messages_total{message_type=spot_interrupted}":                                                                          2,
			"karpenter_interruption_received_messages_total{message_type=rebalance_recommendation}":                                                                  1,
			"karpenter_interruption_deleted_messages_total{}":                                                                                                        3,
			"karpenter_pods_disruption_initiated_total{capacity_type=spot,consolidation_policy=,nodepool=default,reason=spot_interrupted,termination_mode=graceful}": 1,
		} {
			if all[series] != want {
				t.Errorf("%s is %v, want %v", series, all[series], want)
			}
		}
		w.live(200)
		if claims := len(w.allClaims()); claims != 0 {
			t.Errorf("%d claims are left", claims)
		}
	})
}

// DIS-023, PRV-080: what expires, and what the cloud takes, asks no budget, but budgets with a rate know of it and of its cost, once.
func TestForcedRemovalsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		w.change("default", func(p *v1.NodePool) {
			p.Spec.Template.Spec.ExpireAfter = v1.NewNillableDuration(time.Minute)
		})
		node, claim := w.node(newPod("a"))
		w.live(70)
		history := w.disruptor.history
		if len(history) != 1 {
			t.Fatalf("%d disruptions are remembered of one node that has expired: %+v", len(history), history)
		}
		got := history[0]
		if got.Node != node.Name || got.Reason != disruption.ReasonExpired || got.Pool.Name != "default" || got.Zone != claim.Labels[corev1.LabelTopologyZone] ||
			got.Pods != 1 || got.Price <= 0 || time.Since(got.Time) < 0 || len(got.Owners) != 1 || got.Owners[0] != "uid-web" {
			t.Errorf("remembered as %+v", got)
		}
	})
}

// DIS-148: whose pods had to move since the cloud takes their instance, or since it was broken, is left alone by consolidation for a
// while as if a command had moved them.
func TestForcedRemovalsStartTheCoolDown(t *testing.T) {
	for name, force := range map[string]func(*world, *corev1.Node, *v1.NodeClaim){
		"interruption": func(w *world, _ *corev1.Node, claim *v1.NodeClaim) {
			w.running(w.interruptions.Start)
			if err := w.cloud.Interrupt(claim.Status.ProviderID, cloudprovider.InterruptionSpotReclaim, 2*time.Minute); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		},
		"repair": func(w *world, node *corev1.Node, _ *v1.NodeClaim) {
			policy := w.repair.policies[0]
			node.Status.Conditions = []corev1.NodeCondition{{Type: policy.ConditionType, Status: policy.ConditionStatus, LastTransitionTime: metav1.Now()}}
			if err := w.client.Status().Update(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			time.Sleep(policy.Toleration)
			if _, err := w.repair.Reconcile(t.Context(), requestFor(node.Name)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(o *Options) { asKarpenter(o); o.Features.NodeRepair = true })
				node, claim := w.node(newPod("a"))
				force(w, node, claim)
				history := w.disruptor.history
				if len(history) != 1 || history[0].Pods != 1 || len(history[0].Owners) != 1 || history[0].Owners[0] != "uid-web" {
					t.Errorf("remembered as %+v, want one with the owner of its pod", history)
				}
			})
		})
	}
}

// CP-INTERRUPT-01: what could not be acted on is not acknowledged, and comes again.
func TestInterruptionComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		_, claim := w.node(newPod("a"))
		fail := true
		w.faults = func(verb string, o client.Object) error {
			if verb == "delete" && fail {
				return errors.New("the API is away")
			}
			return nil
		}
		w.running(w.interruptions.Start)
		if err := w.cloud.Interrupt(claim.Status.ProviderID, cloudprovider.InterruptionMaintenance, time.Hour); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp != nil {
			t.Fatal("deleted all the same")
		}
		w.faulting.Lock()
		fail = false
		w.faulting.Unlock()
		w.live(120)
		if got := get(w, &v1.NodeClaim{}, claim.Name); got != nil && got.DeletionTimestamp == nil {
			t.Error("the message did not come again")
		}
	})
}

// DIS-264 to DIS-267: a node that stays broken is removed, its pods with it; not while too many are broken at once.
func TestRepair(t *testing.T) {
	for name, c := range map[string]struct {
		// others are further nodes of the pool that are broken too.
		others  int
		repairs bool
	}{"DIS-265 one": {0, true}, "DIS-266 three of three": {2, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(o *Options) { asKarpenter(o); o.Features.NodeRepair = true })
				node, claim := w.node(newPod("a"))
				policy := w.repair.policies[0]
				broken := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
					Type: policy.ConditionType, Status: policy.ConditionStatus, LastTransitionTime: metav1.Now(),
				}}}
				for i := range c.others {
					w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", i+1), Labels: map[string]string{v1.NodePoolLabelKey: "default"}}, Status: broken})
				}
				node.Status.Conditions = broken.Conditions
				if err := w.client.Status().Update(t.Context(), node); err != nil {
					t.Fatal(err)
				}
				result, err := w.repair.Reconcile(t.Context(), requestFor(node.Name))
				if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > policy.Toleration {
					t.Errorf("looked at again in %s (%v), want when its toleration ends", result.RequeueAfter, err)
				}
				time.Sleep(policy.Toleration)
				if _, err := w.repair.Reconcile(t.Context(), requestFor(node.Name)); err != nil {
					t.Fatal(err)
				}
				claim = get(w, &v1.NodeClaim{}, claim.Name)
				if gone := claim.DeletionTimestamp != nil; gone != c.repairs {
					t.Errorf("removed: %v, want %v", gone, c.repairs)
				}
				if deadline := claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey]; (deadline != "") != c.repairs {
					t.Errorf("deadline %q", deadline)
				}
				if blocked := len(w.events("NodeRepairBlocked Node/")) > 0; blocked == c.repairs {
					t.Errorf("events: %q", w.told)
				}
			})
		})
	}
}

// DIS-264: without the gate nothing is repaired.
func TestNoRepairWithoutTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if w := newWorld(t, nil); w.repair != nil {
			t.Error("nodes are repaired")
		}
	})
}

// DIS-215 to DIS-217, DIS-225, DIS-228, DIS-230: the condition Drifted comes and goes with its cause, and the provider is not asked
// whenever anything changes.
func TestDriftCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		_, claim := w.node(newPod("a"))
		look := func() *v1.NodeClaim {
			t.Helper()
			w.watch()
			if _, err := w.conditions.Reconcile(t.Context(), requestFor(claim.Name)); err != nil {
				t.Fatal(err)
			}
			return get(w, &v1.NodeClaim{}, claim.Name)
		}
		for range 10 {
			look()
		}
		if n := w.cloud.Calls(fake.MethodIsDrifted); n != 1 {
			t.Errorf("the provider was asked %d times, want once", n)
		}
		if err := w.cloud.SetDrift(claim.Status.ProviderID, "SubnetDrift"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		drifted := look().Conditions().Get(v1.ConditionDrifted)
		if drifted.Status != "True" || drifted.Reason != "SubnetDrift" {
			t.Errorf("Drifted is %s/%s, want what the provider says", drifted.Status, drifted.Reason)
		}
		if err := w.cloud.SetDrift(claim.Status.ProviderID, ""); err != nil {
			t.Fatal(err)
		}
		w.change("default", func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "blue"} })
		if c := look().Conditions().Get(v1.ConditionDrifted); c.Reason != "NodePoolDrifted" || !c.LastTransitionTime.Equal(&drifted.LastTransitionTime) {
			t.Errorf("Drifted is %s since %s, want NodePoolDrifted since %s", c.Reason, c.LastTransitionTime, drifted.LastTransitionTime)
		}
		w.change("default", func(p *v1.NodePool) { p.Spec.Template.Labels = nil })
		if look().Conditions().Has(v1.ConditionDrifted) {
			t.Error("it is drifted although nothing differs any more")
		}
		w.change("default", func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "blue"} })
		look()
		w.start(func(o *Options) { o.Features.NoDrift = true })
		if look().Conditions().Has(v1.ConditionDrifted) {
			t.Error("it is drifted although the gate Drift is closed")
		}
	})
}
