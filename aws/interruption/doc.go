// Package interruption hears what AWS is about to do to instances: from an SQS queue that EventBridge sends events to,
// and from EC2's own reports of instances that are impaired or due for maintenance.
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
// Parse reads the body of one message and is of use alone. A Source implements cloudprovider.InterruptionSource: what
// concerns no instance of the cluster, what means nothing, and what can't be read, it removes from the queue itself, so
// that no message comes back for ever; what it hands out comes again until it is acknowledged. The queue needs no other for
// dead letters: give it a short retention, since what is older than five minutes is no news (AWN-290). Package iam
// generates the queue with its policy and the rules that fill it (AWN-341).
//
// # Deliberate differences
//
//   - What is done about an interruption is its reader's: draining the node, ending it without waiting, or waiting for a
//     replacement (AWN-286, AWN-301). A recommendation to rebalance is handed out as a kind of its own, so that each reader
//     decides, by pool if it likes, whether to follow it (AWN-339).
//   - Claims and nodes are found by a function of the caller, who has an index of them (AWN-287). A claim that is being
//     deleted already may be found or not: the reader leaves it alone.
//   - Metrics are the caller's: functions are told of what they count (AWN-319).
//   - Several readers may receive at once, and messages are removed ten at a time (AWN-284, AWN-296, AWN-340).
//   - A missing permission to read the state of instances is tried again, slowly (AWN-304), and maintenance that is over is
//     none (AWN-306).
package interruption
