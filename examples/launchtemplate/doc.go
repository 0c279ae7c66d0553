// Command launchtemplate prints the EC2 launch template and the user data that the nodes of an EC2NodeClass boot with. It
// needs no cluster, no AWS account and no network, and is nothing but flags and output around the SDK:
//
//	EC2NodeClass, NodePool → instancetype.Resolve → launchtemplate.Build
//
// The smallest use:
//
//	go run ./examples/launchtemplate examples/launchtemplate/classes/al2023.yaml
//
// Run it with --help for its inputs and flags. README.md in this folder has its output for each family of images.
//
// # Exit status
//
//	0  printed
//	1  bad input or usage: a flag, a file, or an object that validation refuses
//	2  no template can be made: user data that breaks its format or is too long, no image that boots
//
// ("go run" turns each status but 0 into 1; build the command to read it.)
package main
