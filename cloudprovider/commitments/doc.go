// Package commitments describes the commitments of a cloud account for compute: savings plans, reserved instances and negotiated discounts.
// The package computes how much of each commitment is used, and how the clusters of the account share the unused part. A provider reads an
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
