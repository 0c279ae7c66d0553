package nodeclaims_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// A planned node becomes a claim that names the instance types that would do, cheapest first.
func ExampleNew() {
	types := testTypes(5)
	three := 3
	claim, err := nodeclaims.New(testNode(types), testPool(), nodeclaims.Options{InstanceTypes: types, MaxInstanceTypes: &three})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(claim.GenerateName)
	for _, r := range claim.Spec.Requirements {
		if r.Key == corev1.LabelInstanceTypeStable {
			fmt.Println(r.Operator, r.Values)
		}
	}
	// Output:
	// web-
	// In [t00 t01 t02]
}
