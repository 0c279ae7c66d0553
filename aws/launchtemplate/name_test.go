package launchtemplate

import (
	"regexp"
	"slices"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// AWN-236 to AWN-240, AWN-363: what goes into the name and what does not.
func TestWhatChangesTheName(t *testing.T) {
	spec := func(change func(*awsv1.EC2NodeClassSpec)) func(*Request) {
		return class(func(c *awsv1.EC2NodeClass) { change(&c.Spec) })
	}
	status := func(change func(*awsv1.EC2NodeClassStatus)) func(*Request) {
		return class(func(c *awsv1.EC2NodeClass) { change(&c.Status) })
	}
	cluster := func(change func(*Cluster)) func(*Request) { return func(r *Request) { change(&r.Cluster) } }
	base := func(r *Request) { everything(r.NodeClass) }
	first := one(t, demo(base)).Name
	if !regexp.MustCompile(`^karpenter\.k8s\.aws/[0-9]{1,20}$`).MatchString(first) {
		t.Errorf("name is %s", first)
	}
	for _, tc := range []struct {
		name    string
		change  func(*Request)
		changes bool
	}{
		{"cluster name", cluster(func(c *Cluster) { c.Name = "other" }), true},
		{"endpoint", cluster(func(c *Cluster) { c.Endpoint = "https://other" }), true},
		{"service range", cluster(func(c *Cluster) { c.ServiceCIDR = "10.100.0.0/16" }), true},
		{"DNS", cluster(func(c *Cluster) { c.DNS = "172.20.0.11" }), true},
		{"CA", cluster(func(c *Cluster) { c.CABundle = "QUJDRQ==" }), true},
		{"IP family", cluster(func(c *Cluster) { c.IPFamily = IPv6 }), true},
		{"tags of the cluster", cluster(func(c *Cluster) { c.Tags = map[string]string{"a": "b"} }), true},
		{"reservations ignored", cluster(func(c *Cluster) { c.IgnoreReservations = true }), true},
		{"profile", status(func(s *awsv1.EC2NodeClassStatus) { s.InstanceProfile = "demo_2" }), true},
		{"store policy", spec(func(s *awsv1.EC2NodeClassSpec) { s.InstanceStorePolicy = ptr(awsv1.InstanceStorePolicyRAID0) }), true},
		{"security groups", status(func(s *awsv1.EC2NodeClassStatus) { s.SecurityGroups = s.SecurityGroups[:1] }), true},
		{"tags", spec(func(s *awsv1.EC2NodeClassSpec) { s.Tags = map[string]string{"team": "green"} }), true},
		{"public address", spec(func(s *awsv1.EC2NodeClassSpec) { s.AssociatePublicIPAddress = nil }), true},
		{"prefix count", spec(func(s *awsv1.EC2NodeClassSpec) { s.IPPrefixCount = ptr(int32(3)) }), true},
		{"class name", class(func(c *awsv1.EC2NodeClass) { c.Name = "other" }), true},
		{"pool", func(r *Request) { r.NodeClaim.Labels["karpenter.sh/nodepool"] = "green" }, true}, // AWN-239
		{"kubelet", spec(func(s *awsv1.EC2NodeClassSpec) {
			s.Kubelet = &awsv1.KubeletConfiguration{PodsPerCore: ptr(int32(3))}
		}), true},
		{"pod limit", spec(func(s *awsv1.EC2NodeClassSpec) {
			s.Kubelet = &awsv1.KubeletConfiguration{MaxPods: ptr(intstr.FromInt32(28))}
		}), true},
		{"taints", func(r *Request) { r.NodeClaim.Spec.Taints = nil }, true},
		{"startup taints", func(r *Request) {
			r.NodeClaim.Spec.StartupTaints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoExecute}}
		}, true},
		{"labels", func(r *Request) { r.NodeClaim.Labels["a"] = "b" }, true},
		{"user data", spec(func(s *awsv1.EC2NodeClassSpec) { s.UserData = ptr("ls") }), true},
		{"volumes", spec(func(s *awsv1.EC2NodeClassSpec) { s.BlockDeviceMappings[0].EBS.IOPS = ptr(int64(3001)) }), true},
		{"metadata options", spec(func(s *awsv1.EC2NodeClassSpec) { s.MetadataOptions.HTTPTokens = ptr(awsv1.HTTPTokensOptional) }), true},
		{"CPU options", spec(func(s *awsv1.EC2NodeClassSpec) { s.CPUOptions = nil }), true},
		{"image", status(func(s *awsv1.EC2NodeClassStatus) { s.AMIs[1].ID = "ami-other" }), true},
		{"monitoring", spec(func(s *awsv1.EC2NodeClassSpec) { s.DetailedMonitoring = nil }), true},
		{"enclaves", requests(ResourceNitroSandbox), true},
		{"enclaves by their older name", requests(ResourceNIPSlots), true},
		{"interfaces", spec(func(s *awsv1.EC2NodeClassSpec) { s.NetworkInterfaces = s.NetworkInterfaces[:1] }), true},
		{"capacity type", capacityType("on-demand"), true},
		{"tenancy", asks(awsv1.LabelInstanceTenancy, "dedicated"), true},
		{"placement group", func(r *Request) { r.PlacementGroupID = "pg-1" }, true},
		{"connection tracking", spec(func(s *awsv1.EC2NodeClassSpec) { s.ConnectionTracking.UDPTimeout = ptr(int32(31)) }), true},
		{"extension", func(r *Request) {
			r.Extend = func(d *ec2types.RequestLaunchTemplateData) { d.KeyName = ptr("mine") }
		}, true},

		{"instance types", types(instanceType("m6i.large", "amd64", 29)), false}, // AWN-238
		{"order of instance types", func(r *Request) { slices.Reverse(r.InstanceTypes) }, false},
		{"order of security groups", status(func(s *awsv1.EC2NodeClassStatus) { slices.Reverse(s.SecurityGroups) }), false},
		{"order of volumes", spec(func(s *awsv1.EC2NodeClassSpec) { slices.Reverse(s.BlockDeviceMappings) }), false},
		{"order of interfaces", spec(func(s *awsv1.EC2NodeClassSpec) { slices.Reverse(s.NetworkInterfaces) }), false},
		{"image terms", spec(func(s *awsv1.EC2NodeClassSpec) { s.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@v1"}} }), false},
		{"another image", status(func(s *awsv1.EC2NodeClassStatus) { s.AMIs = append(s.AMIs, ami("ami-x", "x")) }), false},
		{"zones", asks(corev1.LabelTopologyZone, "us-east-1a"), false},
		{"the claim's name", func(r *Request) { r.NodeClaim.Name = "blue-2" }, false},
		{"what the claim's pods need", requests(corev1.ResourceCPU), false},
		{"defaults written out", spec(func(s *awsv1.EC2NodeClassSpec) { s.MetadataOptions.HTTPEndpoint = ptr(awsv1.Enabled) }), false},
		{"a size in another form", spec(func(s *awsv1.EC2NodeClassSpec) {
			quantity := resource.MustParse("94Gi")
			s.BlockDeviceMappings[0].EBS.VolumeSize = &quantity
		}), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if changes := one(t, demo(base, tc.change)).Name != first; changes != tc.changes {
				t.Errorf("changes the name: %v, want %v", changes, tc.changes)
			}
		})
	}
}

// AWN-237: a pod limit, an EFA count and each member of a reservation give another name.
func TestReservationsAndTypesChangeTheName(t *testing.T) {
	names := map[string]string{}
	for name, template := range map[string]Template{
		"29 pods":            one(t, demo()),
		"58 pods":            one(t, demo(types(instanceType("m5.xlarge", "amd64", 58)))),
		"2 EFAs":             one(t, demo(requests(ResourceEFA), types(instanceType("x", "amd64", 29, efas(2))))),
		"1 EFA":              one(t, demo(requests(ResourceEFA), types(instanceType("x", "amd64", 29, efas(1))))),
		"cr-1":               one(t, demo(capacityType("reserved"), types(instanceType("x", "amd64", 29, reserved("cr-1", "default", false, 1))))),
		"cr-2":               one(t, demo(capacityType("reserved"), types(instanceType("x", "amd64", 29, reserved("cr-2", "default", false, 1))))),
		"cr-1 block":         one(t, demo(capacityType("reserved"), types(instanceType("x", "amd64", 29, reserved("cr-1", "capacity-block", false, 1))))),
		"cr-1 interruptible": one(t, demo(capacityType("reserved"), types(instanceType("x", "amd64", 29, reserved("cr-1", "default", true, 1))))),
		"partition 1":        one(t, demo(func(r *Request) { r.PlacementGroupID = "pg-1" }, asks(awsv1.LabelPlacementGroupPartition, "1"))),
		"partition 2":        one(t, demo(func(r *Request) { r.PlacementGroupID = "pg-1" }, asks(awsv1.LabelPlacementGroupPartition, "2"))),
	} {
		if other, ok := names[template.Name]; ok {
			t.Errorf("%s and %s have the name %s", name, other, template.Name)
		}
		names[template.Name] = name
	}
}

// AWN-240: addresses that differ in the order of their digits alone are not the same.
func TestPermutedAddressesDiffer(t *testing.T) {
	at := func(dns string) string { return one(t, demo(func(r *Request) { r.Cluster.DNS = dns })).Name }
	if at("10.0.1.100") == at("10.0.100.1") {
		t.Error("10.0.1.100 and 10.0.100.1 have one name")
	}
}
