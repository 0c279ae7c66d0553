package snapshots

import (
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/scheduling"
)

// Queries makes queries with the policies that are useful for the given features. They shrink to the zero Query.
func Queries(features []Feature) *rapid.Generator[scheduling.Query] {
	return rapid.Custom(func(t *rapid.T) scheduling.Query {
		m := &maker{t: t, features: features}
		q := scheduling.Query{}
		rapid.Bool().Draw(t, "query") // without features nothing else is drawn, and rapid would report this as a mistake
		if m.with(Preferences, "ignores preferences", 15) {
			q.Preferences = scheduling.PreferencesIgnore
		}
		if m.with(Preferences, "premium", 15) {
			premium := choose(m, "preference premium", 0, 0.1, 50)
			q.PreferencePremium = &premium
		}
		if m.with(MinValues, "best effort", 35) {
			q.MinValues = scheduling.MinValuesBestEffort
		}
		if m.with(Reservations, "strict reservations", 35) {
			q.Reserved = scheduling.ReservedStrict
		}
		return q
	})
}
