package requirements_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/requirements"
)

// SCH-031 in full: rows are what is there, columns what is wanted.
func TestSCH031CompatibilityTable(t *testing.T) {
	wants := []struct {
		name string
		r    requirements.Requirement
	}{
		{"In x", in("5")},
		{"NotIn x", notIn("5")},
		{"Exists", exists()},
		{"DoesNotExist", doesNotExist()},
		{"bounded, x and y inside", gte(5)},
		{"bounded, only y inside", gt(5)},
		{"bounded, neither inside", gt(7)},
		{"bounded with exclusions", all(gte(5), notIn("6"))},
	}
	const yes, no = true, false
	rows := []struct {
		name      string
		have      requirements.Set
		undefined func(string) bool
		ok        [8]bool
	}{
		{"In x", requirements.NewSet(in("5")), nil, [8]bool{yes, no, yes, no, yes, no, no, yes}},
		{"In y", requirements.NewSet(in("7")), nil, [8]bool{no, yes, yes, no, yes, yes, no, yes}},
		{"NotIn x", requirements.NewSet(notIn("5")), nil, [8]bool{no, yes, yes, yes, yes, yes, yes, yes}},
		{"Exists", requirements.NewSet(exists()), nil, [8]bool{yes, yes, yes, no, yes, yes, yes, yes}},
		{"DoesNotExist", requirements.NewSet(doesNotExist()), nil, [8]bool{no, yes, no, yes, no, no, no, yes}},
		{"bounded", requirements.NewSet(all(gte(5), lte(7))), nil, [8]bool{yes, yes, yes, no, yes, yes, no, yes}},
		{"unknown, not allowed", requirements.NewSet(requirements.Exists("another")), nil, [8]bool{no, yes, no, yes, no, no, no, yes}},
		{"unknown, another key allowed", requirements.Set{}, func(k string) bool { return k == "another" }, [8]bool{no, yes, no, yes, no, no, no, yes}},
		{"unknown, allowed", requirements.Set{}, func(k string) bool { return k == key }, [8]bool{yes, yes, yes, yes, yes, yes, yes, yes}},
	}
	for _, row := range rows {
		for i, want := range wants {
			t.Run(row.name+" against "+want.name, func(t *testing.T) {
				err := row.have.Compatible(requirements.NewSet(want.r), row.undefined)
				if (err == nil) != row.ok[i] {
					t.Errorf("{%s} against {%s}: %v, want compatible %v", row.have, want.r, err, row.ok[i])
				}
			})
		}
	}
}

func TestSCH030CompatibleIsDirectional(t *testing.T) {
	node := requirements.FromLabels(map[string]string{"a": "1", "b": "2"})
	pod := requirements.NewSet(requirements.In("a", "1"))
	if err := node.Compatible(pod, nil); err != nil {
		t.Errorf("node for pod: %v", err)
	}
	if err := pod.Compatible(node, nil); err == nil {
		t.Error("the pod does not state b, so that it can't stand in for the node")
	}
}

func TestSCH030FirstUndefinedKeyIsReportedBeforeOverlaps(t *testing.T) {
	have := requirements.NewSet(requirements.In("a", "1"))
	want := requirements.NewSet(requirements.In("a", "2"), requirements.Exists("y"), requirements.Exists("x"))
	var e *requirements.IncompatibleError
	if err := have.Compatible(want, nil); !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if e.Key != "x" || e.Reason != requirements.ReasonUndefined {
		t.Errorf("reported %s %s", e.Key, e.Reason)
	}
	if !e.Want.Equal(requirements.Exists("x")) || !e.Have.Equal(requirements.Exists("x")) {
		t.Errorf("Want %s, Have %s", e.Want, e.Have)
	}
	if got, want := e.Error(), `label "x" does not have known values`; got != want {
		t.Errorf("Error = %s, want %s", got, want)
	}
}

func TestSCH030ConflictNamesBothSides(t *testing.T) {
	have := requirements.NewSet(requirements.In("topology.kubernetes.io/zone", "b"))
	want := requirements.NewSet(requirements.In("topology.kubernetes.io/zone", "a", "c"))
	err := have.Compatible(want, nil)
	var e *requirements.IncompatibleError
	if !errors.As(err, &e) || e.Reason != requirements.ReasonNoOverlap || e.Hint() != "" {
		t.Fatalf("got %#v", err)
	}
	const sentence = "key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [a, c] not in topology.kubernetes.io/zone In [b]"
	if got := err.Error(); got != sentence {
		t.Errorf("got  %s\nwant %s", got, sentence)
	}
}

func TestSCH030SpellingHint(t *testing.T) {
	have := requirements.FromLabels(map[string]string{"example.com/team": "a", "example.com/tier": "b"})
	lookup := requirements.CoreVocabulary().Compile()
	tests := []struct {
		wanted, fromSet, fromLookup string
	}{
		{"team", "example.com/team", "example.com/team"},             // contained in a known key
		{"other.org/tier", "example.com/tier", "example.com/tier"},   // same name part
		{"example.com/taem", "example.com/team", "example.com/team"}, // two characters off
		{"zone", "", "topology.kubernetes.io/zone"},
		{"topology.k8s.io/zone", "", "topology.kubernetes.io/zone"},
		{"os", "", "kubernetes.io/os"}, // not kubernetes.io/hostname or the like, which only contain it
		{"kubernetes.io/ach", "", "kubernetes.io/arch"},
		{"nothing.like/it", "", ""},
	}
	for _, tt := range tests {
		want := requirements.NewSet(requirements.Exists(tt.wanted))
		var e *requirements.IncompatibleError
		if err := have.Compatible(want, nil); !errors.As(err, &e) || e.Hint() != tt.fromSet {
			t.Errorf("%s: %v, want hint %q", tt.wanted, err, tt.fromSet)
		}
		if err := lookup.Compatible(have, want); !errors.As(err, &e) || e.Hint() != tt.fromLookup {
			t.Errorf("%s: %v, want hint %q from the vocabulary", tt.wanted, err, tt.fromLookup)
		}
	}
	err := have.Compatible(requirements.NewSet(requirements.Exists("team")), nil)
	if got, want := err.Error(), `label "team" does not have known values (did you mean "example.com/team"?)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSCH032WhichFormAppliesWhere(t *testing.T) {
	lookup := requirements.CoreVocabulary().Compile()
	zone := requirements.NewSet(requirements.In("topology.kubernetes.io/zone", "a"))
	custom := requirements.NewSet(requirements.In(key, "a"))
	empty := requirements.Set{}

	// A claim still to be made: well-known keys may be undefined, custom ones may not.
	if err := lookup.Compatible(empty, zone); err != nil {
		t.Errorf("new claim, well-known key: %v", err)
	}
	if err := lookup.Compatible(empty, custom); err == nil {
		t.Error("new claim, custom key: accepted")
	}
	if err := empty.Compatible(zone, lookup.IsWellKnown); err != nil {
		t.Errorf("new claim, lookup as the function: %v", err)
	}
	// An existing node: its labels are complete.
	if err := empty.Compatible(zone, nil); err == nil {
		t.Error("existing node, well-known key: accepted")
	}
	// A type against a claim: only shared keys count, in both directions.
	if err := zone.Intersects(custom); err != nil {
		t.Errorf("type against claim, nothing shared: %v", err)
	}
	err := zone.Intersects(requirements.NewSet(requirements.In("topology.kubernetes.io/zone", "b"), requirements.Exists(key)))
	var e *requirements.IncompatibleError
	if !errors.As(err, &e) || e.Key != "topology.kubernetes.io/zone" || e.Reason != requirements.ReasonNoOverlap {
		t.Errorf("type against claim, zones apart: %v", err)
	}
}

func TestSCH033CustomLabelMustBeStatedByThePool(t *testing.T) {
	lookup := requirements.CoreVocabulary().Compile()
	pod := requirements.NewSet(requirements.In(key, "blue"))
	tests := []struct {
		name string
		pool requirements.Set
		ok   bool
	}{
		{"not stated", requirements.Set{}, false},
		{"stated as a label", requirements.FromLabels(map[string]string{key: "blue"}), true},
		{"stated as another label", requirements.FromLabels(map[string]string{key: "red"}), false},
		{"stated as a requirement", requirements.NewSet(in("blue", "red")), true},
		{"stated as Exists", requirements.NewSet(exists()), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := lookup.Compatible(tt.pool, pod); (err == nil) != tt.ok {
				t.Fatalf("got %v, want compatible %v", err, tt.ok)
			}
			if !tt.ok {
				return
			}
			if got, _ := tt.pool.Merge(pod).Get(key).AnyValue(); got != "blue" {
				t.Errorf("the node would be labelled %q", got)
			}
		})
	}
}

// SCH-005: offerings that are not tied to a reservation state DoesNotExist for its key, which keeps a claim that was
// narrowed to one reservation from being met by them, and lets them meet a claim that says nothing of it.
func TestSCH005ReservationLabelsTellOfferingsApart(t *testing.T) {
	const reservation = "example.com/reservation-id"
	lookup := requirements.CoreVocabulary().Merge(requirements.Vocabulary{WellKnown: []string{reservation}}).Compile()
	ordinary := requirements.NewSet(requirements.In("topology.kubernetes.io/zone", "a"), requirements.DoesNotExist(reservation))
	reserved := requirements.NewSet(requirements.In("topology.kubernetes.io/zone", "a"), requirements.In(reservation, "r-1"))
	open := requirements.NewSet(requirements.In("topology.kubernetes.io/zone", "a", "b"))
	pinned := open.With(requirements.In(reservation, "r-1"))

	got := map[string]bool{
		"open/ordinary":   lookup.Compatible(open, ordinary) == nil,
		"open/reserved":   lookup.Compatible(open, reserved) == nil,
		"pinned/ordinary": lookup.Compatible(pinned, ordinary) == nil,
		"pinned/reserved": lookup.Compatible(pinned, reserved) == nil,
	}
	want := map[string]bool{"open/ordinary": true, "open/reserved": true, "pinned/ordinary": false, "pinned/reserved": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
