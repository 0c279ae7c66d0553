package planning_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Reasons are data, and sentences for operators.
func Example() {
	reason := planning.Reason{
		Pool: v1.NewPoolKey("default"), Code: planning.ReasonInstanceTypes,
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16")}, Removed: planning.Removed{Resources: 3},
		NearestMiss: &planning.NearestMiss{
			Code: planning.MissResources, Amounts: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")},
		},
	}
	fmt.Println(reason)
	fmt.Println(reason.NearestMiss)
	// Output:
	// incompatible with nodepool "default", no instance type fits: of 3, 3 are too small for cpu 16
	// would fit if it asked for 8 less cpu
}
