package fake_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// CP-CATALOG-01 to CP-CATALOG-08, PRV-174: what is handed out keeps the contract, in stock or not.
func TestInstanceTypesKeepTheContract(t *testing.T) {
	cloud, _ := cloudOf(t, fake.Options{}, fake.GenericTypes(70)...)
	check := func() {
		t.Helper()
		types := instanceTypes(t, cloud)
		if len(types) != 70 {
			t.Errorf("%d types are listed, want 70", len(types))
		}
		for _, it := range types {
			if len(it.Offerings) != 6 {
				t.Errorf("%s has %d offerings, want 6", it.Name, len(it.Offerings))
			}
		}
		if err := cloudprovider.ValidateCatalog(types, cloud.Describe()); err != nil {
			t.Error(err)
		}
	}
	check()
	cloud.SetAvailable(false, everyOffering)
	check()
	if got := len(unavailable(t, cloud)); got != 70*6 {
		t.Errorf("%d offerings are unavailable", got)
	}
	if _, err := cloud.Create(context.Background(), claim("a")); !cloudprovider.IsInsufficientCapacity(err) {
		t.Errorf("a launch by what is not available gives %v", err)
	}
	cloud.SetAvailable(true, everyOffering)
	check()
	create(t, cloud, claim("a"))
}

// CP-CATALOG-09, CP-CATALOG-12: what was handed out stays as it was; what did not change keeps its identity, for all
// NodePools; only what changed is made again.
func TestInstanceTypesKeepTheirIdentity(t *testing.T) {
	cloud, clock := cloudOf(t, fake.Options{}, fake.GenericTypes(3)...)
	before := instanceTypes(t, cloud)
	content := make([]*cloudprovider.InstanceType, len(before))
	for i := range before {
		content[i] = before[i].DeepCopy()
	}
	other, err := cloud.InstanceTypes(context.Background(), &v1.NodePool{Spec: v1.NodePoolSpec{}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range other {
		if other[i] != before[i] {
			t.Errorf("%s is another object for another nodepool", other[i].Name)
		}
	}

	cloud.SetStock(0, func(k cloudprovider.OfferingKey) bool { return k.InstanceType == before[1].Name })
	if _, err := cloud.Create(context.Background(), claim("a", ofType(before[1].Name))); !cloudprovider.IsInsufficientCapacity(err) {
		t.Fatalf("got %v", err)
	}
	after := instanceTypes(t, cloud)
	for i := range after {
		if same := after[i] == before[i]; same != (i != 1) {
			t.Errorf("%s: same object %v", after[i].Name, same)
		}
	}
	if again := instanceTypes(t, cloud); again[1] != after[1] {
		t.Error("nothing changed, yet the type is a new object")
	}
	clock.Advance(time.Hour)
	instanceTypes(t, cloud)
	if diff := cmp.Diff(content, before); diff != "" {
		t.Errorf("types already handed out were changed (-want +got):\n%s", diff)
	}
}

// CP-CATALOG-10, CP-CATALOG-11: the slice is the caller's, and the order is always that of New.
func TestInstanceTypesSliceIsTheCallers(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	types := instanceTypes(t, cloud)
	types[0], types[1] = types[1], nil
	if again := instanceTypes(t, cloud); again[0].Name != "m1.medium" || again[1].Name != "m1.large" {
		t.Errorf("the second answer is %v", again)
	}
}

// CP-CATALOG-13, CP-ERROR-01: what is not known is an error, not an empty list.
func TestInstanceTypesErrors(t *testing.T) {
	ctx := context.Background()
	cloud, _ := testCloud(t, fake.Options{})
	if types, err := cloud.InstanceTypes(ctx, nil); types != nil || !cloudprovider.IsPermanent(err) {
		t.Errorf("nil nodepool: %v, %v", types, err)
	}
	pool := &v1.NodePool{}
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "other.test", Kind: "Other", Name: "x"}
	if types, err := cloud.InstanceTypes(ctx, pool); types != nil || !cloudprovider.IsPermanent(err) {
		t.Errorf("foreign node class: %v, %v", types, err)
	}
	inject(t, cloud, fake.Fault{Method: fake.MethodInstanceTypes, Err: cloudprovider.NewUnevaluatedNodePoolError("default", nil)})
	if types, err := cloud.InstanceTypes(ctx, &v1.NodePool{}); types != nil || !cloudprovider.IsUnevaluatedNodePool(err) {
		t.Errorf("injected: %v, %v", types, err)
	}
	instanceTypes(t, cloud)
}

// A type that is unavailable from the start can't be launched until somebody says otherwise.
func TestUnavailableFromTheStart(t *testing.T) {
	types := fake.GenericTypes(1)
	for i := range types[0].Offerings {
		types[0].Offerings[i].Available = i > 0
	}
	cloud, clock := cloudOf(t, fake.Options{}, types...)
	clock.Advance(24 * time.Hour)
	want := []string{"m1.medium/test-region-1a/spot"}
	if diff := cmp.Diff(want, unavailable(t, cloud)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := create(t, cloud, claim("a", zone("a"))).Labels[v1.CapacityTypeLabelKey]; got != "on-demand" {
		t.Errorf("launched %s", got)
	}
}
