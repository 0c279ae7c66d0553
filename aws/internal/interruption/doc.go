// Package interruption reports what AWS is about to do to instances. It reads an SQS queue that EventBridge sends events to, and EC2's own
// reports of instances that are impaired or due for maintenance.
//
//	source, err := interruption.New(interruption.Options{Queue: "my-cluster", SQS: sqs, EC2: ec2, Find: find})
//	if err != nil {
//		return err
//	}
//	for {
//		list, err := source.ReceiveInterruptions(ctx)
//		…
//		err = source.AckInterruptions(ctx, ids...)
//	}
//
// Parse reads the body of one message, and can be used alone. A Source implements cloudprovider.InterruptionSource. It removes irrelevant
// and unreadable messages from the queue itself, so that no message is delivered again forever. It returns a message again until the
// message is acknowledged. The queue needs no dead-letter queue. Set a short retention for the queue, because messages are useless after
// five minutes. Package iam generates the queue with its policy and the rules that fill it.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
package interruption
