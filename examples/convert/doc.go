// Command convert turns manifests of older generations of the API (Provisioner, AWSNodeTemplate, and NodePool and
// EC2NodeClass of v1beta1) into manifests of v1, or of v1beta1. It needs no cluster, no AWS account and no network, and is
// nothing but flags, files and output around package aws/convert:
//
//	convert.Decode → convert.Rewrite → convert.WriteYAML
//
// The smallest use:
//
//	go run ./examples/convert -f provisioner.yaml > nodepool.yaml
//
// Run it with --help for its flags.
//
// # Output
//
// Manifests go to standard output, in the order of the input; what a conversion creates follows the object it came from.
// Warnings go to standard error, one a line: severity, code, object, field path and a sentence. Comments, status and what an
// API server adds to metadata are dropped. Where a role must be filled in, $KARPENTER_NODE_ROLE is left to be, as envsubst
// takes it, unless --node-role gives one.
//
// # Exit status
//
//	0  converted, perhaps with warnings
//	1  bad input or usage: a flag, a file, text that is no YAML, nothing to convert, or, with --strict, a field or a setting
//	   that nobody knows; nothing is printed
//	2  an object can't be converted: the others are printed; or, with --strict, something would be lost: nothing is printed
//
// An object that can't be converted gives 2 and not 1, so that a script can tell it from input that can't be read. ("go run"
// turns each status but 0 into 1; build the command to read it.)
package main
