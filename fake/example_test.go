package fake_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

// An instance from Create to its node, with simulated time.
func Example() {
	ctx := context.Background()
	clock := fake.NewSimClock(time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC))
	cloud, err := fake.New(fake.GenericTypes(60), fake.Options{
		Clock:         clock,
		LaunchLatency: 40 * time.Second,
		OnLaunch: func(i fake.Instance) {
			node := i.Node()
			fmt.Println(node.Name, "joins with", node.Labels[corev1.LabelInstanceTypeStable], node.Spec.Taints[0].Key)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	claim, err := cloud.Create(ctx, &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "default-1", UID: "7f3a"},
		Spec: v1.NodeClaimSpec{
			Requirements: []v1.NodeSelectorRequirementWithMinValues{
				{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
			},
			Resources: v1.ResourceRequirements{Requests: build.Amounts("cpu", "3", "memory", "6Gi")},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(claim.Status.ProviderID)
	clock.Advance(time.Minute)
	cloud.Settle()
	// Output:
	// fake:///test-region-1a/i-00000001
	// i-00000001 joins with m1g.xlarge karpenter.sh/unregistered
}

// A group has an instance for each claim, or none at all.
func ExampleCloud_CreateGroup() {
	ctx := context.Background()
	cloud, err := fake.New(fake.GenericTypes(1), fake.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	group := make([]*v1.NodeClaim, 3)
	for i := range group {
		group[i] = &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("train-%d", i), UID: types.UID(fmt.Sprint("uid-", i))}}
	}
	everything := func(cloudprovider.OfferingKey) bool { return true }
	cloud.SetStock(0, everything)
	cloud.SetStock(2, func(k cloudprovider.OfferingKey) bool {
		return k.CapacityType == v1.CapacityTypeSpot && k.Zone == "test-region-1a"
	})
	_, err = cloud.CreateGroup(ctx, group)
	fmt.Println(cloudprovider.IsInsufficientCapacity(err), len(cloud.Instances()))

	cloud.SetStock(-1, everything)
	cloud.SetAvailable(true, everything)
	created, err := cloud.CreateGroup(ctx, group)
	for _, c := range created {
		fmt.Println(c.Name, c.Status.ProviderID)
	}
	fmt.Println(err)
	// Output:
	// true 0
	// train-0 fake:///test-region-1a/i-00000001
	// train-1 fake:///test-region-1a/i-00000002
	// train-2 fake:///test-region-1a/i-00000003
	// <nil>
}

// A stock-out is found out by a launch, and then shown.
func ExampleCloud_SetStock() {
	ctx := context.Background()
	cloud, err := fake.New(fake.GenericTypes(1), fake.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	cloud.SetStock(0, func(k cloudprovider.OfferingKey) bool { return k.CapacityType == "spot" })
	claim, err := cloud.Create(ctx, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("launched", claim.Labels[v1.CapacityTypeLabelKey])

	listed, err := cloud.InstanceTypes(ctx, &v1.NodePool{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range listed[0].Offerings {
		if o := &listed[0].Offerings[i]; !o.Available {
			fmt.Println("unavailable", cloudprovider.KeyOf(listed[0], o))
		}
	}
	// Output:
	// launched on-demand
	// unavailable m1.medium/test-region-1a/spot
	// unavailable m1.medium/test-region-1b/spot
	// unavailable m1.medium/test-region-1c/spot
}

// The second launch fails as if its answer had been lost.
func ExampleCloud_Inject() {
	ctx := context.Background()
	cloud, err := fake.New(fake.GenericTypes(1), fake.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := cloud.Inject(fake.Fault{
		Method: fake.MethodCreate, Skip: 1, Lost: true,
		Err: cloudprovider.NewThrottledError("Launch", time.Second, nil),
	}); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"a", "b", "b"} {
		claim, err := cloud.Create(ctx, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(claim.Status.ProviderID)
	}
	// Output:
	// fake:///test-region-1a/i-00000001
	// calling Create: Launch was throttled, retry after 1s
	// fake:///test-region-1a/i-00000002
}

func ExampleGenericTypes() {
	for _, it := range fake.GenericTypes(3) {
		o := it.Offerings[1]
		fmt.Println(it.Name, it.Capacity.Cpu(), o.CapacityType(), o.Price)
	}
	// Output:
	// m1.medium 1 on-demand 0.046657
	// m1.large 2 on-demand 0.095164
	// m1.xlarge 4 on-demand 0.201599
}
