package v1_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// A manifest is read, completed and judged; every mistake is named with its path.
func Example() {
	manifest := []byte(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  role: my-node-role
  amiSelectorTerms:
  - alias: bottlerocket@latest
  subnetSelectorTerms:
  - tags: {karpenter.sh/discovery: my-cluster}
  securityGroupSelectorTerms:
  - tags: {karpenter.sh/discovery: my-cluster}
  - {id: sg-0123456789abcdef0, name: nodes}
  blockDeviceMappings:
  - deviceName: /dev/xvdb
    ebs: {volumeSize: "100"}
`)
	var class awsv1.EC2NodeClass
	if err := yaml.UnmarshalStrict(manifest, &class); err != nil {
		fmt.Println(err)
		return
	}
	class.Default()
	fmt.Println("family", class.Spec.EffectiveAMIFamily(), "hop limit", *class.Spec.MetadataOptions.HTTPPutResponseHopLimit)
	for _, err := range class.Validate() {
		fmt.Println(err)
	}
	// Output:
	// family Bottlerocket hop limit 1
	// spec.securityGroupSelectorTerms[1].id: Forbidden: can't be combined with name: put them in terms of their own
	// spec.blockDeviceMappings[0].ebs.volumeSize: Invalid value: "100": is less than 1G: write the unit, as in 20Gi
}

// The volumes of a family are known without a node class that names them.
func ExampleDefaultBlockDeviceMappings() {
	for _, mapping := range awsv1.DefaultBlockDeviceMappings(awsv1.AMIFamilyBottlerocket) {
		fmt.Println(*mapping.DeviceName, mapping.EBS.VolumeSizeGiB(), "GiB")
	}
	// Output:
	// /dev/xvda 4 GiB
	// /dev/xvdb 20 GiB
}
