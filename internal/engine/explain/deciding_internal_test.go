package explain

import (
	"fmt"
	"slices"
	"testing"

	"github.com/drawknife/drawknife/internal/engine/model"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
)

// A pod that names thousands of labels is explained by a few of them.
func TestFewLabelsAreLetOff(t *testing.T) {
	var list []requirements.Requirement
	for i := range 1000 {
		list = append(list, requirements.NotIn(fmt.Sprintf("a%03d", i), "x"))
	}
	n := match.New(list...)
	p := &nodepool.Pool{Template: requirements.NewSet(requirements.In("a900", "y")), Table: &nodepool.Table{Catalog: &market.Catalog{TypeKeys: map[string]bool{"a950": false}, OfferingKeys: map[string]bool{"a999": true}}}}
	x := &explainer{explanations: &explanations{}, m: &model.Model{}}
	got := missesOf(x).deciding(p, n, n.Keys())
	if len(got) != maxMissKeys || !slices.Equal(got[:4], []string{"a950", "a999", "a900", "a000"}) {
		t.Errorf("lets off %d keys, first %v", len(got), got[:min(len(got), 4)])
	}
	p.Template = requirements.NewSet(requirements.In("a500", "x"))
	if got := missesOf(x).deciding(p, n, n.Keys()); !slices.Equal(got, []string{"a500"}) {
		t.Errorf("lets off %v, want the one that the pool excludes", got)
	}
	p.Template = requirements.NewSet(requirements.In("a500", "x"), requirements.In("a600", "x"))
	if got := missesOf(x).deciding(p, n, n.Keys()); len(got) > 0 {
		t.Errorf("lets off %v, though the pool excludes two", got)
	}
	if got := n.Without("a000", "a500", "b"); len(got) != len(n)-2 || len(got.About("a500")) > 0 || len(got.About("a501")) != 1 {
		t.Errorf("leaves %d of %d needs", len(got), len(n))
	}
}
