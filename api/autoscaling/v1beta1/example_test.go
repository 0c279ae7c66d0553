package v1beta1_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
)

// A manifest is read, completed and judged; every mistake is named with its path.
func Example() {
	manifest := []byte(`
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata:
  name: web
spec:
  percentage: -10
  scalableRef: {apiGroup: apps, kind: DaemonSet, name: web}
`)
	var buffer v1beta1.CapacityBuffer
	if err := yaml.UnmarshalStrict(manifest, &buffer); err != nil {
		fmt.Println(err)
		return
	}
	buffer.Default()
	fmt.Println(*buffer.Spec.ProvisioningStrategy)
	for _, err := range buffer.Validate() {
		fmt.Println(err)
	}
	// Output:
	// buffer.x-k8s.io/active-capacity
	// spec.scalableRef.kind: Unsupported value: "DaemonSet": supported values: "Deployment", "ReplicaSet", "StatefulSet"
	// spec.percentage: Invalid value: -10: must not be negative
}
