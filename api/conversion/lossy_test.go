package conversion

import (
	"strings"
	"testing"
)

// API-266: what a code says was dropped, left out, skipped or ignored is a loss, what can't be converted is one, and what
// was renamed, moved or written out is none.
func TestLossy(t *testing.T) {
	// Sentences that speak of leaving out and yet lose nothing.
	harmless := map[Code]bool{
		CodeZeroWaitDropped: true, CodeReferenceVersionDropped: true, CodeBudgetDropped: true, CodeRequirementsAdded: true,
		CodeAppliedDropped: true, // kubectl writes it again
	}
	// Losses that the sentence doesn't call so: the instance profile that a role stands in for, a policy.
	silent := map[Code]bool{CodeRolePlaceholder: true, CodeBalancedDropped: true}
	for _, code := range Codes() {
		says := false
		for _, word := range []string{"dropped", "left out", "leave them out", "skipped", "ignored"} {
			says = says || strings.Contains(messages()[code].format, word)
		}
		want := code.Severity() == SeverityError || silent[code] || says && !harmless[code]
		if code.Lossy() != want {
			t.Errorf("%s %q: lossy %v, want %v", code, messages()[code].format, code.Lossy(), want)
		}
	}
	ws := Warnings{{Code: CodeAlias}, {Code: CodeSkipped}, {Code: CodeExpiryMoved}, {Code: CodeTagReserved}}
	if got := ws.Lossy(); len(got) != 2 || got[0].Code != CodeSkipped || got[1].Code != CodeTagReserved {
		t.Errorf("Lossy is %v", got)
	}
}
