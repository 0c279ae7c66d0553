package nodeclass

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

// candidate returns the instance type for a dry run. It tries three groups of types: those that a pool of the class would launch (not for
// Windows), common types, all types. It chooses from the first group that is not empty, and returns nil if no image boots on any type of
// that group. It prefers types that boot a standard image, because images for accelerators may need larger volumes than the class has. The
// order of types and of wants does not matter.
func candidate(class *awsv1.EC2NodeClass, types []*cloudprovider.InstanceType, wants []requirements.Set) (*cloudprovider.InstanceType, error) {
	types = slices.Clone(types)
	slices.SortFunc(types, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	pick := func(among func(*cloudprovider.InstanceType) bool) (*cloudprovider.InstanceType, bool, error) {
		var other *cloudprovider.InstanceType
		some := false
		for _, t := range types {
			if !among(t) {
				continue
			}
			some = true
			image, err := launchtemplate.ImageFor(class, t)
			switch {
			case err != nil:
				return nil, true, err
			case image != "" && isStandard(class, t):
				return t, true, nil
			case image != "":
				other = cmp.Or(other, t)
			}
		}
		return other, some, nil
	}
	stages := []func(*cloudprovider.InstanceType) bool{
		func(t *cloudprovider.InstanceType) bool {
			return slices.ContainsFunc(wants, func(want requirements.Set) bool { return t.Requirements.Intersects(want) == nil })
		},
		func(t *cloudprovider.InstanceType) bool { return t.Name == "m5.large" || t.Name == "m6g.large" },
		func(*cloudprovider.InstanceType) bool { return true },
	}
	if class.Spec.EffectiveAMIFamily().IsWindows() {
		stages = stages[1:]
	}
	for _, stage := range stages {
		if t, some, err := pick(stage); err != nil || some {
			return t, err
		}
	}
	return nil, nil
}

// isStandard reports whether the type boots a standard image, that is, one that requires a type without GPUs.
func isStandard(class *awsv1.EC2NodeClass, t *cloudprovider.InstanceType) bool {
	image, err := launchtemplate.ImageFor(class, t)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(class.Status.AMIs, func(a awsv1.AMI) bool {
		return a.ID == image && slices.ContainsFunc(a.Requirements, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == awsv1.LabelInstanceGPUCount && r.Operator == corev1.NodeSelectorOpDoesNotExist
		})
	})
}

// poolWants returns a set with the requirements and labels of each pool.
func poolWants(pools []*v1.NodePool) ([]requirements.Set, error) {
	var wants []requirements.Set
	for _, pool := range pools {
		template := &pool.Spec.Template
		want, err := requirements.ParseSet(template.Spec.Requirements)
		if err != nil {
			return nil, fmt.Errorf("nodepool %q: %w", pool.Name, err)
		}
		wants = append(wants, want.Merge(requirements.FromLabels(template.Labels)))
	}
	return wants, nil
}

// standIn returns a claim without a pool, for the launch template of dry runs. It requires dedicated hardware if the tenancy requirement of
// any pool allows it.
func standIn(wants []requirements.Set) *v1.NodeClaim {
	claim := &v1.NodeClaim{}
	if slices.ContainsFunc(wants, func(want requirements.Set) bool {
		return want.Has(awsv1.LabelInstanceTenancy) && want.Get(awsv1.LabelInstanceTenancy).Has(awsv1.TenancyDedicated)
	}) {
		claim.Spec.Requirements = requirements.NewSet(requirements.In(awsv1.LabelInstanceTenancy, awsv1.TenancyDedicated)).NodeSelectorRequirements()
	}
	return claim
}
