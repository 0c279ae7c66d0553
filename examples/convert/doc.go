// Command convert converts manifests of older API generations (Provisioner, AWSNodeTemplate, and NodePool and EC2NodeClass of
// v1beta1) to v1, or to v1beta1. It needs no cluster, no AWS account and no network. It only adds flags, files and output to
// package aws/convert:
//
//	convert.Decode → convert.Rewrite → convert.WriteYAML
//
// The smallest use:
//
//	go run ./examples/convert -f provisioner.yaml > nodepool.yaml
//
// --help describes the flags.
//
// # Output
//
// Manifests go to standard output, in the order of the input; a new object follows the object that it was created from. Warnings go
// to standard error, one per line: severity, code, object, field path and a sentence. The output has no comments, no status, and no
// metadata added by an API server; --in-place and --output-dir keep comments. Unless --node-role is given, missing roles are written as
// $KARPENTER_NODE_ROLE, which envsubst can replace.
//
// # Exit status
//
//	0  converted, perhaps with warnings
//	1  bad input or usage: a flag, a file, text that is no YAML, nothing to convert, or, with --strict, an unknown field or
//	   setting; nothing is printed
//	2  an object can't be converted, or read (--skip-unreadable): the others are printed; or, with --strict, something would
//	   be lost: nothing is printed
//	3  with --diff: files would change
//	5  the output could not be written
//	130  interrupted; standard error says whether anything was printed
//
// The status is 2, not 1, for objects that can't be converted, so that scripts can distinguish them from input that can't be read.
// ("go run" changes every status other than 0 to 1; build the command to see the status.)
package main
