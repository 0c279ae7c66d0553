package rules_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckNoCloud(t *testing.T) {
	for _, c := range []ruleCase{
		{"kinds from the caller", files{"scheduling/manifests/x.go": imports("manifests", "api/kinds")}, nil},
		{"AWS itself", files{"aws/convert/x.go": imports("convert", "aws/api/v1"), "examples/simulate/x.go": imports("main", "aws/convert")}, nil},
		{"a test of one cloud", files{"scheduling/manifests/x_test.go": imports("manifests", "aws/convert")}, nil},
		{"its objects", files{"scheduling/manifests/x.go": imports("manifests", "aws/api/v1")},
			[]string{"scheduling/manifests/x.go:3: scheduling/manifests knows no cloud, but imports aws/api/v1: take what it needs of one from the caller"}},
		{"its conversions", files{"provisioning/x.go": imports("provisioning", "aws/convert")},
			[]string{"provisioning/x.go:3: provisioning knows no cloud, but imports aws/convert: take what it needs of one from the caller"}},
		{"its kinds", files{"scheduling/x.go": "package scheduling\n\nconst kind = \"EC2NodeClass\"\n"},
			[]string{`scheduling/x.go:3: scheduling knows no cloud, but names "EC2NodeClass": take kinds of node classes from the caller`}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckNoCloud) })
	}
}
