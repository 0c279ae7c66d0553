// Command capacityblocks lists the capacity blocks that EC2 offers, with their prices. With --buy it buys one of them, if the other flags
// repeat the terms of its offering:
//
//	go run ./examples/capacityblocks --instance-type p5.48xlarge --instances 2 --hours 48
//	go run ./examples/capacityblocks --instance-type p5.48xlarge --instances 2 --hours 48 --buy cb-0123 --fee 3020.16 --approved-by jo@example.com
//
// Without --buy it only reads, and needs ec2:DescribeCapacityBlockOfferings. --help describes flags and exit statuses. examples/iam
// --capacity-blocks and --purchase-capacity-blocks print the policies.
package main
