package v1_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
)

// A manifest is read and judged; every mistake is named with its path.
func Example() {
	manifest := []byte(`
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata: {name: train}
spec:
  provisioningClassName: check-capacity.autoscaling.x-k8s.io
  podSets: [{podTemplateRef: {name: worker}, count: 0}]
  parameters: {ValidUntilSeconds: "1h"}
`)
	var request v1.ProvisioningRequest
	if err := yaml.UnmarshalStrict(manifest, &request); err != nil {
		fmt.Println(err)
		return
	}
	for _, err := range request.Validate() {
		fmt.Println(err)
	}
	// Output:
	// spec.podSets[0].count: Invalid value: 0: must be at least 1
	// spec.parameters[ValidUntilSeconds]: Invalid value: "1h": must be a whole number of seconds from 0 to 3153600000
}
