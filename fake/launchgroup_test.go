package fake_test

import (
	"errors"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// A group takes stock and quota for all of its claims before it launches any, and gives them back if there is not enough.
func TestCreateGroup(t *testing.T) {
	claims := func() []*v1.NodeClaim { return []*v1.NodeClaim{claim("a"), claim("b"), claim("c")} }
	t.Run("CP-GROUP-02 not enough stock", func(t *testing.T) {
		cloud, _ := testCloud(t, fake.Options{})
		cloud.SetStock(0, everyOffering)
		cloud.SetStock(2, func(k cloudprovider.OfferingKey) bool { return k.String() == "m1.medium/test-region-1a/on-demand" })
		if _, err := cloud.CreateGroup(t.Context(), claims()); !cloudprovider.IsInsufficientCapacity(err) || len(cloudprovider.ExhaustedOfferings(err)) == 0 {
			t.Fatalf("three of two: %v", err)
		}
		if got := cloud.Instances(); len(got) != 0 {
			t.Fatalf("a part of the group is there: %v", got)
		}
		cloud.SetAvailable(true, everyOffering)
		if _, err := cloud.CreateGroup(t.Context(), claims()[:2]); err != nil {
			t.Fatalf("the stock was not given back: %v", err)
		}
	})
	t.Run("CP-GROUP-02 a quota counts what the group has taken", func(t *testing.T) {
		cloud, _ := testCloud(t, fake.Options{})
		cloud.SetQuota("vCPUs", 2, everyOffering)
		if _, err := cloud.CreateGroup(t.Context(), claims()); !errors.Is(err, cloudprovider.QuotaExceeded) {
			t.Fatalf("three of two: %v", err)
		}
		if _, err := cloud.CreateGroup(t.Context(), claims()[:2]); err == nil {
			return
		}
		cloud.SetAvailable(true, everyOffering)
		if _, err := cloud.CreateGroup(t.Context(), claims()[:2]); err != nil {
			t.Fatalf("two of two: %v", err)
		}
	})
	t.Run("what can't be launched as one is unsupported", func(t *testing.T) {
		cloud, _ := testCloud(t, fake.Options{})
		varied := claims()
		for _, c := range varied {
			c.Spec.Requirements = append(c.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: "node.kubernetes.io/instance-type", Operator: "Exists", MinValues: ptr(2)})
		}
		_, err := cloud.CreateGroup(t.Context(), varied)
		var unsupported *cloudprovider.GroupUnsupportedError
		if !errors.As(err, &unsupported) || !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("minValues: %v", err)
		}
		alone := claims()
		if _, err := cloud.Create(t.Context(), alone[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := cloud.CreateGroup(t.Context(), alone); !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("one has an instance of its own: %v", err)
		}
		if n := cloud.Calls(fake.MethodCreateGroup); n != 2 {
			t.Errorf("%d calls are counted", n)
		}
	})
	t.Run("a group of none, of nil, of equal UIDs is permanently refused", func(t *testing.T) {
		cloud, _ := testCloud(t, fake.Options{})
		for _, group := range [][]*v1.NodeClaim{nil, {claim("a"), nil}, {claim("a"), claim("a")}} {
			if _, err := cloud.CreateGroup(t.Context(), group); !errors.Is(err, cloudprovider.Permanent) {
				t.Errorf("%d claims: %v", len(group), err)
			}
		}
	})
}
