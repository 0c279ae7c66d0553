package disruption_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
)

// spreadEvenly spreads the pod's application over zones, with one pod more in one than in another at most.
func spreadEvenly(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
	}}
}

// inThreeZones sells the type in zone c too.
func inThreeZones(t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	o := t.Offerings[0]
	o.Requirements = o.Requirements.Without(corev1.LabelTopologyZone).With(requirements.In(corev1.LabelTopologyZone, "c"))
	t.Offerings = append(t.Offerings, o)
	return t
}

// zonal has a node in each of three zones with one pod of an application that is spread over them; the one in b is too large.
func zonal() *world {
	w := newWorld()
	onlyTypes(inThreeZones(instanceType("c2", 2, "on-demand=0.1")), inThreeZones(instanceType("c8", 8, "on-demand=0.4")))(w)
	for zone, kind := range map[string]string{"a": "c2", "b": "c8", "c": "c2"} {
		w.node("n"+zone, kind, labelled(corev1.LabelTopologyZone, zone), holding(pod("p"+zone, app("web"), spreadEvenly)))
	}
	return w
}

// DIS-151: a spread that a new node would keep is kept: consolidation counts the zones that pools can reach, as provisioning does,
// which would else launch again what was saved.
func TestZoneSpreadIsKept(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{"reference": &disruption.Reference{}, "global": &disruption.Global{}, "thrifty": thrifty()} {
		t.Run(name, func(t *testing.T) {
			w := zonal()
			plan, err := planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := said(plan); got != "SingleNodeConsolidation: nb -> c2/on-demand(1)" {
				t.Fatalf("%q", got)
			}
			if zone := plan.Commands[0].Replacements[0].Node.InstanceTypes[0].Zone; zone != "b" {
				t.Errorf("the new node is in %s", zone)
			}
		})
	}
}

// Where no pool can launch a node in the zone, the spread counts the zones with nodes, as kube-scheduler does and provisioning
// after it: the node goes.
func TestZoneSpreadWithoutRoomToLaunch(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{"reference": &disruption.Reference{}, "global": &disruption.Global{}, "thrifty": thrifty()} {
		t.Run(name, func(t *testing.T) {
			w := zonal()
			w.pool("default", func(p *v1.NodePool) { p.Spec.Limits = amounts("cpu=5") })
			plan, err := planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := said(plan); got != "SingleNodeConsolidation: nb" {
				t.Errorf("%q", got)
			}
			if !nothingMore(t, displaced(t, w.snapshot, plan.Commands, true)) {
				t.Error("provisioning would launch a node")
			}
		})
	}
}
