package fake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake"
)

// A new process finds the instances of the one before, and gives its own other names.
func TestRestoreBringsInstancesBack(t *testing.T) {
	clock := fake.NewSimClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	open := func() *fake.Cloud {
		cloud, err := fake.New(fake.GenericTypes(10), fake.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		return cloud
	}
	claim := &v1.NodeClaim{}
	claim.Name, claim.UID = "first", "uid-first"
	before := open()
	instance, err := before.Create(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	stored := claim.DeepCopy()
	stored.Labels, stored.Status = instance.Labels, instance.Status
	stored.CreationTimestamp = instance.CreationTimestamp

	after := open()
	if err := after.Restore(stored, &v1.NodeClaim{}); err != nil {
		t.Fatal(err)
	}
	if err := after.Restore(stored); err != nil {
		t.Fatalf("restored again: %v", err)
	}
	got, err := after.Get(t.Context(), instance.Status.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(instance, got); diff != "" {
		t.Errorf("the instance changed (-before +after):\n%s", diff)
	}
	if again, err := after.Create(t.Context(), claim); err != nil || again.Status.ProviderID != instance.Status.ProviderID {
		t.Errorf("the claim has an instance and got another: %v, %v", again, err)
	}
	second := &v1.NodeClaim{}
	second.Name, second.UID = "second", "uid-second"
	if other, err := after.Create(t.Context(), second); err != nil || other.Status.ProviderID == instance.Status.ProviderID {
		t.Errorf("another claim got %v, %v", other, err)
	}
	if err := after.Delete(t.Context(), stored); err != nil {
		t.Errorf("a restored instance can't be ended: %v", err)
	}
	foreign := stored.DeepCopy()
	foreign.Status.ProviderID = "aws:///eu-west-1a/i-0123"
	if err := open().Restore(foreign); err == nil || !strings.Contains(err.Error(), "status.providerID") {
		t.Errorf("a foreign claim is restored: %v", err)
	}
}
