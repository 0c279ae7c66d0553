package launchtemplate

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// everything sets each field of the class that a template knows.
func everything(c *awsv1.EC2NodeClass) {
	quantity := resource.MustParse("100G")
	c.Spec.Tags = map[string]string{"team": "blue", "Name": "mine", "empty": ""}
	c.Spec.AssociatePublicIPAddress = ptr(false)
	c.Spec.IPPrefixCount = ptr(int32(2))
	c.Spec.ConnectionTracking = &awsv1.ConnectionTracking{TCPEstablishedTimeout: ptr(int32(60)), UDPTimeout: ptr(int32(30))}
	c.Spec.DetailedMonitoring = ptr(true)
	c.Spec.MetadataOptions = &awsv1.MetadataOptions{HTTPPutResponseHopLimit: ptr(int64(2))}
	c.Spec.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: ptr(awsv1.Disabled)}
	c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
		{NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: awsv1.InterfaceTypeInterface},
		{NetworkCardIndex: 0, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
	}
	c.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{
		{DeviceName: ptr("/dev/xvda"), RootVolume: true, EBS: &awsv1.BlockDevice{
			DeleteOnTermination: ptr(true), Encrypted: ptr(true), IOPS: ptr(int64(3000)), KMSKeyID: ptr("key"), SnapshotID: ptr("snap-1"),
			Throughput: ptr(int64(125)), VolumeInitializationRate: ptr(int32(100)), VolumeSize: &quantity, VolumeType: ptr(awsv1.VolumeTypeGP3),
		}},
		{DeviceName: ptr("/dev/xvdb"), EBS: &awsv1.BlockDevice{SnapshotID: ptr("snap-2"), IOPS: ptr(int64(0)), Throughput: ptr(int64(0))}},
	}
}

func goldens() map[string]Request {
	ipv6 := func(r *Request) { r.Cluster.DNS, r.Cluster.ServiceCIDR = "fd00:10::a", "fd00:10::/108" }
	return map[string]Request{
		"al2":             demo(class(family(awsv1.AMIFamilyAL2, ""))),
		"al2023":          demo(),
		"al2023-full":     demo(class(everything), requests(ResourceNitroSandbox), asks(awsv1.LabelInstanceTenancy, "dedicated")),
		"bottlerocket":    demo(class(family(awsv1.AMIFamilyBottlerocket, "bottlerocket-aws-k8s-1.33-x86_64-v1.45.0-abc"), func(c *awsv1.EC2NodeClass) { c.Spec.InstanceStorePolicy = ptr(awsv1.InstanceStorePolicyRAID0) })),
		"windows2022":     demo(class(family(awsv1.AMIFamilyWindows2022, ""))),
		"custom":          demo(class(family(awsv1.AMIFamilyCustom, ""), func(c *awsv1.EC2NodeClass) { c.Spec.UserData = ptr("#!/bin/bash\n") })),
		"efa":             demo(types(instanceType("p4d.24xlarge", "amd64", 737, gpus("8"), efas(4))), requests(ResourceEFA), capacityType(v1.CapacityTypeOnDemand)),
		"efa-ipv6":        demo(types(instanceType("p4d.24xlarge", "amd64", 737, gpus("8"), efas(2))), requests(ResourceEFA), ipv6),
		"ipv6":            demo(ipv6, class(func(c *awsv1.EC2NodeClass) { c.Spec.IPPrefixCount = ptr(int32(1)) })),
		"capacity-block":  demo(types(instanceType("p5.48xlarge", "amd64", 100, gpus("8"), reserved("cr-1", "capacity-block", false, 2))), capacityType(v1.CapacityTypeReserved)),
		"placement-group": demo(func(r *Request) { r.PlacementGroupID = "pg-1" }, asks(awsv1.LabelPlacementGroupPartition, "3", "2")),
	}
}

// AWN-246 to AWN-257: whole templates, as EC2 is told them. The name, a hash of it, is pinned too: a change of NameVersion
// is needed where one of these names changes.
func TestGoldens(t *testing.T) {
	for name, request := range goldens() {
		t.Run(name, func(t *testing.T) {
			template := one(t, request)
			text, err := json.Marshal(template)
			if err != nil {
				t.Fatal(err)
			}
			got, err := yaml.JSONToYAML(text)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "golden", name+".yaml")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-golden +built):\n%s", file, diff)
			}
		})
	}
}
