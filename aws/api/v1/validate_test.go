package v1

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validationCase changes a valid node class and names the one error that follows: its path and a part of its text. No
// error is expected when the path is empty.
type validationCase struct {
	name       string
	change     func(*EC2NodeClassSpec)
	path, text string
}

func (tc validationCase) run(t *testing.T, file string) {
	t.Run(tc.name, func(t *testing.T) {
		class := read(t, file)
		tc.change(&class.Spec)
		checkErrors(t, class.Validate(), tc.path, tc.text)
	})
}

func checkErrors(t *testing.T, errs field.ErrorList, wantPath, wantText string) {
	t.Helper()
	if wantPath == "" {
		if len(errs) > 0 {
			t.Errorf("refused: %v", errs.ToAggregate())
		}
		return
	}
	if len(errs) != 1 || errs[0].Field != "spec."+wantPath || !strings.Contains(errs[0].Error(), wantText) {
		t.Errorf("got %v, want one error at spec.%s saying %q", errs, wantPath, wantText)
	}
}

func manyTags(n int) map[string]string {
	tags := make(map[string]string, n)
	for i := range n {
		tags[fmt.Sprintf("tag-%02d", i)] = "*"
	}
	return tags
}

// AWN-009 to AWN-012, API-204, API-206.
func TestFamilyAndIdentityValidation(t *testing.T) {
	for _, tc := range []validationCase{
		{"without alias the family is needed", func(s *EC2NodeClassSpec) {
			s.AMIFamily, s.AMISelectorTerms, s.Kubelet = "", []AMISelectorTerm{{ID: "ami-1"}}, nil
		}, "amiFamily", "or Custom"},
		{"family of the alias", func(s *EC2NodeClassSpec) { s.AMISelectorTerms = []AMISelectorTerm{{Alias: "al2023@latest"}} }, "", ""},
		{"Custom with an alias", func(s *EC2NodeClassSpec) {
			s.AMIFamily, s.AMISelectorTerms = AMIFamilyCustom, []AMISelectorTerm{{Alias: "bottlerocket@latest"}}
		}, "", ""},
		{"another family than the alias", func(s *EC2NodeClassSpec) { s.AMISelectorTerms = []AMISelectorTerm{{Alias: "bottlerocket@latest"}} }, "amiFamily", "contradicts the alias bottlerocket@latest"},
		{"unknown family", func(s *EC2NodeClassSpec) { s.AMIFamily, s.Kubelet = "Ubuntu", nil }, "amiFamily", "Bottlerocket"},

		{"neither role nor profile", func(s *EC2NodeClassSpec) { s.Role = nil }, "role", "give role or instanceProfile"},
		{"both", func(s *EC2NodeClassSpec) { s.InstanceProfile = ptr("p") }, "instanceProfile", "give one of role and instanceProfile"},
		{"profile alone", func(s *EC2NodeClassSpec) { s.Role, s.InstanceProfile = nil, ptr("p") }, "", ""},
		{"empty role", func(s *EC2NodeClassSpec) { s.Role = ptr("") }, "role", "must not be empty"},
		{"empty profile", func(s *EC2NodeClassSpec) { s.Role, s.InstanceProfile = nil, ptr("") }, "instanceProfile", "must not be empty"},
		{"API-384 the placeholder role passes", func(s *EC2NodeClassSpec) { s.Role = ptr("$KARPENTER_NODE_ROLE") }, "", ""},

		{"store policy", func(s *EC2NodeClassSpec) { s.InstanceStorePolicy = ptr(InstanceStorePolicy("RAID1")) }, "instanceStorePolicy", "RAID0"},
	} {
		tc.run(t, "full.yaml")
	}
}

// AWN-090, AWN-260, API-207.
func TestTagValidation(t *testing.T) {
	for _, key := range []string{
		"kubernetes.io/cluster/example", "kubernetes.io/cluster", "eks:eks-cluster-name", "karpenter.sh/nodepool",
		"karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass",
	} {
		validationCase{key, func(s *EC2NodeClassSpec) { s.Tags = map[string]string{key: "x"} }, "tags[" + key + "]", "remove it"}.run(t, "full.yaml")
	}
	for _, tc := range []validationCase{
		{"empty key", func(s *EC2NodeClassSpec) { s.Tags = map[string]string{"": "x"} }, "tags", "key must not be empty"},
		{"Name, and an empty value", func(s *EC2NodeClassSpec) { s.Tags = map[string]string{"Name": "x", "a": ""} }, "", ""},
		{"managed-by, which v1 no longer reserves", func(s *EC2NodeClassSpec) { s.Tags = map[string]string{"karpenter.sh/managed-by": "x"} }, "", ""},
	} {
		tc.run(t, "full.yaml")
	}
}

// AWN-016 to AWN-027, AWN-354, AWN-359, API-200 to API-203.
func TestSelectorValidation(t *testing.T) {
	const subnets, groups, images, reservations = "subnetSelectorTerms", "securityGroupSelectorTerms", "amiSelectorTerms", "capacityReservationSelectorTerms"
	subnet := func(terms ...SubnetSelectorTerm) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.SubnetSelectorTerms = terms }
	}
	group := func(terms ...SecurityGroupSelectorTerm) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.SecurityGroupSelectorTerms = terms }
	}
	image := func(terms ...AMISelectorTerm) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.AMISelectorTerms = terms }
	}
	reservation := func(terms ...CapacityReservationSelectorTerm) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.CapacityReservationSelectorTerms = terms }
	}
	placement := func(selector PlacementGroupSelector) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.PlacementGroupSelector = &selector }
	}
	tags := map[string]string{"a": "b"}
	for _, tc := range []validationCase{
		{"AWN-018 none", subnet(), subnets, "at least one term"},
		{"AWN-018 30", subnet(slices.Repeat([]SubnetSelectorTerm{{Tags: tags}}, 30)...), "", ""},
		{"AWN-018 31", subnet(slices.Repeat([]SubnetSelectorTerm{{Tags: tags}}, 31)...), subnets, "remove 1"},
		{"AWN-018 empty term", subnet(SubnetSelectorTerm{}), subnets + "[0]", "give tags or id"},
		{"AWN-018 empty tags select nothing", subnet(SubnetSelectorTerm{Tags: map[string]string{}}), subnets + "[0]", "give tags or id"},
		{"AWN-018 id and tags", subnet(SubnetSelectorTerm{ID: "subnet-1", Tags: tags}), subnets + "[0].id", "can't be combined with tags"},
		{"AWN-024 a bad term among good ones", subnet(SubnetSelectorTerm{Tags: tags}, SubnetSelectorTerm{ID: "subnet-1", Tags: tags}), subnets + "[1].id", "can't be combined"},
		{"AWN-018 id that is none", subnet(SubnetSelectorTerm{ID: "sg-1"}), subnets + "[0].id", "write it like subnet-"},
		{"AWN-017 20 tags", subnet(SubnetSelectorTerm{Tags: manyTags(20)}), "", ""},
		{"AWN-017 21 tags", subnet(SubnetSelectorTerm{Tags: manyTags(21)}), subnets + "[0].tags", "remove 1"},
		{"AWN-017 empty value", subnet(SubnetSelectorTerm{Tags: map[string]string{"a": ""}}), subnets + "[0].tags[a]", "write * for any value"},
		{"AWN-017 empty key", subnet(SubnetSelectorTerm{Tags: map[string]string{"": "a"}}), subnets + "[0].tags", "key must not be empty"},

		{"AWN-019 none", group(), groups, "at least one term"},
		{"AWN-019 31", group(slices.Repeat([]SecurityGroupSelectorTerm{{Tags: tags}}, 31)...), groups, "remove 1"},
		{"AWN-019 empty term", group(SecurityGroupSelectorTerm{}), groups + "[0]", "give tags or id or name"},
		{"AWN-019 name", group(SecurityGroupSelectorTerm{Name: "my-*"}), "", ""},
		{"AWN-019 name and tags", group(SecurityGroupSelectorTerm{Name: "n", Tags: tags}), groups + "[0].name", "can't be combined with tags"},
		{"AWN-019 id and name", group(SecurityGroupSelectorTerm{ID: "sg-1", Name: "n"}), groups + "[0].id", "can't be combined with name"},
		{"AWN-024 a bad group among good ones", group(SecurityGroupSelectorTerm{ID: "sg-1"}, SecurityGroupSelectorTerm{ID: "sg-1", Tags: tags}), groups + "[1].id", "can't be combined"},
		{"AWN-019 id that is none", group(SecurityGroupSelectorTerm{ID: "subnet-1"}), groups + "[0].id", "write it like sg-"},

		{"AWN-020 none is fine", reservation(), "", ""},
		{"AWN-020 31", reservation(slices.Repeat([]CapacityReservationSelectorTerm{{Tags: tags}}, 31)...), reservations, "remove 1"},
		{"AWN-020 owner alone", reservation(CapacityReservationSelectorTerm{OwnerID: "123456789012"}), reservations + "[0]", "give tags or id or instanceMatchCriteria"},
		{"AWN-020 criteria alone", reservation(CapacityReservationSelectorTerm{InstanceMatchCriteria: "open"}), "", ""},
		{"AWN-020 unknown criteria", reservation(CapacityReservationSelectorTerm{InstanceMatchCriteria: "closed"}), reservations + "[0].instanceMatchCriteria", "targeted"},
		{"AWN-020 id and owner", reservation(CapacityReservationSelectorTerm{ID: "cr-1", OwnerID: "123456789012"}), reservations + "[0].id", "can't be combined with ownerID"},
		{"AWN-020 id with something before it", reservation(CapacityReservationSelectorTerm{ID: "xcr-1"}), reservations + "[0].id", "write it like cr-"},
		{"AWN-020 owner with 11 digits", reservation(CapacityReservationSelectorTerm{Tags: tags, OwnerID: "12345678901"}), reservations + "[0].ownerID", "12 digits"},
		{"AWN-024 a bad reservation among good ones", reservation(CapacityReservationSelectorTerm{Tags: tags}, CapacityReservationSelectorTerm{ID: "cr-1", Tags: tags}), reservations + "[1].id", "can't be combined"},

		{"AWN-021 none", image(), images, "at least one term"},
		{"AWN-021 31", image(slices.Repeat([]AMISelectorTerm{{Tags: tags}}, 31)...), images, "remove 1"},
		{"AWN-021 owner alone", image(AMISelectorTerm{Owner: "self"}), images + "[0]", "give alias or tags or id or name or ssmParameter"},
		{"AWN-021 name, owner and tags", image(AMISelectorTerm{Name: "a*", Owner: "amazon", Tags: tags}), "", ""},
		{"AWN-022 id and owner", image(AMISelectorTerm{ID: "ami-1", Owner: "self"}), images + "[0].id", "can't be combined with owner"},
		{"AWN-022 alias and name", image(AMISelectorTerm{Alias: "al2023@latest", Name: "n"}), images + "[0].alias", "can't be combined with name"},
		{"AWN-022 alias and another term", image(AMISelectorTerm{Alias: "al2023@latest"}, AMISelectorTerm{ID: "ami-1"}), images + "[0].alias", "stands alone"},
		{"AWN-023 id and parameter", image(AMISelectorTerm{ID: "ami-1", SSMParameter: "/p"}), images + "[0].id", "can't be combined with ssmParameter"},
		{"AWN-023 alias and parameter", image(AMISelectorTerm{Alias: "al2023@latest", SSMParameter: "/p"}), images + "[0].alias", "can't be combined with ssmParameter"},
		{"AWN-021 id that is none", image(AMISelectorTerm{ID: "image-1"}), images + "[0].id", "write it like ami-"},
		{"AWN-013 two @", image(AMISelectorTerm{Alias: "al2023@v1@x"}), images + "[0].alias", "is not family@version"},
		{"AWN-021 30 characters", image(AMISelectorTerm{Alias: "al2023@v" + strings.Repeat("1", 22)}), "", ""},
		{"AWN-021 31 characters", image(AMISelectorTerm{Alias: "al2023@v" + strings.Repeat("1", 23)}), images + "[0].alias", "has 31 characters"},

		{"AWN-027 by id", placement(PlacementGroupSelector{ID: ptr("pg-1")}), "", ""},
		{"AWN-027 neither", placement(PlacementGroupSelector{}), "placementGroupSelector", "one of name and id"},
		{"AWN-027 both", placement(PlacementGroupSelector{Name: ptr("n"), ID: ptr("pg-1")}), "placementGroupSelector", "one of name and id"},
		{"AWN-027 empty name", placement(PlacementGroupSelector{Name: ptr("")}), "placementGroupSelector.name", "must not be empty"},
		{"AWN-027 id that is none", placement(PlacementGroupSelector{ID: ptr("x-pg-1")}), "placementGroupSelector.id", "write it like pg-"},
	} {
		tc.run(t, "full.yaml")
	}
}

// AWN-028 to AWN-034, AWN-354, API-055 to API-067.
func TestBlockDeviceValidation(t *testing.T) {
	ebs := func(change func(*BlockDevice)) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { change(s.BlockDeviceMappings[0].EBS) }
	}
	size := func(text string) func(*EC2NodeClassSpec) {
		return ebs(func(b *BlockDevice) { b.VolumeSize = quantity(text) })
	}
	const path = "blockDeviceMappings[0].ebs"
	for _, tc := range []validationCase{
		{"AWN-034 no volume", func(s *EC2NodeClassSpec) { s.BlockDeviceMappings[1].EBS = nil }, "blockDeviceMappings[1].ebs", "describe the volume"},
		{"API-055 no device name", func(s *EC2NodeClassSpec) { s.BlockDeviceMappings[1].DeviceName = nil }, "", ""},
		{"two root volumes", func(s *EC2NodeClassSpec) { s.BlockDeviceMappings[1].RootVolume = true }, "blockDeviceMappings[1].rootVolume", "unmark one"},
		{"API-067 51", func(s *EC2NodeClassSpec) {
			s.BlockDeviceMappings = slices.Repeat(s.BlockDeviceMappings[1:], 51)
		}, "blockDeviceMappings", "remove 1"},
		{"neither size nor snapshot", func(s *EC2NodeClassSpec) { s.BlockDeviceMappings[1].EBS.VolumeSize = nil }, "blockDeviceMappings[1].ebs.volumeSize", "give volumeSize or snapshotID"},
		{"snapshot alone", ebs(func(b *BlockDevice) { b.VolumeSize = nil }), "", ""},
		{"rate 300", ebs(func(b *BlockDevice) { b.VolumeInitializationRate = ptr(int32(300)) }), "", ""},
		{"rate 99", ebs(func(b *BlockDevice) { b.VolumeInitializationRate = ptr(int32(99)) }), path + ".volumeInitializationRate", "between 100 and 300"},
		{"rate 301", ebs(func(b *BlockDevice) { b.VolumeInitializationRate = ptr(int32(301)) }), path + ".volumeInitializationRate", "between 100 and 300"},
		{"rate without snapshot", ebs(func(b *BlockDevice) { b.SnapshotID = nil }), path + ".volumeInitializationRate", "give snapshotID"},
		{"rate with an empty snapshot", ebs(func(b *BlockDevice) { b.SnapshotID = ptr("") }), path + ".volumeInitializationRate", "give snapshotID"},
		{"volume type", ebs(func(b *BlockDevice) { b.VolumeType = ptr(VolumeType("gp4")) }), path + ".volumeType", "gp3"},
		{"negative iops", ebs(func(b *BlockDevice) { b.IOPS = ptr(int64(-1)) }), path + ".iops", "must not be negative"},
		{"negative throughput", ebs(func(b *BlockDevice) { b.Throughput = ptr(int64(-1)) }), path + ".throughput", "must not be negative"},
		{"AWN-030 1G", size("1G"), "", ""},
		{"AWN-030 18Ti, a gap in the reference", size("18Ti"), "", ""},
		{"AWN-030 64Ti", size("64Ti"), "", ""},
		{"AWN-030 beyond 64Ti", size("65537Gi"), path + ".volumeSize", "more than 64Ti"},
		{"AWN-030 absurd", size("1e99999999"), path + ".volumeSize", "more than 64Ti"},
		{"AWN-030 unit forgotten", size("100"), path + ".volumeSize", "write the unit"},
		{"AWN-030 negative", size("-20Gi"), path + ".volumeSize", "less than 1G"},
	} {
		tc.run(t, "full.yaml")
	}
}

// AWN-039, AWN-041 to AWN-044.
func TestNetworkValidation(t *testing.T) {
	interfaces := func(list ...NetworkInterface) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.NetworkInterfaces = list }
	}
	primary := NetworkInterface{0, 0, InterfaceTypeInterface}
	tracking := func(c ConnectionTracking) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.ConnectionTracking = &c }
	}
	many := []NetworkInterface{primary}
	for i := range int32(150) {
		many = append(many, NetworkInterface{1, i, InterfaceTypeInterface})
	}
	for _, tc := range []validationCase{
		{"AWN-039 empty list", interfaces([]NetworkInterface{}...), "", ""},
		{"AWN-039 150", interfaces(many[:150]...), "", ""},
		{"AWN-039 151", interfaces(many...), "networkInterfaces", "remove 1"},
		{"AWN-039 no primary", interfaces(NetworkInterface{0, 1, InterfaceTypeInterface}), "networkInterfaces", "primary interface"},
		{"AWN-039 primary that is efa-only", interfaces(NetworkInterface{0, 0, InterfaceTypeEFAOnly}), "networkInterfaces", "primary interface"},
		{"AWN-039 one place twice", interfaces(primary, primary), "networkInterfaces[1]", "another deviceIndex"},
		{"AWN-039 two efa-only on a card", interfaces(primary, NetworkInterface{0, 1, InterfaceTypeEFAOnly}, NetworkInterface{0, 2, InterfaceTypeEFAOnly}), "networkInterfaces[2].interfaceType", "a card takes one"},
		{"AWN-039 efa-only on two cards", interfaces(primary, NetworkInterface{0, 1, InterfaceTypeEFAOnly}, NetworkInterface{1, 0, InterfaceTypeEFAOnly}), "", ""},
		{"AWN-039 negative card", interfaces(primary, NetworkInterface{-1, 0, InterfaceTypeInterface}), "networkInterfaces[1].networkCardIndex", "must not be negative"},
		{"AWN-039 negative device", interfaces(primary, NetworkInterface{0, -1, InterfaceTypeInterface}), "networkInterfaces[1].deviceIndex", "must not be negative"},
		{"AWN-039 unknown type", interfaces(primary, NetworkInterface{0, 1, "efa"}), "networkInterfaces[1].interfaceType", "efa-only"},
		{"AWN-043 public address on several interfaces", func(s *EC2NodeClassSpec) { s.AssociatePublicIPAddress = ptr(true) }, "associatePublicIPAddress", "single interface"},
		{"AWN-043 public address on one", func(s *EC2NodeClassSpec) {
			s.AssociatePublicIPAddress, s.NetworkInterfaces = ptr(true), s.NetworkInterfaces[:1]
		}, "", ""},
		{"AWN-044 negative prefixes", func(s *EC2NodeClassSpec) { s.IPPrefixCount = ptr(int32(-1)) }, "ipPrefixCount", "must not be negative"},

		{"AWN-041 empty", tracking(ConnectionTracking{}), "connectionTracking", "sets nothing"},
		{"AWN-041 tcp 432000", tracking(ConnectionTracking{TCPEstablishedTimeout: ptr(int32(432000))}), "", ""},
		{"AWN-041 tcp 59", tracking(ConnectionTracking{TCPEstablishedTimeout: ptr(int32(59))}), "connectionTracking.tcpEstablishedTimeout", "between 60 and 432000"},
		{"AWN-041 stream 181", tracking(ConnectionTracking{UDPStreamTimeout: ptr(int32(181))}), "connectionTracking.udpStreamTimeout", "between 60 and 180"},
		{"AWN-041 udp 29", tracking(ConnectionTracking{UDPTimeout: ptr(int32(29))}), "connectionTracking.udpTimeout", "between 30 and 60"},
		{"AWN-041 udp 61", tracking(ConnectionTracking{UDPTimeout: ptr(int32(61))}), "connectionTracking.udpTimeout", "between 30 and 60"},
	} {
		tc.run(t, "full.yaml")
	}
}

// AWN-009, AWN-035, AWN-042.
func TestMetadataAndCPUValidation(t *testing.T) {
	options := func(o MetadataOptions) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.MetadataOptions = &o }
	}
	for _, tc := range []validationCase{
		{"absent", func(s *EC2NodeClassSpec) { s.MetadataOptions = nil }, "", ""},
		{"endpoint", options(MetadataOptions{HTTPEndpoint: ptr(Switch("on"))}), "metadataOptions.httpEndpoint", "disabled"},
		{"IPv6", options(MetadataOptions{HTTPProtocolIPv6: ptr(Switch("on"))}), "metadataOptions.httpProtocolIPv6", "disabled"},
		{"hop limit 0", options(MetadataOptions{HTTPPutResponseHopLimit: ptr(int64(0))}), "metadataOptions.httpPutResponseHopLimit", "between 1 and 64"},
		{"hop limit 64", options(MetadataOptions{HTTPPutResponseHopLimit: ptr(int64(64))}), "", ""},
		{"hop limit 65", options(MetadataOptions{HTTPPutResponseHopLimit: ptr(int64(65))}), "metadataOptions.httpPutResponseHopLimit", "between 1 and 64"},
		{"tokens", options(MetadataOptions{HTTPTokens: ptr(HTTPTokens("never"))}), "metadataOptions.httpTokens", "optional"},
		{"nested virtualization", func(s *EC2NodeClassSpec) { s.CPUOptions.NestedVirtualization = ptr(Switch("yes")) }, "cpuOptions.nestedVirtualization", "enabled"},
		{"threads of a core", func(s *EC2NodeClassSpec) { s.CPUOptions.ThreadsPerCore = ptr(int32(3)) }, "cpuOptions.threadsPerCore", "between 1 and 2"},
		{"no cores", func(s *EC2NodeClassSpec) { s.CPUOptions.CoreCount = ptr(int32(0)) }, "cpuOptions.coreCount", "between 1 and 1024"},
		{"one thread of each core", func(s *EC2NodeClassSpec) {
			s.CPUOptions.ThreadsPerCore, s.CPUOptions.CoreCount = ptr(int32(1)), ptr(int32(8))
		}, "", ""},
		{"CPU credits", func(s *EC2NodeClassSpec) { s.CreditSpecification.CPUCredits = ptr(CPUCredits("much")) }, "creditSpecification.cpuCredits", "unlimited"},
		{"no CPU credits", func(s *EC2NodeClassSpec) { s.CreditSpecification = &CreditSpecification{} }, "", ""},
		{"bandwidth", func(s *EC2NodeClassSpec) {
			s.NetworkPerformanceOptions.BandwidthWeighting = ptr(BandwidthWeighting("vpc"))
		}, "networkPerformanceOptions.bandwidthWeighting", "vpc-1"},
		{"licence", func(s *EC2NodeClassSpec) { s.LicenseSpecifications[0].LicenseConfigurationARN = "lic-0123" }, "licenseSpecifications[0].licenseConfigurationARN", "must be the ARN of a licence configuration"},
		{"licences", func(s *EC2NodeClassSpec) {
			for len(s.LicenseSpecifications) < 11 {
				s.LicenseSpecifications = append(s.LicenseSpecifications, s.LicenseSpecifications[0])
			}
		}, "licenseSpecifications", "at most 10"},
		{"tenancy", func(s *EC2NodeClassSpec) { s.Placement = &Placement{Tenancy: ptr(Tenancy("own"))} }, "placement.tenancy", "dedicated"},
		{"dedicated in a placement group", func(s *EC2NodeClassSpec) { s.Placement = &Placement{Tenancy: ptr(Tenancy(TenancyDedicated))} }, "", ""},
		{"hosts in a placement group", func(s *EC2NodeClassSpec) { s.Placement = &Placement{Tenancy: ptr(Tenancy(TenancyHost))} }, "placement", "remove placementGroupSelector"},
		{"a host", func(s *EC2NodeClassSpec) {
			s.PlacementGroupSelector, s.Placement = nil, &Placement{HostID: ptr("h-0123456789abcdef0")}
		}, "", ""},
		{"a host with another tenancy", func(s *EC2NodeClassSpec) {
			s.PlacementGroupSelector, s.Placement = nil, &Placement{HostID: ptr("h-0123456789abcdef0"), Tenancy: ptr(Tenancy(TenancyDedicated))}
		}, "placement.tenancy", "must be host"},
		{"no host", func(s *EC2NodeClassSpec) { s.PlacementGroupSelector, s.Placement = nil, &Placement{HostID: ptr("i-1")} }, "placement.hostID", "must be the id"},
		{"a group of hosts", func(s *EC2NodeClassSpec) {
			s.PlacementGroupSelector, s.Placement = nil, &Placement{HostResourceGroupARN: ptr("arn:aws:resource-groups:us-east-1:123456789012:group/hosts")}
		}, "", ""},
		{"no group of hosts", func(s *EC2NodeClassSpec) {
			s.PlacementGroupSelector, s.Placement = nil, &Placement{HostResourceGroupARN: ptr("hosts")}
		}, "placement.hostResourceGroupARN", "must be the ARN"},
		{"a host and a group", func(s *EC2NodeClassSpec) {
			s.PlacementGroupSelector = nil
			s.Placement = &Placement{HostID: ptr("h-0"), HostResourceGroupARN: ptr("arn:aws:resource-groups:us-east-1:123456789012:group/hosts")}
		}, "placement", "give one of"},
		{"empty CPU options", func(s *EC2NodeClassSpec) { s.CPUOptions = &CPUOptions{} }, "", ""},
	} {
		tc.run(t, "full.yaml")
	}
}

// AWN-049 to AWN-053, AWN-360, API-042 to API-054.
func TestKubeletValidation(t *testing.T) {
	kubelet := func(k KubeletConfiguration) func(*EC2NodeClassSpec) {
		return func(s *EC2NodeClassSpec) { s.Kubelet = &k }
	}
	thresholds := func(key, value string) map[string]string { return map[string]string{key: value} }
	for _, tc := range []validationCase{
		{"empty", kubelet(KubeletConfiguration{}), "", ""},
		{"negative pods", kubelet(KubeletConfiguration{MaxPods: ptr(intstr.FromInt32(-1))}), "kubelet.maxPods", "must not be negative"},
		{"no pods", kubelet(KubeletConfiguration{MaxPods: ptr(intstr.FromInt32(0))}), "", ""},
		{"AWN-063 pods as an expression", kubelet(KubeletConfiguration{MaxPods: ptr(intstr.FromString("default_enis"))}), "kubelet.maxPods", "write a number without quotes"},
		{"negative pods per core", kubelet(KubeletConfiguration{PodsPerCore: ptr(int32(-1))}), "kubelet.podsPerCore", "must not be negative"},
		{"negative grace", kubelet(KubeletConfiguration{EvictionMaxPodGracePeriod: ptr(int32(-1))}), "kubelet.evictionMaxPodGracePeriod", "must not be negative"},

		{"reserved resource", kubelet(KubeletConfiguration{KubeReserved: thresholds("gpu", "1")}), "kubelet.kubeReserved[gpu]", "ephemeral-storage"},
		{"reserved negative", kubelet(KubeletConfiguration{SystemReserved: thresholds("cpu", "-1")}), "kubelet.systemReserved[cpu]", "must not be negative"},
		{"AWN-064 reserved expression", kubelet(KubeletConfiguration{KubeReserved: thresholds("memory", "1GB")}), "kubelet.kubeReserved[memory]", "not a quantity"},
		{"reserved empty", kubelet(KubeletConfiguration{KubeReserved: thresholds("memory", " ")}), "kubelet.kubeReserved[memory]", "must not be empty"},

		{"signal", kubelet(KubeletConfiguration{EvictionHard: thresholds("memory.free", "5%")}), "kubelet.evictionHard[memory.free]", "memory.available"},
		{"0%", kubelet(KubeletConfiguration{EvictionHard: thresholds("memory.available", "0%")}), "", ""},
		{"100.0%", kubelet(KubeletConfiguration{EvictionHard: thresholds("memory.available", "100.0%")}), "", ""},
		{"100.1%", kubelet(KubeletConfiguration{EvictionHard: thresholds("memory.available", "100.1%")}), "kubelet.evictionHard[memory.available]", "from 0% to 100%"},
		{"-1%", kubelet(KubeletConfiguration{EvictionHard: thresholds("memory.available", "-1%")}), "kubelet.evictionHard[memory.available]", "from 0% to 100%"},
		{"NaN%", kubelet(KubeletConfiguration{EvictionHard: thresholds("memory.available", "NaN%")}), "kubelet.evictionHard[memory.available]", "from 0% to 100%"},
		{"quantity", kubelet(KubeletConfiguration{EvictionHard: thresholds("nodefs.inodesFree", "10k")}), "", ""},
		{"negative quantity", kubelet(KubeletConfiguration{EvictionHard: thresholds("nodefs.inodesFree", "-1")}), "kubelet.evictionHard[nodefs.inodesFree]", "must not be negative"},
		{"neither", kubelet(KubeletConfiguration{EvictionHard: thresholds("pid.available", "few")}), "kubelet.evictionHard[pid.available]", "write it like 200Mi or 5%"},

		{"soft without grace", kubelet(KubeletConfiguration{EvictionSoft: thresholds("memory.available", "5%")}), "kubelet.evictionSoftGracePeriod[memory.available]", "give its grace period"},
		{"grace without soft", kubelet(KubeletConfiguration{EvictionSoftGracePeriod: thresholds("memory.available", "2m")}), "kubelet.evictionSoft[memory.available]", "give its threshold"},
		{"grace that is no duration", kubelet(KubeletConfiguration{EvictionSoft: thresholds("memory.available", "5%"), EvictionSoftGracePeriod: thresholds("memory.available", "2")}), "kubelet.evictionSoftGracePeriod[memory.available]", "write it like 90s"},
		{"negative grace period", kubelet(KubeletConfiguration{EvictionSoft: thresholds("memory.available", "5%"), EvictionSoftGracePeriod: thresholds("memory.available", "-2m")}), "kubelet.evictionSoftGracePeriod[memory.available]", "must not be negative"},

		{"image GC high", kubelet(KubeletConfiguration{ImageGCHighThresholdPercent: ptr(int32(101))}), "kubelet.imageGCHighThresholdPercent", "between 0 and 100"},
		{"image GC low", kubelet(KubeletConfiguration{ImageGCLowThresholdPercent: ptr(int32(-1))}), "kubelet.imageGCLowThresholdPercent", "between 0 and 100"},
		{"image GC high = low", kubelet(KubeletConfiguration{ImageGCHighThresholdPercent: ptr(int32(80)), ImageGCLowThresholdPercent: ptr(int32(80))}), "kubelet.imageGCHighThresholdPercent", "greater than imageGCLowThresholdPercent"},

		{"AWN-051 unknown key", kubelet(KubeletConfiguration{Other: map[string]RawJSON{"maxPod": RawJSON("3")}}), "kubelet.maxPod", "check the spelling"},
		{"AWN-052 taints", kubelet(KubeletConfiguration{Other: map[string]RawJSON{"registerWithTaints": RawJSON("[]")}}), "kubelet.registerWithTaints", "NodePool"},
		{"AWN-052 reclaim", kubelet(KubeletConfiguration{Other: map[string]RawJSON{"evictionMinimumReclaim": RawJSON(`{"memory.available":"x"}`)}}), "kubelet.evictionMinimumReclaim[memory.available]", "write it like"},
		{"reclaim of the wrong type", kubelet(KubeletConfiguration{Other: map[string]RawJSON{"evictionMinimumReclaim": RawJSON(`[]`)}}), "kubelet.evictionMinimumReclaim", "must map signals"},
		{"a field's key among the others", kubelet(KubeletConfiguration{Other: map[string]RawJSON{"maxPods": RawJSON("3")}}), "kubelet.maxPods", "a field of its own"},
	} {
		tc.run(t, "full.yaml")
	}
}

// AWN-053: which families can carry out what.
func TestKubeletFamilySupport(t *testing.T) {
	other := KubeletConfiguration{Other: map[string]RawJSON{"topologyManagerPolicy": RawJSON(`"restricted"`)}}
	cores := KubeletConfiguration{PodsPerCore: ptr(int32(2))}
	dns := KubeletConfiguration{ClusterDNS: []string{"10.0.0.10", "10.0.0.11"}}
	for _, tc := range []struct {
		family  AMIFamily
		kubelet KubeletConfiguration
		path    string
	}{
		{AMIFamilyAL2023, other, ""}, {AMIFamilyCustom, other, ""},
		{AMIFamilyAL2, other, "kubelet.topologyManagerPolicy"},
		{AMIFamilyBottlerocket, other, "kubelet.topologyManagerPolicy"},
		{AMIFamilyWindows2022, other, "kubelet.topologyManagerPolicy"},
		{AMIFamilyBottlerocket, cores, "kubelet.podsPerCore"},
		{AMIFamilyAL2, cores, ""}, {AMIFamilyWindows2019, cores, ""},
		{AMIFamilyAL2023, dns, ""}, {AMIFamilyCustom, dns, ""},
		{AMIFamilyAL2, dns, "kubelet.clusterDNS"}, {AMIFamilyBottlerocket, dns, "kubelet.clusterDNS"},
	} {
		class := read(t, "full.yaml")
		class.Spec.AMIFamily, class.Spec.Kubelet = tc.family, &tc.kubelet
		t.Run(string(tc.family)+" "+tc.path, func(t *testing.T) {
			checkErrors(t, class.Validate(), tc.path, string(tc.family))
		})
	}
}

// AWN-063, AWN-064.
func TestKubeletExpressionsWhenEnabled(t *testing.T) {
	class := read(t, "full.yaml")
	class.Spec.Kubelet = &KubeletConfiguration{
		MaxPods:      ptr(intstr.FromString("default_enis * ips_per_eni")),
		KubeReserved: map[string]string{"memory": "max_pods * 11"},
	}
	checkErrors(t, class.ValidateWith(Features{KubeletExpressions: true}), "", "")
	class.Spec.Kubelet.MaxPods = ptr(intstr.FromString(" "))
	checkErrors(t, class.ValidateWith(Features{KubeletExpressions: true}), "kubelet.maxPods", "empty expression")
}

// AWN-050: all errors are collected, in the same order each time.
func TestAllErrorsAreReportedInTheSameOrder(t *testing.T) {
	class := &EC2NodeClass{Spec: EC2NodeClassSpec{
		Tags:    map[string]string{"karpenter.sh/nodepool": "", "": "", "eks:eks-cluster-name": ""},
		Kubelet: &KubeletConfiguration{EvictionHard: map[string]string{"b": "x", "a": "x"}, PodsPerCore: ptr(int32(-1))},
	}}
	first := class.Validate().ToAggregate().Error()
	for _, want := range []string{
		"metadata.name", "subnetSelectorTerms", "securityGroupSelectorTerms", "amiSelectorTerms", "amiFamily", "spec.role",
		"tags[eks:eks-cluster-name]", "tags[karpenter.sh/nodepool]", "podsPerCore", "evictionHard[a]", "evictionHard[b]",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("nothing said about %s in %s", want, first)
		}
	}
	for range 20 {
		if text := class.Validate().ToAggregate().Error(); text != first {
			t.Fatalf("order changed:\n%s\n%s", first, text)
		}
	}
}

func TestNameValidation(t *testing.T) {
	for name, want := range map[string]string{"": "give the object a name", "Not A Name": "not an object name", "fine": ""} {
		class := read(t, "full.yaml")
		class.Name = name
		errs := class.Validate()
		if want == "" && len(errs) > 0 || want != "" && (len(errs) != 1 || errs[0].Field != "metadata.name" || !strings.Contains(errs[0].Error(), want)) {
			t.Errorf("name %q: %v, want %q", name, errs, want)
		}
	}
}
