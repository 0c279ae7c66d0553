package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/internal/seeded"
)

// broken is one way to break the contract.
type broken struct {
	// clause that it breaks; also is another that says the same of it.
	clause string
	what   string
	also   []string
	how    func(*double)
}

// dear is a type that claims of the kit don't get unless they name it.
func dear(t *cloudprovider.InstanceType) bool { return t.Name == "m1.24xlarge" }

// Every clause has a provider that breaks it, and the kit finds just that.
func TestBrokenProviders(t *testing.T) {
	all := slices.Concat(
		brokenDescriptions(), brokenCatalogues(), brokenLaunches(), brokenInstances(), brokenErrors(), brokenConcurrency(),
		brokenAbilities(), brokenInterruptions(), brokenGroups(),
	)
	found := map[string]bool{}
	for i, b := range all {
		found[b.clause] = true
		t.Run(b.clause+"/"+b.what, func(t *testing.T) {
			options := chosen(func(o *conformance.Options) { o.Trials = 8; o.Steps = 12; o.Parallel = 60 })
			options.Levels = levelsOf(b.clause)
			// That nothing else is found takes seconds for each; the usual form asks for it of some providers.
			if testing.Short() || !seeded.Long() && i%12 != 0 {
				options.Clauses = slices.Concat(b.also, []string{b.clause})
			}
			report := conformance.Check(t, func(t testing.TB) conformance.Subject { return doubled(t, b.how) },
				options)
			want := slices.Concat(b.also, []string{b.clause})
			got := report.Failed()
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("clauses that failed (-want +got):\n%s", diff)
				for _, r := range report.Results {
					if r.Outcome == conformance.Failed {
						t.Logf("%s: %s", r.Clause, strings.Join(r.Faults, "\n"))
					}
				}
			}
		})
	}
	for _, clause := range conformance.Clauses() {
		if !found[clause] {
			t.Errorf("no provider breaks %s", clause)
		}
	}
}
