// Package sdk is how the other packages of aws talk to AWS: narrow interfaces with just the calls that are used, real
// clients behind them that keep to a budget of requests, and what AWS's error codes mean.
//
//	clients, err := sdk.Load(ctx, sdk.Config{Region: "eu-west-1"})
//	if err != nil { … }
//	api := clients.EC2(sdk.Urgent)
//	out, err := api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{…})
//	if err != nil {
//		return sdk.Wrap("reading instances", err) // of a cloudprovider.ErrorKind, the missing permission named
//	}
//
// Every attempt of a call, retries included, first takes a token from the [Budget] of its class of calls, so that a
// burst waits here instead of being throttled there; launches go before what is only refreshed. Package sdk/mock has
// gomock mocks of the interfaces.
//
// Stability: beta.
package sdk
