package sdk

import (
	"context"
	"strings"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// Call is one finished call of an API, with all its attempts.
type Call struct {
	// Service is the SDK's name of the service, "EC2" for instance.
	Service string
	// Operation is the SDK's name of the call, "CreateFleet" for instance.
	Operation string
	// Attempts is the number of requests sent; 0 if none was sent.
	Attempts int
	// Duration of the call, from the moment when the first attempt began to wait for the budget to the last answer.
	Duration time.Duration
	// Code is AWS's error code; empty if the call succeeded or AWS did not answer.
	Code string
	// RequestID of the last attempt; empty if AWS did not answer.
	RequestID string
	// Err is the error that the caller gets.
	Err error
}

func userAgent(product string) func(*middleware.Stack) error {
	name, version, found := strings.Cut(product, "/")
	if !found {
		return awsmiddleware.AddUserAgentKey(name)
	}
	return awsmiddleware.AddUserAgentKeyValue(name, version)
}

// observing reports each call to observe; it runs once per call, outside the retries.
func observing(observe func(Call)) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		if observe == nil {
			return nil
		}
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("drawknife:observe", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			start := time.Now()
			out, metadata, err := next.HandleInitialize(ctx, in)
			call := Call{
				Service:   awsmiddleware.GetServiceID(ctx),
				Operation: awsmiddleware.GetOperationName(ctx),
				Duration:  time.Since(start),
				Code:      Code(err),
				RequestID: RequestID(err),
				Err:       err,
			}
			if attempts, ok := retry.GetAttemptResults(metadata); ok {
				call.Attempts = len(attempts.Results)
			}
			if id, ok := awsmiddleware.GetRequestIDMetadata(metadata); ok {
				call.RequestID = id
			}
			observe(call)
			return out, metadata, err
		}), middleware.After)
	}
}

// budgeted makes every attempt wait for the budget; it runs once per attempt, inside the retries.
func budgeted(budget *Budget, p Priority) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		wait := middleware.FinalizeMiddlewareFunc("drawknife:budget", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			class := classOf(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx))
			if err := budget.Wait(ctx, class, p); err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			out, metadata, err := next.HandleFinalize(ctx, in)
			if IsThrottled(err) {
				budget.Throttled(class)
			}
			return out, metadata, err
		})
		if err := stack.Finalize.Insert(wait, "Retry", middleware.After); err != nil {
			// This stack has no retries, for example because the request is presigned.
			return stack.Finalize.Add(wait, middleware.Before)
		}
		return nil
	}
}
