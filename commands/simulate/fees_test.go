package simulate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/fees"
)

func TestParseFees(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"rhel":                               "rhel 0 []",
		"public-ipv4, root-volume=100@gpu+x": "public-ipv4 1 [], root-volume 100 [gpu x]",
		"cross-zone-traffic=0.5":             "cross-zone-traffic 0.5 []",
		"cross-zone-traffic":                 "--fees cross-zone-traffic: needs an amount, as cross-zone-traffic=10 for 10 GB a node and hour that cross zones",
		"rhel=3":                             "--fees rhel=3: rhel takes no amount",
		"rhel@":                              "--fees rhel@: needs the name of a NodePool after @",
		"rhel,rhel":                          "--fees: rhel is named twice",
		"root-volume=-1":                     "--fees root-volume=-1: must be a number of GB of gp3 a node, from 0 to 1000000",
		"root-volume=NaN":                    "--fees root-volume=NaN: must be a number of GB of gp3 a node, from 0 to 1000000",
		"nothing":                            `--fees: there is no fee "nothing", only cross-zone-traffic, eks-auto-mode, public-ipv4, rhel, root-volume, sles, ubuntu-pro`,
	} {
		choices, err := parseFees(text)
		var got []string
		for _, c := range choices {
			got = append(got, fmt.Sprint(c.Fee.Name, " ", c.Amount, " ", c.NodePools))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %s, want %s", text, strings.Join(got, ", "), want)
		}
	}
}

// Fees are terms of prices: of the pools that are named, licences by the number of vCPUs, Auto Mode's by the on-demand price also of
// spot nodes.
func TestFees(t *testing.T) {
	d := simulate(t, "", "-o", "json", "--fees", "root-volume=100,public-ipv4,eks-auto-mode,rhel@general,sles@gpu,ubuntu-pro@gpu,cross-zone-traffic=2").plan(t)
	licences := map[string]bool{}
	for _, n := range d.Nodes {
		terms := map[string]float64{}
		sum := 0.0
		for _, term := range n.PriceTerms {
			name, _, _ := strings.Cut(term.Name, " (")
			terms[name] += term.Amount
			sum += term.Amount
			if term.Source == "" {
				t.Errorf("%s has no source", term.Name)
			}
		}
		near := func(name string, want float64) {
			if math.Abs(terms[name]-want) > 1e-6 {
				t.Errorf("%s, %s: %s is %v, want %v", n.Name, n.InstanceType, name, terms[name], want)
			}
		}
		if math.Abs(sum-n.Price) > 1e-6 {
			t.Errorf("%s costs %v by %v", n.Name, n.Price, n.PriceTerms)
		}
		near("public-ipv4", 0.005)
		near("root-volume", 0.0109589)
		near("cross-zone-traffic", 0.04)
		if n.CapacityType == "on-demand" {
			near("eks-auto-mode", terms["list price"]*0.12)
		} else if terms["eks-auto-mode"] <= terms["list price"]*0.12 {
			t.Errorf("%s: the fee of a spot node is %v", n.InstanceType, terms["eks-auto-mode"])
		}
		vcpus := map[string]float64{"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64, "metal": 64}[n.InstanceType[strings.Index(n.InstanceType, ".")+1:]]
		switch n.NodePool {
		case "general":
			rate := 0.0144
			if vcpus > 8 {
				rate = 0.0108
			}
			near("rhel", vcpus*rate)
			near("sles", 0)
			licences["rhel"] = licences["rhel"] || terms["rhel"] > 0
		case "gpu":
			near("rhel", 0)
			near("sles", map[bool]float64{true: 0.0563, false: 0.125}[vcpus <= 4])
			near("ubuntu-pro", vcpus*0.00175)
			licences["sles"] = licences["sles"] || terms["sles"] > 0
		}
	}
	if !licences["rhel"] || !licences["sles"] {
		t.Errorf("licences of %v, want rhel and sles", licences)
	}
}

// A fee for a pool that is not there would be counted nowhere.
func TestFeesOfUnknownPools(t *testing.T) {
	s := &simulation{options: options{fees: fees.Choices{{Fee: fees.Fee{Name: "rhel"}, NodePools: []string{"web", "wbe"}}}}}
	snapshot := &scheduling.Snapshot{NodePools: []scheduling.NodePool{{Object: build.Pool("web")}, {Object: build.Pool("batch")}}}
	err := s.addFees(snapshot)
	if want := `--fees rhel@web+wbe: the input has no nodepool "wbe", only batch, web`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
