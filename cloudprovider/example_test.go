package cloudprovider_test

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
)

// A provider gives its errors a kind, and a caller reacts to the kind, whatever the message says.
func Example() {
	sold := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "eu-west-1a", CapacityType: "spot"}
	err := fmt.Errorf("launching nodeclaim %q: %w", "default-x7k2p",
		cloudprovider.NewInsufficientCapacityError(errors.New("no room in the zone"), sold))

	fmt.Println(err)
	fmt.Println(cloudprovider.KindOf(err), cloudprovider.LaunchAbandoned(err))
	fmt.Println(cloudprovider.ExhaustedOfferings(err))
	// Output:
	// launching nodeclaim "default-x7k2p": insufficient capacity in m5.large/eu-west-1a/spot: no room in the zone
	// InsufficientCapacity true
	// [m5.large/eu-west-1a/spot]
}

// Allocatable is what is left for pods.
func ExampleInstanceType_Allocatable() {
	it := cloudprovider.InstanceType{
		Capacity: build.Amounts("cpu", "4", "memory", "16Gi"),
		Overhead: cloudprovider.Overhead{
			KubeReserved:      build.Amounts("cpu", "80m", "memory", "1Gi"),
			EvictionThreshold: build.Amounts("memory", "100Mi"),
		},
	}
	left := it.Allocatable()
	fmt.Println(left.Cpu(), left.Memory())
	// Output: 3920m 15260Mi
}

// LaunchOrder is for providers whose cloud has no strategy of its own.
func ExampleLaunchOrder() {
	types := []*cloudprovider.InstanceType{
		testType("large", offering("a", "spot", 0.05), offering("a", "on-demand", 0.19)),
		testType("small", offering("a", "on-demand", 0.10), offering("b", "on-demand", 0.11)),
	}
	zoneA := requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "a"))
	for _, candidate := range cloudprovider.LaunchOrder(types, zoneA, build.Amounts("cpu", "2")) {
		fmt.Println(candidate.Key(), candidate.Offering.Price)
	}
	// Output:
	// large/a/spot 0.05
	// small/a/on-demand 0.1
	// large/a/on-demand 0.19
}

func ExampleRetryAfter() {
	err := fmt.Errorf("listing instances: %w", cloudprovider.NewThrottledError("DescribeInstances", 5*time.Second, nil))
	if wait, ok := cloudprovider.RetryAfter(err); ok {
		fmt.Println("wait", wait)
	}
	// Output: wait 5s
}
