// Package decision declares the types of disruption decisions: reasons and methods, blocks, budgets, and the commands and
// verdicts that planners return. Package disruption, which makes and carries out such decisions, has all of these types under the
// same names. Code that only reads commands can import this package alone.
//
//	func review(cmd *decision.Command) error {
//		for i := range cmd.Members {
//			if m := &cmd.Members[i]; m.Pool.Name == "databases" {
//				return fmt.Errorf("%s would go: %s", m.Node, cmd) // what goes, what comes, and what it saves
//			}
//		}
//		return approve(cmd.Digest()) // names what the command does, and who planned it and when does not matter
//	}
//
// Everything here is plain data, with methods that return it as sentences, events and metric samples. Money is USD per hour.
//
//	why          reasons, methods, and which pods hold nodes back       reason.go
//	candidates   nodes that may go, and what keeps the others           candidate.go, block.go, quiet.go, expiry.go
//	budgets      how much may go at a time                              budget.go, budgetuse.go, calendar.go, started.go
//	commands     what goes, what comes, in which order                  command.go, commanddigest.go, score.go, wave.go
//	verdicts     what becomes of each node, and proofs                  verdict.go, proof.go
//	told         events, metrics and their samples                      event.go, commandevents.go, metric.go, commandsamples.go
//
// Stability: beta.
package decision
