package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/cloudprovider"
)

// The intervals after which each step must be repeated.
const (
	imagesEvery       = 5 * time.Minute
	subnetsEvery      = time.Minute
	groupsEvery       = 5 * time.Minute
	placementEvery    = time.Minute
	nothingFoundEvery = time.Minute
	validationEvery   = 10 * time.Minute
	deletionEvery     = 10 * time.Minute
	noVerdictEvery    = 15 * time.Second
)

func (w *round) images(ctx context.Context) (time.Duration, error) {
	const condition = awsv1.ConditionAMIsReady
	terms := w.class.Spec.AMISelectorTerms
	if _, alias := w.class.Spec.Alias(); alias && (w.clusterErr != nil || w.cluster.Version == "") {
		err := errors.New("an alias needs the cluster's version of Kubernetes, which is not known")
		w.untold(condition, err)
		return nothingFoundEvery, err
	}
	found, err := w.options.Images.Resolve(ctx, terms, w.cluster.Version)
	var unsupported *amis.UnsupportedAliasError
	switch {
	case errors.As(err, &unsupported):
		w.class.Status.AMIs = nil
		w.isFalse(condition, awsv1.ReasonUnsupportedAlias, unsupported.Error())
		return imagesEvery, nil
	case err != nil:
		w.untold(condition, err)
		return 0, fmt.Errorf("spec.amiSelectorTerms: %w", err)
	}
	w.reportDeprecated(w.class.Status.AMIs, found.AMIs)
	w.class.Status.AMIs, w.result.Images = found.AMIs, found.Outcomes
	if len(found.AMIs) == 0 {
		w.isFalse(condition, awsv1.ReasonAMINotFound, noImages(found.Outcomes))
		return nothingFoundEvery, nil
	}
	w.isTrue(condition)
	return imagesEvery, nil
}

func noImages(outcomes []amis.Outcome) string {
	text := "spec.amiSelectorTerms select no image"
	var problems []string
	for _, o := range outcomes {
		if o.Problem != "" {
			problems = append(problems, fmt.Sprintf("term %d: %s", o.Term, o.Problem))
		}
	}
	if len(problems) == 0 {
		return text + ": correct them, or make an image that they match"
	}
	return text + ": " + strings.Join(problems, "; ")
}

func (w *round) reservations(ctx context.Context) (time.Duration, error) {
	const condition = awsv1.ConditionCapacityReservationsReady
	terms := w.class.Spec.CapacityReservationSelectorTerms
	switch {
	case w.options.Reservations == nil:
		w.class.Status.CapacityReservations = nil
		return 0, nil
	case len(terms) == 0:
		w.class.Status.CapacityReservations = nil
		w.isTrue(condition)
		return 0, nil
	}
	found, rejected, err := w.options.Reservations.Find(ctx, terms)
	if err != nil {
		w.untold(condition, err)
		return reservations.Period, fmt.Errorf("spec.capacityReservationSelectorTerms: %w", err)
	}
	w.result.Rejected = rejected
	if rejected != nil {
		w.log.Warn("ignoring unusable capacity reservations", "nodeClass", w.class.Name, "error", rejected)
	}
	// If no reservation matches, this is not an error: instances are then not launched as reserved.
	w.class.Status.CapacityReservations = found.Status()
	w.isTrue(condition)
	return max(reservations.NextLook(w.class.Status.CapacityReservations, w.now).Sub(w.now), soon), nil
}

func (w *round) placementGroup(ctx context.Context) (time.Duration, error) {
	const condition = awsv1.ConditionPlacementGroupReady
	if w.class.Spec.PlacementGroupSelector == nil {
		w.isTrue(condition)
		return 0, nil
	}
	group, err := w.options.Groups.Find(ctx, w.class.Spec.PlacementGroupSelector)
	w.group = group
	var missing *placement.NotFoundError
	switch {
	case errors.As(err, &missing):
		w.isFalse(condition, awsv1.ReasonPlacementGroupNotFound, missing.Error())
		return placementEvery, nil
	case err != nil && group == nil:
		w.isFalse(condition, awsv1.ReasonPlacementGroupResolutionFailed, sentence(err))
	case err == nil:
		w.isTrue(condition)
		return placementEvery, nil
	}
	return placementEvery, fmt.Errorf("spec.placementGroupSelector: %w", err)
}

func (w *round) subnets(ctx context.Context) (time.Duration, error) {
	const condition = awsv1.ConditionSubnetsReady
	found, err := w.options.Network.Subnets(ctx, w.class.Spec.SubnetSelectorTerms)
	if err != nil {
		w.untold(condition, err)
		return subnetsEvery, fmt.Errorf("spec.subnetSelectorTerms: %w", err)
	}
	w.class.Status.Subnets = found
	if len(found) == 0 {
		w.isFalse(condition, awsv1.ReasonSubnetsNotFound,
			"spec.subnetSelectorTerms match no subnet of the account in the region: correct them, or tag the subnets")
		return subnetsEvery, nil
	}
	w.isTrue(condition)
	return subnetsEvery, nil
}

func (w *round) securityGroups(ctx context.Context) (time.Duration, error) {
	const condition = awsv1.ConditionSecurityGroupsReady
	found, err := w.options.Network.SecurityGroups(ctx, w.class.Spec.SecurityGroupSelectorTerms)
	if err != nil {
		w.untold(condition, err)
		return 0, fmt.Errorf("spec.securityGroupSelectorTerms: %w", err)
	}
	w.class.Status.SecurityGroups = found
	if len(found) == 0 {
		w.isFalse(condition, awsv1.ReasonSecurityGroupsNotFound,
			"spec.securityGroupSelectorTerms match no security group of the account in the region: correct them, or tag the groups")
		return nothingFoundEvery, nil
	}
	w.isTrue(condition)
	return groupsEvery, nil
}

// instanceProfile uses the profile that the class names, without reading it, or ensures that a profile with the class's role exists.
func (w *round) instanceProfile(ctx context.Context) (time.Duration, error) {
	const condition = awsv1.ConditionInstanceProfileReady
	name, err := w.profile(ctx)
	var noRole *instanceprofile.RoleNotFoundError
	switch {
	case errors.As(err, &noRole):
		w.isFalse(condition, awsv1.ReasonRoleNotFound, sentence(noRole))
		return 0, err
	case cloudprovider.IsPermanent(err):
		w.isFalse(condition, awsv1.ReasonNoInstanceProfile, sentence(err))
		return 0, err
	case err != nil:
		w.untold(condition, err)
		return 0, err
	}
	w.class.Status.InstanceProfile = name
	w.isTrue(condition)
	return 0, nil
}

func (w *round) profile(ctx context.Context) (string, error) {
	spec := &w.class.Spec
	switch {
	case spec.InstanceProfile != nil:
		return *spec.InstanceProfile, nil
	case spec.Role == nil:
		return "", cloudprovider.NewPermanentError(errors.New("spec.role: nodes need an identity: give role or instanceProfile"))
	case w.options.Profiles == nil:
		return "", cloudprovider.NewPermanentError(errors.New("spec.role: the controller may not create instance profiles: create one, and name it in spec.instanceProfile instead"))
	}
	return w.options.Profiles.Ensure(ctx, instanceprofile.Wanted{
		NodeClass: w.class.Name, UID: w.class.UID, Role: *spec.Role, Current: w.class.Status.InstanceProfile, Tags: spec.Tags,
	})
}
