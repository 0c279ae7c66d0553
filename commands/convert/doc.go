// Package convert is the command that converts manifests of older API generations (Provisioner, AWSNodeTemplate, and NodePool and
// EC2NodeClass of v1beta1) to v1, or to v1beta1. It needs no cluster, no AWS account and no network. It only adds flags, files and output to
// package aws/convert:
//
//	convert.Decode → convert.Rewrite → convert.WriteYAML
//
// examples/convert is the command as a separate program, examples/drawknife has it among its commands.
//
// Stability: beta.
package convert
