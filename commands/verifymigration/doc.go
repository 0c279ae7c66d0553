// Package verifymigration is the command that reports, before a cluster moves from Karpenter to drawknife, what the move would change. It
// only reads: the cluster through kubectl or from files, and the account through AWS's API. Package aws/migration makes the checks.
//
//	func main() { os.Exit(verifymigration.Main()) }
//
// examples/verifymigration is the command as a separate program, examples/drawknife has it among its commands with the name
// "verify-migration".
//
// Stability: beta.
package verifymigration
