// Command verifymigration reports what would change if a cluster moved from Karpenter to drawknife. It only reads: the cluster through
// kubectl or from files, and the account through AWS's API.
//
//	go run ./examples/verifymigration --cluster-name demo --region eu-central-1 --controller-role arn:aws:iam::111122223333:role/demo-drawknife
//
// Package aws/migration makes the checks. --help describes the flags, and docs/migration.md explains how to read the report. The exit
// status is 0 if nothing would change, 3 with warnings, 2 with errors, 1 if the cluster or the account can't be read, 5 if the report can't
// be written, or 130 if interrupted. ("go run" changes every status other than 0 to 1; build the command to see the status.)
package main
