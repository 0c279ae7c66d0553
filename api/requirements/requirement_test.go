package requirements_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/requirements"
)

const key = "example.com/key"

func in(values ...string) requirements.Requirement    { return requirements.In(key, values...) }
func notIn(values ...string) requirements.Requirement { return requirements.NotIn(key, values...) }
func exists() requirements.Requirement                { return requirements.Exists(key) }
func doesNotExist() requirements.Requirement          { return requirements.DoesNotExist(key) }
func gt(n int64) requirements.Requirement             { return requirements.Gt(key, n) }
func lt(n int64) requirements.Requirement             { return requirements.Lt(key, n) }
func gte(n int64) requirements.Requirement            { return requirements.Gte(key, n) }
func lte(n int64) requirements.Requirement            { return requirements.Lte(key, n) }

// all intersects requirements from left to right.
func all(first requirements.Requirement, rest ...requirements.Requirement) requirements.Requirement {
	for _, r := range rest {
		first = first.Intersect(r)
	}
	return first
}

func ptr[T any](v T) *T { return &v }

// SCH-020: what each operator constructs. SCH-025: the operator derived from it.
func TestSCH020ConstructionAndSCH025DerivedOperator(t *testing.T) {
	tests := []struct {
		name         string
		r            requirements.Requirement
		complement   bool
		values       []string
		lower, upper *int64
		operator     requirements.Operator
	}{
		{"In sorts and removes duplicates", in("b", "a", "b"), false, []string{"a", "b"}, nil, nil, requirements.OpIn},
		{"In with no values is DoesNotExist", in(), false, nil, nil, nil, requirements.OpDoesNotExist},
		{"In keeps the empty value", in(""), false, []string{""}, nil, nil, requirements.OpIn},
		{"NotIn", notIn("b", "a"), true, []string{"a", "b"}, nil, nil, requirements.OpNotIn},
		{"NotIn with no values is Exists", notIn(), true, nil, nil, nil, requirements.OpExists},
		{"Exists", exists(), true, nil, nil, nil, requirements.OpExists},
		{"DoesNotExist", doesNotExist(), false, nil, nil, nil, requirements.OpDoesNotExist},
		{"Gt", gt(3), true, nil, ptr(int64(4)), nil, requirements.OpExists},
		{"Gte", gte(3), true, nil, ptr(int64(3)), nil, requirements.OpExists},
		{"Lt", lt(3), true, nil, nil, ptr(int64(2)), requirements.OpExists},
		{"Lte", lte(3), true, nil, nil, ptr(int64(3)), requirements.OpExists},
		{"bounded with exclusions", gte(3).Intersect(notIn("5")), true, []string{"5"}, ptr(int64(3)), nil, requirements.OpNotIn},
		{"Gt of the largest integer is DoesNotExist", gt(math.MaxInt64), false, nil, nil, nil, requirements.OpDoesNotExist},
		{"Gte of the largest integer", gte(math.MaxInt64), true, nil, ptr(int64(math.MaxInt64)), nil, requirements.OpExists},
		{"Gt of a negative integer counts from 0", gt(-7), true, nil, ptr(int64(0)), nil, requirements.OpExists},
		{"Lt of the smallest integer does not wrap", lt(math.MinInt64), true, nil, nil, ptr(int64(-1)), requirements.OpExists},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.r.Key(); got != key {
				t.Errorf("Key = %q", got)
			}
			if got := tt.r.Complement(); got != tt.complement {
				t.Errorf("Complement = %v, want %v", got, tt.complement)
			}
			if diff := cmp.Diff(tt.values, tt.r.Values()); diff != "" {
				t.Errorf("Values (-want +got):\n%s", diff)
			}
			lower, upper := tt.r.Bounds()
			if diff := cmp.Diff([]*int64{tt.lower, tt.upper}, []*int64{lower, upper}); diff != "" {
				t.Errorf("Bounds (-want +got):\n%s", diff)
			}
			if got := tt.r.Operator(); got != tt.operator {
				t.Errorf("Operator = %s, want %s", got, tt.operator)
			}
		})
	}
}

func TestArgumentsAreCopied(t *testing.T) {
	values := []string{"b", "a"}
	r := in(values...)
	values[0], values[1] = "x", "y"
	if want := in("a", "b"); !r.Equal(want) {
		t.Errorf("changing the argument changed the requirement: %s", r)
	}
}

func TestMinValues(t *testing.T) {
	if got := exists().MinValues(); got != nil {
		t.Errorf("MinValues = %d, want nil", *got)
	}
	if got := exists().WithMinValues(3).MinValues(); got == nil || *got != 3 {
		t.Errorf("MinValues = %v, want 3", got)
	}
	if got := exists().WithMinValues(3).WithMinValues(2).MinValues(); got == nil || *got != 2 {
		t.Errorf("replaced MinValues = %v, want 2", got)
	}
	if got := exists().WithMinValues(3).WithMinValues(0); !got.Equal(exists()) {
		t.Errorf("removing minValues leaves %s", got)
	}
}

func TestEqualTellsEveryPartApart(t *testing.T) {
	different := []requirements.Requirement{
		in("a"), in("b"), in("a", "b"), notIn("a"), exists(), doesNotExist(), gte(0), lte(0), gte(1), lte(1), gte(0).Intersect(lte(0)),
		in("a").WithMinValues(1), in("a").WithMinValues(2), in("a").WithKey("other"), exists().WithKey("other"),
	}
	for i, a := range different {
		for j, b := range different {
			if a.Equal(b) != (i == j) {
				t.Errorf("%s Equal %s = %v", a, b, a.Equal(b))
			}
			if (a.String() == b.String()) != (i == j) {
				t.Errorf("%q and %q should print differently exactly when they differ", a, b)
			}
		}
	}
}
