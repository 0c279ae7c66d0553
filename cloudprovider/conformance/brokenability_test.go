package conformance_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func brokenAbilities() []broken {
	return []broken{
		{clause: "CP-CLASS-01", what: "a missing node class is not known about", how: func(d *double) {
			d.status = func(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
				r, err := d.Cloud.NodeClassStatus(ctx, ref)
				if r.Reason == cloudprovider.NodeClassNotFound {
					r.Status, r.Reason = "Unknown", "Waiting"
				}
				return r, err
			}
		}},
		{clause: "CP-CLASS-02", what: "what is wrong is not said", how: func(d *double) {
			d.status = func(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
				r, err := d.Cloud.NodeClassStatus(ctx, ref)
				r.Message = ""
				return r, err
			}
		}},
		{clause: "CP-CLASS-03", also: []string{"CP-CREATE-10"}, what: "instances are launched from what is not ready", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				if cloudprovider.IsNodeClassNotReady(err) {
					c = c.DeepCopy()
					c.Spec.NodeClassRef.Name = "another"
					return d.Cloud.Create(ctx, c)
				}
				return created, err
			}
		}},
		{clause: "CP-CLASS-04", what: "a brown-out makes node classes unready", how: func(d *double) {
			d.status = func(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
				r, err := d.Cloud.NodeClassStatus(ctx, ref)
				if err != nil {
					return cloudprovider.NodeClassReadiness{Status: "False", Reason: "Unreadable", Message: err.Error()}, ctx.Err()
				}
				return r, nil
			}
		}},
		{clause: "CP-GATE-01", what: "the gate closes again", how: func(d *double) {
			open := map[string]int{}
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				d.state.Lock()
				defer d.state.Unlock()
				if r.Open {
					open[c.Status.ProviderID]++
				}
				r.Open = r.Open && open[c.Status.ProviderID] < 3
				return r, err
			}
		}},
		{clause: "CP-GATE-02", what: "to ask twice opens the gate", how: func(d *double) {
			asked := map[string]int{}
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				d.state.Lock()
				defer d.state.Unlock()
				if err == nil {
					asked[c.Status.ProviderID]++
					r.Open = r.Open || asked[c.Status.ProviderID] > 1
				}
				return r, err
			}
		}},
		{clause: "CP-GATE-03", what: "a gate that does not know is open", how: func(d *double) {
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				if err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
					r.Open = true
				}
				return r, err
			}
		}},
		{clause: "CP-GATE-04", what: "a gate waits for an instance that is gone", how: func(d *double) {
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				return r, cloudprovider.IgnoreNodeClaimNotFound(err)
			}
		}},
		{clause: "CP-DRIFT-01", what: "every other answer is another", how: func(d *double) {
			n := 0
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				d.state.Lock()
				defer d.state.Unlock()
				if n++; n%2 == 0 && reason != "" {
					reason += "Again"
				}
				return reason, err
			}
		}},
		{clause: "CP-DRIFT-02", what: "instances are born drifted", how: func(d *double) {
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				if err == nil && reason == "" {
					reason = "New"
				}
				return reason, err
			}
		}},
		{clause: "CP-DRIFT-03", what: "what is gone has drifted", how: func(d *double) {
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				if cloudprovider.IsNodeClaimNotFound(err) {
					return "Gone", nil
				}
				return reason, err
			}
		}},
		{clause: "CP-DRIFT-04", what: "what is not known has not drifted", how: func(d *double) {
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				if err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
					return "", ctx.Err()
				}
				return reason, err
			}
		}},
		{clause: "CP-REPAIR-01", what: "no policy is an empty policy", how: func(d *double) {
			d.policies = func() []cloudprovider.RepairPolicy { return []cloudprovider.RepairPolicy{{}} }
		}},
		{clause: "CP-REPAIR-01", what: "no policy is one without a status", how: func(d *double) {
			d.policies = func() []cloudprovider.RepairPolicy {
				return append(d.Cloud.RepairPolicies(), cloudprovider.RepairPolicy{ConditionType: "None", Toleration: time.Hour})
			}
		}},
		{clause: "CP-REPAIR-01", what: "repair can't be turned off", how: func(d *double) {
			d.subject.WithoutRepair = func() cloudprovider.CloudProvider { return d.Cloud }
		}},
		{clause: "CP-REPAIR-02", what: "a condition has two tolerations", how: func(d *double) {
			d.policies = func() []cloudprovider.RepairPolicy {
				all := d.Cloud.RepairPolicies()
				again := all[0]
				again.Toleration *= 2
				return append(all, again)
			}
		}},
		{clause: "CP-REPAIR-02", what: "a node may not be unready for a moment", how: func(d *double) {
			d.policies = func() []cloudprovider.RepairPolicy {
				return []cloudprovider.RepairPolicy{{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse}}
			}
		}},
		{clause: "CP-REPAIR-03", what: "all callers get one slice", how: func(d *double) {
			kept := d.Cloud.RepairPolicies()
			d.policies = func() []cloudprovider.RepairPolicy { return kept }
		}},
	}
}

func brokenInterruptions() []broken {
	return []broken{
		{clause: "CP-INTERRUPT-01", what: "what is read is acknowledged", how: func(d *double) {
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				all, err := d.Cloud.ReceiveInterruptions(ctx)
				for _, m := range all {
					_ = d.Cloud.AckInterruptions(ctx, m.ID)
				}
				return all, err
			}
		}},
		{clause: "CP-INTERRUPT-02", what: "messages that mean nothing are passed on", how: func(d *double) {
			noise := d.subject.Noise
			d.subject.Noise = func() error { d.forLaterOnes["noise"] = true; return noise() }
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				if d.forLaterOnes["noise"] {
					return []cloudprovider.Interruption{{ID: "noise"}}, nil
				}
				return d.Cloud.ReceiveInterruptions(ctx)
			}
		}},
		{clause: "CP-INTERRUPT-03", what: "nothing is an answer", how: func(d *double) {
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
				defer cancel()
				all, err := d.Cloud.ReceiveInterruptions(soon)
				if err != nil && soon.Err() != nil {
					return nil, ctx.Err()
				}
				return all, err
			}
		}},
		{clause: "CP-INTERRUPT-04", what: "a message goes to two readers", how: func(d *double) {
			var mu sync.Mutex
			var again []cloudprovider.Interruption
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				mu.Lock()
				copies := again
				again = nil
				mu.Unlock()
				if len(copies) > 0 && ctx.Err() == nil {
					return copies, nil
				}
				all, err := d.Cloud.ReceiveInterruptions(ctx)
				mu.Lock()
				again = slices.Clone(all)
				mu.Unlock()
				return all, err
			}
			d.ack = func(ctx context.Context, ids ...string) error {
				mu.Lock()
				again = nil
				mu.Unlock()
				return d.Cloud.AckInterruptions(ctx, ids...)
			}
		}},
		{clause: "CP-INTERRUPT-05", what: "acknowledging twice is refused", how: func(d *double) {
			acked := map[string]bool{}
			d.ack = func(ctx context.Context, ids ...string) error {
				d.state.Lock()
				twice := slices.ContainsFunc(ids, func(id string) bool { return acked[id] })
				for _, id := range ids {
					acked[id] = true
				}
				d.state.Unlock()
				if twice {
					return errors.New("receipt handle is invalid")
				}
				return d.Cloud.AckInterruptions(ctx, ids...)
			}
		}},
		{clause: "CP-INTERRUPT-06", what: "one delivery is about all instances", how: func(d *double) {
			var mu sync.Mutex
			var ids []string
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				all, err := d.Cloud.ReceiveInterruptions(ctx)
				mu.Lock()
				defer mu.Unlock()
				for i := range all {
					ids = append(ids, all[i].ID)
					all[i].ID = "batch"
				}
				return all, err
			}
			d.ack = func(ctx context.Context, _ ...string) error {
				mu.Lock()
				defer mu.Unlock()
				return d.Cloud.AckInterruptions(ctx, ids...)
			}
		}},
	}
}
