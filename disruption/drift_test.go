package disruption_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
)

// driftCase is a claim of the pool "default" on type c4 in zone a, made from the pool as it is, a day ago.
func driftCase() (disruption.DriftState, *v1.NodePool) {
	w := newWorld()
	pool := w.pool("default", func(p *v1.NodePool) {
		p.Spec.Template.Labels = map[string]string{"team": "red"}
		p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}},
		}
	})
	pool = disruption.UpdateHashes(pool, nil).Pool
	n := w.node("n", "c4")
	n.Claim.Annotations = map[string]string{}
	for _, key := range []string{v1.NodePoolHashAnnotationKey, v1.NodePoolHashVersionAnnotationKey} {
		n.Claim.Annotations[key] = pool.Annotations[key]
	}
	s := disruption.DriftState{Claim: n.Claim, Pool: pool, InstanceTypes: w.snapshot.Catalogs["all"], Provider: &disruption.ProviderDrift{}}
	return s, pool
}

func rehash(s *disruption.DriftState) {
	if next := disruption.UpdateHashes(s.Pool, nil).Pool; next != nil {
		s.Pool = next
	}
}

// The first check that finds something gives the reason (DIS-215, PRV-087); DIS-319 scenario 18.
func TestMarkDrift(t *testing.T) {
	zones := func(s *disruption.DriftState, values ...string) {
		s.Pool.Spec.Template.Spec.Requirements[0].Values = values
		rehash(s)
	}
	spotOnly := func(s *disruption.DriftState) {
		s.InstanceTypes = []*cloudprovider.InstanceType{instanceType("c4", 4, "spot=0.1")}
	}
	tests := []struct {
		name   string
		change func(*disruption.DriftState)
		want   cloudprovider.DriftReason
	}{
		{"nothing", func(*disruption.DriftState) {}, ""},
		{"DIS-217 a template label", func(s *disruption.DriftState) { s.Pool.Spec.Template.Labels["team"] = "blue"; rehash(s) }, disruption.DriftNodePool},
		{"DIS-218 expireAfter", func(s *disruption.DriftState) { s.Pool.Spec.Template.Spec.ExpireAfter = v1.Never(); rehash(s) }, disruption.DriftNodePool},
		{"S0-045, S0-046 a taint", func(s *disruption.DriftState) {
			s.Pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "karpenter.sh/legacy", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
			rehash(s)
		}, disruption.DriftNodePool},
		{"DIS-219 weight, limits, budgets", func(s *disruption.DriftState) {
			weight := int32(7)
			s.Pool.Spec.Weight, s.Pool.Spec.Limits = &weight, amounts("cpu=5")
			s.Pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
			rehash(s)
		}, ""},
		{"DIS-217 versions differ", func(s *disruption.DriftState) {
			s.Pool.Spec.Template.Labels["team"] = "blue"
			rehash(s)
			s.Claim.Annotations[v1.NodePoolHashVersionAnnotationKey] = "v2"
		}, ""},
		{"DIS-217 no hash", func(s *disruption.DriftState) {
			delete(s.Claim.Annotations, v1.NodePoolHashAnnotationKey)
			s.Pool.Spec.Template.Labels["team"] = "blue"
			rehash(s)
		}, ""},
		{"DIS-220 the claim's own labels", func(s *disruption.DriftState) { s.Claim.Labels["team"] = "blue" }, ""},
		{"DIS-225 wider", func(s *disruption.DriftState) { zones(s, "a", "b", "c") }, ""},
		{"DIS-225 without its zone", func(s *disruption.DriftState) { zones(s, "b") }, disruption.DriftRequirements},
		{"DIS-225 a label it lacks", func(s *disruption.DriftState) {
			s.Pool.Spec.Template.Spec.Requirements[0] = v1.NodeSelectorRequirementWithMinValues{Key: "x", Operator: corev1.NodeSelectorOpExists}
		}, disruption.DriftRequirements},
		{"DIS-225 a label that may be absent", func(s *disruption.DriftState) {
			s.Pool.Spec.Template.Spec.Requirements[0] = v1.NodeSelectorRequirementWithMinValues{Key: "x", Operator: corev1.NodeSelectorOpDoesNotExist}
		}, ""},
		{"DIS-226 type gone", func(s *disruption.DriftState) { s.InstanceTypes = s.InstanceTypes[:1] }, disruption.DriftInstanceType},
		{"DIS-226 offering gone", spotOnly, disruption.DriftInstanceType},
		{"DIS-226 unavailable is not gone", func(s *disruption.DriftState) {
			for i := range s.InstanceTypes[1].Offerings {
				s.InstanceTypes[1].Offerings[i].Available = false
			}
		}, ""},
		{"DIS-226 young", func(s *disruption.DriftState) {
			s.InstanceTypes = s.InstanceTypes[:1]
			s.Claim.CreationTimestamp = metav1.NewTime(now().Add(-59 * time.Minute))
		}, ""},
		{"DIS-227 reserved counts as on demand", func(s *disruption.DriftState) {
			s.Claim.Labels[v1.CapacityTypeLabelKey], s.Claim.Labels["reservation"] = "reserved", "r-1"
		}, ""},
		{"DIS-227 but not as spot", func(s *disruption.DriftState) {
			s.Claim.Labels[v1.CapacityTypeLabelKey] = "reserved"
			spotOnly(s)
		}, disruption.DriftInstanceType},
		{"DIS-227 nor in another zone", func(s *disruption.DriftState) {
			s.Claim.Labels[v1.CapacityTypeLabelKey] = "reserved"
			s.InstanceTypes[1].Offerings = slices.DeleteFunc(s.InstanceTypes[1].Offerings, func(o cloudprovider.Offering) bool { return o.Zone() == "a" })
		}, disruption.DriftInstanceType},
		{"DIS-228 provider", func(s *disruption.DriftState) { s.Provider.Reason = "AMIDrift" }, "AMIDrift"},
		{"DIS-215 the first counts", func(s *disruption.DriftState) {
			s.Provider.Reason = "AMIDrift"
			s.InstanceTypes = nil
			zones(s, "b")
		}, disruption.DriftRequirements},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := driftCase()
			tt.change(&s)
			claim := s.Claim.DeepCopy()
			step, err := disruption.MarkDrift(claim, s, now())
			if err != nil {
				t.Fatal(err)
			}
			c := claim.Conditions().Get(v1.ConditionDrifted)
			if got := cloudprovider.DriftReason(c.Reason); (c.Status == "True") != (tt.want != "") || tt.want != "" && got != tt.want {
				t.Errorf("condition %+v, want %q", c, tt.want)
			}
			if step.Changed != (tt.want != "") || step.Again != disruption.DriftEvery {
				t.Errorf("step %+v", step)
			}
		})
	}
}

// DIS-215, DIS-216, DIS-230: the condition's life.
func TestMarkDriftCondition(t *testing.T) {
	s, _ := driftCase()
	claim := s.Claim
	mark := func(at time.Time) disruption.DriftStep {
		t.Helper()
		step, err := disruption.MarkDrift(claim, s, at)
		if err != nil {
			t.Fatal(err)
		}
		return step
	}
	s.Provider = nil
	if step := mark(now()); !step.Ask || step.Changed {
		t.Errorf("the provider is not asked: %+v", step)
	}
	s.Provider = &disruption.ProviderDrift{Reason: "AMIDrift"}
	mark(now())
	s.Provider.Reason = "SubnetDrift"
	if step := mark(now().Add(time.Hour)); !step.Changed {
		t.Error("a new reason is not written")
	}
	if c := claim.Conditions().Get(v1.ConditionDrifted); c.Reason != "SubnetDrift" || !c.LastTransitionTime.Time.Equal(now()) {
		t.Errorf("condition %+v, want the new reason and the first time", c)
	}
	s.Provider = &disruption.ProviderDrift{Err: errors.New("timeout")}
	if step, err := disruption.MarkDrift(claim, s, now()); err == nil || step.Changed || !claim.Conditions().IsTrue(v1.ConditionDrifted) {
		t.Errorf("an answer that is missing: %+v, %v", step, err)
	}
	s.Provider.Err = cloudprovider.NodeClaimNotFound
	if step := mark(now()); step.Changed {
		t.Error("a node that is gone changes the condition")
	}
	s.Provider = &disruption.ProviderDrift{}
	if step := mark(now()); !step.Changed || claim.Conditions().Has(v1.ConditionDrifted) {
		t.Error("the condition stays after the drift is over")
	}
	s.Provider.Reason = "AMIDrift"
	mark(now())
	claim.Conditions().SetFalse(v1.ConditionLaunched, "x", "x", now())
	if step := mark(now()); !step.Changed || claim.Conditions().Has(v1.ConditionDrifted) {
		t.Error("a claim that is not launched is drifted")
	}
	claim.DeletionTimestamp = &metav1.Time{Time: now()}
	if step := mark(now()); step != (disruption.DriftStep{}) {
		t.Errorf("a claim that is being deleted: %+v", step)
	}
	s, _ = driftCase()
	s.Pool = nil
	if step, err := disruption.MarkDrift(s.Claim, s, now()); err != nil || step != (disruption.DriftStep{}) {
		t.Errorf("without a pool: %+v, %v", step, err)
	}
	s, pool := driftCase()
	pool.Spec.Template.Spec.Requirements[0].Operator = "Maybe"
	if _, err := disruption.MarkDrift(s.Claim, s, now()); err == nil {
		t.Error("requirements that can't be read are no error")
	}
}

// DIS-222, DIS-223, DIS-224, DIS-221: an upgrade drifts nothing and ends no drift; DIS-319 scenario 19.
func TestUpdateHashes(t *testing.T) {
	const hash, version = v1.NodePoolHashAnnotationKey, v1.NodePoolHashVersionAnnotationKey
	s, pool := driftCase()
	if step := disruption.UpdateHashes(pool, []*v1.NodeClaim{s.Claim}); step.Pool != nil || step.Claims != nil {
		t.Errorf("nothing is to be done, and %+v is", step)
	}
	changed := pool.DeepCopy()
	changed.Spec.Template.Labels["team"] = "blue"
	if step := disruption.UpdateHashes(changed, []*v1.NodeClaim{s.Claim}); step.Pool == nil || step.Pool.Annotations[hash] != changed.Hash() || step.Claims != nil {
		t.Errorf("after a change of the template: %+v", step)
	}
	left := s.Claim.DeepCopy()
	left.Annotations[version] = "v2"
	if step := disruption.UpdateHashes(pool, []*v1.NodeClaim{left}); step.Claims != nil {
		t.Errorf("DIS-222: claims are visited when the pool's version is another, and this one's is not: %+v", step)
	}
	old := pool.DeepCopy()
	old.Annotations[version], old.Annotations[hash] = "v2", "1"
	fresh, drift, done := s.Claim.DeepCopy(), s.Claim.DeepCopy(), s.Claim.DeepCopy()
	fresh.Name, drift.Name, done.Name = "fresh", "drift", "done"
	for _, c := range []*v1.NodeClaim{fresh, drift} {
		c.Annotations[version], c.Annotations[hash] = "v2", "1"
	}
	drift.Conditions().SetTrue(v1.ConditionDrifted, now())
	drift.Annotations[hash] = "0"
	step := disruption.UpdateHashes(old, []*v1.NodeClaim{fresh, drift, done})
	if len(step.Claims) != 2 || step.Pool == nil {
		t.Fatalf("step %+v, want two claims and the pool", step)
	}
	for _, c := range step.Claims {
		want := map[string]string{"fresh": old.Hash(), "drift": "0"}[c.Name]
		if c.Annotations[version] != v1.NodePoolHashVersion || c.Annotations[hash] != want {
			t.Errorf("%s: %v, want hash %q", c.Name, c.Annotations, want)
		}
	}
	if fresh.Annotations[version] != "v2" || old.Annotations[version] != "v2" {
		t.Error("what was handed in was changed")
	}
}
