package planvalidator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// ruled is a snapshot of pods of two sizes that keep away from each other, and of others that don't.
func ruled() *scheduling.Snapshot {
	s := workload.Apart(1, 1)
	s.Pods = nil
	for i := range 6 {
		apart := pod(fmt.Sprintf("apart-%d", i), []string{"500m", "300m"}[i%2])
		apart.Labels = map[string]string{"app": "w"}
		avoid(apart, []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: apart.Labels}}})
		s.Pods = append(s.Pods, apart, pod(fmt.Sprintf("free-%d", i), "100m"))
	}
	return s
}

// Proofs with rules about single nodes are repeated, with the rules' multipliers, and what is false in them is noticed.
func TestProofsWithRules(t *testing.T) {
	s := ruled()
	p := planned(t, s)
	priced := false
	for _, kind := range p.Certificate.Types {
		priced = priced || len(kind.RuleMultipliers) > 0
	}
	if len(p.Certificate.Rules) == 0 || !priced {
		t.Fatalf("the proof has no rules: %+v", p.Certificate)
	}
	for name, c := range map[string]struct {
		change func(*scheduling.Plan)
		want   string
	}{
		"as it is": {func(*scheduling.Plan) {}, ""},
		"a rule that allows more": {func(p *scheduling.Plan) {
			for i := range p.Certificate.Rules {
				p.Certificate.Rules[i].Amount = 100
			}
		}, "could hold"},
		"a rule that the plan breaks": {func(p *scheduling.Plan) {
			group := slices.IndexFunc(p.Certificate.Rules, func(r planning.CertificateRule) bool { return r.Resource == "" })
			for i := range p.Certificate.Classes {
				p.Certificate.Classes[i].Takes = map[string]int64{p.Certificate.Rules[group].Name: 1}
			}
		}, "allows 1 on a node"},
		"more whole units than a class asks for": {func(p *scheduling.Plan) {
			whole := slices.IndexFunc(p.Certificate.Rules, func(r planning.CertificateRule) bool { return r.Resource != "" })
			for i := range p.Certificate.Classes {
				p.Certificate.Classes[i].Takes = map[string]int64{p.Certificate.Rules[whole].Name: 7}
			}
		}, "a class takes 7"},
		"a rule that is not there": {func(p *scheduling.Plan) { p.Certificate.Rules = nil }, "a class takes"},
		"a negative multiplier": {func(p *scheduling.Plan) {
			for i := range p.Certificate.Types {
				for name := range p.Certificate.Types[i].RuleMultipliers {
					p.Certificate.Types[i].RuleMultipliers[name] = -1
				}
			}
		}, "multiplier of rule-1"},
		"multipliers forgotten": {func(p *scheduling.Plan) {
			for i := range p.Certificate.Types {
				p.Certificate.Types[i].RuleMultipliers, p.Certificate.Types[i].Multipliers = nil, map[corev1.ResourceName]float64{corev1.ResourceMemory: 1}
			}
		}, "could hold"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(t, s)
			c.change(p)
			faults := planvalidator.Check(s, p)
			if c.want == "" {
				if len(faults) > 0 {
					t.Errorf("faults %v", faults)
				}
				return
			}
			for _, fault := range faults {
				if strings.Contains(fault.Error(), c.want) {
					return
				}
			}
			t.Errorf("faults %v, want one with %q", faults, c.want)
		})
	}
}
