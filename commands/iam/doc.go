// Package iam is the command that writes the documents that a cluster needs in an AWS account: policies and trust policy of the
// controller's role, trust policy and cluster access of the instances' role, the queue of interruption events, and the event rules that fill
// it. It only adds flags, files and output to package aws/iam, and calls nothing in AWS.
//
//	run := iam.Command().Begin()
//	_ = run.Flags.Parse([]string{"--cluster-name", "demo", "--region", "eu-central-1", "--account-id", "111122223333", "--node-roles", "demo-nodes"})
//	status := run.Do(ctx, nil, commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//
// examples/iam is the command as a separate program, examples/drawknife has it among its commands.
//
// Stability: beta.
package iam
