package convert_test

import (
	"fmt"
	"os"

	"github.com/drawknife/drawknife/aws/convert"
)

// A stream of old manifests becomes one of new ones.
func ExampleRewrite() {
	manifests := []byte(`
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: default
spec:
  requirements:
  - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}
  ttlSecondsAfterEmpty: 30
  providerRef: {name: default}
`)
	documents, err := convert.Decode(convert.DecodeOptions{}, convert.Source{Name: "provisioner.yaml", Data: manifests})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := convert.Rewrite(documents, convert.Options{IgnoreDefaults: true})
	for _, w := range result.Warnings {
		fmt.Println(w)
	}
	if err := convert.WriteYAML(os.Stdout, result.Objects); err != nil {
		fmt.Println(err)
	}
	// Output:
	// INFO W115 Provisioner/default spec.ttlSecondsUntilExpired: nodes did not expire; written as expireAfter Never
	// INFO W116 Provisioner/default spec: a default disruption budget of 10% will apply
	// INFO W505 NodePool/default spec.template.spec.nodeClassRef: nodeClassRef completed to karpenter.k8s.aws/EC2NodeClass
	// apiVersion: karpenter.sh/v1
	// kind: NodePool
	// metadata:
	//   name: default
	// spec:
	//   disruption:
	//     consolidateAfter: 30s
	//     consolidationPolicy: WhenEmpty
	//   template:
	//     spec:
	//       expireAfter: Never
	//       nodeClassRef:
	//         group: karpenter.k8s.aws
	//         kind: EC2NodeClass
	//         name: default
	//       requirements:
	//       - key: karpenter.k8s.aws/instance-family
	//         operator: In
	//         values:
	//         - m5
}

// What is wrong with the input is said with file and line.
func ExampleDecode() {
	_, err := convert.Decode(convert.DecodeOptions{Strict: true},
		convert.Source{Name: "pool.yaml", Data: []byte("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {wait: 30s}\n")},
		convert.Source{Name: "cut.yaml", Data: []byte("kind: NodePool\nspec: {limits: [\n")},
	)
	fmt.Println(err)
	// Output:
	// pool.yaml:1 (document 1): NodePool/a: unknown field "spec.wait"
	// cut.yaml:2 (document 1): did not find expected node content
}

// Live objects of two generations and one name are both kept.
func ExampleRead() {
	documents, err := convert.Decode(convert.DecodeOptions{}, convert.Source{Name: "cluster.yaml", Data: []byte(`
apiVersion: v1
kind: List
items:
- {apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: web}, spec: {providerRef: {name: a}}}
- {apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: web}, spec: {template: {spec: {requirements: [], nodeClassRef: {name: a}}}}}
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range convert.Read(documents, convert.Options{}).Objects {
		fmt.Println(o.PoolKey(), o.Provenance.Source.Kind)
	}
	// Output:
	// v1alpha5/web Provisioner
	// web NodePool
}
