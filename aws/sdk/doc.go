// Package sdk connects the other packages of aws to AWS: narrow interfaces with only the calls in use, real clients that obey a budget of
// requests, and functions that classify AWS's error codes.
//
//	clients, err := sdk.Load(ctx, sdk.Config{Region: "eu-west-1"})
//	if err != nil { … }
//	api := clients.EC2(sdk.Urgent)
//	out, err := api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{…})
//	if err != nil {
//		return sdk.Wrap("reading instances", err) // of a cloudprovider.ErrorKind, the missing permission named
//	}
//
// Every attempt of a call, including retries, first takes a token from the [Budget] of its class of calls. So a burst waits here instead of
// being throttled by AWS, and launches have a higher priority than refreshes. Package sdk/mock has gomock mocks of the interfaces.
//
// Stability: beta.
package sdk
