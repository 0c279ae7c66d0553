package v1

import (
	"testing"
)

// AWN-270, AWN-272: a change of these numbers, without a change of HashVersion, replaces every node of everybody.
func TestHashIsPinned(t *testing.T) {
	for file, want := range map[string]string{
		"full.yaml":  "15959333728119814162",
		"alias.yaml": "2679232468778912369",
	} {
		if got := read(t, file).Hash("-----BEGIN CERTIFICATE-----"); got != want {
			t.Errorf("hash of %s is %s, want %s", file, got, want)
		}
	}
	older := read(t, "full.yaml") // as it was before these fields: nodes of classes without them stay
	older.Spec.CreditSpecification, older.Spec.NetworkPerformanceOptions, older.Spec.LicenseSpecifications, older.Spec.Placement = nil, nil, nil, nil
	if got, want := older.Hash("-----BEGIN CERTIFICATE-----"), "17548058407717026109"; got != want {
		t.Errorf("hash of full.yaml without later fields is %s, want %s", got, want)
	}
	if HashVersion != "drawknife-v1" {
		t.Errorf("version is %s", HashVersion)
	}
}

// AWN-009 (column "Hashed"), AWN-015, AWN-270, AWN-271, AWN-281.
func TestWhatChangesTheHash(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*EC2NodeClassSpec)
		drifts bool
	}{
		{"placement group", func(s *EC2NodeClassSpec) { s.PlacementGroupSelector = nil }, true},
		{"public address", func(s *EC2NodeClassSpec) { s.AssociatePublicIPAddress = ptr(true) }, true},
		{"public address false is not unset", func(s *EC2NodeClassSpec) { s.AssociatePublicIPAddress = nil }, true},
		{"family", func(s *EC2NodeClassSpec) { s.AMIFamily = AMIFamilyAL2 }, true},
		{"user data", func(s *EC2NodeClassSpec) { s.UserData = ptr("other") }, true},
		{"role", func(s *EC2NodeClassSpec) { s.Role = ptr("other") }, true},
		{"role to profile", func(s *EC2NodeClassSpec) { s.Role, s.InstanceProfile = nil, s.Role }, true},
		{"tag", func(s *EC2NodeClassSpec) { s.Tags["a"] = "b" }, true},
		{"no tags", func(s *EC2NodeClassSpec) { s.Tags = nil }, true},
		{"kubelet", func(s *EC2NodeClassSpec) { s.Kubelet.MaxPods.IntVal++ }, true},
		{"kubelet key without a field", func(s *EC2NodeClassSpec) { delete(s.Kubelet.Other, "featureGates") }, true},
		{"volume size", func(s *EC2NodeClassSpec) { s.BlockDeviceMappings[1].EBS.VolumeSize = quantity("5Ti") }, true},
		{"a volume twice", func(s *EC2NodeClassSpec) {
			s.BlockDeviceMappings = append(s.BlockDeviceMappings, s.BlockDeviceMappings[1], s.BlockDeviceMappings[1])
		}, true},
		{"store policy", func(s *EC2NodeClassSpec) { s.InstanceStorePolicy = nil }, true},
		{"interfaces", func(s *EC2NodeClassSpec) { s.NetworkInterfaces = s.NetworkInterfaces[:1] }, true},
		{"monitoring", func(s *EC2NodeClassSpec) { s.DetailedMonitoring = ptr(false) }, true},
		{"metadata options", func(s *EC2NodeClassSpec) { s.MetadataOptions.HTTPTokens = ptr(HTTPTokensOptional) }, true},
		{"connection tracking", func(s *EC2NodeClassSpec) { s.ConnectionTracking.UDPTimeout = ptr(int32(31)) }, true},
		{"context", func(s *EC2NodeClassSpec) { s.Context = ptr("other") }, true},
		{"tenancy", func(s *EC2NodeClassSpec) { s.Placement = &Placement{Tenancy: ptr(Tenancy(TenancyDefault))} }, true},
		{"threads of a core", func(s *EC2NodeClassSpec) { s.CPUOptions.ThreadsPerCore = ptr(int32(2)) }, true},
		{"cores", func(s *EC2NodeClassSpec) { s.CPUOptions.CoreCount = ptr(int32(4)) }, true},
		{"CPU credits", func(s *EC2NodeClassSpec) { s.CreditSpecification.CPUCredits = ptr(CPUCreditsStandard) }, true},
		{"bandwidth", func(s *EC2NodeClassSpec) {
			s.NetworkPerformanceOptions.BandwidthWeighting = ptr(BandwidthWeightingEBS)
		}, true},
		{"licences", func(s *EC2NodeClassSpec) { s.LicenseSpecifications = nil }, true},
		{"cpu options", func(s *EC2NodeClassSpec) { s.CPUOptions.NestedVirtualization = ptr(Disabled) }, true},

		{"subnet terms", func(s *EC2NodeClassSpec) { s.SubnetSelectorTerms = nil }, false},
		{"security group terms", func(s *EC2NodeClassSpec) { s.SecurityGroupSelectorTerms = nil }, false},
		{"reservation terms", func(s *EC2NodeClassSpec) { s.CapacityReservationSelectorTerms = nil }, false},
		{"image terms", func(s *EC2NodeClassSpec) { s.AMISelectorTerms = s.AMISelectorTerms[:1] }, false},
		{"an alias of the same family instead of the family", func(s *EC2NodeClassSpec) {
			s.AMIFamily, s.AMISelectorTerms = "", []AMISelectorTerm{{Alias: "al2023@v1"}}
		}, false},
		{"prefix count", func(s *EC2NodeClassSpec) { s.IPPrefixCount = ptr(int32(9)) }, false},
		{"order of mappings", func(s *EC2NodeClassSpec) {
			m := s.BlockDeviceMappings
			m[0], m[1] = m[1], m[0]
		}, false},
		{"a size in another form", func(s *EC2NodeClassSpec) { s.BlockDeviceMappings[1].EBS.VolumeSize = quantity("4096Gi") }, false},
		{"a default left out", func(s *EC2NodeClassSpec) { s.MetadataOptions.HTTPEndpoint = nil }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			class := read(t, "full.yaml")
			before := class.Hash("ca")
			tc.change(&class.Spec)
			if drifts := class.Hash("ca") != before; drifts != tc.drifts {
				t.Errorf("drifts = %v, want %v", drifts, tc.drifts)
			}
		})
	}
}

// AWN-015, AWN-033, AWN-270, AWN-271.
func TestHashOfEmptyAndAbsent(t *testing.T) {
	base := &EC2NodeClass{}
	for _, tc := range []struct {
		name   string
		spec   EC2NodeClassSpec
		drifts bool
	}{
		{"empty kubelet", EC2NodeClassSpec{Kubelet: &KubeletConfiguration{}}, false},
		{"empty mappings", EC2NodeClassSpec{BlockDeviceMappings: []BlockDeviceMapping{}}, false},
		{"defaults written out", EC2NodeClassSpec{MetadataOptions: DefaultMetadataOptions()}, false},
		{"empty tags", EC2NodeClassSpec{Tags: map[string]string{}}, true},
		{"monitoring off", EC2NodeClassSpec{DetailedMonitoring: ptr(false)}, true},
	} {
		class := &EC2NodeClass{Spec: tc.spec}
		if drifts := class.Hash("") != base.Hash(""); drifts != tc.drifts {
			t.Errorf("%s: drifts = %v, want %v", tc.name, drifts, tc.drifts)
		}
	}
	if base.Hash("one") == base.Hash("two") {
		t.Error("rotating the cluster's CA must be drift")
	}
	if base.Spec.MetadataOptions != nil {
		t.Error("Hash changed the object")
	}
}
