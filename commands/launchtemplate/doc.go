// Package launchtemplate is the command that prints the EC2 launch template and the user data with which nodes of an EC2NodeClass boot. It
// needs no cluster, no AWS account and no network. It only adds flags and output to the SDK:
//
//	EC2NodeClass, NodePool → instancetype.Resolve → launchtemplate.Build
//
// examples/launchtemplate is the command as a separate program, examples/drawknife has it among its commands with the name "template".
//
// Stability: beta.
package launchtemplate
