// Command launchtemplate prints the EC2 launch template and the user data with which nodes of an EC2NodeClass boot. It needs no
// cluster, no AWS account and no network. It only adds flags and output to the SDK:
//
//	EC2NodeClass, NodePool → instancetype.Resolve → launchtemplate.Build
//
// The smallest use:
//
//	go run ./examples/launchtemplate examples/launchtemplate/classes/al2023.yaml
//
// --help describes inputs and flags. README.md in this folder shows the output for each image family.
//
// # Exit status
//
//	0  printed
//	1  bad input or usage: a flag, a file, or an object that validation refuses
//	2  no template can be made: the user data breaks its format or is too long, or no image boots
//	5  the templates could not be written
//	130  interrupted; standard error says whether anything was printed
//
// ("go run" changes every status other than 0 to 1; build the command to see the status.)
package main
