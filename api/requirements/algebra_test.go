package requirements_test

import (
	"math"
	"testing"

	"github.com/drawknife/drawknife/api/requirements"
)

func TestSCH021Membership(t *testing.T) {
	tests := []struct {
		r       requirements.Requirement
		allowed []string
		refused []string
	}{
		{in("a", "b"), []string{"a", "b"}, []string{"c", "", "1"}},
		{in(""), []string{""}, []string{"a"}},
		{notIn("a"), []string{"b", "", "1"}, []string{"a"}},
		{exists(), []string{"a", "", "1"}, nil},
		{doesNotExist(), nil, []string{"a", "", "1"}},
		{gt(3), []string{"4", "05", "9223372036854775807"}, []string{"3", "a", "", "4a", "-4", "9223372036854775808"}},
		{gte(3), []string{"3", "4"}, []string{"2", "3.5"}},
		{lt(3), []string{"2", "0"}, []string{"3", "a", "-", "+"}},
		{lte(3), []string{"3", "0"}, []string{"4"}},
		{all(gte(3), lte(5), notIn("4")), []string{"3", "5"}, []string{"2", "4", "6", "a"}},
		{lt(0), nil, []string{"0", "1", "a", ""}},
	}
	for _, tt := range tests {
		for _, v := range tt.allowed {
			if !tt.r.Has(v) {
				t.Errorf("%s should allow %q", tt.r, v)
			}
		}
		for _, v := range tt.refused {
			if tt.r.Has(v) {
				t.Errorf("%s should not allow %q", tt.r, v)
			}
		}
	}
}

func TestSCH022Intersection(t *testing.T) {
	tests := []struct {
		name       string
		a, b, want requirements.Requirement
	}{
		{"two lists", in("a", "b", "c"), in("b", "c", "d"), in("b", "c")},
		{"disjoint lists", in("a"), in("b"), doesNotExist()},
		{"list without exclusions", in("a", "b"), notIn("b", "c"), in("a")},
		{"list wholly excluded", in("a", "b"), notIn("a", "b"), doesNotExist()},
		{"two exclusion lists", notIn("a", "c"), notIn("b", "c"), notIn("a", "b", "c")},
		{"larger lower bound", gte(3), gt(4), gte(5)},
		{"smaller upper bound", lte(9), lt(7), lte(6)},
		{"crossing bounds", gte(5), lte(4), doesNotExist()},
		{"crossing bounds keep minValues", gte(5).WithMinValues(2), lte(4), doesNotExist().WithMinValues(2)},
		{"touching bounds do not cross", gte(5), lte(5), all(gte(5), lte(5))},
		{"a list forgets the bounds", in("3", "5", "a"), gte(4), in("5")},
		{"a list wholly outside the bounds", in("3", "a"), gte(4), doesNotExist()},
		{"exclusions outside the bounds are dropped", notIn("3", "5", "a"), gte(4), all(gte(4), notIn("5"))},
		{"larger minValues wins", exists().WithMinValues(2), exists().WithMinValues(3), exists().WithMinValues(3)},
		{"minValues from one side", in("a", "b"), exists().WithMinValues(2), in("a", "b").WithMinValues(2)},
		{"Exists changes nothing", in("a", "b"), exists(), in("a", "b")},
		{"DoesNotExist absorbs", notIn("a"), doesNotExist(), doesNotExist()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.a.Intersect(tt.b); !got.Equal(tt.want) {
				t.Errorf("%s ∩ %s = %s, want %s", tt.a, tt.b, got, tt.want)
			}
			if got := tt.b.Intersect(tt.a); !got.Equal(tt.want) {
				t.Errorf("%s ∩ %s = %s, want %s", tt.b, tt.a, got, tt.want)
			}
		})
	}
}

// SCH-040: several entries for one key: the largest minValues wins, whatever becomes of the values.
func TestSCH040LargestMinValuesWins(t *testing.T) {
	s := requirements.NewSet(in("a", "b", "c").WithMinValues(2), notIn("c").WithMinValues(1), exists())
	if got, want := s.Get(key), in("a", "b").WithMinValues(2); !got.Equal(want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSCH024Overlap(t *testing.T) {
	tests := []struct {
		a, b requirements.Requirement
		want bool
	}{
		{in("a", "b"), in("b", "c"), true},
		{in("a"), in("b"), false},
		{in("a", "b"), notIn("a"), true},
		{in("a"), notIn("a", "b"), false},
		{in("3", "x"), gte(3), true},
		{in("2", "x"), gte(3), false},
		{in("x"), exists(), true},
		{notIn("a"), notIn("b"), true},
		{exists(), doesNotExist(), false},
		{doesNotExist(), doesNotExist(), false},
		{gte(5), lte(4), false},
		{gte(5), lte(5), true},
		{gt(3), lt(4), false},
		// A finite range that is wholly excluded holds no value.
		{all(gte(3), lte(3)), notIn("3"), false},
		{all(gte(3), notIn("3")), lte(3), false},
		{all(gte(3), notIn("3", "4")), all(lte(5), notIn("4", "5")), false},
		{all(gte(3), notIn("3", "4")), all(lte(6), notIn("4", "5")), true},
		{all(gte(3), lte(3)), notIn("03"), true},
		{all(gte(3), lte(3), notIn("3")), exists(), false},
		{all(gte(3), lte(3), notIn("3")), in("03"), true},
		// Label values are not negative, which bounds every range from below.
		{lt(0), exists(), false},
		{lte(1), notIn("0", "1"), false},
		{lte(2), notIn("0", "1"), true},
		{gte(math.MaxInt64), notIn("9223372036854775807"), false},
		{gte(0), lte(math.MaxInt64), true},
	}
	for _, tt := range tests {
		if got := tt.a.Intersects(tt.b); got != tt.want {
			t.Errorf("%s overlaps %s = %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if got := tt.b.Intersects(tt.a); got != tt.want {
			t.Errorf("%s overlaps %s = %v, want %v", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestSCH027AnyValueIsDeterministicAndAllowed(t *testing.T) {
	tests := []struct {
		r    requirements.Requirement
		want string
		ok   bool
	}{
		{in("b", "a"), "a", true},
		{in(""), "", true},
		{exists(), "0", true},
		{notIn("0", "1", "3"), "2", true},
		{gt(3), "4", true},
		{lt(3), "0", true},
		{all(gt(3), notIn("4", "5", "7")), "6", true},
		{all(gte(3), lte(4), notIn("3")), "4", true},
		{all(gte(3), lte(3), notIn("3")), "", false},
		{all(gte(math.MaxInt64), notIn("9223372036854775807")), "", false},
		{lt(0), "", false},
		{doesNotExist(), "", false},
	}
	for _, tt := range tests {
		got, ok := tt.r.AnyValue()
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: AnyValue = %q, %v, want %q, %v", tt.r, got, ok, tt.want, tt.ok)
		}
	}
}
