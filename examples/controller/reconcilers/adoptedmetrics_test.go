package reconcilers

import (
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// A command that one process begins and another ends counts once, whichever write the first ends at: its decision, its members with
// their pods, and nothing against its pool.
func TestAdoptedCommandsCountOnce(t *testing.T) {
	const labels = "{capacity_type=spot,consolidation_policy=,nodepool=default,reason=drifted,termination_mode=graceful}"
	synctest.Test(t, func(t *testing.T) {
		adopted := 0
		for dies := 1; dies < 40; dies += 3 {
			var registries []*prometheus.Registry
			process := func(o *Options) {
				asKarpenter(o)
				registry := prometheus.NewRegistry()
				o.Metrics, registries = registry, append(registries, registry)
			}
			w := newWorld(t, process)
			w.leader.Store(true)
			_, claim := w.settledNode(newPod("a"))
			w.change("default", func(p *v1.NodePool) {
				p.Spec.Template.Labels = map[string]string{"team": "blue"}
				p.Spec.Disruption.ConsolidateAfter = v1.Never()
			})
			writes := 0
			w.faults = func(verb string, o client.Object) error {
				if writes++; byProcess(verb, o) && writes > dies {
					return errDead
				}
				return nil
			}
			for range 120 {
				w.disrupt(1)
				if len(registries) == 1 && writes > dies {
					w.faults = nil
					w.start(process)
					w.leader.Store(true)
					w.disrupt(1)
					adopted += len(w.disruptor.running)
				}
				if old := get(w, &v1.NodeClaim{}, claim.Name); old != nil && old.DeletionTimestamp != nil && get(w, &corev1.Pod{}, "a") != nil {
					w.delete(newPod("a")) // it is evicted, and runs elsewhere
				}
			}
			sums := map[string]float64{}
			for _, r := range registries {
				for series, value := range gathered(t, r) {
					sums[series] += value
				}
			}
			for series, want := range map[string]float64{
				"karpenter_nodeclaims_disrupted_total" + labels:                                                       1,
				"karpenter_pods_disruption_initiated_total" + labels:                                                  1,
				"karpenter_voluntary_disruption_decisions_total{consolidation_type=,decision=replace,reason=drifted}": 1,
				"karpenter_voluntary_disruption_backoff_failures_total{nodepool=default}":                             0,
			} {
				if sums[series] != want {
					t.Errorf("died at write %d: %s is %v in all, want %v", dies, series, sums[series], want)
				}
			}
		}
		if adopted < 5 {
			t.Errorf("%d commands were adopted", adopted)
		}
	})
}
