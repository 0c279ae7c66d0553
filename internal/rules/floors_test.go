package rules_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckFloors(t *testing.T) {
	for _, c := range []ruleCase{
		{"down", files{"scheduling/solve.go": imports("scheduling", "cloudprovider", "api/v1")}, nil},
		{"own sub-package", files{"scheduling/manifests/load.go": imports("manifests", "scheduling")}, nil},
		{"hub", files{"api/v1beta1/convert.go": imports("v1beta1", "api/v1")}, nil},
		{"hub of a hub", files{"api/v1alpha5/convert.go": imports("v1alpha5", "api/v1beta1", "api/v1")}, nil},
		{"foundation", files{"api/v1/hash.go": imports("v1", "internal/drifthash")}, nil},
		{"test looks up", files{"scheduling/solve_test.go": imports("scheduling", "fake")}, nil},
		{"up", files{"scheduling/solve.go": imports("scheduling", "fake")},
			[]string{"scheduling/solve.go:3: scheduling must not import fake: it stands on a higher floor"}},
		{"same floor", files{"disruption/plan.go": imports("disruption", "provisioning")},
			[]string{"disruption/plan.go:3: disruption must not import provisioning: it stands on the same floor"}},
		{"hub the wrong way", files{"api/v1/convert.go": imports("v1", "api/v1beta1")},
			[]string{"api/v1/convert.go:3: api/v1 must not import api/v1beta1: it stands on the same floor"}},
		{"provider that plans", files{"aws/launch.go": imports("aws", "scheduling")},
			[]string{"aws/launch.go:3: aws must not import scheduling: providers use floors 0 to 2 alone"}},
		{"providers that know each other", files{"aws/catalog/x.go": imports("catalog", "fake")},
			[]string{"aws/catalog/x.go:3: aws/catalog must not import fake: it stands on the same floor"}},
		{"kit outside tests", files{"fake/x.go": imports("fake", "cloudprovider/conformance")},
			[]string{"fake/x.go:3: fake must not import cloudprovider/conformance: it stands on a higher floor"}},
		{"test support outside tests", files{"scheduling/x.go": imports("scheduling", "internal/workload")},
			[]string{"scheduling/x.go:3: scheduling must not import internal/workload: it stands on a higher floor"}},
		{"no floor", files{"pkg/new/x.go": "package new"},
			[]string{"pkg/new/x.go: package pkg/new stands on no floor: name it in internal/rules/floors.go"}},
		{"import of no floor", files{"api/v1/x.go": imports("v1", "pkg/new")},
			[]string{"api/v1/x.go:3: api/v1 must not import pkg/new: it stands on no floor"}},
		{"root package", files{"x.go": imports("drawknife", "scheduling")}, nil},
		{"nested module", files{"internal/e2e/go.mod": "module e2e", "internal/e2e/x.go": "package e2e"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckFloors) })
	}
}

func TestCheckAWSSDK(t *testing.T) {
	const uses = "package x\n\nimport _ \"github.com/aws/aws-sdk-go-v2/aws\"\n"
	for _, c := range []ruleCase{
		{"provider", files{"aws/x.go": uses, "aws/sdk/x.go": uses, "examples/simulate/x.go": uses}, nil},
		{"facts", files{"aws/catalog/x.go": uses},
			[]string{"aws/catalog/x.go:3: aws/catalog must work without the AWS SDK, but imports github.com/aws/aws-sdk-go-v2/aws"}},
		{"planner", files{"scheduling/x.go": uses},
			[]string{"scheduling/x.go:3: scheduling must work without the AWS SDK, but imports github.com/aws/aws-sdk-go-v2/aws"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckAWSSDK) })
	}
}

func TestCheckTopLevel(t *testing.T) {
	if faults := rules.CheckTopLevel([]string{".git", ".ci", "api", "docs"}); len(faults) != 0 {
		t.Errorf("the folders of the architecture: %v", faults)
	}
	if faults := rules.CheckTopLevel([]string{"api", "pkg"}); len(faults) != 1 || faults[0].Where != "pkg" {
		t.Errorf("a folder too many: %v", faults)
	}
}
