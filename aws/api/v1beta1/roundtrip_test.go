package v1beta1

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/internal/kindfields"
	"github.com/drawknife/drawknife/internal/manifesttest"
	"github.com/drawknife/drawknife/internal/seeded"
)

var update = flag.Bool("update", false, "rewrite the golden files in their canonical form")

// API-002, API-055 to API-063, API-066, API-069 to API-072, API-157 to API-173: every field is read, and written as it
// was; and all of it survives v1.
func TestManifestsRoundTrip(t *testing.T) {
	for _, file := range []string{"full.yaml", "least.yaml"} {
		t.Run(file, func(t *testing.T) {
			class := &EC2NodeClass{}
			if !manifesttest.RoundTrip(t, file, class, AddToScheme, *update) {
				return
			}
			hub, _ := class.ToV1(ConvertOptions{})
			back, _ := FromV1(hub, ConvertOptions{})
			class.Default()
			if diff := cmp.Diff(class, back); diff != "" {
				t.Errorf("to v1 and back (-before +after):\n%s", diff)
			}
		})
	}
}

// API-258, API-264, API-269, API-340, API-365, API-381: to v1 and back gives the node class back, with its metadata options
// written out, but for what a warning says; the argument stays as it was.
func TestRandomClassesSurviveV1(t *testing.T) {
	var drawn kindfields.Seen
	seeded.Check(t, func(t *rapid.T) {
		class := drawClass(t)
		drawn.Note(class)
		if errs := class.Validate(); len(errs) > 0 {
			t.Fatalf("drawn invalid: %v", errs.ToAggregate())
		}
		before, _ := json.Marshal(class)
		hub, warnings := class.ToV1(ConvertOptions{})
		if after, _ := json.Marshal(class); !bytes.Equal(before, after) {
			t.Fatalf("the argument was changed from\n%s\nto\n%s", before, after)
		}
		if err := warnings.Err(); err != nil {
			if class.Spec.AMIFamily == AMIFamilyUbuntu && class.Spec.AMISelectorTerms == nil && hub == nil {
				hub, _ = class.ToV1(ConvertOptions{Force: true})
			} else {
				t.Fatal(err)
			}
		}
		if errs := hub.Validate(); len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		hubBefore, _ := json.Marshal(hub)
		back, backWarnings := FromV1(hub, ConvertOptions{})
		if err := backWarnings.Err(); err != nil {
			t.Fatal(err)
		}
		if hubAfter, _ := json.Marshal(hub); !bytes.Equal(hubBefore, hubAfter) {
			t.Fatalf("the hub was changed from\n%s\nto\n%s", hubBefore, hubAfter)
		}
		want := class.DeepCopy()
		want.APIVersion, want.Kind = APIVersion, KindEC2NodeClass
		want.Default()
		for _, w := range warnings {
			if w.Code == "W206" {
				delete(want.Spec.Tags, v1.TagNodeClaim)
			}
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Fatalf("(-before +after)\n%s", diff)
		}
	})
	if !testing.Short() { // which draws a fifth
		drawn.Complete(t, &EC2NodeClass{}, manifesttest.UndrawnMetadata()...)
	}
}

func FuzzManifest(f *testing.F) {
	manifesttest.Seed(f)
	f.Fuzz(func(t *testing.T, manifest []byte) {
		class := &EC2NodeClass{}
		if !manifesttest.Reread(t, manifest, class, &EC2NodeClass{}) {
			return
		}
		valid := len(class.Validate()) == 0
		hub, warnings := class.ToV1(ConvertOptions{})
		if (hub == nil) != (warnings.Err() != nil) {
			t.Fatalf("hub %v, error %v", hub, warnings.Err())
		}
		// An alias version that was kept in an annotation may be anything.
		_, aliased := class.Annotations[AliasVersionAnnotationKey]
		if valid && hub == nil && class.Spec.AMIFamily != AMIFamilyUbuntu && !aliased {
			t.Fatalf("valid but not converted: %v\n%s", warnings.Err(), manifest)
		}
		if hub != nil {
			FromV1(hub, ConvertOptions{})
		}
		manifesttest.DefaultTwice(t, class)
	})
}

// drawClass draws a valid node class; which fields it can have is checked by the test that uses it.
func drawClass(t *rapid.T) *EC2NodeClass {
	word := manifesttest.Word()
	tags := rapid.MapOfN(word, word, 1, 3)
	text := func(label string) *string { return rapid.Ptr(word, true).Draw(t, label) }
	class := &EC2NodeClass{ObjectMeta: manifesttest.Metadata().Draw(t, "metadata")}
	raid := v1.InstanceStorePolicyRAID0
	class.Spec = EC2NodeClassSpec{
		SubnetSelectorTerms:        []v1.SubnetSelectorTerm{{Tags: tags.Draw(t, "subnets")}, {ID: "subnet-" + word.Draw(t, "subnet")}},
		SecurityGroupSelectorTerms: []v1.SecurityGroupSelectorTerm{{Name: word.Draw(t, "group")}, {Tags: tags.Draw(t, "groups")}, {ID: "sg-" + word.Draw(t, "groupID")}},
		AMIFamily:                  rapid.SampledFrom(AMIFamilies()).Draw(t, "family"),
		UserData:                   text("userData"),
		AssociatePublicIPAddress:   rapid.Ptr(rapid.Bool(), true).Draw(t, "public"),
		Tags:                       rapid.MapOfN(rapid.OneOf(word, rapid.Just(v1.TagNodeClaim)), word, 0, 3).Draw(t, "tags"),
		InstanceStorePolicy:        rapid.SampledFrom([]*v1.InstanceStorePolicy{nil, &raid}).Draw(t, "instanceStore"),
		DetailedMonitoring:         rapid.Ptr(rapid.Bool(), true).Draw(t, "monitoring"),
		Context:                    text("context"),
	}
	if name := word.Draw(t, "identity"); rapid.Bool().Draw(t, "role") {
		class.Spec.Role = &name
	} else {
		class.Spec.InstanceProfile = &name
	}
	if class.Spec.AMIFamily == AMIFamilyCustom || rapid.Bool().Draw(t, "terms") {
		class.Spec.AMISelectorTerms = []AMISelectorTerm{{ID: "ami-1"}, {Name: word.Draw(t, "image"), Owner: "self"}, {Tags: tags.Draw(t, "images")}}
	} else if class.Spec.AMIFamily == AMIFamilyAL2023 && rapid.Bool().Draw(t, "pinned") {
		class.Annotations = map[string]string{AliasVersionAnnotationKey: "v20240625"}
	}
	if rapid.Bool().Draw(t, "volumes") {
		class.Spec.BlockDeviceMappings = []BlockDeviceMapping{
			{DeviceName: text("device"), RootVolume: true, EBS: drawVolume(t)}, {DeviceName: text("second"), EBS: drawVolume(t)},
		}
	}
	if rapid.Bool().Draw(t, "metadataOptions") {
		toggle := rapid.Ptr(rapid.SampledFrom([]v1.Switch{v1.Enabled, v1.Disabled}), true)
		class.Spec.MetadataOptions = &MetadataOptions{
			HTTPEndpoint: toggle.Draw(t, "endpoint"), HTTPProtocolIPv6: toggle.Draw(t, "ipv6"),
			HTTPPutResponseHopLimit: rapid.Ptr(rapid.Int64Range(1, 64), true).Draw(t, "hops"),
			HTTPTokens:              rapid.Ptr(rapid.SampledFrom([]v1.HTTPTokens{v1.HTTPTokensRequired, v1.HTTPTokensOptional}), true).Draw(t, "tokens"),
		}
	}
	if rapid.Bool().Draw(t, "status") {
		class.Status = EC2NodeClassStatus{
			Subnets:         []v1.Subnet{{ID: "subnet-1", Zone: word.Draw(t, "zone"), ZoneID: word.Draw(t, "zoneID"), OutpostARN: word.Draw(t, "outpostARN")}},
			SecurityGroups:  []v1.SecurityGroup{{ID: "sg-1", Name: word.Draw(t, "groupName")}},
			AMIs:            []AMI{{ID: "ami-1", Name: word.Draw(t, "imageName"), Requirements: manifesttest.Requirements().Draw(t, "imageRequirements")}},
			InstanceProfile: word.Draw(t, "profile"),
			Conditions: []metav1.Condition{{
				Type: "Ready", Status: metav1.ConditionTrue, Reason: "Why", Message: word.Draw(t, "message"), ObservedGeneration: 3, LastTransitionTime: manifesttest.Time().Draw(t, "since"),
			}},
		}
	}
	return class
}

func drawVolume(t *rapid.T) *BlockDevice {
	flag, number := rapid.Ptr(rapid.Bool(), true), rapid.Ptr(rapid.Int64Range(125, 1000), true)
	size := resource.MustParse(rapid.SampledFrom([]string{"20Gi", "100G", "1Ti"}).Draw(t, "size"))
	return &BlockDevice{
		DeleteOnTermination: flag.Draw(t, "deleted"), Encrypted: flag.Draw(t, "encrypted"), IOPS: number.Draw(t, "iops"), Throughput: number.Draw(t, "throughput"),
		KMSKeyID: rapid.Ptr(manifesttest.Word(), true).Draw(t, "key"), SnapshotID: rapid.Ptr(rapid.Just("snap-1"), true).Draw(t, "snapshot"),
		VolumeSize: &size, VolumeType: rapid.Ptr(rapid.Just(v1.VolumeTypeGP3), true).Draw(t, "type"),
	}
}
