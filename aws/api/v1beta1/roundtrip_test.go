package v1beta1

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/aws/api/v1"
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
	seeded.Check(t, func(t *rapid.T) {
		class := drawClass(t)
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

func drawClass(t *rapid.T) *EC2NodeClass {
	word := rapid.StringMatching(`[a-z]{1,8}`)
	tags := rapid.MapOfN(word, word, 1, 3)
	text := func(label string) *string { return rapid.Ptr(word, true).Draw(t, label) }
	class := &EC2NodeClass{}
	class.Name = word.Draw(t, "name")
	if rapid.Bool().Draw(t, "annotated") {
		class.Annotations = map[string]string{"example.com/note": word.Draw(t, "note")}
	}
	class.Spec = EC2NodeClassSpec{
		SubnetSelectorTerms:        []v1.SubnetSelectorTerm{{Tags: tags.Draw(t, "subnets")}},
		SecurityGroupSelectorTerms: []v1.SecurityGroupSelectorTerm{{Name: word.Draw(t, "group")}},
		AMIFamily:                  rapid.SampledFrom(AMIFamilies()).Draw(t, "family"),
		UserData:                   text("userData"),
		AssociatePublicIPAddress:   rapid.Ptr(rapid.Bool(), true).Draw(t, "public"),
		Tags:                       rapid.MapOfN(rapid.OneOf(word, rapid.Just(v1.TagNodeClaim)), word, 0, 3).Draw(t, "tags"),
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
		size := resource.MustParse("20Gi")
		class.Spec.BlockDeviceMappings = []BlockDeviceMapping{{DeviceName: text("device"), RootVolume: true, EBS: &BlockDevice{VolumeSize: &size}}}
	}
	if rapid.Bool().Draw(t, "metadata") {
		class.Spec.MetadataOptions = &MetadataOptions{HTTPPutResponseHopLimit: rapid.Ptr(rapid.Int64Range(1, 64), true).Draw(t, "hops")}
	}
	return class
}
