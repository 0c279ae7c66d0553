package crds_test

import (
	"fmt"

	"github.com/drawknife/drawknife/api/crds"
)

func Example() {
	for _, crd := range crds.All() {
		fmt.Println(crd.Name(), crd.Versions)
	}
	// Output:
	// capacitybuffers.autoscaling.x-k8s.io [v1beta1]
	// provisioningrequests.autoscaling.x-k8s.io [v1beta1 v1]
	// ec2nodeclasses.karpenter.k8s.aws [v1]
	// nodeclaims.karpenter.sh [v1]
	// nodeoverlays.karpenter.sh [v1alpha1]
	// nodepools.karpenter.sh [v1]
}
