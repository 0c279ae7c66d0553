package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// noVerdictError means that dry runs can't be made now: EC2 fails or throttles calls.
type noVerdictError struct{ cause error }

func (e *noVerdictError) Error() string { return e.cause.Error() }
func (e *noVerdictError) Unwrap() error { return e.cause }

// dryRun asks EC2 whether it would launch an instance of the class. An error means that there is no verdict.
func (w *round) dryRun(ctx context.Context) (verdict, error) {
	wants, err := poolWants(w.pools)
	if err != nil {
		return verdict{}, err
	}
	types, err := w.options.InstanceTypes(ctx, w.class)
	if err != nil {
		return verdict{}, fmt.Errorf("instance types of the class: %w", err)
	}
	instance, err := candidate(w.class, types, wants)
	switch {
	case err != nil:
		return verdict{}, err
	case instance == nil:
		return verdict{}, cloudprovider.NewPermanentError(fmt.Errorf("none of the %d images in status.amis boots on any of the %d instance types of the class", len(w.class.Status.AMIs), len(types)))
	}
	template, found, err := w.template(ctx, instance, standIn(wants))
	if err != nil || found.status != "" {
		return found, err
	}
	in := w.fleet(template, instance)
	_, err = w.options.EC2.CreateFleet(ctx, in, withoutRetries)
	if found, err := w.judge(err, awsv1.ReasonCreateFleetAuthCheckFailed); err != nil || found.status != "True" {
		return found, err
	}
	return w.runInstances(ctx, template, instance)
}

func withoutRetries(o *ec2.Options) { o.RetryMaxAttempts = 1 }

// template creates a real launch template, because EC2 can't create templates in a dry run. If the returned verdict has no status, there is
// no verdict yet.
func (w *round) template(ctx context.Context, instance *cloudprovider.InstanceType, claim *v1.NodeClaim) (string, verdict, error) {
	request := launchtemplate.Request{
		Cluster: w.cluster.Cluster, NodeClass: w.class, NodeClaim: claim, InstanceTypes: []*cloudprovider.InstanceType{instance},
		CapacityType: v1.CapacityTypeOnDemand, Extend: w.options.Extend,
	}
	if w.group != nil {
		request.PlacementGroupID = w.group.ID
	}
	built, err := launchtemplate.Build(request)
	var invalid *cloudprovider.CreateError
	switch {
	case errors.As(err, &invalid) && (invalid.Reason == awsv1.ReasonUserDataMalformed || invalid.Reason == awsv1.ReasonUserDataSizeLimitExceeded):
		return "", refused(invalid.Reason, invalid.Message), nil
	case err != nil:
		return "", verdict{}, err
	}
	w.reportUserData(built.Templates[0].UserData.Warnings)
	ready, err := w.options.Templates.Ensure(ctx, built.Templates[:1])
	if err == nil && len(ready) == 0 {
		err = errors.New("no launch template was made")
	}
	if err == nil {
		return ready[0].Name, verdict{}, nil
	}
	found, err := w.judge(err, awsv1.ReasonCreateLaunchTemplateAuthCheckFailed)
	return "", found, err
}

// EventUserDataWarning is the reason of the event about valid but suspicious user data: the node may behave differently than the author of
// the user data intended.
const EventUserDataWarning = "UserDataWarning"

// maxUserDataWarning is the maximum number of bytes of an event about user data: an API server accepts at most 1,024.
const maxUserDataWarning = 1000

// reportUserData publishes an event about the class's user data with each dry run.
func (w *round) reportUserData(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	message := strings.Join(warnings, "; ")
	if len(message) > maxUserDataWarning {
		message = strings.ToValidUTF8(message[:maxUserDataWarning], "") + "…"
	}
	w.result.Events = append(w.result.Events, Event{Type: corev1.EventTypeWarning, Reason: EventUserDataWarning, Message: message})
}

// fleet returns the request for one instance, in any of the subnets.
func (w *round) fleet(template string, instance *cloudprovider.InstanceType) *ec2.CreateFleetInput {
	in := &ec2.CreateFleetInput{
		DryRun: aws.Bool(true),
		Type:   ec2types.FleetTypeInstant,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: ec2types.DefaultTargetCapacityTypeOnDemand,
		},
		LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &template, Version: aws.String("$Latest")},
		}},
		TagSpecifications: w.tags(ec2types.ResourceTypeFleet, ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume),
		Context:           w.class.Spec.Context,
	}
	config := &in.LaunchTemplateConfigs[0]
	for _, s := range w.class.Status.Subnets {
		config.Overrides = append(config.Overrides, ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(instance.Name), SubnetId: aws.String(s.ID),
		})
	}
	return in
}

// runInstances makes a dry run in one subnet after another until a dry run succeeds. If all of them fail, it returns the verdict of the
// first subnet.
func (w *round) runInstances(ctx context.Context, template string, instanceType *cloudprovider.InstanceType) (verdict, error) {
	var (
		first    verdict
		firstErr error
	)
	for i, s := range w.class.Status.Subnets {
		_, err := w.options.EC2.RunInstances(ctx, w.instance(template, instanceType, s.ID), withoutRetries)
		found, err := w.judge(err, awsv1.ReasonRunInstancesAuthCheckFailed)
		if err == nil && found.status == "True" {
			return found, nil
		}
		if i == 0 {
			first, firstErr = found, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return first, firstErr
}

func (w *round) instance(template string, instanceType *cloudprovider.InstanceType, subnet string) *ec2.RunInstancesInput {
	in := &ec2.RunInstancesInput{
		DryRun: aws.Bool(true), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		InstanceType:      ec2types.InstanceType(instanceType.Name),
		LaunchTemplate:    &ec2types.LaunchTemplateSpecification{LaunchTemplateName: &template, Version: aws.String("$Latest")},
		TagSpecifications: w.tags(ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume, ec2types.ResourceTypeNetworkInterface),
	}
	for _, n := range w.class.Spec.NetworkInterfaces {
		in.NetworkInterfaces = append(in.NetworkInterfaces, ec2types.InstanceNetworkInterfaceSpecification{
			DeviceIndex: aws.Int32(n.DeviceIndex), NetworkCardIndex: aws.Int32(n.NetworkCardIndex),
			InterfaceType: aws.String(string(n.InterfaceType)), SubnetId: &subnet,
		})
	}
	if len(in.NetworkInterfaces) == 0 {
		in.NetworkInterfaces = []ec2types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), SubnetId: &subnet}}
	}
	return in
}

func (w *round) tags(resources ...ec2types.ResourceType) []ec2types.TagSpecification {
	var list []ec2types.Tag
	for key, value := range launchtemplate.Tags(w.cluster.Cluster, w.class, "") {
		list = append(list, ec2types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	slices.SortFunc(list, func(a, b ec2types.Tag) int {
		if *a.Key < *b.Key {
			return -1
		}
		return 1
	})
	var specifications []ec2types.TagSpecification
	for _, resource := range resources {
		specifications = append(specifications, ec2types.TagSpecification{ResourceType: resource, Tags: list})
	}
	return specifications
}

// judge converts the answer to a dry run into a verdict. denied is the verdict's reason if the credentials don't allow the call. An error
// means that there is no verdict. If the error is a *noVerdictError, a retry may soon give a verdict.
func (w *round) judge(err error, denied string) (verdict, error) {
	if err == nil || sdk.IsDryRun(err) {
		return passed(), nil
	}
	reason, _ := sdk.Explain(sdk.Code(err), sdk.Message(err))
	switch {
	case sdk.IsThrottled(err), sdk.IsServerFault(err):
		return verdict{}, &noVerdictError{err}
	case slices.Contains([]string{"UnauthorizedOperation", "AccessDenied"}, sdk.Code(err)):
		return refused(denied, deniedSentence(denied)+": "+sentence(err)), nil
	case reason == sdk.ReasonUserData:
		return refused(awsv1.ReasonUserDataSizeLimitExceeded, sentence(err)), nil
	case reason == sdk.ReasonInstanceProfile && w.class.Spec.InstanceProfile != nil:
		v := refused(awsv1.ReasonInstanceProfileNotFound,
			fmt.Sprintf("EC2 knows no instance profile %q: create it, or correct spec.instanceProfile", *w.class.Spec.InstanceProfile))
		v.keep = false
		return v, nil
	case reason == sdk.ReasonInstanceProfile:
		// IAM has created the profile, but EC2 does not know it yet.
		return verdict{}, &noVerdictError{err}
	}
	return verdict{}, err
}

func deniedSentence(reason string) string {
	switch reason {
	case awsv1.ReasonCreateLaunchTemplateAuthCheckFailed:
		return "launch templates may not be created"
	case awsv1.ReasonCreateFleetAuthCheckFailed:
		return "fleets may not be created"
	}
	return "instances may not be run"
}
