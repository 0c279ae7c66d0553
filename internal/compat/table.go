package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

// table is the content of differences.yaml: every known difference from the suites of Karpenter and its provider, with its reason.
type table struct {
	// Reasons for differences.
	Reasons []reason `json:"reasons"`
	// NotHere are the specs that the unchanged release itself does not pass without a real API server.
	NotHere []reason `json:"notHere"`
}

type reason struct {
	// Name is the name of the reason in the report.
	Name string `json:"name"`
	// Why explains the differences to readers of the report.
	Why string `json:"why"`
	// Defect is true if this project must correct the difference. All other differences are intended.
	Defect bool `json:"defect,omitempty"`
	// Varies is true if the outcome of the specs depends on random names. They count as different even when they pass.
	Varies bool `json:"varies,omitempty"`
	// Specs by suite. A name that ends in "*" means all names with this prefix.
	Specs map[string][]string `json:"specs"`
}

func readTable(path string) (*table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &table{}
	if err := yaml.UnmarshalStrict(data, t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	seen := map[string]string{}
	for _, r := range append(append([]reason{}, t.Reasons...), t.NotHere...) {
		if r.Name == "" || r.Why == "" {
			return nil, fmt.Errorf("%s: reason %q needs a name and a why", path, r.Name)
		}
		for suite, specs := range r.Specs {
			for _, s := range specs {
				if other, twice := seen[suite+"/"+s]; twice {
					return nil, fmt.Errorf("%s: %s: %q stands under %q and %q", path, suite, s, other, r.Name)
				}
				seen[suite+"/"+s] = r.Name
			}
		}
	}
	return t, nil
}

// find returns the reason that lists the spec of the suite, and its entry for the spec. The reason is nil if no reason lists it.
func find(reasons []reason, suite, spec string) (*reason, string) {
	for i := range reasons {
		for _, entry := range reasons[i].Specs[suite] {
			if prefix, ok := strings.CutSuffix(entry, "*"); entry == spec || ok && strings.HasPrefix(spec, prefix) {
				return &reasons[i], entry
			}
		}
	}
	return nil, ""
}

// verdict is the result of a suite.
type verdict struct {
	suite                                   string
	specs, outside, notHere, agree, differs int
	byReason                                map[string]int
	unexplained                             []string // differences that the table lacks, and entries of the table that are no longer true
}

// judge compares the two runs of a suite, using the table.
func judge(t *table, suite string, release, ours outcome) verdict {
	v := verdict{suite: suite, specs: len(ours.state), byReason: map[string]int{}}
	used := map[string]bool{}
	for _, spec := range sortedKeys(ours.state) {
		if release.state[spec] == "skipped" || release.state[spec] == "pending" || !release.reached[spec] && !ours.reached[spec] {
			v.outside++
			continue
		}
		if r, entry := find(t.NotHere, suite, spec); r != nil {
			used[entry] = true
			v.notHere++
			continue
		}
		r, entry := find(t.Reasons, suite, spec)
		switch {
		case release.state[spec] != "passed":
			v.unexplained = append(v.unexplained, fmt.Sprintf("the release itself: %s: %s", spec, firstLine(release.message[spec])))
		case r != nil && (r.Varies || ours.state[spec] != "passed"):
			used[entry] = true
			v.differs++
			v.byReason[r.Name]++
		case ours.state[spec] == "passed":
			v.agree++
		default:
			v.unexplained = append(v.unexplained, fmt.Sprintf("%s: %s", spec, firstLine(ours.message[spec])))
		}
	}
	for _, r := range append(append([]reason{}, t.Reasons...), t.NotHere...) {
		for _, entry := range r.Specs[suite] {
			if !used[entry] {
				v.unexplained = append(v.unexplained, fmt.Sprintf("differences.yaml, %s: %q no longer differs: remove it", r.Name, entry))
			}
		}
	}
	return v
}

func firstLine(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > 300 {
		message = message[:300] + " …"
	}
	return message
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
