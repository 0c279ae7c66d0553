package v1_test

import (
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// A manifest is read, completed and judged; every mistake is named with its path.
func Example() {
	manifest := []byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: web
spec:
  weight: 500
  limits:
    cpu: "-8"
  disruption:
    budgets:
    - nodes: 10%
      schedule: 0 9 * * mon-fri
  template:
    spec:
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
`)
	var pool v1.NodePool
	if err := yaml.UnmarshalStrict(manifest, &pool); err != nil {
		fmt.Println(err)
		return
	}
	pool.Default()
	fmt.Println("nodes expire after", pool.Spec.Template.Spec.ExpireAfter)
	for _, err := range pool.Validate() {
		fmt.Println(err)
	}
	// Output:
	// nodes expire after 720h
	// spec.disruption.budgets[0].duration: Required value: a schedule needs a duration, such as 8h: give both or neither
	// spec.limits[cpu]: Invalid value: "-8": must not be negative
	// spec.weight: Invalid value: 500: must be between 1 and 100, or be left out
}

// A claim whose pool's template has changed since it was launched bears another hash than the pool.
func ExampleNodePool_Hash() {
	pool := &v1.NodePool{}
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	launchedWith := pool.Hash()

	pool.Spec.Weight = new(int32)
	fmt.Println("weight drifts:", pool.Hash() != launchedWith)
	pool.Spec.Template.Labels = map[string]string{"team": "blue"}
	fmt.Println("label drifts:", pool.Hash() != launchedWith)
	// Output:
	// weight drifts: false
	// label drifts: true
}

// Ready follows from the conditions it depends on, and its message names those that are missing.
func ExampleNodeClaim_Conditions() {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	claim := &v1.NodeClaim{}
	claim.Conditions().SetTrue(v1.ConditionLaunched, now)
	ready := claim.Conditions().Ready()
	fmt.Println(ready.Status, ready.Reason, ready.Message)
	// Output: Unknown ReconcilingDependents Registered=Unknown, Initialized=Unknown
}
