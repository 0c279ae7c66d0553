package v1beta1

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// fields are the paths of what is wrong, sorted.
func fields(errs field.ErrorList) []string {
	var paths []string
	for _, err := range errs {
		paths = append(paths, err.Field)
	}
	slices.Sort(paths)
	return paths
}

// manyTags are so many tags as they stand in a manifest.
func manyTags(n int) string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = fmt.Sprintf("t%d: a", i)
	}
	return strings.Join(tags, ", ")
}

func TestValidate(t *testing.T) {
	const images = "amiSelectorTerms: [{id: ami-1}]"
	for _, c := range []struct {
		name    string
		replace []string
		want    []string
	}{
		{name: "fine"},
		{name: "API-157: subnets", replace: []string{"subnetSelectorTerms: [{id: subnet-1}]", "subnetSelectorTerms: [{}, {id: subnet-1, tags: {a: b}}, {id: net-1}]"}, want: []string{"spec.subnetSelectorTerms[0]", "spec.subnetSelectorTerms[1].id", "spec.subnetSelectorTerms[2].id"}},
		{name: "API-157, API-158: none", replace: []string{"[{id: subnet-1}]", "[]", "[{id: sg-1}]", "[]"}, want: []string{"spec.securityGroupSelectorTerms", "spec.subnetSelectorTerms"}},
		{name: "API-158: security groups", replace: []string{"[{id: sg-1}]", "[{name: a, tags: {a: b}}, {id: sg-1, name: a}]"}, want: []string{"spec.securityGroupSelectorTerms[0].name", "spec.securityGroupSelectorTerms[1].id"}},
		{name: "API-159: images", replace: []string{images, "amiSelectorTerms: [{}, {owner: self}, {id: ami-1, owner: self}, {id: image-1}, {name: a, owner: self, tags: {a: b}}]"}, want: []string{
			"spec.amiSelectorTerms[0]", "spec.amiSelectorTerms[1]", "spec.amiSelectorTerms[2].id", "spec.amiSelectorTerms[3].id",
		}},
		{name: "API-159: at most 30 terms", replace: []string{images, "amiSelectorTerms: [" + strings.TrimSuffix(strings.Repeat("{id: ami-1}, ", 31), ", ") + "]"}, want: []string{"spec.amiSelectorTerms"}},
		{name: "API-160: tags of terms", replace: []string{images, "amiSelectorTerms: [{tags: {'': a, b: '', c: '*'}}]"}, want: []string{"spec.amiSelectorTerms[0].tags", "spec.amiSelectorTerms[0].tags[b]"}},
		{name: "API-160: at most 20 tags in a term", replace: []string{images, "amiSelectorTerms: [{tags: {" + manyTags(20) + "}}, {tags: {" + manyTags(21) + "}}]"}, want: []string{"spec.amiSelectorTerms[1].tags"}},
		{name: "API-162: a family is required", replace: []string{"AL2", "''"}, want: []string{"spec.amiFamily"}},
		{name: "API-162: a family of v1", replace: []string{"AL2", "Windows2025"}, want: []string{"spec.amiFamily"}},
		{name: "API-162: Custom needs terms", replace: []string{"AL2", "Custom", images, "amiSelectorTerms: []"}, want: []string{"spec.amiSelectorTerms"}},
		{name: "API-162: others don't", replace: []string{"AL2", "Ubuntu", images, "amiSelectorTerms: []"}},
		{name: "API-164, API-165: one identity", replace: []string{"role: nodes", "role: nodes\n  instanceProfile: nodes"}, want: []string{"spec.instanceProfile"}},
		{name: "API-166: reserved tags", replace: []string{"role", "tags: {'': a, kubernetes.io/cluster/a: owned, karpenter.sh/nodepool: b, karpenter.sh/managed-by: c, karpenter.sh/nodeclaim: d}\n  role"}, want: []string{
			"spec.tags", "spec.tags[karpenter.sh/managed-by]", "spec.tags[karpenter.sh/nodepool]", "spec.tags[kubernetes.io/cluster/a]",
		}},
		{name: "API-056, API-057, API-066: volumes", replace: []string{"role", "blockDeviceMappings: [{}, {rootVolume: true, ebs: {encrypted: true}}, {rootVolume: true, ebs: {volumeSize: 1Gi, volumeType: gp4}}]\n  role"}, want: []string{
			"spec.blockDeviceMappings[0].ebs", "spec.blockDeviceMappings[1].ebs.volumeSize", "spec.blockDeviceMappings[2].ebs.volumeType", "spec.blockDeviceMappings[2].rootVolume",
		}},
		{name: "API-065: sizes", replace: []string{"role", "blockDeviceMappings: [{ebs: {volumeSize: 20}}, {ebs: {volumeSize: 65Ti}}]\n  role"}, want: []string{"spec.blockDeviceMappings[0].ebs.volumeSize", "spec.blockDeviceMappings[1].ebs.volumeSize"}},
		{name: "API-067: at most 50 volumes", replace: []string{"role", "blockDeviceMappings: [" + strings.TrimSuffix(strings.Repeat("{ebs: {volumeSize: 1Gi}}, ", 51), ", ") + "]\n  role"}, want: []string{"spec.blockDeviceMappings"}},
		{name: "API-069 to API-072, API-171: metadata options", replace: []string{"{httpPutResponseHopLimit: 3}", "{httpPutResponseHopLimit: 65, httpEndpoint: 'on', httpProtocolIPv6: 'off', httpTokens: none}"}, want: []string{
			"spec.metadataOptions.httpEndpoint", "spec.metadataOptions.httpProtocolIPv6", "spec.metadataOptions.httpPutResponseHopLimit", "spec.metadataOptions.httpTokens",
		}},
		{name: "API-168: local disks", replace: []string{"role", "instanceStorePolicy: RAID1\n  role"}, want: []string{"spec.instanceStorePolicy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			class := &EC2NodeClass{}
			read(t, base, c.replace, class)
			if diff := cmp.Diff(c.want, fields(class.Validate())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// API-164: a node class doesn't change from a role to a profile.
func TestValidateUpdate(t *testing.T) {
	var class EC2NodeClass
	read(t, base, nil, &class)
	other := class.DeepCopy()
	if errs := class.ValidateUpdate(other); len(errs) > 0 {
		t.Error(errs)
	}
	other.Spec.Role, other.Spec.InstanceProfile = nil, class.Spec.Role
	if diff := cmp.Diff([]string{"spec.role"}, fields(class.ValidateUpdate(other))); diff != "" {
		t.Error(diff)
	}
}

// API-174: fields of the first generation and of v1 are unknown.
func TestUnknownFields(t *testing.T) {
	for _, manifest := range []string{
		"spec: {launchTemplate: a}", "spec: {subnetSelector: {a: b}}", "spec: {kubelet: {}}", "spec: {amiSelectorTerms: [{alias: al2@latest}]}",
		"spec: {blockDeviceMappings: [{ebs: {volumeInitializationRate: 100}}]}",
	} {
		if err := yaml.UnmarshalStrict([]byte(manifest), &EC2NodeClass{}); err == nil {
			t.Errorf("accepted: %s", manifest)
		}
	}
}
