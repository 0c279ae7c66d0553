package reconcilers

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

// Claims are looked at again when anything of their pool changes but the history of its disruptions.
func TestPoolsThatChangeClaims(t *testing.T) {
	const history = v1.DisruptionHistoryAnnotationKey
	for name, c := range map[string]struct {
		change func(*v1.NodePool)
		want   bool
	}{
		"nothing":            {func(*v1.NodePool) {}, true}, // they are told of all pools now and then
		"history":            {func(p *v1.NodePool) { p.Annotations[history] = "{}" }, false},
		"history is gone":    {func(p *v1.NodePool) { delete(p.Annotations, history) }, false},
		"history and status": {func(p *v1.NodePool) { p.Annotations[history], p.Status.NodeClassObservedGeneration = "{}", 3 }, true},
		"history and hash":   {func(p *v1.NodePool) { p.Annotations[history], p.Annotations["hash"] = "{}", "2" }, true},
		"history and spec":   {func(p *v1.NodePool) { p.Annotations[history], p.Generation = "{}", 2 }, true},
		"another object":     {func(p *v1.NodePool) { p.Annotations[history], p.UID = "{}", "other" }, true},
	} {
		before := build.Pool("default")
		before.Annotations = map[string]string{"hash": "1", history: "[]"}
		after := before.DeepCopy()
		c.change(after)
		if got := changesClaims(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if before.Annotations[history] != "[]" || after.Annotations["hash"] == "" {
			t.Errorf("%s: objects that are shared were changed", name)
		}
	}
	if !changesClaims(event.UpdateEvent{}) {
		t.Error("without objects nobody knows")
	}
}
