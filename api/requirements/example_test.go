package requirements_test

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

func Example() {
	lookup := requirements.CoreVocabulary().Compile()
	pool := requirements.NewSet(
		requirements.In("kubernetes.io/arch", "amd64", "arm64"),
		requirements.Gt("example.com/cpu", 3),
	)
	arm := requirements.NewSet(requirements.In("kubernetes.io/arch", "arm64"), requirements.In("topology.kubernetes.io/zone", "a"))
	fmt.Println(lookup.Compatible(pool, arm))
	fmt.Println(pool.Merge(arm))

	power := requirements.NewSet(requirements.In("kubernetes.io/arch", "ppc64le"))
	fmt.Println(lookup.Compatible(pool, power))
	misspelt := requirements.NewSet(requirements.In("zone", "a"))
	fmt.Println(lookup.Compatible(pool, misspelt))
	// Output:
	// <nil>
	// example.com/cpu Gte 4; kubernetes.io/arch In [arm64]; topology.kubernetes.io/zone In [a]
	// key kubernetes.io/arch, kubernetes.io/arch In [ppc64le] not in kubernetes.io/arch In [amd64, arm64]
	// label "zone" does not have known values (did you mean "topology.kubernetes.io/zone"?)
}

func ExampleRequirement_Intersect() {
	r := requirements.NotIn("example.com/cpu", "7", "100").
		Intersect(requirements.Gt("example.com/cpu", 3)).
		Intersect(requirements.Lt("example.com/cpu", 17))
	fmt.Println(r)
	fmt.Println(r.Has("4"), r.Has("7"), r.Has("32"))
	fmt.Println(r.Intersect(requirements.In("example.com/cpu", "2", "4", "8")))
	// Output:
	// example.com/cpu Gte 4, Lte 16, NotIn [7]
	// true false false
	// example.com/cpu In [4, 8]
}

func ExampleSet_MarshalJSON() {
	set := requirements.NewSet(requirements.Gt("example.com/cpu", 3), requirements.In("kubernetes.io/arch", "arm64"))
	data, err := json.Marshal(set)
	fmt.Println(string(data), err)
	// Output:
	// [{"key":"example.com/cpu","operator":"Gte","values":["4"]},{"key":"kubernetes.io/arch","operator":"In","values":["arm64"]}] <nil>
}

func ExampleParseText() {
	r, err := requirements.ParseText("example.com/cpu Gt 3, NotIn [7]")
	fmt.Println(r, err)
	_, err = requirements.ParseText("example.com/cpu Over 3")
	fmt.Println(err)
	// Output:
	// example.com/cpu Gte 4, NotIn [7] <nil>
	// requirement "example.com/cpu Over 3": at byte 16: expected one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte, minValues
}

// A provider adds its own keys to those that every cloud shares.
func ExampleVocabulary_Merge() {
	vocabulary := requirements.CoreVocabulary().Merge(requirements.Vocabulary{
		WellKnown:         []string{"cloud.example/cpu"},
		RestrictedDomains: []string{"cloud.example"},
	})
	fmt.Println(vocabulary.IsWellKnown("cloud.example/cpu"), vocabulary.IsWellKnown("topology.kubernetes.io/zone"))
	fmt.Println(vocabulary.Restricted("cloud.example/other"))
	// Output:
	// true true
	// label key "cloud.example/other" is restricted: domain "cloud.example" is reserved and the key is not a well-known one; choose a key of another domain
}

func ExampleValidateRequirements() {
	entries := []v1.NodeSelectorRequirementWithMinValues{
		{Key: "kubernetes.io/arch", Operator: requirements.OpIn},
		{Key: "karpenter.sh/registered", Operator: requirements.OpExists},
	}
	lookup := requirements.CoreVocabulary().Compile()
	for _, err := range requirements.ValidateRequirements(entries, lookup, field.NewPath("spec", "template", "spec", "requirements")) {
		fmt.Println(err)
	}
	// Output:
	// spec.template.spec.requirements[0].values: Required value: operator In needs at least one value: list the allowed values, or use DoesNotExist
	// spec.template.spec.requirements[1].key: Forbidden: label key "karpenter.sh/registered" is restricted: domain "karpenter.sh" is reserved and the key is not a well-known one; choose a key of another domain
}
