package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/scheduling"
)

// rackClass is a kind of node class that nobody but this test knows; its older form had height in words.
type rackClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Height int    `json:"height"`
		Row    string `json:"row"`
	} `json:"spec"`
}

func (c *rackClass) DeepCopyObject() runtime.Object { out := *c; return &out }

func (c *rackClass) Default() {
	if c.Spec.Row == "" {
		c.Spec.Row = "first"
	}
}

func (c *rackClass) Validate() field.ErrorList {
	if c.Spec.Height > 48 {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "height"), c.Spec.Height, "a rack has 48 units")}
	}
	return nil
}

// oldRack is a rackClass of an older generation.
type oldRack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size string `json:"size"`
	} `json:"spec"`
}

func (c *oldRack) DeepCopyObject() runtime.Object { out := *c; return &out }

const rackGroup = "rack.example.com"

func rackKinds() kinds.Set {
	return kinds.Set{
		NodeClasses: []kinds.NodeClassKind{{
			GroupVersionKind: schema.GroupVersionKind{Group: rackGroup, Version: "v1", Kind: "RackNodeClass"},
			New:              func() kinds.NodeClass { return &rackClass{} },
		}},
		Older: []kinds.OlderKind{{
			GroupVersionKind: schema.GroupVersionKind{Group: rackGroup, Version: "v1alpha1", Kind: "RackNodeClass"},
			New:              func() kinds.Object { return &oldRack{} },
		}},
	}
}

// convertRacks converts racks, and refuses those of a size it does not know.
func convertRacks(older []kinds.Object, _ []*v1.NodePool) []kinds.Converted {
	out := make([]kinds.Converted, len(older))
	for i, o := range older {
		old, ok := o.(*oldRack)
		if !ok {
			out[i].Objects = []kinds.Born{{Object: o}} // as a conversion must not
			continue
		}
		if old.Spec.Size != "half" {
			out[i].Warnings = conversion.Warnings{{Code: "W999", Severity: conversion.SeverityError, Object: "RackNodeClass/" + old.Name, Path: "spec.size", Message: "is no size"}}
			continue
		}
		class := &rackClass{TypeMeta: metav1.TypeMeta{APIVersion: rackGroup + "/v1", Kind: "RackNodeClass"}, ObjectMeta: old.ObjectMeta}
		class.Spec.Height = 24
		out[i].Objects = []kinds.Born{{Object: class}}
	}
	return out
}

const (
	rackPool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: racks}\nspec: {template: {spec: {nodeClassRef: {group: rack.example.com, kind: RackNodeClass, name: a}, requirements: []}}}\n"
	rack     = "apiVersion: rack.example.com/v1\nkind: RackNodeClass\nmetadata: {name: a}\nspec: {height: 42, colour: red}\n"
	halfRack = "apiVersion: rack.example.com/v1alpha1\nkind: RackNodeClass\nmetadata: {name: a}\nspec: {size: half}\n"
)

// A kind of node class that the caller names is read as those of AWS are: decoded, defaulted, validated, found by its pools, in present
// and older forms, in addition to those of other clouds.
func TestKindsOfTheCaller(t *testing.T) {
	racks := Options{Kinds: rackKinds(), Conversion: convertRacks}
	for text, height := range map[string]int{rack: 42, halfRack: 24} {
		result, err := Load([]Source{source("in.yaml", rackPool+"---\n"+text)}, racks)
		if err != nil {
			t.Fatal(err)
		}
		class, ok := result.NodeClassOf(&result.Snapshot.NodePools[0]).(*rackClass)
		if !ok || class.Spec.Height != height || class.Spec.Row != "first" || class.APIVersion != "rack.example.com/v1" {
			t.Errorf("%s: class %+v", text, result.NodeClasses)
		}
		if text == rack {
			wantWarning(t, result, WarningUnknownField)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(rack, "42", "49", 1):          "RackNodeClass a: spec.height",
		strings.Replace(rack, "42", "tall", 1):        "RackNodeClass a: spec.height",
		strings.Replace(rack, "/v1", "/v2", 1):        "convert it to rack.example.com/v1",
		strings.Replace(rack, "Rack", "Shelf", 1):     "no kind ShelfNodeClass that is known here",
		strings.Replace(halfRack, "half", "third", 1): "RackNodeClass a: spec.size: W999 is no size",
		rack + "---\n" + rack:                         "RackNodeClass a: is given twice",
		betaPool:                                      "NodePool beta: was converted to a *v1beta1.NodePool, which is not read",
	} {
		_, err := Load([]Source{source("in.yaml", text)}, racks)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}

	// Two clouds: a class of each with one name.
	both := onAWS(Options{})
	both.Kinds = both.Kinds.Join(rackKinds())
	text := documents(rackPool, rack, goodPool, goodNodeClass, strings.Replace(rack, "name: a", "name: default", 1))
	result, err := Load([]Source{source("in.yaml", text)}, both)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, class := range result.NodeClasses {
		got = append(got, class.GetName()+" "+class.GetObjectKind().GroupVersionKind().Kind)
	}
	if diff := cmp.Diff([]string{"a RackNodeClass", "default EC2NodeClass", "default RackNodeClass"}, got); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	for i, want := range []string{"EC2NodeClass", "RackNodeClass"} {
		if class := result.NodeClassOf(&result.Snapshot.NodePools[i]); class == nil || class.GetObjectKind().GroupVersionKind().Kind != want {
			t.Errorf("pool %d has %v, want %s", i, class, want)
		}
	}
}

// Without kinds of a cloud, no cloud is known: its node classes are like every other kind, its pools are read all the same, and nothing
// is missed; objects of older generations are refused.
func TestNoCloud(t *testing.T) {
	load := func(text string) (*Result, error) { return Load([]Source{source("in.yaml", text)}, Options{}) }
	result, err := load(documents(goodPool, goodNodeClass))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"EC2NodeClass.karpenter.k8s.aws": 1}, result.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if len(result.Warnings) != 1 || result.Warnings[0].Code != WarningUnknownKind {
		t.Errorf("warnings: %v", result.Warnings)
	}
	if class := result.NodeClassOf(&result.Snapshot.NodePools[0]); class != nil {
		t.Errorf("class %v", class)
	}
	for _, text := range []string{betaPool, betaClaim, oldPool} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), "there is no conversion for it here") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What can't be meant of Options.Kinds does no harm: kinds of Kubernetes stay what they are, a kind without New is left out, and of two
// entries the last counts. A conversion that loses objects refuses the input.
func TestOddKinds(t *testing.T) {
	odd := func(group, kind string, make func() kinds.NodeClass) kinds.NodeClassKind {
		return kinds.NodeClassKind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, New: make}
	}
	set := kinds.Set{NodeClasses: []kinds.NodeClassKind{
		odd("", "Pod", func() kinds.NodeClass { return &rackClass{} }),
		odd("example.com", "Nothing", nil),
		odd(rackGroup, "RackNodeClass", nil), rackKinds().NodeClasses[0],
	}, Older: []kinds.OlderKind{{GroupVersionKind: v1beta1.GroupVersion().WithKind(v1beta1.KindNodePool), New: func() kinds.Object { return &oldRack{} }}}}
	text := documents(simplePod("p", ""), "apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: a}\n", rack)
	result, err := Load([]Source{source("in.yaml", text)}, Options{Kinds: set})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Snapshot.Pods) != 1 || result.Skipped["Nothing.example.com"] != 1 || len(result.NodeClasses) != 1 {
		t.Errorf("got %+v", result)
	}
	result, err = Load([]Source{source("in.yaml", betaPool)}, Options{Kinds: set, Conversion: convert.Conversion(convert.Options{})})
	if err != nil || len(result.Snapshot.NodePools) != 1 {
		t.Errorf("a NodePool of v1beta1 next to a kind of that name: %v", err)
	}
	none := func([]kinds.Object, []*v1.NodePool) []kinds.Converted { return nil }
	if _, err := Load([]Source{source("in.yaml", betaPool)}, Options{Conversion: none}); err == nil || !strings.Contains(err.Error(), "gave 0 results for 1 objects") {
		t.Errorf("a conversion without results: %v", err)
	}
	if class := result.NodeClassOf(&scheduling.NodePool{}); class != nil {
		t.Errorf("a pool without an object has class %v", class)
	}
}
