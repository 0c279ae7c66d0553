package requirements_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/seeded"
)

// drawnValues are the values that drawn requirements list. 03 is an integer that is not in plain form.
func drawnValues() []string { return []string{"", "a", "b", "0", "1", "2", "3", "4", "5", "03"} }

// domain is every drawn value, integers beyond every drawn bound, and a value that no requirement lists.
func domain() []string { return append(drawnValues(), "6", "7", "8", "9", "10", "unlisted") }

func primitive(key string) *rapid.Generator[requirements.Requirement] {
	return rapid.Custom(func(t *rapid.T) requirements.Requirement {
		values := rapid.SliceOfN(rapid.SampledFrom(drawnValues()), 0, 4).Draw(t, "values")
		n := rapid.Int64Range(-1, 7).Draw(t, "n")
		r := []requirements.Requirement{
			requirements.In(key, values...),
			requirements.NotIn(key, values...),
			requirements.Exists(key),
			requirements.DoesNotExist(key),
			requirements.Gt(key, n),
			requirements.Lt(key, n),
			requirements.Gte(key, n),
			requirements.Lte(key, n),
		}[rapid.IntRange(0, 7).Draw(t, "operator")]
		return r.WithMinValues(rapid.IntRange(0, 3).Draw(t, "minValues"))
	})
}

func requirement(key string) *rapid.Generator[requirements.Requirement] {
	return rapid.Custom(func(t *rapid.T) requirements.Requirement {
		parts := rapid.SliceOfN(primitive(key), 1, 3).Draw(t, "parts")
		return all(parts[0], parts[1:]...)
	})
}

func set() *rapid.Generator[requirements.Set] {
	return rapid.Custom(func(t *rapid.T) requirements.Set {
		return requirements.NewSet(requirementList().Draw(t, "requirements")...)
	})
}

func requirementList() *rapid.Generator[[]requirements.Requirement] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) requirements.Requirement {
		return requirement(rapid.SampledFrom([]string{"k1", "k2", "k3"}).Draw(t, "key")).Draw(t, "requirement")
	}), 0, 4)
}

func TestIntersectIsCommutativeAssociativeAndIdempotent(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		a, b, c := requirement(key).Draw(t, "a"), requirement(key).Draw(t, "b"), requirement(key).Draw(t, "c")
		same := func(law string, x, y requirements.Requirement) {
			if !x.Equal(y) {
				t.Fatalf("%s: %s is not %s", law, x, y)
			}
			if x.String() != y.String() {
				t.Fatalf("%s: equal requirements print as %q and %q", law, x, y)
			}
		}
		same("commutative", a.Intersect(b), b.Intersect(a))
		same("associative", a.Intersect(b).Intersect(c), a.Intersect(b.Intersect(c)))
		same("idempotent", a.Intersect(a), a)
		same("Exists is the identity", a.Intersect(exists()), a)
	})
}

func TestHasDistributesOverIntersect(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		a, b := requirement(key).Draw(t, "a"), requirement(key).Draw(t, "b")
		both := a.Intersect(b)
		for _, v := range domain() {
			if both.Has(v) != (a.Has(v) && b.Has(v)) {
				t.Fatalf("%q: %s says %v, %s says %v, %s says %v", v, a, a.Has(v), b, b.Has(v), both, both.Has(v))
			}
		}
	})
}

// overlapByForce tries every value of the domain. Two complements are only asked about integers in plain form, the
// convention of SCH-024 here.
func overlapByForce(a, b requirements.Requirement) bool {
	return slices.ContainsFunc(domain(), func(v string) bool {
		if n, err := strconv.Atoi(v); err == nil && strconv.Itoa(n) != v && a.Complement() && b.Complement() {
			return false
		}
		return a.Has(v) && b.Has(v)
	})
}

func TestIntersectsAgreesWithBruteForce(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		a, b := requirement(key).Draw(t, "a"), requirement(key).Draw(t, "b")
		if got, want := a.Intersects(b), overlapByForce(a, b); got != want {
			t.Fatalf("%s overlaps %s = %v, want %v", a, b, got, want)
		}
	})
}

func TestAnyValueIsAllowedWhereverThereIsOne(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		r := requirement(key).Draw(t, "r")
		v, ok := r.AnyValue()
		if ok && !r.Has(v) {
			t.Fatalf("%s: AnyValue %q is not allowed", r, v)
		}
		if want := overlapByForce(r, exists()); ok != want {
			t.Fatalf("%s: AnyValue found %v, want %v", r, ok, want)
		}
	})
}

func TestCompatibleAgreesWithBruteForce(t *testing.T) {
	acceptsAbsence := func(r requirements.Requirement) bool {
		return r.Operator() == requirements.OpNotIn || r.Operator() == requirements.OpDoesNotExist
	}
	seeded.Check(t, func(t *rapid.T) {
		have, want := set().Draw(t, "have"), set().Draw(t, "want")
		open := rapid.SliceOf(rapid.SampledFrom([]string{"k1", "k2", "k3"})).Draw(t, "open")
		defined, overlapping := true, true
		for _, k := range want.Keys() {
			h, w := have.Get(k), want.Get(k)
			switch {
			case have.Has(k):
				overlapping = overlapping && (overlapByForce(h, w) || acceptsAbsence(h) && acceptsAbsence(w))
			case !slices.Contains(open, k):
				defined = defined && acceptsAbsence(w)
			}
		}
		err := have.Compatible(want, func(k string) bool { return slices.Contains(open, k) })
		if (err == nil) != (defined && overlapping) {
			t.Fatalf("{%s} compatible with {%s}, open %v: %v; by force defined %v, overlapping %v", have, want, open, err, defined, overlapping)
		}
		if err := have.Intersects(want); (err == nil) != overlapping {
			t.Fatalf("{%s} intersects {%s}: %v; by force %v", have, want, err, overlapping)
		}
		if (have.Intersects(want) == nil) != (want.Intersects(have) == nil) {
			t.Fatalf("Intersects of {%s} and {%s} depends on the direction", have, want)
		}
	})
}

func TestSetIsTheSameInWhateverOrderItIsBuilt(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		list := requirementList().Draw(t, "list")
		want := requirements.NewSet(list...)
		shuffled := rapid.Permutation(list).Draw(t, "shuffled")
		cut := rapid.IntRange(0, len(list)).Draw(t, "cut")
		for way, got := range map[string]requirements.Set{
			"NewSet": requirements.NewSet(shuffled...),
			"With":   requirements.NewSet(shuffled[:cut]...).With(shuffled[cut:]...),
			"Merge":  requirements.NewSet(shuffled[:cut]...).Merge(requirements.NewSet(shuffled[cut:]...)),
		} {
			if !got.Equal(want) {
				t.Fatalf("%s gives {%s}, want {%s}", way, got, want)
			}
		}
		if !slices.IsSorted(want.Keys()) || len(slices.Compact(want.Keys())) != want.Len() {
			t.Fatalf("keys are not sorted and single: %v", want.Keys())
		}
	})
}

func TestSetComesBackFromJSONAndText(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		want := set().Draw(t, "set")
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got requirements.Set
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !got.Equal(want) {
			t.Fatalf("%s reads as {%s}, want {%s}", data, got, want)
		}
		if got, err = requirements.ParseSetText(want.String()); err != nil || !got.Equal(want) {
			t.Fatalf("%s reads as {%s}, %v", want, got, err)
		}
	})
}

func TestRequirementWithAnyStringsComesBackFromText(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		want := requirements.NotIn(rapid.String().Draw(t, "key"), rapid.SliceOf(rapid.String()).Draw(t, "values")...)
		got, err := requirements.ParseText(want.String())
		if err != nil || !got.Equal(want) {
			t.Fatalf("%s reads as %s, %v", want, got, err)
		}
	})
}
