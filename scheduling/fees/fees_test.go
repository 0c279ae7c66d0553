package fees_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/fees"
)

func snapshot() *scheduling.Snapshot {
	return &scheduling.Snapshot{
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("web"), Object: build.Pool("web"), Catalog: "all"}},
		Catalogs: map[string][]*cloudprovider.InstanceType{"all": {
			build.InstanceType("m", build.CPU("4"), build.Memory("16Gi"), build.OnDemand("a", 0.2), build.Spot("a", 0.06)),
		}},
	}
}

// None is counted unless it is chosen, and what was there before stays as it is.
func TestAddTo(t *testing.T) {
	s := snapshot()
	own := &scheduling.CostModel{Terms: []scheduling.CostTerm{{Name: "own", Source: "test", PerNode: new(float64)}}}
	if none, err := fees.Choices(nil).AddTo(own, s); err != nil || none != own {
		t.Error("no fee changes the model", err)
	}
	choices, err := fees.Parse("eks-auto-mode,root-volume=100@web")
	if err != nil {
		t.Fatal(err)
	}
	model, err := choices.AddTo(own, s)
	if err != nil || len(own.Terms) != 1 || len(model.Terms) != 3 || model.Terms[0].Name != "own" {
		t.Fatalf("%v, %v", model, err)
	}
	if auto := model.Terms[1]; len(auto.Offerings) != 2 || fmt.Sprintf("%.3f", auto.Offerings[0].Amount) != "0.024" || fmt.Sprintf("%.3f", auto.Offerings[1].Amount) != "0.024" {
		t.Errorf("%+v", auto)
	}
	if volume := model.Terms[2]; fmt.Sprintf("%.5f", *volume.PerNode) != "0.01096" || fmt.Sprint(volume.Where.NodePools) != "[web]" || volume.Source == "" {
		t.Errorf("%+v", volume)
	}
	var wrong *scheduling.CostModelError
	if _, err := choices.AddTo(model, s); !errors.As(err, &wrong) {
		t.Errorf("twice: %v", err)
	}
}

// Snapshots with the same instance types have the same model.
func TestModels(t *testing.T) {
	choices, err := fees.Parse("eks-auto-mode")
	if err != nil {
		t.Fatal(err)
	}
	models := choices.Models()
	s := snapshot()
	first := models(s)
	again := *s
	if models(&again) != first || fees.Choices(nil).Models() != nil {
		t.Error("the same catalogs have another model")
	}
	if other := models(snapshot()); other == first || len(other.Terms) != 1 {
		t.Error("other catalogs have the same model")
	}
}

func TestCheck(t *testing.T) {
	choices, err := fees.Parse("rhel@web+wbe")
	if err != nil {
		t.Fatal(err)
	}
	var wrong *fees.Error
	if err := choices.Check(snapshot()); !errors.As(err, &wrong) || err.Error() != `fee rhel@web+wbe: the input has no nodepool "wbe", only web` {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "rhel", "public-ipv4, root-volume=100@gpu+x", "cross-zone-traffic", "rhel=3", "rhel@", "rhel,rhel", "root-volume=NaN", "@", "=,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		choices, err := fees.Parse(text)
		var wrong *fees.Error
		if err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		if _, err := choices.AddTo(nil, snapshot()); err != nil {
			t.Fatalf("%q is read, and refused as a model: %v", text, err)
		}
	})
}

// docs/costs.md has every fee with its source.
func TestFeesInDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := fees.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		name := f.Name
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/costs.md has no row for %s", name)
		}
		for _, term := range f.Terms {
			if term.PerNode != nil && f.Unit == "" && !strings.Contains(string(page), fmt.Sprintf("$%g", *term.PerNode)) {
				t.Errorf("docs/costs.md has no $%g, of %s", *term.PerNode, name)
			}
			if cpu, ok := term.PerResource["cpu"]; ok && !strings.Contains(string(page), fmt.Sprintf("$%g", cpu)) {
				t.Errorf("docs/costs.md has no $%g, of %s", cpu, name)
			}
		}
	}
}
