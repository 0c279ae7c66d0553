package discovery_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/internal/discovery"
)

func seen(name, images string, mib int64) discovery.Sighting {
	return discovery.Sighting{InstanceType: name, Family: "AL2023", Images: images, Bytes: mib << 20}
}

// AWI-066: the least counts, the same renews, sixty days are enough.
func TestMemory(t *testing.T) {
	c := &clock{now: start()}
	m := discovery.NewMemory(c.Now)
	day := func(n int) { c.now = start().Add(time.Duration(n) * 24 * time.Hour) }
	have := func(what string, want int64) {
		t.Helper()
		if got := m.For("AL2023", "ami-1")["m5.large"] >> 20; got != want {
			t.Errorf("%s: %d MiB, want %d", what, got, want)
		}
	}
	have("nothing seen", 0)
	if !m.Observe(seen("m5.large", "ami-1", 7800)) {
		t.Error("a first sighting changes nothing")
	}
	have("seen", 7800)
	if m.Observe(seen("m5.large", "ami-1", 7900)) {
		t.Error("more memory counts")
	}
	have("more", 7800)
	if !m.Observe(seen("m5.large", "ami-1", 7700)) {
		t.Error("less memory does not count")
	}
	have("less", 7700)
	day(59)
	if m.Observe(seen("m5.large", "ami-1", 7700)) {
		t.Error("the same is a change")
	}
	day(118)
	have("renewed", 7700)
	day(119)
	have("sixty days later", 0)
	if !m.Observe(seen("m5.large", "ami-1", 7900)) {
		t.Error("more than what was forgotten does not count")
	}
	have("seen again", 7900)
	for _, bad := range []discovery.Sighting{{InstanceType: "m5.large"}, {Bytes: 1}} {
		if m.Observe(bad) {
			t.Errorf("%+v counts", bad)
		}
	}
}

// OPP-08: other images of the family stand in until a node contradicts them.
func TestMemoryAcrossImages(t *testing.T) {
	m := discovery.NewMemory((&clock{now: start()}).Now)
	m.Observe(seen("m5.large", "ami-1", 7800))
	m.Observe(seen("m5.large", "ami-2", 7750))
	other := seen("m5.large", "ami-1", 7000)
	other.Family = "Bottlerocket"
	m.Observe(other)
	if got := m.For("AL2023", "ami-3")["m5.large"] >> 20; got != 7750 {
		t.Errorf("a new image has %d MiB", got)
	}
	m.Observe(seen("m5.large", "ami-3", 7790))
	if got := m.For("AL2023", "ami-3")["m5.large"] >> 20; got != 7790 {
		t.Errorf("a node of the new image counts as %d MiB", got)
	}
}

// AWI-066: only nodes of images that the class still uses say something.
func TestCounts(t *testing.T) {
	if !discovery.Counts("ami-1", []string{"ami-2", "ami-1"}) || discovery.Counts("ami-3", []string{"ami-1"}) || discovery.Counts("", []string{""}) {
		t.Error("the wrong nodes count")
	}
	if a, b := discovery.ImageKey("ami-2", "ami-1", "ami-2"), discovery.ImageKey("ami-1", "ami-2"); a != b {
		t.Errorf("%q is not %q", a, b)
	}
}

// CP-CATALOG-09: the same map while nothing changes, also after what changes nothing here.
func TestMemoryMapsAreShared(t *testing.T) {
	m := discovery.NewMemory((&clock{now: start()}).Now)
	m.Observe(seen("m5.large", "ami-1", 7800))
	pointer := func() uintptr { return reflect.ValueOf(m.For("AL2023", "ami-1")).Pointer() }
	first := pointer()
	m.Observe(seen("m5.large", "ami-1", 7800))
	m.Observe(seen("m5.large", "ami-2", 7900))
	if pointer() != first {
		t.Error("another map, though nothing changed")
	}
	m.Observe(seen("c5.large", "ami-1", 3700))
	if pointer() == first {
		t.Error("a change is not seen")
	}
}

// OPP-08: what is known outlives the process.
func TestMemoryIsSaved(t *testing.T) {
	c := &clock{now: start()}
	m := discovery.NewMemory(c.Now)
	m.Observe(seen("m5.large", "ami-1", 7800))
	m.Observe(seen("c5.large", "ami-1", 3700))
	text, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	again := discovery.NewMemory(c.Now)
	c.now = start().Add(time.Hour)
	again.Observe(seen("c5.large", "ami-1", 3600))
	if err := again.Import(text); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"m5.large": 7800 << 20, "c5.large": 3600 << 20}
	if diff := cmp.Diff(want, again.For("AL2023", "ami-1")); diff != "" {
		t.Error(diff)
	}
	c.now = start().Add(discovery.MemoryLifetime)
	if got := again.For("AL2023", "ami-1")["m5.large"]; got != 0 {
		t.Error("importing made it younger")
	}
	for _, bad := range []string{"", "{}", `[{"type": "m5.large"}]`, `[{"bytes": 1}]`, fmt.Sprintf("[%*d]", 17<<20, 1)} {
		if err := again.Import([]byte(bad)); err == nil {
			t.Errorf("%.20q is read", bad)
		}
	}
}

// FuzzImport: any text is taken over whole or refused, and comes back.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`[{"type": "m5.large", "family": "AL2023", "images": "ami-1", "bytes": 1, "at": "2026-07-31T00:00:00Z"}]`))
	f.Add([]byte(`[{"type": "m5.large", "bytes": 1, "at": "9999-01-01T00:00:00Z"}]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := discovery.NewMemory((&clock{now: start()}).Now)
		if m.Import(text) != nil {
			return
		}
		m.For("AL2023", "ami-1")
		out, err := m.Export()
		if err != nil {
			t.Fatal(err)
		}
		if err := discovery.NewMemory(start).Import(out); err != nil {
			t.Errorf("what was saved can't be read: %v", err)
		}
	})
}
