package conformance

import "slices"

// clause is one clause of the contract and its test.
type clause struct {
	id    string
	level Level
	// says is the clause's requirement in a few words.
	says  string
	check func(*lab)
}

// clauses returns all clauses, in the order of the contract.
func clauses() []clause {
	return slices.Concat(
		describeClauses(), catalogClauses(), createClauses(), deleteClauses(), getClauses(), listClauses(), errorClauses(),
		concurrencyClauses(), classClauses(), gateClauses(), spotClauses(), reservedClauses(), driftClauses(), repairClauses(),
		interruptionClauses(), groupClauses(),
	)
}

// Clauses returns the numbers of all clauses that the kit tests, in the order of the contract. The caller owns the slice.
func Clauses() []string {
	all := clauses()
	ids := make([]string, len(all))
	for i, c := range all {
		ids[i] = c.id
	}
	return ids
}
