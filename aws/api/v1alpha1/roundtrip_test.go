package v1alpha1

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
	"github.com/drawknife/drawknife/internal/kindfields"
	"github.com/drawknife/drawknife/internal/manifesttest"
	"github.com/drawknife/drawknife/internal/seeded"
)

var update = flag.Bool("update", false, "rewrite the golden files in their canonical form")

// API-001, API-008, API-055 to API-063, API-066, API-069 to API-072, API-108 to API-120: every field is read, and written
// as it was.
func TestManifestsRoundTrip(t *testing.T) {
	for _, file := range []string{"full.yaml", "launchtemplate.yaml"} {
		t.Run(file, func(t *testing.T) {
			node := &AWSNodeTemplate{}
			if manifesttest.RoundTrip(t, file, node, AddToScheme, *update) {
				comeBack(t, node)
			}
		})
	}
}

// comeBack converts the node template to v1 and back, and by v1beta1 alone.
func comeBack(t interface {
	Helper()
	Fatalf(string, ...any)
}, node *AWSNodeTemplate) {
	t.Helper()
	for _, options := range []ConvertOptions{{Force: true}, {Force: true, Identity: IdentityKeep, DefaultInstanceProfile: "nodes", GlobalTags: map[string]string{"a": "b"}}} {
		before, _ := json.Marshal(node)
		hub, _ := node.ToV1(options)
		beta, _ := node.ToV1Beta1(options)
		byV1, _ := FromV1(hub, node.Provenance(), options)
		byBeta, _ := FromV1Beta1(beta, node.Provenance(), options)
		if after, _ := json.Marshal(node); !bytes.Equal(before, after) {
			t.Fatalf("the argument was changed from\n%s\nto\n%s", before, after)
		}
		want := node.DeepCopy()
		want.APIVersion, want.Kind = APIVersion, KindAWSNodeTemplate
		for _, got := range []*AWSNodeTemplate{byV1, byBeta} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("came back otherwise (-before +after):\n%s", diff)
			}
		}
	}
}

// API-011, API-258, API-261, API-264, API-309, API-310, API-314, API-316 to API-318: to v1 and back gives the node template
// back, and so does v1beta1; the argument stays as it was, and a second conversion gives the same.
func TestRandomNodeTemplatesSurvive(t *testing.T) {
	var drawn kindfields.Seen
	seeded.Check(t, func(t *rapid.T) {
		node := drawNodeTemplate(t)
		drawn.Note(node)
		if errs := node.Validate(); len(errs) > 0 {
			t.Fatalf("drawn invalid: %v", errs.ToAggregate())
		}
		hub, warnings := node.ToV1(ConvertOptions{})
		if (hub == nil) != (warnings.Err() != nil) {
			t.Fatalf("hub %v, error %v", hub, warnings.Err())
		}
		if hub != nil {
			// API-269: what converts is valid.
			if errs := hub.Validate(); len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
		}
		again, againWarnings := node.ToV1(ConvertOptions{})
		if diff := cmp.Diff(hub, again) + cmp.Diff(warnings, againWarnings); diff != "" {
			t.Fatalf("a second conversion differs:\n%s", diff)
		}
		comeBack(t, node)
	})
	if !testing.Short() { // which draws a fifth
		drawn.Complete(t, &AWSNodeTemplate{}, manifesttest.UndrawnMetadata()...)
	}
}

func FuzzManifest(f *testing.F) {
	manifesttest.Seed(f)
	f.Fuzz(func(t *testing.T, manifest []byte) {
		node := &AWSNodeTemplate{}
		if !manifesttest.Reread(t, manifest, node, &AWSNodeTemplate{}) {
			return
		}
		hub, warnings := node.ToV1(ConvertOptions{})
		if (hub == nil) != (warnings.Err() != nil) {
			t.Fatalf("hub %v, error %v", hub, warnings.Err())
		}
		if hub != nil {
			FromV1(hub, node.Provenance(), ConvertOptions{})
		}
	})
}

func FuzzDecodeProvider(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"extensions.karpenter.sh/v1alpha1","kind":"AWS","subnetSelector":{"a":"b"}}`))
	f.Add([]byte(`{"userData":"x"}`))
	f.Fuzz(func(t *testing.T, block []byte) {
		node, errs := DecodeProvider("a", block)
		if (node == nil) != (len(errs) > 0) {
			t.Fatalf("node template %v, errors %v", node, errs)
		}
		if node != nil {
			node.ToV1(ConvertOptions{})
		}
	})
}

// drawNodeTemplate draws a valid node template; which fields it can have is checked by the test that uses it.
func drawNodeTemplate(t *rapid.T) *AWSNodeTemplate {
	word := manifesttest.Word()
	text := func(label string) *string { return rapid.Ptr(word, true).Draw(t, label) }
	value := rapid.StringMatching(`[a-z]{1,3}(, ?[a-z]{1,3}){0,2}|\*`)
	selector := func(label, id string, keys ...string) map[string]string {
		out := rapid.MapOfN(word, value, 1, 3).Draw(t, label)
		for _, key := range keys {
			if rapid.Bool().Draw(t, label+key) {
				out[key] = value.Draw(t, label+key+"value")
			}
		}
		if rapid.IntRange(0, 3).Draw(t, label+"ids") == 0 {
			out[rapid.SampledFrom([]string{SelectorIDs, SelectorOldIDs}).Draw(t, label+"key")] = id + "-1," + id + "-2"
		}
		return out
	}
	node := &AWSNodeTemplate{ObjectMeta: manifesttest.Metadata().Draw(t, "metadata")}
	node.Spec.SubnetSelector, node.Spec.Context = selector("subnets", "subnet"), text("context")
	node.Spec.DetailedMonitoring = rapid.Ptr(rapid.Bool(), true).Draw(t, "monitoring")
	node.Spec.Tags = rapid.MapOfN(rapid.OneOf(word, rapid.Just(tagManagedBy)), word, 0, 3).Draw(t, "tags")
	if rapid.Bool().Draw(t, "status") {
		node.Status = AWSNodeTemplateStatus{
			Subnets:        []v1.Subnet{{ID: "subnet-1", Zone: word.Draw(t, "zone"), ZoneID: word.Draw(t, "zoneID"), OutpostARN: word.Draw(t, "outpostARN")}},
			SecurityGroups: []v1.SecurityGroup{{ID: "sg-1", Name: word.Draw(t, "groupName")}},
			AMIs:           []AMI{{ID: "ami-1", Name: word.Draw(t, "imageName"), Requirements: manifesttest.Requirements().Draw(t, "imageRequirements")}},
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "launches") == 0 {
		name := word.Draw(t, "launchTemplate")
		node.Spec.LaunchTemplate = &name
		return node
	}
	node.Spec.SecurityGroupSelector = selector("groups", "sg")
	node.Spec.UserData, node.Spec.InstanceProfile = text("userData"), text("profile")
	node.Spec.AMIFamily = rapid.SampledFrom([]*v1beta1.AMIFamily{nil, new(v1beta1.AMIFamily)}).Draw(t, "family")
	if node.Spec.AMIFamily != nil {
		*node.Spec.AMIFamily = rapid.SampledFrom([]v1beta1.AMIFamily{"AL2", "Bottlerocket", "Ubuntu", "Windows2022"}).Draw(t, "which")
	}
	if rapid.Bool().Draw(t, "images") {
		node.Spec.AMISelector = selector("images", "ami", SelectorName, SelectorOwners)
	}
	if rapid.Bool().Draw(t, "volumes") {
		size := apiresource.MustParse(rapid.SampledFrom([]string{"20Gi", "20480Mi", "1.5Ti", "10000000000", "10737418240", "100.5G"}).Draw(t, "size"))
		device, toggle, number := "/dev/xvda", rapid.Ptr(rapid.Bool(), true), rapid.Ptr(rapid.Int64Range(125, 1000), true)
		node.Spec.BlockDeviceMappings = []BlockDeviceMapping{{DeviceName: &device, EBS: &v1beta1.BlockDevice{
			DeleteOnTermination: toggle.Draw(t, "deleted"), Encrypted: toggle.Draw(t, "encrypted"), IOPS: number.Draw(t, "iops"), Throughput: number.Draw(t, "throughput"),
			KMSKeyID: text("key"), SnapshotID: rapid.Ptr(rapid.Just("snap-1"), true).Draw(t, "snapshot"),
			VolumeSize: &size, VolumeType: rapid.Ptr(rapid.Just(v1.VolumeTypeGP3), true).Draw(t, "type"),
		}}}
	}
	if rapid.Bool().Draw(t, "metadataOptions") {
		toggle := rapid.Ptr(rapid.SampledFrom([]v1.Switch{v1.Enabled, v1.Disabled}), true)
		node.Spec.MetadataOptions = &MetadataOptions{
			HTTPEndpoint: toggle.Draw(t, "endpoint"), HTTPProtocolIPv6: toggle.Draw(t, "ipv6"),
			HTTPPutResponseHopLimit: rapid.Ptr(rapid.Int64Range(1, 64), true).Draw(t, "hops"),
			HTTPTokens:              rapid.Ptr(rapid.SampledFrom([]v1.HTTPTokens{v1.HTTPTokensRequired, v1.HTTPTokensOptional}), true).Draw(t, "tokens"),
		}
	}
	return node
}
