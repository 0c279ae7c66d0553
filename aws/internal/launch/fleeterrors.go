package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// callFailed converts the error of a failed CreateFleet call, and says whether to retry the call.
func (l *Launcher) callFailed(f *flight, offers []offer, err error) ([]*Instance, retry, error) {
	switch {
	case sdk.IsLaunchTemplateNotFound(err):
		l.forget(offers)
		if f.retriedLT {
			return nil, retryNo, launchError("CreateFleet", err)
		}
		f.retriedLT = true
		return nil, retryNewToken, launchError("CreateFleet", err)
	case sdk.IsTokenMismatch(err):
		if wait := l.attempts.dispute(f.key()); wait > 0 {
			return nil, retryNo, cloudprovider.NewTransientError(fmt.Errorf(
				"an earlier launch of this nodeclaim is not visible yet; waiting up to %s before another launch: %w", wait.Round(time.Second), err))
		}
		return nil, retryNewToken, launchError("CreateFleet", err)
	}
	return nil, retryNo, launchError("CreateFleet", err)
}

func (l *Launcher) forget(offers []offer) {
	names := make([]string, len(offers))
	for i, o := range offers {
		names[i] = o.template.Name
	}
	l.options.Templates.Forget(names...)
}

// launchError adds a kind to the error of a failed call. If the error already has a kind, this kind stays. Throttling and service failures
// are retried and not shown to users. All other errors are written with their reason to the claim's condition.
func launchError(doing string, err error) error {
	wrapped := sdk.Wrap(doing, err)
	var kinded interface {
		Kind() cloudprovider.ErrorKind
	}
	switch {
	case errors.As(err, &kinded), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		sdk.IsThrottled(err), sdk.IsServerFault(err), sdk.Code(err) == "" && cloudprovider.IsTransient(wrapped):
		return wrapped
	}
	reason, message := sdk.Explain(sdk.Code(err), sdk.Message(err))
	if id := sdk.RequestID(err); id != "" {
		message += ", request " + id
	}
	return cloudprovider.NewCreateError(string(reason), message, wrapped)
}

// learn records the errors of an answer, whether or not the answer has an instance.
func (l *Launcher) learn(f *flight, offers []offer, errs []ec2types.CreateFleetError) {
	for _, e := range errs {
		l.quotas.hit(aws.ToString(e.ErrorCode), l.options.Now())
		failure := f.failure(offers, e)
		if l.options.Observe != nil {
			l.options.Observe(Failure{
				Code: failure.Code, InstanceType: failure.InstanceType, Zone: failure.Zone,
				ZoneID: f.zoneID(failure.Zone, failure.SubnetID), CapacityType: f.choice.CapacityType,
			})
		}
		for _, effect := range l.options.Unavailable.Observe(failure) {
			l.options.Subnets.Exhausted(effect.Subnets...)
			if l.options.Reservations != nil {
				for _, id := range effect.Reservations {
					l.options.Reservations.Full(id)
				}
			}
		}
	}
}

// failure returns an error of the answer together with the offering that the error is about.
func (f *flight) failure(offers []offer, e ec2types.CreateFleetError) unavailable.Failure {
	failure := unavailable.Failure{
		Code: aws.ToString(e.ErrorCode), Message: aws.ToString(e.ErrorMessage),
		CapacityType: f.choice.CapacityType, GroupID: f.PlacementGroupID, Partition: f.partition(),
		VolumeTypes: f.NodeClass.Spec.VolumeTypes(),
	}
	template := ""
	if echo := e.LaunchTemplateAndOverrides; echo != nil {
		if echo.Overrides != nil {
			failure.InstanceType = string(echo.Overrides.InstanceType)
			failure.Zone = aws.ToString(echo.Overrides.AvailabilityZone)
			failure.SubnetID = aws.ToString(echo.Overrides.SubnetId)
		}
		if echo.LaunchTemplateSpecification != nil {
			template = aws.ToString(echo.LaunchTemplateSpecification.LaunchTemplateName)
		}
	}
	if failure.Zone == "" {
		failure.Zone = f.zoneOf(failure.SubnetID)
	}
	failure.Hardware = f.hardware(f.choice.Tenancy, failure.Zone)
	if v, ok := find(offers, template, failure.InstanceType, failure.Zone); ok {
		failure.ReservationID = reservationOf(v.candidate)
	}
	return failure
}

// find returns the override of a type in a zone. If EC2 returned the name of a template, only that template's overrides are searched.
func find(offers []offer, template, instanceType, zone string) (override, bool) {
	for _, o := range offers {
		if template != "" && o.template.Name != template {
			continue
		}
		for _, v := range o.overrides {
			if v.candidate.Type.Name == instanceType && v.candidate.Offering.Zone() == zone {
				return v, true
			}
		}
	}
	return override{}, false
}

// missing returns the error for the claims of a batch for which EC2 had no instance, or nil if each has one.
func (l *Launcher) missing(f *flight, launched []*Instance, errs []ec2types.CreateFleetError) error {
	if len(launched) >= f.count() {
		return nil
	}
	if len(errs) == 0 {
		return cloudprovider.NewTransientError(fmt.Errorf("EC2 launched %d of %d instances and gave no reason", len(launched), f.count()))
	}
	return l.nothing(f, errs)
}

// unexplained returns errors for an answer with neither an instance nor an error: all requested offerings are treated as out of stock,
// because otherwise the next plan would be the same.
func (l *Launcher) unexplained(f *flight, offers []offer) []ec2types.CreateFleetError {
	var errs []ec2types.CreateFleetError
	for _, o := range offers {
		for _, v := range o.overrides {
			errs = append(errs, ec2types.CreateFleetError{
				ErrorCode:    aws.String("UnfulfillableCapacity"),
				ErrorMessage: aws.String("EC2 launched nothing and gave no reason"),
				LaunchTemplateAndOverrides: &ec2types.LaunchTemplateAndOverridesResponse{
					LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateName: aws.String(o.template.Name)},
					Overrides: &ec2types.FleetLaunchTemplateOverrides{
						InstanceType:     ec2types.InstanceType(v.candidate.Type.Name),
						AvailabilityZone: aws.String(v.candidate.Offering.Zone()),
					},
				},
			})
		}
	}
	l.learn(f, offers, errs)
	return errs
}

// nothing returns the error for an answer that contains no instance: missing capacity, an exceeded quota, or a failure for the claim's
// condition.
func (l *Launcher) nothing(f *flight, errs []ec2types.CreateFleetError) error {
	causes, texts := distinct(errs)
	capacity, quota := true, ""
	allQuota := true
	for _, e := range errs {
		code := aws.ToString(e.ErrorCode)
		capacity = capacity && (sdk.Unfulfillable(code) || sdk.SpotRoleMissing(code))
		if sdk.Quota(code) {
			quota = cmp.Or(quota, code)
		} else {
			allQuota = false
		}
	}
	joined := errors.Join(causes...)
	switch {
	case capacity && allQuota:
		return cloudprovider.NewQuotaExceededError(quota, joined, l.closed(f)...)
	case capacity:
		return cloudprovider.NewInsufficientCapacityError(joined, l.closed(f)...)
	}
	reason, message := sdk.Explain("", strings.Join(texts, "; "))
	return cloudprovider.NewCreateError(string(reason), message, joined)
}

// distinct returns the different errors of an answer, in the order of the answer, and their texts. Callers recognise the kind of an error
// by its Go type.
func distinct(errs []ec2types.CreateFleetError) (causes []error, texts []string) {
	for _, e := range errs {
		err := fleetError(e)
		if text := err.Error(); !slices.Contains(texts, text) {
			texts = append(texts, text)
			if sdk.Unfulfillable(err.ErrorCode()) {
				causes = append(causes, err)
			} else {
				causes = append(causes, sdk.Wrap("CreateFleet", err))
			}
		}
	}
	return causes, texts
}

// fleetError converts an error in an answer to an error that package sdk understands.
func fleetError(e ec2types.CreateFleetError) *answerError {
	return &answerError{code: aws.ToString(e.ErrorCode), message: aws.ToString(e.ErrorMessage)}
}
