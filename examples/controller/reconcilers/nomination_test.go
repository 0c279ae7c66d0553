package reconcilers

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// PRV-026, DIS-005, DIS-053: a node that was launched for pods is not taken for empty while they can still be bound to it, though
// its pool's consolidateAfter is 0s; later, if none came, it is. The window is twice the longest batch, at least ten seconds.
func TestNewNodeWaitsForItsPods(t *testing.T) {
	for name, c := range map[string]struct {
		batch  *provisioning.BatchOptions
		window int
	}{
		"as it is":      {window: 20},
		"long batches":  {batch: &provisioning.BatchOptions{Idle: time.Second, Max: 15 * time.Second}, window: 30},
		"short batches": {batch: &provisioning.BatchOptions{Idle: time.Second, Max: 2 * time.Second}, window: 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(o *Options) {
					o.Batch = c.batch
					o.Disruption.Planner = &disruption.Reference{ValidationDelay: new(time.Second)}
				})
				w.change("default", func(p *v1.NodePool) { p.Spec.Disruption.ConsolidateAfter = v1.NewNillableDuration(0) })
				w.create(newPod("a"))
				w.plan()
				initialized := func() (bool, time.Time) {
					for _, claim := range w.allClaims() {
						for _, condition := range claim.Status.Conditions {
							if condition.Type == v1.ConditionInitialized && condition.Status == "True" {
								return true, condition.LastTransitionTime.Time
							}
						}
					}
					return false, time.Time{}
				}
				up, since := initialized()
				for range 30 {
					if up {
						break
					}
					w.disrupt(1)
					up, since = initialized()
				}
				if !up {
					t.Fatal("no node has come up")
				}
				for time.Since(since) < time.Duration(c.window)*time.Second {
					if claims := w.allClaims(); len(claims) != 1 || claims[0].DeletionTimestamp != nil {
						t.Fatalf("%s after its initialisation the node is removed", time.Since(since))
					}
					w.disrupt(1)
				}
				w.disrupt(15)
				if n := len(w.allClaims()); n != 0 {
					t.Errorf("%d claims are left though no pod came", n)
				}
			})
		})
	}
}
