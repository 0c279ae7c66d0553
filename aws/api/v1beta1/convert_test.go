package v1beta1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// base is a node class that gives no warnings but those of its cases.
const base = `
metadata: {name: web}
spec:
  amiFamily: AL2
  amiSelectorTerms: [{id: ami-1}]
  role: nodes
  associatePublicIPAddress: false
  metadataOptions: {httpPutResponseHopLimit: 3}
  subnetSelectorTerms: [{id: subnet-1}]
  securityGroupSelectorTerms: [{id: sg-1}]
`

func codes(warnings conversion.Warnings) string {
	list := make([]string, len(warnings))
	for i, w := range warnings {
		list[i] = string(w.Code) + " " + w.Path
	}
	return strings.Join(list, "\n")
}

func text(value any) string {
	out, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, manifest string, replace []string, into any) {
	t.Helper()
	changed := strings.NewReplacer(replace...).Replace(manifest)
	if len(replace) > 0 && changed == manifest {
		t.Fatal("nothing replaced")
	}
	if err := yaml.UnmarshalStrict([]byte(changed), into); err != nil {
		t.Fatal(err)
	}
}

func TestToV1(t *testing.T) {
	images := func(c *v1.EC2NodeClass) any {
		return []any{c.Spec.AMIFamily, c.Spec.AMISelectorTerms, c.Annotations}
	}
	metadata := func(c *v1.EC2NodeClass) any { return c.Spec.MetadataOptions }
	terms := "  amiSelectorTerms: [{id: ami-1}]\n"
	const written = "httpEndpoint: enabled\nhttpProtocolIPv6: disabled\nhttpPutResponseHopLimit: 2\nhttpTokens: required"
	for _, c := range []struct {
		name    string
		replace []string
		options ConvertOptions
		field   func(*v1.EC2NodeClass) any
		want    string
		codes   string
	}{
		{name: "API-358: family and terms are copied", field: images, want: "- AL2\n- - id: ami-1\n- null"},
		{name: "API-357, API-465: a family without terms becomes an alias", replace: []string{terms, "", "AL2", "Bottlerocket"}, field: images, want: "- \"\"\n- - alias: bottlerocket@latest\n- null", codes: "W510 spec.amiFamily"},
		{
			name: "API-240, API-357: of the version that was remembered", replace: []string{terms, "", "AL2", "AL2023", "name: web", "name: web, annotations: {" + AliasVersionAnnotationKey + ": v20240625}"},
			field: images, want: "- \"\"\n- - alias: al2023@v20240625\n- null", codes: "W510 spec.amiFamily",
		},
		{
			name: "API-239, API-359, API-466: Ubuntu with images", replace: []string{"AL2", "Ubuntu", "  role", "  blockDeviceMappings: [{ebs: {volumeSize: 1Ti}}]\n  role"}, field: images,
			want: "- AL2\n- - id: ami-1\n- compatibility.karpenter.k8s.aws/v1beta1-ubuntu: amiFamily", codes: "W511 spec.amiFamily",
		},
		{
			name: "API-359: Ubuntu without volumes gets its own", replace: []string{"AL2", "Ubuntu"},
			field: func(c *v1.EC2NodeClass) any { return []any{c.Annotations, c.Spec.BlockDeviceMappings} },
			want:  "- compatibility.karpenter.k8s.aws/v1beta1-ubuntu: amiFamily,blockDeviceMappings\n- - deviceName: /dev/sda1\n    ebs:\n      encrypted: true\n      volumeSize: 20Gi\n      volumeType: gp3\n    rootVolume: true",
			codes: "W511 spec.amiFamily",
		},
		{name: "API-360, API-466: Ubuntu without images is refused", replace: []string{terms, "", "AL2", "Ubuntu"}, field: images, want: "none", codes: "W512 spec.amiFamily"},
		{
			name: "API-360: and when forced gets a placeholder", replace: []string{terms, "", "AL2", "Ubuntu"}, options: ConvertOptions{Force: true}, field: images,
			want: "- AL2\n- - id: ami-placeholder\n- compatibility.karpenter.k8s.aws/v1beta1-ubuntu: amiFamily,blockDeviceMappings,incompatible", codes: "W512 spec.amiFamily",
		},
		{name: "API-361: Custom", replace: []string{"AL2", "Custom"}, field: images, want: "- Custom\n- - id: ami-1\n- null", codes: "W513 spec.userData"},
		{name: "API-361: no family at all", replace: []string{"  amiFamily: AL2\n", "  amiFamily: ''\n"}, field: images, want: "- Custom\n- - id: ami-1\n- null", codes: "W513 spec.userData"},
		{name: "API-070 to API-073, API-362, API-465: no metadata options", replace: []string{"  metadataOptions: {httpPutResponseHopLimit: 3}\n", ""}, field: metadata, want: written, codes: "W514 spec.metadataOptions.httpPutResponseHopLimit"},
		{name: "API-362: metadata options without a hop limit", replace: []string{"httpPutResponseHopLimit: 3", "httpTokens: required"}, field: metadata, want: written, codes: "W514 spec.metadataOptions.httpPutResponseHopLimit"},
		{name: "API-362: a hop limit of one's own", field: metadata, want: strings.Replace(written, "2", "3", 1)},
		{
			name: "API-268, API-362: by the schemas of 1.0", replace: []string{"  metadataOptions: {httpPutResponseHopLimit: 3}\n", ""}, options: ConvertOptions{ReferenceCompat: true},
			field: metadata, want: strings.Replace(written, "2", "1", 1),
		},
		{
			name: "API-207, API-363: tags that have become reserved", replace: []string{"  role", "  tags: {karpenter.sh/nodeclaim: a, 'eks:eks-cluster-name': b, karpenter.k8s.aws/ec2nodeclass: c, team: blue}\n  role"},
			field: func(c *v1.EC2NodeClass) any { return c.Spec.Tags }, want: "team: blue",
			codes: "W206 spec.tags[eks:eks-cluster-name]\nW206 spec.tags[karpenter.k8s.aws/ec2nodeclass]\nW206 spec.tags[karpenter.sh/nodeclaim]",
		},
		{
			name: "API-170, API-211, API-364: public addresses", replace: []string{"  associatePublicIPAddress: false\n", ""},
			field: func(c *v1.EC2NodeClass) any { return c.Spec.AssociatePublicIPAddress }, want: "null", codes: "W515 spec.associatePublicIPAddress",
		},
		{name: "API-383: what v1 refuses is said", replace: []string{"  role: nodes\n", ""}, field: images, want: "none", codes: "W601 spec.role"},
		{name: "API-383: a family that never was", replace: []string{"AL2", "AL1"}, field: images, want: "none", codes: "W601 spec.amiFamily"},
	} {
		t.Run(c.name, func(t *testing.T) {
			class := &EC2NodeClass{}
			read(t, base, c.replace, class)
			hub, warnings := class.ToV1(c.options)
			got := "none"
			if hub != nil {
				got = text(c.field(hub))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.codes, codes(warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

func TestFromV1(t *testing.T) {
	images := func(c *EC2NodeClass) any {
		return []any{c.Spec.AMIFamily, c.Spec.AMISelectorTerms, c.Annotations}
	}
	volumes := func(c *EC2NodeClass) any { return len(c.Spec.BlockDeviceMappings) }
	for _, c := range []struct {
		name    string
		replace []string
		field   func(*EC2NodeClass) any
		want    string
		codes   string
	}{
		{name: "API-381: an alias becomes its family", replace: []string{"  amiFamily: AL2\n", "", "id: ami-1", "alias: windows2022@latest"}, field: images, want: "- Windows2022\n- null\n- null"},
		{
			name: "API-240, API-382: whose version is remembered", replace: []string{"id: ami-1", "alias: al2@v20240625"}, field: images,
			want: "- AL2\n- null\n- compatibility.karpenter.k8s.aws/v1-alias-version: v20240625", codes: "W913 spec.amiSelectorTerms[0].alias",
		},
		{
			name: "API-382: Custom can't have the images of an alias", replace: []string{"AL2", "Custom", "id: ami-1", "alias: al2@latest"}, field: images, want: "none",
			codes: "W914 spec.amiSelectorTerms[0].alias\nW601 spec.amiSelectorTerms[0]",
		},
		{
			name: "API-203, API-383: a family that came later", replace: []string{"  amiFamily: AL2\n", "", "id: ami-1", "alias: windows2025@latest"}, field: images, want: "none", codes: "W601 spec.amiFamily",
		},
		{
			name: "API-202, API-382: an SSM parameter", replace: []string{"[{id: ami-1}]", "[{id: ami-1}, {ssmParameter: /image}]"}, field: images, want: "none",
			codes: "W914 spec.amiSelectorTerms[1].ssmParameter\nW601 spec.amiSelectorTerms[1]",
		},
		{
			name: "API-239, API-381: Ubuntu comes back, but not volumes that were changed since",
			replace: []string{
				"name: web", "name: web, annotations: {" + UbuntuAnnotationKey + ": 'amiFamily,blockDeviceMappings'}",
				"  role", "  blockDeviceMappings: [{ebs: {volumeSize: 1Ti}}]\n  role",
			},
			field: func(c *EC2NodeClass) any { return []any{images(c), volumes(c)} }, want: "- - Ubuntu\n  - - id: ami-1\n  - null\n- 1",
		},
		{
			name: "API-382: fields that came with v1",
			replace: []string{"  role", `  kubelet: {maxPods: 3}
  ipPrefixCount: 1
  cpuOptions: {nestedVirtualization: enabled}
  creditSpecification: {cpuCredits: unlimited}
  networkPerformanceOptions: {bandwidthWeighting: vpc-1}
  licenseSpecifications: [{licenseConfigurationARN: "arn:aws:license-manager:us-east-1:123456789012:license-configuration:lic-0123"}]
  placement: {tenancy: dedicated}
  connectionTracking: {udpTimeout: 30}
  placementGroupSelector: {name: a}
  capacityReservationSelectorTerms: [{id: cr-1}]
  networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}]
  blockDeviceMappings: [{ebs: {snapshotID: snap-1, volumeInitializationRate: 100}}]
  role`},
			field: volumes, want: "1",
			codes: "W914 spec.blockDeviceMappings[0].ebs.volumeInitializationRate\nW914 spec.capacityReservationSelectorTerms\nW914 spec.placementGroupSelector\nW914 spec.ipPrefixCount\nW914 spec.networkInterfaces\nW914 spec.connectionTracking\nW914 spec.kubelet\nW914 spec.cpuOptions\nW914 spec.creditSpecification\nW914 spec.networkPerformanceOptions\nW914 spec.licenseSpecifications\nW914 spec.placement",
		},
		{
			name: "API-071: v1's default hop limit is written out", replace: []string{"  metadataOptions: {httpPutResponseHopLimit: 3}\n", ""},
			field: func(c *EC2NodeClass) any { return c.Spec.MetadataOptions.HTTPPutResponseHopLimit }, want: "1", codes: "W915 spec.metadataOptions.httpPutResponseHopLimit",
		},
		{
			name: "API-166: a tag that v1 leaves to users", replace: []string{"  role", "  tags: {karpenter.sh/managed-by: me}\n  role"},
			field: func(c *EC2NodeClass) any { return c.Spec.Tags }, want: "{}", codes: "W206 spec.tags[karpenter.sh/managed-by]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			class := &v1.EC2NodeClass{}
			read(t, base, c.replace, class)
			if errs := class.Validate(); len(errs) > 0 {
				t.Fatalf("invalid in v1: %v", errs.ToAggregate())
			}
			back, warnings := FromV1(class, ConvertOptions{})
			got := "none"
			if back != nil {
				got = text(c.field(back))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.codes, codes(warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}
