// Package commitments describes what an account of a cloud has committed to pay for compute: savings plans, reserved instances and
// negotiated discounts. It computes how much of each is used, and how the clusters of the account share the rest. A provider reads an
// [Account], which can be stored in a file. Package scheduling/discounts makes terms of the cost model from it.
//
//	account, err := commitments.Decode(file)
//	used := account.Use(running)                                   // what nodes of this cluster use
//	free := account.Available("this-cluster", used, others, now)   // what they and new ones may use
//
// All functions are pure and safe for concurrent use.
//
// Stability: beta.
package commitments
