package v1alpha1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
)

// base is a node template that gives no warnings but those of its cases.
const base = `
metadata: {name: web}
spec:
  amiFamily: AL2
  subnetSelector: {a: b}
  securityGroupSelector: {a: b}
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

func TestToV1Beta1(t *testing.T) {
	role := ConvertOptions{NodeRole: "nodes"}
	compat := ConvertOptions{NodeRole: "nodes", ReferenceCompat: true}
	identity := func(c *v1beta1.EC2NodeClass) any { return []*string{c.Spec.Role, c.Spec.InstanceProfile} }
	family := func(c *v1beta1.EC2NodeClass) any { return c.Spec.AMIFamily }
	tags := func(c *v1beta1.EC2NodeClass) any { return c.Spec.Tags }
	metadata := func(c *v1beta1.EC2NodeClass) any { return c.Spec.MetadataOptions }
	subnets := func(c *v1beta1.EC2NodeClass) any { return c.Spec.SubnetSelectorTerms }
	size := func(c *v1beta1.EC2NodeClass) any { return c.Spec.BlockDeviceMappings[0].EBS.VolumeSize }
	volume := func(size string) []string {
		return []string{"  subnet", "  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: '" + size + "'}}]\n  subnet"}
	}
	for _, c := range []struct {
		name    string
		replace []string
		options ConvertOptions
		field   func(*v1beta1.EC2NodeClass) any
		want    string
		codes   string
	}{
		{name: "API-299: a launch template is an error", replace: []string{"  subnet", "  launchTemplate: mine\n  subnet"}, options: role, field: family, want: "none", codes: "W201 spec.launchTemplate"},
		{
			name: "API-299: which is dropped when forced", replace: []string{"  subnet", "  launchTemplate: mine\n  subnet"}, options: ConvertOptions{NodeRole: "nodes", Force: true},
			field: family, want: "AL2", codes: "W201 spec.launchTemplate",
		},
		{name: "API-300: a family is written out", replace: []string{"  amiFamily: AL2\n", ""}, options: role, field: family, want: "AL2", codes: "W202 spec.amiFamily"},
		{name: "API-301: a family is copied", replace: []string{"AL2", "Windows2022"}, options: role, field: family, want: "Windows2022"},
		{name: "API-302, API-384: the role is a placeholder", field: identity, want: "- $KARPENTER_NODE_ROLE\n- null", codes: "W203 spec.instanceProfile"},
		{name: "API-302: or the one that is given; the profile is dropped", replace: []string{"  subnet", "  instanceProfile: p\n  subnet"}, options: role, field: identity, want: "- nodes\n- null"},
		{
			name: "API-303: the profile is kept", replace: []string{"  subnet", "  instanceProfile: p\n  subnet"}, options: ConvertOptions{Identity: IdentityKeep, DefaultInstanceProfile: "d"},
			field: identity, want: "- null\n- p", codes: "W204 spec.instanceProfile",
		},
		{
			name: "API-110, API-303: also where it is empty", replace: []string{"  subnet", "  instanceProfile: ''\n  subnet"}, options: ConvertOptions{Identity: IdentityKeep, DefaultInstanceProfile: "d"},
			field: identity, want: "- null\n- d", codes: "W204 spec.instanceProfile",
		},
		{name: "API-110, API-303: or that of the global settings", options: ConvertOptions{Identity: IdentityKeep, DefaultInstanceProfile: "d"}, field: identity, want: "- null\n- d", codes: "W204 spec.instanceProfile"},
		{name: "API-303: without either it is an error", options: ConvertOptions{Identity: IdentityKeep}, field: identity, want: "none", codes: "W601 spec.role"},
		{
			name: "API-115, API-166, API-310: tags that are refused", replace: []string{"  subnet", "  tags: {a: b, karpenter.sh/managed-by: c, karpenter.sh/provisioner-name: d, kubernetes.io/cluster/x: owned}\n  subnet"}, options: role,
			field: tags, want: "a: b", codes: "W206 spec.tags[karpenter.sh/managed-by]\nW206 spec.tags[karpenter.sh/provisioner-name]\nW206 spec.tags[kubernetes.io/cluster/x]",
		},
		{
			name: "API-166, API-310: and by later releases alone", replace: []string{"  subnet", "  tags: {a: b, karpenter.sh/nodeclaim: c, karpenter.k8s.aws/ec2nodeclass: d}\n  subnet"}, options: role,
			field: tags, want: "a: b", codes: "W206 spec.tags[karpenter.k8s.aws/ec2nodeclass]\nW206 spec.tags[karpenter.sh/nodeclaim]",
		},
		{
			name: "API-311: global tags are merged under the own", replace: []string{"  subnet", "  tags: {a: b}\n  subnet"}, options: ConvertOptions{NodeRole: "nodes", GlobalTags: map[string]string{"a": "x", "c": "d"}},
			field: tags, want: "a: b\nc: d", codes: "W207 spec.tags",
		},
		{name: "API-312: no metadata options stay none", options: role, field: metadata, want: "null"},
		{
			name: "API-073, API-313: a part is completed as EC2 did", replace: []string{"  subnet", "  metadataOptions: {httpEndpoint: disabled}\n  subnet"}, options: role, field: metadata,
			want:  "httpEndpoint: disabled\nhttpProtocolIPv6: disabled\nhttpPutResponseHopLimit: 1\nhttpTokens: optional",
			codes: "W208 spec.metadataOptions.httpProtocolIPv6\nW208 spec.metadataOptions.httpPutResponseHopLimit\nW208 spec.metadataOptions.httpTokens",
		},
		{name: "API-313: by the tool it isn't", replace: []string{"  subnet", "  metadataOptions: {httpEndpoint: disabled}\n  subnet"}, options: compat, field: metadata, want: "httpEndpoint: disabled"},
		{name: "API-315: mebibytes are canonical already", replace: volume("20480Mi"), options: role, field: size, want: "20Gi"},
		{name: "API-315: a broken unit", replace: volume("1.5Ti"), options: role, field: size, want: "1536Gi"},
		{name: "API-065, API-315: bytes that are gigabytes", replace: volume("10000000000"), options: role, field: size, want: "10G"},
		{name: "API-315: bytes that are gibibytes", replace: volume("10737418240"), options: role, field: size, want: "10Gi", codes: "W209 spec.blockDeviceMappings[0].ebs.volumeSize"},
		{name: "API-315: rounded up", replace: volume("100.5G"), options: role, field: size, want: "94Gi", codes: "W209 spec.blockDeviceMappings[0].ebs.volumeSize"},
		{name: "API-315: by the tool it stays", replace: volume("10737418240"), options: compat, field: size, want: `"10737418240"`},
		{name: "API-305, API-330: any value", replace: []string{"subnetSelector: {a: b}", "subnetSelector: {a: '*'}"}, options: role, field: subnets, want: "- tags:\n    a: '*'"},
		{
			name: "API-306: ids and tags, never a name", replace: []string{"securityGroupSelector: {a: b}", "securityGroupSelector: {aws-ids: 'sg-1, sg-2'}"}, options: role,
			field: func(c *v1beta1.EC2NodeClass) any { return c.Spec.SecurityGroupSelectorTerms }, want: "- id: sg-1\n- id: sg-2",
		},
		{
			name: "API-111, API-269: no selector is refused by the result", replace: []string{"  subnetSelector: {a: b}\n", ""}, options: role, field: subnets, want: "none", codes: "W601 spec.subnetSelectorTerms",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			node := &AWSNodeTemplate{}
			read(t, base, c.replace, node)
			class, warnings := node.ToV1Beta1(c.options)
			got := "none"
			if class != nil {
				got = text(c.field(class))
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

// numbered are so many ids.
func numbered(prefix string, n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return strings.Join(ids, ",")
}

// API-121 to API-127, API-307, API-321 to API-333: a selector map becomes terms that select the same.
func TestExpand(t *testing.T) {
	many := make(map[string]string)
	for i := range 21 {
		many[fmt.Sprintf("k%d", i)] = "v"
	}
	for _, c := range []struct {
		name     string
		of       resource
		selector map[string]string
		compat   bool
		// want is owner|id|name|tags of each term.
		want, codes string
	}{
		{"API-321: nothing", subnets, nil, false, "", ""},
		{"API-323: the first key varies fastest", subnets, map[string]string{"b": "3,4", "a": "1, 2"}, false, "|||1,3 |||2,3 |||1,4 |||2,4", ""},
		{"API-123: both ways to write ids", subnets, map[string]string{SelectorOldIDs: "subnet-1,subnet-2"}, false, "|subnet-1|| |subnet-2||", ""},
		{"API-321: of both the newer wins", subnets, map[string]string{SelectorOldIDs: "subnet-1", SelectorIDs: "subnet-2"}, false, "|subnet-2||", "W220 spec"},
		{"API-124, API-325, API-326: ids stand alone, each once", subnets, map[string]string{SelectorIDs: "subnet-1,subnet-1", "a": "1,2"}, false, "|subnet-1||", "W220 spec"},
		{"API-325: by the tool they don't", subnets, map[string]string{SelectorIDs: "subnet-1", "a": "1,2"}, true, "|subnet-1||1 |subnet-1||2", ""},
		{"API-324, API-455: owners vary slowest", images, map[string]string{SelectorName: "n1,n2", SelectorOwners: "o1, o2"}, false, "o1||n1| o1||n2| o2||n1| o2||n2|", "W223 spec[aws::name]"},
		{"API-127, API-328: tags search self and amazon", images, map[string]string{"a": "1"}, false, "self|||1 amazon|||1", "W222 spec"},
		{"API-328: by the tool everybody's", images, map[string]string{"a": "1"}, true, "|||1", ""},
		{"API-126, API-161: a name says so itself", images, map[string]string{SelectorName: "n*", "a": "1"}, false, "||n*|1", ""},
		{"API-125, API-329: a value that some releases took literally", images, map[string]string{"a": "1,2", SelectorOwners: "self"}, false, "self|||1 self|||2", "W223 spec[a]"},
		{"API-327: owners alone", images, map[string]string{SelectorOwners: "self"}, false, "self|||", "W221 spec[aws::owners]"},
		{"API-331: too many terms", subnets, map[string]string{"a": "1,2,3,4,5,6", "b": "1,2,3,4,5,6"}, false, "", "W224 spec"},
		{"API-331: too many tags", subnets, many, false, "", "W224 spec"},
		{"API-331: too many ids", subnets, map[string]string{SelectorIDs: "subnet-0" + strings.Repeat(",subnet-1", 31)}, false, "", "W224 spec"},
		{"API-331: too many ids in addition to something else", subnets, map[string]string{SelectorIDs: numbered("subnet-", 31), "a": "1"}, false, "", "W220 spec\nW224 spec"},
		{"API-331: no more than may be", subnets, map[string]string{SelectorIDs: numbered("subnet-", 30)}, false, "|" + strings.ReplaceAll(numbered("subnet-", 30), ",", "|| |") + "||", ""},
		{"API-332: ids of another kind", groups, map[string]string{SelectorIDs: "subnet-1"}, false, "|subnet-1||", "W225 spec"},
		{"a group has no names", groups, map[string]string{SelectorName: "n"}, false, "|||n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			warnings := conversion.NewRecorder("Kind", "name")
			var got []string
			for _, term := range expand(c.selector, c.of, ConvertOptions{ReferenceCompat: c.compat}, fieldPath(), warnings) {
				var tags []string
				for _, key := range []string{SelectorName, "a", "b"} {
					if v, ok := term.tags[key]; ok {
						tags = append(tags, v)
					}
				}
				got = append(got, strings.Join([]string{term.owner, term.id, term.name, strings.Join(tags, ",")}, "|"))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.codes, codes(warnings.Warnings())); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

// API-321, API-326: what is said to be dropped is all that no longer selects, the older of two lists of ids too, and not the list
// that does.
func TestDroppedConditions(t *testing.T) {
	for selector, want := range map[string]string{
		"{aws-ids: subnet-1, 'aws::ids': subnet-2, team: a}": "ids select alone; dropped condition(s) aws-ids=subnet-1, team=a",
		"{aws-ids: subnet-1, team: a}":                       "ids select alone; dropped condition(s) team=a",
	} {
		node := &AWSNodeTemplate{}
		read(t, base, []string{"subnetSelector: {a: b}", "subnetSelector: " + selector}, node)
		_, warnings := node.ToV1Beta1(ConvertOptions{NodeRole: "nodes"})
		if len(warnings) != 1 || warnings[0].Message != want {
			t.Errorf("%s: %v", selector, warnings)
		}
	}
}

// API-119, API-113, API-308: images are selected by terms, and their tags no longer restrict instance types.
func TestImages(t *testing.T) {
	node := &AWSNodeTemplate{}
	read(t, base, []string{"  subnet", "  amiSelector: {aws::name: image}\n  subnet"}, node)
	class, warnings := node.ToV1Beta1(ConvertOptions{NodeRole: "nodes"})
	if diff := cmp.Diff([]v1beta1.AMISelectorTerm{{Name: "image"}}, class.Spec.AMISelectorTerms); diff != "" {
		t.Error(diff)
	}
	if got := codes(warnings); got != "W205 spec.amiSelector" {
		t.Error(got)
	}
}

// API-080: an inline block is decoded strictly, and all that is wrong with it is said.
func TestDecodeProvider(t *testing.T) {
	for _, c := range []struct{ name, block, want string }{
		{"without a header", `{"subnetSelector":{"a":"b"}}`, ""},
		{"with one", `{"apiVersion":"extensions.karpenter.sh/v1alpha1","kind":"AWS"}`, ""},
		{"of another kind", `{"apiVersion":"v1","kind":"GCP"}`, "spec.provider.apiVersion spec.provider.kind"},
		{"API-113, API-114, API-119: what it can't say", `{"userData":"x","amiSelector":{},"detailedMonitoring":true}`, "spec.provider spec.provider spec.provider"},
		{"of the wrong type", `{"context":1,"blockDeviceMappings":[{"ebs":{"volumeSize":"big"}}]}`, "spec.provider.blockDeviceMappings[0].ebs.volumeSize spec.provider.context"},
		{"no object", `[]`, "spec.provider"},
		{"cut short", `{"context":`, "spec.provider"},
	} {
		t.Run(c.name, func(t *testing.T) {
			node, errs := DecodeProvider("web", []byte(c.block))
			var fields []string
			for _, err := range errs {
				fields = append(fields, err.Field)
			}
			if diff := cmp.Diff(c.want, strings.Join(fields, " ")); diff != "" {
				t.Error(errs.ToAggregate())
			}
			if c.want == "" && node.Name != "web" {
				t.Errorf("node template %v", node)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace []string
		want    string
	}{
		{"nothing wrong", nil, ""},
		{"API-108, API-109: families", []string{"AL2", "AL1"}, "spec.amiFamily"},
		{"API-108: Custom needs images", []string{"AL2", "Custom"}, "spec.amiSelector"},
		{"API-111, API-112: selectors are required", []string{"  subnetSelector: {a: b}\n", "", "  securityGroupSelector: {a: b}\n", ""}, "spec.subnetSelector spec.securityGroupSelector"},
		{"API-111 to API-113: no empty keys and values", []string{"subnetSelector: {a: b}", "subnetSelector: {'': b, c: ''}\n  amiSelector: {aws::ids: 'sg-1'}"}, "spec.subnetSelector spec.subnetSelector[c] spec.amiSelector[aws::ids]"},
		{"API-123: ids under either key", []string{"subnetSelector: {a: b}", "subnetSelector: {aws-ids: 'subnet-1,sg-2'}\n  amiSelector: {aws::ids: 'ami-1, x'}"}, "spec.subnetSelector[aws-ids] spec.amiSelector[aws::ids]"},
		{"API-055: a volume without a place", []string{"  subnet", "  blockDeviceMappings: [{deviceName: '', ebs: {volumeSize: 1Gi}}]\n  subnet"}, "spec.blockDeviceMappings[0].deviceName"},
		{"API-115: tags", []string{"  subnet", "  tags: {'': a}\n  subnet"}, "spec.tags"},
		{"API-116: a launch template", []string{"  subnet", "  launchTemplate: a\n  userData: b\n  instanceProfile: c\n  metadataOptions: {}\n  amiSelector: {a: b}\n  blockDeviceMappings: [{deviceName: a, ebs: {volumeSize: 1Gi}}]\n  subnet"},
			"spec.securityGroupSelector spec.metadataOptions spec.amiFamily spec.instanceProfile spec.blockDeviceMappings spec.userData spec.amiSelector"},
		{"API-117, API-118: the machine", []string{"  subnet", "  metadataOptions: {httpPutResponseHopLimit: 65}\n  blockDeviceMappings: [{ebs: {volumeSize: 1M}}, {deviceName: a}]\n  subnet"},
			"spec.blockDeviceMappings[0].deviceName spec.blockDeviceMappings[0].ebs.volumeSize spec.blockDeviceMappings[1].ebs spec.metadataOptions.httpPutResponseHopLimit"},
		{"a name", []string{"name: web", "name: a_b"}, "metadata.name"},
		{"no name", []string{"{name: web}", "{}"}, "metadata.name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			node := &AWSNodeTemplate{}
			read(t, base, c.replace, node)
			var fields []string
			for _, err := range node.Validate() {
				fields = append(fields, err.Field)
			}
			if diff := cmp.Diff(c.want, strings.Join(fields, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// API-261: what has no place stays with the provenance, so that a provider may still act on it; what was changed since
// comes back as well as a selector map can say it.
func TestFromV1Beta1(t *testing.T) {
	node := &AWSNodeTemplate{}
	read(t, base, []string{"  subnet", "  launchTemplate: mine\n  subnet"}, node)
	if got := LaunchTemplateOf(node.Provenance()); got != "mine" {
		t.Errorf("launch template %q", got)
	}
	if got := LaunchTemplateOf(conversion.Provenance{}); got != "" {
		t.Errorf("of no node template: %q", got)
	}
	root, public := true, true
	profile := "p"
	class := &v1beta1.EC2NodeClass{Spec: v1beta1.EC2NodeClassSpec{
		AMIFamily: "AL2", InstanceProfile: &profile, AssociatePublicIPAddress: &public,
		SubnetSelectorTerms:        []v1.SubnetSelectorTerm{{ID: "subnet-1"}, {ID: "subnet-2"}},
		SecurityGroupSelectorTerms: []v1.SecurityGroupSelectorTerm{{Tags: map[string]string{"a": "b"}}},
		AMISelectorTerms:           []v1beta1.AMISelectorTerm{{Name: "n", Owner: "self"}},
		BlockDeviceMappings:        []v1beta1.BlockDeviceMapping{{RootVolume: root}},
	}}
	class.Name = "web"
	out, warnings := FromV1Beta1(class, conversion.Provenance{}, ConvertOptions{Force: true})
	want := []map[string]string{{SelectorIDs: "subnet-1,subnet-2"}, {"a": "b"}, {SelectorName: "n", SelectorOwners: "self"}}
	if diff := cmp.Diff(want, []map[string]string{out.Spec.SubnetSelector, out.Spec.SecurityGroupSelector, out.Spec.AMISelector}); diff != "" {
		t.Error(diff)
	}
	if got := codes(warnings); !strings.HasPrefix(got, "W803 spec.blockDeviceMappings[0].rootVolume\nW803 spec.associatePublicIPAddress\nW601") {
		t.Error(got)
	}
	class.Spec.SecurityGroupSelectorTerms = []v1.SecurityGroupSelectorTerm{{Name: "a"}, {Tags: map[string]string{"a": "b,c"}}}
	class.Spec.InstanceProfile, class.Spec.Role = nil, &profile
	if out, warnings := FromV1Beta1(class, conversion.Provenance{}, ConvertOptions{}); out != nil || !warnings.Has(conversion.CodeNotExpressible) || !warnings.Has(conversion.CodeNoCounterpart) {
		t.Errorf("terms that no map can say: %v, %v", out, warnings)
	}
}

// API-070, API-073: the defaults of a block that is absent.
func TestDefaultMetadataOptions(t *testing.T) {
	if o := DefaultMetadataOptions(IPv4); *o.HTTPPutResponseHopLimit != 2 || *o.HTTPProtocolIPv6 != v1.Disabled || *o.HTTPTokens != v1.HTTPTokensRequired || *o.HTTPEndpoint != v1.Enabled {
		t.Errorf("%+v", o)
	}
	if o := DefaultMetadataOptions(IPv6); *o.HTTPProtocolIPv6 != v1.Enabled {
		t.Errorf("%+v", o)
	}
}

// API-278: labels that are gone.
func TestRetiredLabels(t *testing.T) {
	for _, label := range RetiredLabels() {
		for _, known := range v1.WellKnownLabels() {
			if label == known {
				t.Errorf("%s is not gone", label)
			}
		}
	}
}

func fieldPath() *field.Path { return field.NewPath("spec") }

// Both steps find that the reference's terms are refused; it is told once.
func TestReferenceRefusedOnce(t *testing.T) {
	n := &AWSNodeTemplate{}
	n.Name = "a"
	n.Spec.SubnetSelector, n.Spec.SecurityGroupSelector = map[string]string{"a": "b"}, map[string]string{"a": "b"}
	n.Spec.AMISelector = map[string]string{SelectorIDs: "ami-1", SelectorName: "x"}
	hub, warnings := n.ToV1(ConvertOptions{NodeRole: "nodes", ReferenceCompat: true})
	count := 0
	for _, w := range warnings {
		if w.Code == conversion.CodeReferenceRefused {
			count++
		}
	}
	if hub == nil || count != 1 {
		t.Errorf("%v", warnings)
	}
}
