package aws_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/provisioning"
)

// launchGroup stores the claims as one launch group, and leads them by package provisioning until each is launched or gone.
func (c *cluster) launchGroup(claims []*v1.NodeClaim) {
	l, err := provisioning.NewLifecycle(provisioning.DefaultLifecycleOptions())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, claim := range claims {
		claim.Annotations = map[string]string{v1.LaunchGroupAnnotationKey: v1.LaunchGroup{Name: "ns/train@t", Claims: len(claims)}.String()}
		claim.Finalizers, claim.CreationTimestamp = []string{v1.TerminationFinalizer}, metav1.NewTime(c.clock.Now())
		c.claims[claim.Name] = claim
	}
	for range 10 {
		for _, name := range slices.Sorted(maps.Keys(c.claims)) {
			s := provisioning.ClaimState{Claim: c.claims[name], Group: slices.Collect(maps.Values(c.claims))}
			for _, effect := range l.Next(s, c.clock.Now()).Effects {
				if create, ok := effect.(provisioning.CreateInstance); ok {
					answer, err := create.Launch(c.t.Context(), c.provider)
					c.do(l.Created(create.Claim, answer, err, c.clock.Now()))
				} else {
					c.do(provisioning.Step{Effects: []provisioning.Effect{effect}})
				}
			}
		}
		c.clock.now = c.clock.now.Add(time.Second)
	}
	found := listed(c.t, c.provider)
	for _, name := range slices.Sorted(maps.Keys(c.claims)) {
		if claim := c.claims[name]; claim.Status.ProviderID == "" {
			c.do(provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Searched: true, Found: found[claim.UID]}, c.clock.Now()))
		}
	}
	c.settle()
}

// A gang's claims are launched as a group on moto. If one of them can't be launched, the instances of the others are terminated and their
// claims deleted, whether the group is one request or as many as it has claims.
func TestMotoLaunchGroup(t *testing.T) {
	apart := func(claims []*v1.NodeClaim) { // the last needs another instance than the others
		last := claims[len(claims)-1]
		last.Labels = maps.Clone(last.Labels)
		last.Labels["team"] = "other"
		last.Spec.Requirements = append(last.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues(in(corev1.LabelInstanceTypeStable, "m6g.large")))
	}
	for name, tt := range map[string]struct {
		change func([]*v1.NodeClaim)
		sold   string // the types that are out of stock
		left   int
		// fleets is how many CreateFleet calls launched something, or tried to.
		fleets int
	}{
		"by one request":                              {func([]*v1.NodeClaim) {}, "none", 3, 1},
		"by one request, and nothing is there":        {func([]*v1.NodeClaim) {}, "m5.large m6g.large", 0, 3},
		"claim by claim":                              {apart, "none", 3, 3},
		"claim by claim, and the last can't be there": {apart, "m6g.large", 0, 2}, // what the first calls found empty is not asked for again
	} {
		t.Run(name, func(t *testing.T) {
			// With the clock of the cluster, a terminated instance is remembered for a minute of that clock, however fast the computer is.
			now := &clock{time.Now()}
			s := newSite(t, func(_ *aws.Config, o *aws.Options) { o.Clock = now })
			s.cloud.OutOfStock("InsufficientInstanceCapacity", func(instanceType, _, _ string) bool { return strings.Contains(tt.sold, instanceType) })
			c := &cluster{t: t, provider: s.provider, clock: now, claims: map[string]*v1.NodeClaim{}}
			claims := alike(3)
			tt.change(claims)
			s.cloud.Count()
			c.launchGroup(claims)
			if n := s.cloud.Calls("CreateFleet"); n != tt.fleets {
				t.Errorf("%d calls, want %d", n, tt.fleets)
			}
			if n := len(s.instances()); n != tt.left || len(c.claims) != tt.left {
				t.Errorf("%d instances and %d claims are left, want %d: %q", n, len(c.claims), tt.left, c.log)
			}
			ended := 0
			for _, line := range c.log {
				if strings.HasPrefix(line, "terminate instance") {
					ended++
				}
			}
			if (ended > 0) != (tt.sold == "m6g.large") {
				t.Errorf("%d instances are terminated: %q", ended, c.log)
			}
			for _, claim := range c.claims {
				if claim.Status.ProviderID == "" || !claim.Conditions().IsTrue(v1.ConditionLaunched) {
					t.Errorf("claim %s is not launched", claim.Name)
				}
			}
		})
	}
}
