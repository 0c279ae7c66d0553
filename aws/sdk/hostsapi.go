package sdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// HostsAPI contains the EC2 call in use for Dedicated Hosts. The clients that Clients.EC2 makes implement it.
type HostsAPI interface {
	// DescribeHosts reads the Dedicated Hosts of the account, and their free capacity.
	DescribeHosts(context.Context, *ec2.DescribeHostsInput, ...func(*ec2.Options)) (*ec2.DescribeHostsOutput, error)
}

var _ HostsAPI = (*ec2.Client)(nil)
