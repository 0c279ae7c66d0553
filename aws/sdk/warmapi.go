package sdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// WarmAPI contains the EC2 calls in use for warm pools. The clients that Clients.EC2 makes implement it.
type WarmAPI interface {
	// StopInstances stops instances; their volumes stay.
	StopInstances(context.Context, *ec2.StopInstancesInput, ...func(*ec2.Options)) (*ec2.StopInstancesOutput, error)
	// StartInstances starts stopped instances.
	StartInstances(context.Context, *ec2.StartInstancesInput, ...func(*ec2.Options)) (*ec2.StartInstancesOutput, error)
}

var _ WarmAPI = (*ec2.Client)(nil)
