package conformance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake"
)

// In a test one calls Run with the test; here the report alone is wanted.
func Example() {
	options := conformance.DefaultOptions()
	options.Levels = []conformance.Level{conformance.Core}
	report := conformance.Check(nil, func(t testing.TB) conformance.Subject {
		provider, err := fake.New(fake.GenericTypes(10), fake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return conformance.Subject{Provider: provider}
	}, options)

	fmt.Println(report.Level(conformance.Core), report.Failed())
	missing := map[string]int{}
	for _, result := range report.Results {
		if hook, ok := strings.CutPrefix(result.Reason, "needs the hook "); ok {
			missing[hook]++
		}
	}
	fmt.Println("hooks that would let it test more clauses:")
	for _, hook := range slices.Sorted(maps.Keys(missing)) {
		fmt.Println(hook, missing[hook])
	}
	// Output:
	// Passed []
	// hooks that would let it test more clauses:
	// Inject 10
	// Instances 1
	// Instances, with what nodes report 1
	// SellOut 2
	// SetNodeClass 4
	// Stall 1
}
