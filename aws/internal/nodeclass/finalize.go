package nodeclass

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// claimsNamed is the number of claims that an event names.
const claimsNamed = 5

// EventWaitingOnClaims is the reason of the event about a class that is being deleted while claims refer to it.
const EventWaitingOnClaims = "WaitingOnNodeClaimTermination"

// finalize waits until no claim refers to the class, and then deletes the AWS resources that were created for it. After any failure, the
// finalizer stays.
func (r *Reconciler) finalize(ctx context.Context, o Observed, result *Result) error {
	at := slices.Index(o.NodeClass.Finalizers, awsv1.TerminationFinalizer)
	if at < 0 {
		return nil
	}
	if len(o.NodeClaims) > 0 {
		result.Events = []Event{{Type: corev1.EventTypeNormal, Reason: EventWaitingOnClaims, Message: waiting(o.NodeClaims)}}
		result.RequeueAfter = deletionEvery
		return nil
	}
	if r.options.Profiles != nil {
		if err := r.options.Profiles.DeleteNodeClass(ctx, o.NodeClass.Name, o.NodeClass.UID); err != nil {
			return err
		}
	}
	if err := r.options.Templates.DeleteNodeClass(ctx, o.NodeClass.Name); err != nil {
		return fmt.Errorf("deleting launch templates: %w", err)
	}
	r.verdicts.forget(o.NodeClass.UID)
	result.NodeClass.Finalizers = slices.Delete(result.NodeClass.Finalizers, at, at+1)
	return nil
}

// waiting names some of the claims in a sentence.
func waiting(claims []*v1.NodeClaim) string {
	names := make([]string, len(claims))
	for i, claim := range claims {
		names[i] = claim.Name
	}
	slices.Sort(names)
	further := ""
	if more := len(names) - claimsNamed; more > 0 {
		names, further = names[:claimsNamed], fmt.Sprintf(" and %d more", more)
	}
	return "waiting until these NodeClaims, which refer to the class, are gone: " + strings.Join(names, ", ") + further
}
