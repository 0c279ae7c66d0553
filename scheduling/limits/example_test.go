package limits_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// Two nodes of 8 cores under a limit of 12: the second is refused while the first stays.
func ExampleTracker() {
	pool := v1.PoolKey{Generation: v1.GenerationV1, Name: "batch"}
	cores := func(n int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(n, resource.DecimalSI)}
	}
	tracker := limits.NewTracker()
	if err := tracker.SetLimits(pool, cores(12)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(tracker.Reserve(pool, "first", cores(8)))
	fmt.Println(tracker.Reserve(pool, "second", cores(8)))
	tracker.Release("first") // its launch failed
	fmt.Println(tracker.Reserve(pool, "second", cores(8)))
	// Output:
	// <nil>
	// nodepool batch: spec.limits[cpu] is 12, of which 8 is used: no room for 8 more: raise the limit or remove nodes
	// <nil>
}
