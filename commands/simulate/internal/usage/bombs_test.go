package usage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/manifesttest"
)

// Aliases and merge keys that would multiply to 2^40 values are refused, or are in fields that nobody reads. Deep nesting is refused.
func TestBombs(t *testing.T) {
	const n = 40
	aliases, merges := strings.Repeat("a", n), strings.Repeat("m", n) // the last anchors
	head, spec := strings.Split(vpa, "status:")[0], strings.Split(vpa, "spec:")[0]
	const excessive = "document contains excessive aliasing"
	for name, c := range map[string]struct{ text, want string }{
		"aliases in an unknown field": {manifesttest.AliasBomb(n) + vpa, ""},
		"aliases in a list":           {manifesttest.AliasBomb(n) + "kind: List\nitems: *" + aliases + "\n", "cannot unmarshal !!seq"},
		"aliases in recommendations":  {manifesttest.AliasBomb(n) + head + "status: {recommendation: {containerRecommendations: *" + aliases + "}}\n", "cannot unmarshal !!seq"},
		"merges in an object":         {manifesttest.MergeBomb(n) + "<<: *" + merges + "\n" + vpa, excessive},
		"merges in a field":           {manifesttest.MergeBomb(n) + spec + "spec: {<<: *" + merges + "}\n", excessive},
		"merges in a target":          {manifesttest.MergeBomb(n) + head + fmt.Sprintf("status: {recommendation: {containerRecommendations: [{containerName: a, target: {<<: *%s}}]}}\n", merges), excessive},
		"nested lists":                {strings.Repeat("[", 1_000_000), "exceeded max depth"},
		"nested objects":              {strings.Repeat(`{"a":`, 1_000_000), "exceeded max depth"},
	} {
		err := New(95).Read("f", "", strings.NewReader(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %.300v, want %q", name, err, c.want)
		}
	}
}
