package scheduling_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Where a node holds few pods, of sizes that never fill it to the last millicore, the bound counts resources in whole units, and is near
// the cost: in fractions a twentieth of the cost is lost.
func TestBoundCountsWholeUnits(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *scheduling.Snapshot
		most float64
	}{
		{"types of Karpenter's benchmark", workload.Apart(1000, workload.Seed), 1.01},
		{"EC2-like types", workload.ApartEC2(1000, workload.Seed), 1.02},
		{"rules about zones too", workload.Mixed(1000, workload.Seed), 1.03},
	} {
		t.Run(c.name, func(t *testing.T) {
			model, err := scheduling.Compile(c.s)
			if err != nil {
				t.Fatal(err)
			}
			p, err := model.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.4f of the bound", p.HourlyCost/p.LowerBound)
			if p.HourlyCost > c.most*p.LowerBound {
				t.Errorf("costs %v with a bound of %v", p.HourlyCost, p.LowerBound)
			}
			if !slices.ContainsFunc(p.Certificate.Rules, wholeUnits) {
				t.Errorf("the certificate counts nothing in whole units: %+v", p.Certificate.Rules)
			}
		})
	}
}

// halfCores are pods that ask for halves of a core, or for next to nothing, on nodes that have a tenth of a core less than whole ones; a
// third keep apart.
func halfCores() *scheduling.Snapshot {
	var types []*cloudprovider.InstanceType
	for cores := 1; cores <= 8; cores++ {
		types = append(types, typeOf(fmt.Sprintf("type-%d", cores), 0.1*float64(cores), fmt.Sprintf("cpu=%dm", 1000*cores-100), fmt.Sprintf("memory=%dGi", 4*cores)))
	}
	var list []*corev1.Pod
	for i, cpu := range []string{"20m", "500m", "1", "1500m"} {
		list = append(list, pods(fmt.Sprintf("free-%d", i), 20, labelled("free"), requests("cpu="+cpu, "memory=512Mi"))...)
		list = append(list, pods(fmt.Sprintf("apart-%d", i), 10, labelled("apart"), awayFrom(corev1.LabelHostname, "apart"), requests("cpu="+cpu, "memory=512Mi"))...)
	}
	return cluster(types, list)
}

func wholeUnits(r planning.CertificateRule) bool { return r.Resource != "" && r.Unit.Sign() > 0 }

// A certificate that counts in whole units is checked by arithmetic: with a higher value, or pods that take more or fewer units than
// they ask for, it is refused.
func TestCertificateInWholeUnitsCannotPromiseMore(t *testing.T) {
	s := halfCores()
	promisesNoMore(t, s)
	p := solve(t, s)
	rule := slices.IndexFunc(p.Certificate.Rules, wholeUnits)
	if rule < 0 {
		t.Fatal("nothing is counted in whole units")
	}
	name := p.Certificate.Rules[rule].Name
	forge := func(change func(*scheduling.Certificate)) []planvalidator.Fault {
		certificate, forged := *p.Certificate, *p
		certificate.Classes = slices.Clone(p.Certificate.Classes)
		certificate.Rules = slices.Clone(p.Certificate.Rules)
		change(&certificate)
		forged.Certificate = &certificate
		return faultsOf(s, &forged)
	}
	takes := func(more int64) func(*scheduling.Certificate) {
		return func(c *scheduling.Certificate) {
			for i := range c.Classes {
				if n := c.Classes[i].Takes[name]; n > 0 && n+more > 0 {
					c.Classes[i].Takes = map[string]int64{name: n + more}
				}
			}
		}
	}
	if faults := forge(takes(1)); !slices.ContainsFunc(faults, func(f planvalidator.Fault) bool { return strings.Contains(fmt.Sprint(f), "a class takes") }) {
		t.Errorf("classes take more than they ask for, and nobody noticed: %v", faults)
	}
	if faults := forge(takes(-1)); len(faults) == 0 {
		t.Error("classes take less than their values say, and nobody noticed")
	}
	if faults := forge(func(c *scheduling.Certificate) { c.Rules[rule].Unit.SetMilli(0) }); len(faults) == 0 {
		t.Error("a resource is counted in units of nothing, and nobody noticed")
	}
}
