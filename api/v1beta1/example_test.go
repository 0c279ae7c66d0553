package v1beta1_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/v1beta1"
)

// A manifest of 0.37 becomes one of v1, and what that changes is said.
func ExampleNodePool_ToV1() {
	manifest := []byte(`
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: web
spec:
  disruption:
    consolidationPolicy: WhenUnderutilized
    expireAfter: 360h
  template:
    spec:
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      nodeClassRef: {name: default}
`)
	var old v1beta1.NodePool
	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
		fmt.Println(err)
		return
	}
	pool, warnings := old.ToV1(v1beta1.ConvertOptions{
		NodeClass: schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"},
	})
	for _, w := range warnings {
		fmt.Println(w)
	}
	if warnings.Err() != nil {
		return
	}
	fmt.Println(pool.Spec.Disruption.ConsolidationPolicy, pool.Spec.Template.Spec.ExpireAfter)
	// Output:
	// INFO W505 NodePool/web spec.template.spec.nodeClassRef: nodeClassRef completed to karpenter.k8s.aws/EC2NodeClass
	// INFO W501 NodePool/web spec.disruption.consolidateAfter: consolidateAfter 0s written; the former fixed wait was 15s
	// WARN W504 NodePool/web spec.disruption.expireAfter: expireAfter moved to the template; expiry no longer waits for replacement capacity or disruption blockers, and changing it is drift
	// WhenEmptyOrUnderutilized 360h
}
