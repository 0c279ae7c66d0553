package spotlimits_test

import (
	"errors"
	"strings"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ key, value, text string }{
		{v1.SpotMaxShareAnnotationKey, "70%", "drawknife.dev/spot-max-share 70%"},
		{v1.SpotMaxShareAnnotationKey, "0%", "drawknife.dev/spot-max-share 0%"},
		{v1.SpotPoolMaxShareAnnotationKey, "12.5%", "drawknife.dev/spot-pool-max-share 12.5%"},
		{v1.SpotMaxPriceAnnotationKey, "110%", "drawknife.dev/spot-max-price 110%"},
		{v1.OnDemandBaseAnnotationKey, "2", "drawknife.dev/on-demand-base 2"},
		{v1.OnDemandBaseAnnotationKey, "0", ""},
		{"drawknife.dev/other", "x", ""},
	} {
		pod := build.Pod("p", build.Annotations(c.key, c.value))
		l, err := spotlimits.Read(pod)
		if err != nil || l.String() != c.text || l.IsZero() != (c.text == "") {
			t.Errorf("%s %s: %q, %v", c.key, c.value, l, err)
		}
	}
	if l, err := spotlimits.Read(nil); err != nil || !l.IsZero() {
		t.Error(l, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{v1.SpotMaxShareAnnotationKey, ""}, {v1.SpotMaxShareAnnotationKey, "70"}, {v1.SpotMaxShareAnnotationKey, "0.7"}, {v1.SpotMaxShareAnnotationKey, "%"},
		{v1.SpotMaxShareAnnotationKey, "101%"}, {v1.SpotMaxShareAnnotationKey, "-1%"}, {v1.SpotMaxShareAnnotationKey, "NaN%"}, {v1.SpotMaxShareAnnotationKey, "1e1%"},
		{v1.SpotMaxShareAnnotationKey, "1.2.3%"}, {v1.SpotMaxShareAnnotationKey, strings.Repeat("1", 500) + "%"}, {v1.SpotPoolMaxShareAnnotationKey, "0%"},
		{v1.SpotMaxPriceAnnotationKey, "0%"}, {v1.SpotMaxPriceAnnotationKey, "1001%"}, {v1.OnDemandBaseAnnotationKey, "-1"}, {v1.OnDemandBaseAnnotationKey, "two"},
		{v1.OnDemandBaseAnnotationKey, "99999999999"},
	} {
		l, err := spotlimits.Read(build.Pod("p", build.Annotations(c[0], c[1])))
		var typed *spotlimits.Error
		if !errors.As(err, &typed) || typed.Annotation != c[0] || !l.IsZero() || len(err.Error()) > 300 || !strings.Contains(err.Error(), "write a ") {
			t.Errorf("%q: %v, %v", c, l, err)
		}
	}
}

func TestMost(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		limits             spotlimits.Limits
		pods, spot, onPool int
	}{
		{spotlimits.Limits{}, 10, 10, 10},
		{spotlimits.Limits{MaxShare: share(0.7)}, 10, 7, 10},
		{spotlimits.Limits{MaxShare: share(0.7)}, 1, 0, 1},
		{spotlimits.Limits{OnDemandBase: 3}, 10, 7, 10},
		{spotlimits.Limits{OnDemandBase: 3}, 2, 0, 2},
		{spotlimits.Limits{OnDemandBase: 3, MaxShare: share(0.5), MaxPoolShare: share(0.3)}, 10, 5, 3},
		{spotlimits.Limits{MaxPoolShare: share(0.01)}, 10, 10, 1},
	} {
		if spot, onPool := c.limits.MostOnSpot(c.pods), c.limits.MostOnPool(c.pods); spot != c.spot || onPool != c.onPool {
			t.Errorf("%s of %d: %d on spot, %d on a pool", c.limits, c.pods, spot, onPool)
		}
	}
}

func TestStricter(t *testing.T) {
	read := func(pairs ...string) spotlimits.Limits {
		l, err := spotlimits.Read(build.Pod("p", build.Annotations(pairs...)))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a := read(v1.SpotMaxShareAnnotationKey, "70%", v1.OnDemandBaseAnnotationKey, "1", v1.SpotMaxPriceAnnotationKey, "50%")
	b := read(v1.SpotMaxShareAnnotationKey, "40%", v1.OnDemandBaseAnnotationKey, "2", v1.SpotPoolMaxShareAnnotationKey, "30%")
	want := "drawknife.dev/spot-max-share 40%, drawknife.dev/on-demand-base 2, drawknife.dev/spot-pool-max-share 30%, drawknife.dev/spot-max-price 50%"
	if a.Stricter(b).String() != want || b.Stricter(a).String() != want {
		t.Errorf("%s and %s", a.Stricter(b), b.Stricter(a))
	}
}

func TestWorkloadOf(t *testing.T) {
	owned := build.Pod("p", build.OwnedBy("apps/v1", "StatefulSet", "db"))
	for want, is := range map[string]spotlimits.Workload{
		"StatefulSet default/db": spotlimits.WorkloadOf(owned),
		"Pod default/p":          spotlimits.WorkloadOf(build.Pod("p")),
		"Workload default/all":   spotlimits.WorkloadOf(build.Pod("p", build.Annotations(v1.WorkloadAnnotationKey, "all"), build.OwnedBy("apps/v1", "StatefulSet", "db"))),
	} {
		if is.String() != want || is.Compare(is) != 0 {
			t.Errorf("%s, want %s", is, want)
		}
	}
}

// FuzzRead checks that any text is read or refused with the cure, and that shares stay within their range.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"70%", "0%", "100%", "1e3%", "two", "2", "-1", "99.99%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pod := build.Pod("p", build.Annotations(v1.SpotMaxShareAnnotationKey, text, v1.OnDemandBaseAnnotationKey, text))
		for _, key := range []string{"", v1.SpotMaxShareAnnotationKey, v1.OnDemandBaseAnnotationKey} {
			if delete(pod.Annotations, key); key == v1.OnDemandBaseAnnotationKey {
				pod.Annotations[v1.SpotMaxShareAnnotationKey] = text
			}
			l, err := spotlimits.Read(pod)
			var typed *spotlimits.Error
			if err != nil && !errors.As(err, &typed) {
				t.Fatal(err)
			}
			if l.MaxShare != nil && !(*l.MaxShare >= 0 && *l.MaxShare <= 1) || l.OnDemandBase < 0 || l.MostOnSpot(10) < 0 || l.MostOnSpot(10) > 10 {
				t.Fatalf("%+v", l)
			}
		}
	})
}
