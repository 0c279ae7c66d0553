package onaws

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func newOverlay(name, price string, reqs ...v1.NodeSelectorRequirementWithMinValues) *v1.NodeOverlay {
	return &v1.NodeOverlay{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec:       v1.NodeOverlaySpec{Requirements: reqs, Price: &price},
	}
}

// PRV-140 to PRV-144: an instance is launched by the prices that overlays give, which planning applies itself to types without
// them. An overlay that conflicts with another in any pool counts for none.
func TestLaunchesByOverlays(t *testing.T) {
	xlarge := in(corev1.LabelInstanceTypeStable, "m5.xlarge")
	heavier := newOverlay("heavier", "0.0002", xlarge)
	heavier.Spec.Weight = new(int32)
	*heavier.Spec.Weight = 10
	here, there := newPool("pool"), newPool("other")
	there.Spec.Template.Labels = map[string]string{"team": "web"}
	unready := newPool("unready")
	unready.Spec.Template.Spec.NodeClassRef.Name = "gone"
	unready.Status = v1.NodePoolStatus{}
	for name, c := range map[string]struct {
		overlays []client.Object
		pool     string
		want     string
	}{
		"none":                     {nil, "pool", "c5.large"},
		"cheaper":                  {[]client.Object{newOverlay("a", "0.0001", xlarge)}, "pool", "m5.xlarge"},
		"of another pool":          {[]client.Object{newOverlay("a", "0.0001", xlarge, in(v1.NodePoolLabelKey, "other"))}, "pool", "c5.large"},
		"of its pool":              {[]client.Object{newOverlay("a", "0.0001", xlarge, in(v1.NodePoolLabelKey, "pool"))}, "pool", "m5.xlarge"},
		"the heavier":              {[]client.Object{newOverlay("a", "10", xlarge), heavier}, "pool", "m5.xlarge"},
		"conflict":                 {[]client.Object{newOverlay("b", "10", xlarge), newOverlay("a", "0.0001", xlarge)}, "pool", "c5.large"},
		"conflict in another pool": {[]client.Object{newOverlay("b", "10", xlarge, in("team", "web")), newOverlay("a", "0.0001", xlarge)}, "pool", "c5.large"},
		"invalid":                  {[]client.Object{newOverlay("a", "cheap", xlarge)}, "pool", "c5.large"},
		"pool that is gone":        {[]client.Object{newOverlay("a", "0.0001", xlarge)}, "gone", "c5.large"},
		"claim without a pool":     {[]client.Object{newOverlay("a", "0.0001", xlarge)}, "", "c5.large"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, append(c.overlays, readyClass("default"), here.DeepCopy(), there.DeepCopy(), unready.DeepCopy())...)
			created, err := s.provider.Create(t.Context(), newClaim("a", c.pool))
			if err != nil {
				t.Fatal(err)
			}
			if got := created.Labels[corev1.LabelInstanceTypeStable]; got != c.want {
				t.Errorf("%s was launched, want %s", got, c.want)
			}
			types, err := s.provider.InstanceTypes(t.Context(), here)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range types {
				for i := range it.Offerings {
					if p := it.Offerings[i].Price; p < 0.001 || p > 5 {
						t.Errorf("planning is given %s for %v, which an overlay says", it.Name, p)
					}
				}
			}
		})
	}
}

// Launches side by side share what overlays make of types, until something they depend on changes.
func TestOverlaysAreReckonedOnce(t *testing.T) {
	s := newSite(t, readyClass("default"), newPool("pool"), newOverlay("a", "0.0001"))
	plain, err := s.provider.InstanceTypes(t.Context(), newPool("pool"))
	if err != nil {
		t.Fatal(err)
	}
	o := &overlays{client: s.client, lookup: s.provider.Describe().Vocabulary.Compile(), types: s.provider.InstanceTypes}
	look := func() []*cloudprovider.InstanceType {
		t.Helper()
		list, err := o.Overlay(t.Context(), "pool", plain)
		if err != nil || len(list) != len(plain) || list[0].Offerings[0].Price != 0.0001 && list[0].Offerings[0].Price != 0.0002 {
			t.Fatalf("%v, %v", list, err)
		}
		return list
	}
	first := look()
	before := o.result
	if again := look(); o.result != before || again[0] != first[0] {
		t.Error("the same was computed twice")
	}
	changed := newOverlay("a", "0.0002")
	changed.Generation = 2
	if err := s.client.Delete(t.Context(), newOverlay("a", "")); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Create(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if look(); o.result == before {
		t.Error("an overlay that changed changed nothing")
	}
}

// While overlays or pools can't be read nothing is launched by prices that may be wrong.
func TestOverlaysThatCantBeRead(t *testing.T) {
	broken := errors.New("no answer")
	for name, fails := range map[string]func(client.ObjectList) bool{
		"overlays": func(l client.ObjectList) bool { _, is := l.(*v1.NodeOverlayList); return is },
		"pools":    func(l client.ObjectList) bool { _, is := l.(*v1.NodePoolList); return is },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, newOverlay("a", "1"))
			o := &overlays{client: interceptor.NewClient(s.client.(client.WithWatch), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if fails(list) {
						return broken
					}
					return c.List(ctx, list, options...)
				},
			})}
			if _, err := o.Overlay(t.Context(), "pool", nil); !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
		})
	}
}
