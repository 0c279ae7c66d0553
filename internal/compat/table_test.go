package main

import (
	"strings"
	"testing"
)

func TestTableIsSound(t *testing.T) {
	if _, err := readTable("differences.yaml"); err != nil {
		t.Fatal(err)
	}
}

func TestJudge(t *testing.T) {
	known := &table{Reasons: []reason{
		{Name: "known", Why: "x", Specs: map[string][]string{"s": {"known difference", "group *"}}},
		{Name: "varies", Why: "x", Varies: true, Specs: map[string][]string{"s": {"sometimes"}}},
	}}
	all := func(state string, specs ...string) outcome {
		o := newOutcome()
		for _, s := range specs {
			o.state[s], o.reached[s] = state, true
		}
		return o
	}
	release := all("passed", "known difference", "group one", "sometimes", "fine", "new", "elsewhere")
	delete(release.reached, "elsewhere")
	ours := all("failed", "known difference", "group one", "new")
	for _, s := range []string{"sometimes", "fine", "elsewhere"} {
		ours.state[s] = "passed"
	}
	v := judge(known, "s", release, ours)
	if v.agree != 1 || v.differs != 3 || v.outside != 1 || len(v.unexplained) != 1 || !strings.HasPrefix(v.unexplained[0], "new") {
		t.Errorf("got %+v", v)
	}
	ours.state["new"], ours.state["known difference"] = "passed", "passed"
	v = judge(known, "s", release, ours)
	if len(v.unexplained) != 1 || !strings.Contains(v.unexplained[0], "no longer differs") {
		t.Errorf("an entry that no longer differs: got %+v", v)
	}
	release.state["fine"] = "failed"
	if v = judge(known, "s", release, ours); len(v.unexplained) != 2 {
		t.Errorf("a spec that the release fails: got %+v", v)
	}
}

func TestDifferingFields(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{"kind":"A","spec":{"x":"8h","l":[]}}`, `{"spec":{"x":"8h0m0s"}}`, ""},
		{`{"a":{"note":"{\"x\":1,\"y\":2}"}}`, `{"a":{"note":"{\"y\":2,\"x\":1}"}}`, ""},
		{`{"spec":{"x":1}}`, `{"spec":{"x":2,"y":3}}`, "[.spec.x .spec.y]"},
	} {
		if got, err := differingFields([]byte(c.a), []byte(c.b)); err != nil || got != c.want {
			t.Errorf("%s and %s: got %q, %v, want %q", c.a, c.b, got, err, c.want)
		}
	}
}
