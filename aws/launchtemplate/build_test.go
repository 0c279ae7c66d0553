package launchtemplate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate/userdata"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/seeded"
)

// serves lists what each template serves, as "image pods efas reservation: types".
func serves(result Result) []string {
	var list []string
	for _, t := range result.Templates {
		reservation := "-"
		if t.Reservation != nil {
			reservation = t.Reservation.ID
		}
		list = append(list, fmt.Sprintf("%s %d %d %s: %s", t.ImageID, t.MaxPods, t.EFAs, reservation, strings.Join(t.InstanceTypes, " ")))
	}
	return list
}

// AWN-135, AWN-232 to AWN-235, AWN-363: types are grouped by image, pod limit, EFA count and reservation, and by nothing
// that would make no difference.
func TestGrouping(t *testing.T) {
	m5, c5, xl := instanceType("m5.large", "amd64", 29), instanceType("c5.large", "amd64", 29), instanceType("m5.xlarge", "amd64", 58)
	arm := instanceType("m6g.large", "arm64", 29)
	gpu := instanceType("g5.xlarge", "amd64", 58, gpus("1"))
	efa := instanceType("p4d.24xlarge", "amd64", 58, gpus("8"), efas(4))
	maxPods := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: ptr(intstr.FromInt32(20))}
	})
	dranet := instanceType("p4d.24xlarge", "amd64", 58, gpus("8"))
	dranet.Devices = []cloudprovider.DevicePool{{Driver: "gpu.nvidia.com", Devices: []resourcev1.Device{{Name: "gpu-0"}}}, {Driver: "dra.net", Devices: []resourcev1.Device{
		{Name: "efa-0", Attributes: efaAttributes()}, {Name: "efa-1", Attributes: efaAttributes()}, {Name: "ens5"},
	}}}
	twice := instanceType("p5.48xlarge", "amd64", 100, gpus("8"), reserved("cr-2", "default", false, 1), reserved("cr-1", "default", false, 3),
		reserved("cr-full", "default", false, 0))
	shares := instanceType("p5.4xlarge", "amd64", 100, gpus("1"), reserved("cr-1", "default", false, 1))
	for _, tc := range []struct {
		name    string
		request Request
		want    []string
	}{
		{"one group", demo(types(m5, c5)), []string{"ami-amd64 29 0 -: c5.large m5.large"}},
		{"a type twice", demo(types(m5, m5)), []string{"ami-amd64 29 0 -: m5.large"}},
		{"pod limits", demo(types(xl, m5, c5)), []string{"ami-amd64 29 0 -: c5.large m5.large", "ami-amd64 58 0 -: m5.xlarge"}},
		{"a literal limit is one limit", demo(types(xl, m5, c5), maxPods), []string{"ami-amd64 20 0 -: c5.large m5.large m5.xlarge"}},
		{"images", demo(types(m5, arm, gpu)), []string{"ami-amd64 29 0 -: m5.large", "ami-arm64 29 0 -: m6g.large", "ami-gpu 58 0 -: g5.xlarge"}},
		{"EFA that nobody asks for", demo(types(gpu, efa)), []string{"ami-gpu 58 0 -: g5.xlarge p4d.24xlarge"}},
		{"EFA", demo(types(gpu, efa), requests(ResourceEFA)), []string{"ami-gpu 58 0 -: g5.xlarge", "ami-gpu 58 4 -: p4d.24xlarge"}},
		{"EFA of a driver", demo(types(gpu, dranet), drivers("dra.net,gpu.nvidia.com")), []string{"ami-gpu 58 0 -: g5.xlarge", "ami-gpu 58 2 -: p4d.24xlarge"}},
		{"EFA of a driver that nobody asks for", demo(types(gpu, dranet), drivers("gpu.nvidia.com")), []string{"ami-gpu 58 0 -: g5.xlarge p4d.24xlarge"}},
		{"the class lists interfaces", demo(types(gpu, efa), requests(ResourceEFA), class(func(c *awsv1.EC2NodeClass) {
			c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}}
		})), []string{"ami-gpu 58 0 -: g5.xlarge p4d.24xlarge"}},
		{"Custom is told no limit", demo(types(m5, xl), class(family(awsv1.AMIFamilyCustom, ""))), []string{"ami-own 0 0 -: m5.large m5.xlarge"}},
		{"one image for two requirements, AWN-122", demo(types(m5, arm), class(func(c *awsv1.EC2NodeClass) {
			c.Status.AMIs[1].ID, c.Status.AMIs[2].ID = "ami-both", "ami-both"
		})), []string{"ami-both 29 0 -: m5.large m6g.large"}},
		{"reservations", demo(types(twice, shares, m5), capacityType(v1.CapacityTypeReserved)),
			[]string{"ami-gpu 100 0 cr-1: p5.48xlarge p5.4xlarge", "ami-gpu 100 0 cr-2: p5.48xlarge"}},
		{"reservations that the claim allows", demo(types(twice, shares), capacityType(v1.CapacityTypeReserved), asks(awsv1.LabelCapacityReservationID, "cr-2")),
			[]string{"ami-gpu 100 0 cr-2: p5.48xlarge"}},
		{"no reservation but for reserved launches", demo(types(twice, shares)), []string{"ami-gpu 100 0 -: p5.48xlarge p5.4xlarge"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, serves(mustBuild(t, tc.request))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// AWN-135: types without an image are dropped and named; if none is left the error names the images.
func TestTypesWithoutImage(t *testing.T) {
	arm, mac := instanceType("m6g.large", "arm64", 29), instanceType("mac", "x86_64_mac", 29)
	noArm := class(func(c *awsv1.EC2NodeClass) { c.Status.AMIs = c.Status.AMIs[:2] })
	result := mustBuild(t, demo(types(mac, arm, instanceType("m5.large", "amd64", 29)), noArm))
	var names []string
	for _, u := range result.Unserved {
		names = append(names, u.InstanceType)
		if !strings.Contains(u.Reason, "no image") {
			t.Errorf("%s: %s", u.InstanceType, u.Reason)
		}
	}
	if !slices.Equal(names, []string{"m6g.large", "mac"}) || len(result.Templates) != 1 {
		t.Errorf("unserved %v, templates %v", names, result.Templates)
	}
	_, err := Build(demo(types(mac, arm), noArm))
	var none *NoImageError
	var create *cloudprovider.CreateError
	if !errors.As(err, &none) || !errors.As(err, &create) || create.Reason != ReasonNoImage || !slices.Equal(none.Images, []string{"ami-gpu", "ami-amd64"}) {
		t.Errorf("error is %v", err)
	}
}

// AWN-235: a reserved launch never becomes another one because its reservation is full.
func TestReservedLaunchWithoutReservation(t *testing.T) {
	full := instanceType("p5.48xlarge", "amd64", 100, gpus("8"), reserved("cr-1", "default", false, 0))
	if _, err := Build(demo(types(full), capacityType(v1.CapacityTypeReserved))); !errors.Is(err, cloudprovider.InsufficientCapacity) {
		t.Errorf("error is %v", err)
	}
	nameless := instanceType("p5.48xlarge", "amd64", 100, reserved("", "default", false, 1))
	nameless.Offerings[2].Requirements = nameless.Offerings[2].Requirements.Without(awsv1.LabelCapacityReservationID)
	if _, err := Build(demo(types(nameless), capacityType(v1.CapacityTypeReserved))); err == nil || !strings.Contains(err.Error(), "capacity-reservation-id") {
		t.Errorf("error is %v", err)
	}
}

// AWN-255, AWN-256: how reservations are used, with the gate and without.
func TestReservationUse(t *testing.T) {
	for _, tc := range []struct {
		name       string
		kind       awsv1.CapacityReservationType
		interrupts bool
		ignore     bool
		preference string
		market     string
	}{
		{"default", "default", false, false, "capacity-reservations-only", ""},
		{"interruptible", "default", true, false, "capacity-reservations-only", "interruptible-capacity-reservation"},
		{"block", "capacity-block", true, false, "capacity-reservations-only", "capacity-block"},
		{"gate off", "capacity-block", false, true, "", ""},
	} {
		d := one(t, demo(types(instanceType("p5.48xlarge", "amd64", 1, reserved("cr-1", tc.kind, tc.interrupts, 1))), capacityType(v1.CapacityTypeReserved),
			func(r *Request) { r.Cluster.IgnoreReservations = tc.ignore })).Data
		var preference, market string
		if s := d.CapacityReservationSpecification; s != nil {
			preference = string(s.CapacityReservationPreference)
			if *s.CapacityReservationTarget.CapacityReservationId != "cr-1" {
				t.Errorf("%s: target %v", tc.name, s.CapacityReservationTarget)
			}
		}
		if o := d.InstanceMarketOptions; o != nil {
			market = string(o.MarketType)
		}
		if preference != tc.preference || market != tc.market {
			t.Errorf("%s: %q and %q, want %q and %q", tc.name, preference, market, tc.preference, tc.market)
		}
	}
}

// AWN-177: the order of taints, and the one that is added only if it isn't there.
func TestTaints(t *testing.T) {
	taint := func(key string, effect corev1.TaintEffect) corev1.Taint {
		return corev1.Taint{Key: key, Effect: effect}
	}
	for _, tc := range []struct {
		taints, startup []corev1.Taint
		want            string
	}{
		{nil, nil, "karpenter.sh/unregistered:NoExecute"},
		{[]corev1.Taint{taint("z", "NoSchedule")}, []corev1.Taint{taint("a", "NoExecute")}, "z:NoSchedule a:NoExecute karpenter.sh/unregistered:NoExecute"},
		{[]corev1.Taint{{Key: "karpenter.sh/unregistered", Value: "x", Effect: "NoExecute"}}, []corev1.Taint{taint("a", "NoExecute")}, "karpenter.sh/unregistered:NoExecute a:NoExecute"},
		{nil, []corev1.Taint{taint("karpenter.sh/unregistered", "NoSchedule")}, "karpenter.sh/unregistered:NoSchedule karpenter.sh/unregistered:NoExecute"},
	} {
		p, err := prepare(demo(func(r *Request) { r.NodeClaim.Spec.Taints, r.NodeClaim.Spec.StartupTaints = tc.taints, tc.startup }))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, taint := range p.taints() {
			got = append(got, taint.Key+":"+string(taint.Effect))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%v, want %s", got, tc.want)
		}
	}
}

// AWN-178, AWN-229: the labels that are added.
func TestLabels(t *testing.T) {
	for f, want := range map[awsv1.AMIFamily]bool{
		awsv1.AMIFamilyAL2: true, awsv1.AMIFamilyAL2023: true, awsv1.AMIFamilyBottlerocket: true, awsv1.AMIFamilyWindows2025: true, awsv1.AMIFamilyCustom: false,
	} {
		request := demo(class(family(f, "")))
		request.NodeClaim.Labels[v1.CapacityTypeLabelKey] = "on-demand"
		p, err := prepare(request)
		if err != nil {
			t.Fatal(err)
		}
		labels := p.labels()
		if labels[v1.CapacityTypeLabelKey] != "spot" || (labels[v1.NodeDoNotSyncTaintsLabelKey] == "true") != want || labels["team"] != "infra" {
			t.Errorf("%s: %v", f, labels)
		}
		if request.NodeClaim.Labels[v1.CapacityTypeLabelKey] != "on-demand" {
			t.Error("the claim was changed")
		}
	}
}

// AWN-257, AWN-259, API-419: whose tags win, and what is tagged.
func TestTags(t *testing.T) {
	template := one(t, demo(class(func(c *awsv1.EC2NodeClass) {
		c.Spec.Tags = map[string]string{"team": "class", "karpenter.sh/nodepool": "mine"}
	}), func(r *Request) { r.Cluster.Tags = map[string]string{"team": "cluster", "creator": "cluster"} }))
	want := map[string]string{
		"team": "class", "creator": "cluster", "karpenter.sh/nodepool": "blue", "kubernetes.io/cluster/demo": "owned",
		"eks:eks-cluster-name": "demo", "karpenter.k8s.aws/ec2nodeclass": "std",
	}
	if diff := cmp.Diff(want, tagMap(template)); diff != "" {
		t.Error(diff)
	}
	if got := template.TagSpecifications(); len(got) != 1 || got[0].ResourceType != "launch-template" || len(got[0].Tags) != len(want) {
		t.Errorf("specifications are %v", got)
	}
	for capacity, resources := range map[string][]string{"spot": {"network-interface", "spot-instances-request"}, "on-demand": {"network-interface"}} {
		var got []string
		for _, s := range one(t, demo(capacityType(capacity))).Data.TagSpecifications {
			got = append(got, string(s.ResourceType))
		}
		if !slices.Equal(got, resources) {
			t.Errorf("%s: %v", capacity, got)
		}
	}
	if got := tagMap(one(t, demo(func(r *Request) { r.NodeClaim = nil })))["karpenter.sh/nodepool"]; got != "" {
		t.Errorf("without a claim the pool is %q", got) // AWN-162
	}
}

// AWN-138: where the version of Bottlerocket comes from.
func TestBottlerocketVersion(t *testing.T) {
	for _, tc := range []struct {
		name, alias, own, term, other, want string
	}{
		{"alias", "bottlerocket@1.10.0", "bottlerocket-v1.2.3", "", "", "1.10.0"},
		{"alias latest", "bottlerocket@latest", "bottlerocket-v1.2.3", "", "", "latest"},
		{"own name", "", "bottlerocket-aws-k8s-1.33-x86_64-v1.45.0-abc", "bottlerocket-*-v1.46.0-*", "", "v1.45.0"},
		{"term", "", "mine", "x-v1.46.0-*", "", "v1.46.0"},
		{"another image", "", "mine", "", "bottlerocket-x-v1.44.0-y", "v1.44.0"},
		{"another image of another kind", "", "mine", "", "al2-v1.44.0-y", ""},
		{"no dot", "", "mine-v1", "", "", ""},
	} {
		c := demoClass(family(awsv1.AMIFamilyBottlerocket, tc.own))
		c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: tc.alias, Name: tc.term}}
		c.Status.AMIs = append(c.Status.AMIs, ami("ami-2", tc.other))
		if got := bottlerocketVersion(c, &image{AMI: c.Status.AMIs[0]}); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// AWN-056, AWN-064, AWN-069, AWN-233: expressions become what the type was planned with, and set types apart.
func TestExpressionsAreThoseOfTheScheduler(t *testing.T) {
	planned := func(memory string) func(*cloudprovider.InstanceType) {
		return func(t *cloudprovider.InstanceType) {
			t.Overhead.KubeReserved = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourceCPU: resource.MustParse("80m")}
		}
	}
	kubelet := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.Kubelet = &awsv1.KubeletConfiguration{
			MaxPods:      ptr(intstr.FromString("vcpus * 10")),
			KubeReserved: map[string]string{"memory": "max_pods * 11", "cpu": "0.1"},
		}
	})
	result := mustBuild(t, demo(types(instanceType("a", "amd64", 20, planned("640Mi")), instanceType("b", "amd64", 20, planned("640Mi")), instanceType("c", "amd64", 20, planned("1Gi"))), kubelet))
	if diff := cmp.Diff([]string{"ami-amd64 20 0 -: c", "ami-amd64 20 0 -: a b"}, serves(result)); diff != "" {
		t.Error(diff)
	}
	if text := result.Templates[1].UserData.Text; !strings.Contains(text, "kubeReserved:\n        cpu: \"0.1\"\n        memory: 640Mi\n      maxPods: 20\n") {
		t.Errorf("user data is %s", text)
	}
	if _, err := Build(demo(types(instanceType("a", "amd64", 20)), kubelet)); err == nil || !strings.Contains(err.Error(), "spec.kubelet.kubeReserved[memory]") {
		t.Errorf("error is %v", err)
	}
}

// AWN-180, AWN-250 to AWN-253, AWN-344, AWN-345: which IP family a cluster has.
func TestIPFamily(t *testing.T) {
	for _, tc := range []struct {
		name    string
		cluster Cluster
		own     []string
		want    bool
	}{
		{"nothing known", Cluster{}, nil, false},
		{"said", Cluster{IPFamily: IPv6, DNS: "10.0.0.10"}, nil, true},
		{"said otherwise", Cluster{IPFamily: IPv4, DNS: "fd00::a"}, nil, false},
		{"by DNS", Cluster{DNS: "fd00::a", ServiceCIDR: "10.0.0.0/16"}, nil, true},
		{"by range", Cluster{ServiceCIDR: "fd00::/108"}, []string{"10.0.0.10"}, true},
		{"by the class", Cluster{}, []string{"fd00::a"}, true},
		{"not an address", Cluster{DNS: "x", ServiceCIDR: "y"}, []string{"z"}, false},
	} {
		if got, err := tc.cluster.ipv6(tc.own); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v", tc.name, got, err)
		}
	}
	if _, err := (&Cluster{IPFamily: "IPv5"}).ipv6(nil); err == nil {
		t.Error("IPv5 is taken")
	}
}

// AWN-103, AWN-250 to AWN-253, AWN-363: all three kinds of interfaces on IPv4 and IPv6, each with all groups.
func TestNetworkInterfaces(t *testing.T) {
	full := func(c *awsv1.EC2NodeClass) {
		c.Spec.IPPrefixCount, c.Spec.AssociatePublicIPAddress = ptr(int32(2)), ptr(false)
		c.Spec.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: ptr(int32(30))}
	}
	listed := func(c *awsv1.EC2NodeClass) {
		c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly}}
	}
	for _, family := range []IPFamily{IPv4, IPv6} {
		for kind, changes := range map[string][]func(*Request){
			"listed": {class(full, listed)},
			"efa":    {class(full), requests(ResourceEFA), types(instanceType("p4d.24xlarge", "amd64", 1, efas(2)))},
			"single": {class(full)},
		} {
			request := demo(append(changes, func(r *Request) { r.Cluster.IPFamily = family })...)
			for i, n := range one(t, request).Data.NetworkInterfaces {
				name := fmt.Sprintf("%s %s %d", family, kind, i)
				if !slices.Equal(n.Groups, []string{"sg-a", "sg-b"}) || n.SubnetId != nil || n.DeviceIndex == nil {
					t.Errorf("%s: %+v", name, n)
				}
				bare := kind == "listed" && i == 1
				ip := n.AssociatePublicIpAddress != nil && n.ConnectionTrackingSpecification != nil
				v4, v6 := n.Ipv4PrefixCount != nil, n.Ipv6PrefixCount != nil && n.Ipv6AddressCount != nil && *n.PrimaryIpv6
				switch {
				case bare && (ip || v4 || v6):
					t.Errorf("%s: an efa-only interface has addresses: %+v", name, n)
				case !bare && (!ip || v4 != (family == IPv4) || v6 != (family == IPv6)):
					t.Errorf("%s: %+v", name, n)
				}
				if (n.InterfaceType == nil) != (kind == "single") || (n.NetworkCardIndex == nil) != (kind == "single") {
					t.Errorf("%s: type and card are %v, %v", name, n.InterfaceType, n.NetworkCardIndex)
				}
			}
			if d := one(t, request).Data; len(d.SecurityGroupIds)+len(d.SecurityGroups) != 0 {
				t.Errorf("%s %s: groups at the top level too", family, kind)
			}
		}
	}
}

// AWN-037, AWN-038: tags in the metadata are off, and some regions don't know the IPv6 member.
func TestMetadataIPv6ByRegion(t *testing.T) {
	for region, want := range map[string]string{"us-iso-east-1": "", "us-isof-south-1": "", "us-east-1": "disabled", "": "disabled"} {
		request := demo(func(r *Request) { r.Cluster.Region = region })
		if got := string(one(t, request).Data.MetadataOptions.HttpProtocolIpv6); got != want {
			t.Errorf("%s: %q, want %q", region, got, want)
		}
		if got := string(one(t, request).Data.MetadataOptions.InstanceMetadataTags); got != "disabled" {
			t.Errorf("%s: metadata tags %q", region, got)
		}
		if request.NodeClass.Spec.MetadataOptions != nil {
			t.Error("the class was changed")
		}
	}
}

// AWN-104, AWN-182, AWN-183, AWN-200: what keeps templates from being made, and how a caller recognizes it.
func TestErrors(t *testing.T) {
	userData := func(text string) func(*Request) {
		return class(func(c *awsv1.EC2NodeClass) { c.Spec.UserData = &text })
	}
	for _, tc := range []struct {
		name   string
		change func(*Request)
		text   string
		kind   cloudprovider.ErrorKind
	}{
		{"no class", func(r *Request) { r.NodeClass = nil }, "no node class", ""},
		{"no cluster", func(r *Request) { r.Cluster.Name = "" }, "no name", ""},
		{"no types", types(), "no instance type", ""},
		{"no capacity type", capacityType(""), "not reserved, spot or on-demand", ""},
		{"no image", class(func(c *awsv1.EC2NodeClass) { c.Status.AMIs = nil }), "status.amis", cloudprovider.NodeClassNotReady},
		{"no group", class(func(c *awsv1.EC2NodeClass) { c.Status.SecurityGroups = nil }), "status.securityGroups", cloudprovider.NodeClassNotReady},
		{"no profile", class(func(c *awsv1.EC2NodeClass) { c.Status.InstanceProfile = "" }), "status.instanceProfile", cloudprovider.NodeClassNotReady},
		{"no range", func(r *Request) { r.Cluster.ServiceCIDR = "" }, "service addresses", cloudprovider.NodeClassNotReady},
		{"a bad requirement of an image", class(func(c *awsv1.EC2NodeClass) { c.Status.AMIs[0].Requirements[0].Operator = "Is" }), "status.amis[0].requirements[0]", ""},
		{"a bad requirement of the claim", func(r *Request) {
			r.NodeClaim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "a", Operator: "Is"}}
		}, `node claim "blue-1"`, ""},
		{"a bad IP family", func(r *Request) { r.Cluster.IPFamily = "4" }, "neither IPv4 nor IPv6", ""},
		{"malformed user data", userData("MIME-Version: 1.0\n"), "line 1", cloudprovider.CreateFailed},
		{"long user data", userData(strings.Repeat("x", userdata.Limit)), "at most 16384", cloudprovider.CreateFailed},
		{"a bad endpoint", func(r *Request) { r.Cluster.Endpoint = "api" }, "endpoint", cloudprovider.CreateFailed},
		{"a volume without anything", class(func(c *awsv1.EC2NodeClass) { c.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{}} }), "spec.blockDeviceMappings[0].ebs", ""},
		{"too many operations", class(func(c *awsv1.EC2NodeClass) {
			c.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{EBS: &awsv1.BlockDevice{IOPS: ptr(int64(1) << 40)}}}
		}), "ebs.iops", ""},
		{"a partition that is none", func(r *Request) {
			r.PlacementGroupID = "pg-1"
			asks(awsv1.LabelPlacementGroupPartition, "x")(r)
		}, "a partition is a number", ""},
	} {
		_, err := Build(demo(tc.change))
		if err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: error is %v, want %q", tc.name, err, tc.text)
			continue
		}
		if got := cloudprovider.KindOf(err); tc.kind != "" && got != tc.kind {
			t.Errorf("%s: kind is %v, want %v", tc.name, got, tc.kind)
		}
	}
	var malformed *userdata.MalformedError
	var tooLarge *userdata.TooLargeError
	var create *cloudprovider.CreateError
	if _, err := Build(demo(userData("MIME-Version: 1.0\n"))); !errors.As(err, &malformed) || !errors.As(err, &create) || create.Reason != ReasonUserDataMalformed {
		t.Errorf("error is %v", err)
	}
	if _, err := Build(demo(userData(strings.Repeat("x", userdata.Limit)))); !errors.As(err, &tooLarge) || !errors.As(err, &create) || create.Reason != ReasonUserDataTooLarge {
		t.Errorf("error is %v", err)
	}
	if one(t, demo(class(func(c *awsv1.EC2NodeClass) {
		c.Status.InstanceProfile, c.Spec.Role, c.Spec.InstanceProfile = "", nil, ptr("own")
	}))).Data.IamInstanceProfile.Name == nil {
		t.Error("a class's own profile will do")
	}
}

// AWI-161: default tenancy wherever it is allowed.
func TestTenancy(t *testing.T) {
	for want, changes := range map[string][]func(*Request){
		"default":   {asks(awsv1.LabelInstanceTenancy, "dedicated", "default")},
		"dedicated": {asks(awsv1.LabelInstanceTenancy, "dedicated")},
	} {
		if got := one(t, demo(changes...)).Data.Placement.Tenancy; string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for want, placement := range map[string]awsv1.Placement{
		"dedicated//":     {Tenancy: ptr(awsv1.Tenancy(awsv1.TenancyDedicated))},
		"host/h-1/":       {HostID: ptr("h-1")},
		"host//arn:group": {HostResourceGroupARN: ptr("arn:group")},
	} {
		got := one(t, demo(class(func(c *awsv1.EC2NodeClass) { c.Spec.Placement = &placement }))).Data.Placement
		if text := string(got.Tenancy) + "/" + option.Or(got.HostId, "") + "/" + option.Or(got.HostResourceGroupArn, ""); text != want {
			t.Errorf("a class with %+v has %s, want %s", placement, text, want)
		}
	}
	if got := one(t, demo()).Data.Placement.Tenancy; got != "default" {
		t.Errorf("%s without a wish", got)
	}
}

// AWN-031 to AWN-033, AWN-046, AWN-174, AWN-175: a list replaces the family's, and Custom has none.
func TestVolumes(t *testing.T) {
	for f, want := range map[awsv1.AMIFamily]int{
		awsv1.AMIFamilyAL2: 1, awsv1.AMIFamilyAL2023: 1, awsv1.AMIFamilyBottlerocket: 2, awsv1.AMIFamilyWindows2019: 1, awsv1.AMIFamilyCustom: 0,
	} {
		volumes := one(t, demo(class(family(f, "")))).Data.BlockDeviceMappings
		if len(volumes) != want || want == 0 && volumes != nil {
			t.Errorf("%s: %d volumes", f, len(volumes))
		}
		own := one(t, demo(class(family(f, ""), everything))).Data.BlockDeviceMappings
		if len(own) != 2 || *own[0].Ebs.VolumeSize != 94 || own[1].Ebs.Iops != nil || own[1].Ebs.Throughput != nil {
			t.Errorf("%s: own volumes are %+v", f, own)
		}
	}
}

// AWN-351: equal requests give equal templates, whatever the order of what has none.
func TestBuildIsDeterministic(t *testing.T) {
	all := []*cloudprovider.InstanceType{
		instanceType("m5.large", "amd64", 29), instanceType("c5.large", "amd64", 29), instanceType("m5.xlarge", "amd64", 58),
		instanceType("m6g.large", "arm64", 29), instanceType("g5.xlarge", "amd64", 58, gpus("1")), instanceType("p4d.24xlarge", "amd64", 737, gpus("8"), efas(4)),
	}
	write := func(t interface{ Fatal(...any) }, r Request) string {
		result, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(result.Templates)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := write(t, demo(types(all...), requests(ResourceEFA), class(everything)))
	seeded.Check(t, func(t *rapid.T) {
		shuffled := rapid.Permutation(all).Draw(t, "types")
		if got := write(t, demo(types(shuffled...), requests(ResourceEFA), class(everything))); got != want {
			t.Fatal("differs by the order of instance types")
		}
	})
}

// User data may be secret: no template shows it unless it is written as JSON on purpose.
func TestTemplatesAreNotLogged(t *testing.T) {
	template := one(t, demo(class(family(awsv1.AMIFamilyCustom, ""), func(c *awsv1.EC2NodeClass) { c.Spec.UserData = ptr("secret") })))
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "template", template)
	for _, text := range []string{fmt.Sprint(template), fmt.Sprintf("%+v %#v", template, template), fmt.Sprintf("%v", []Template{template}), log.String()} {
		if strings.Contains(text, "secret") || strings.Contains(text, "c2VjcmV0") || !strings.Contains(text, template.Name) {
			t.Errorf("shows %s", text)
		}
	}
}

// AWN-135: the image of a type is the one its template would have.
func TestImageFor(t *testing.T) {
	for want, instance := range map[string]*cloudprovider.InstanceType{
		"ami-amd64": instanceType("m5.large", "amd64", 29), "ami-arm64": instanceType("m6g.large", "arm64", 29),
		"ami-gpu": instanceType("g5.xlarge", "amd64", 58, gpus("1")), "": instanceType("mac", "x86_64_mac", 29),
	} {
		if got, err := ImageFor(demoClass(), instance); err != nil || got != want {
			t.Errorf("%s boots from %q, %v; want %q", instance.Name, got, err, want)
		}
	}
	broken := demoClass(func(c *awsv1.EC2NodeClass) { c.Status.AMIs[0].Requirements[0].Operator = "Is" })
	if _, err := ImageFor(broken, instanceType("m5.large", "amd64", 29)); err == nil {
		t.Error("a requirement that can't be read is no error")
	}
}
