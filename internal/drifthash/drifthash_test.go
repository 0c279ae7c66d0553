package drifthash

import "testing"

type projection struct {
	Name  string
	List  []string
	Map   map[string]string
	Flag  *bool
	Inner struct{ N int64 }
}

// PRV-009, AWN-270: order and zero values don't matter, an optional member set to zero does.
func TestOf(t *testing.T) {
	no := false
	base := projection{Name: "a", List: []string{"x", "y"}, Map: map[string]string{"k": "v"}}
	for _, tc := range []struct {
		name  string
		other projection
		same  bool
	}{
		{"itself", base, true},
		{"list in another order", projection{Name: "a", List: []string{"y", "x"}, Map: map[string]string{"k": "v"}}, true},
		{"name", projection{Name: "b", List: base.List, Map: base.Map}, false},
		{"list", projection{Name: "a", List: []string{"x"}, Map: base.Map}, false},
		{"map", projection{Name: "a", List: base.List, Map: map[string]string{"k": "w"}}, false},
		{"flag set to false", projection{Name: "a", List: base.List, Map: base.Map, Flag: &no}, false},
		{"inner", projection{Name: "a", List: base.List, Map: base.Map, Inner: struct{ N int64 }{1}}, false},
	} {
		if same := Of(base) == Of(tc.other); same != tc.same {
			t.Errorf("%s: same = %v, want %v", tc.name, same, tc.same)
		}
	}
	if got := Of(struct{ Flag func() }{func() {}}); got != "" {
		t.Errorf("what can't be hashed has the hash %q", got)
	}
}
