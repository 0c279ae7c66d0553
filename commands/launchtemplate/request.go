package launchtemplate

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

// unresolved is a placeholder for values that must be looked up in the account. EC2 does not accept it as an id.
const unresolved = "UNRESOLVED"

// request returns the request for a launch template, and notes about its assumptions.
func (o options) request(class *awsv1.EC2NodeClass, pool *v1.NodePool) (launchtemplate.Request, []string, error) {
	class = class.DeepCopy()
	notes := o.resolve(class)
	types, err := o.types(class, pool)
	if err != nil {
		return launchtemplate.Request{}, nil, err
	}
	return launchtemplate.Request{
		Cluster:          o.cluster,
		NodeClass:        class,
		NodeClaim:        o.claim(class, pool),
		InstanceTypes:    types,
		CapacityType:     o.capacity,
		PlacementGroupID: o.placementGroup,
	}, notes, nil
}

// resolve sets missing values in the class's status. They come from the flags or from ids in the class's selector terms, or are
// placeholders.
func (o options) resolve(class *awsv1.EC2NodeClass) (notes []string) {
	status := &class.Status
	if o.ami != "" {
		status.AMIs = []awsv1.AMI{{ID: o.ami}}
	}
	for _, term := range class.Spec.AMISelectorTerms {
		if len(status.AMIs) == 0 && term.ID != "" {
			status.AMIs = []awsv1.AMI{{ID: term.ID}}
		}
	}
	if len(status.AMIs) == 0 {
		status.AMIs = []awsv1.AMI{{ID: "ami-" + unresolved}}
		notes = append(notes, "the image was not looked up: give --ami ID")
	}
	if len(o.securityGroups) > 0 {
		status.SecurityGroups = nil
		for _, id := range o.securityGroups {
			status.SecurityGroups = append(status.SecurityGroups, awsv1.SecurityGroup{ID: id})
		}
	}
	if len(status.SecurityGroups) == 0 {
		for _, term := range class.Spec.SecurityGroupSelectorTerms {
			if term.ID != "" {
				status.SecurityGroups = append(status.SecurityGroups, awsv1.SecurityGroup{ID: term.ID})
			}
		}
	}
	if len(status.SecurityGroups) == 0 {
		status.SecurityGroups = []awsv1.SecurityGroup{{ID: "sg-" + unresolved}}
		notes = append(notes, "the security groups were not looked up: give --security-groups LIST")
	}
	if o.instanceProfile != "" {
		status.InstanceProfile = o.instanceProfile
	}
	if status.InstanceProfile == "" && class.Spec.InstanceProfile == nil {
		status.InstanceProfile = unresolved
		notes = append(notes, "the instance profile is made from the role at run time: give --instance-profile NAME")
	}
	return notes
}

// claim returns a NodeClaim as a plan of the pool would create it.
func (o options) claim(class *awsv1.EC2NodeClass, pool *v1.NodePool) *v1.NodeClaim {
	labels := map[string]string{}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	if pool != nil {
		template := pool.Spec.Template
		maps.Copy(labels, template.Labels)
		labels[v1.NodePoolLabelKey] = pool.Name
		claim.Spec.Taints, claim.Spec.StartupTaints = template.Spec.Taints, template.Spec.StartupTaints
		claim.Spec.Requirements = template.Spec.Requirements
	}
	labels[awsv1.LabelNodeClass] = class.Name
	claim.Spec.Resources.Requests = corev1.ResourceList{}
	for name, asked := range map[corev1.ResourceName]bool{launchtemplate.ResourceEFA: o.efa, launchtemplate.ResourceNitroSandbox: o.enclaves} {
		if asked {
			claim.Spec.Resources.Requests[name] = resource.MustParse("1")
		}
	}
	return claim
}

// types returns the types of --instance-types. Without that flag it returns the types that the pool allows, or m5.large if there is no
// pool.
func (o options) types(class *awsv1.EC2NodeClass, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	facts, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	// The built-in catalogue is for one region, but the class may have subnets in another region. Zones don't change a template, so the
	// subnets are left out.
	anywhere := class.DeepCopy()
	anywhere.Status.Subnets = nil
	all, err := instancetype.Resolve(facts, anywhere, instancetype.Options{})
	if err != nil {
		return nil, err
	}
	wanted, err := o.wanted(pool)
	if err != nil {
		return nil, err
	}
	var types []*cloudprovider.InstanceType
	for _, t := range all {
		if wanted(t) {
			types = append(types, o.reserve(t))
		}
	}
	for _, name := range o.instanceTypes {
		if !slices.ContainsFunc(types, func(t *cloudprovider.InstanceType) bool { return t.Name == name }) {
			return nil, fmt.Errorf("--instance-types: %s does not exist, or cannot be used with this class", name)
		}
	}
	if len(types) == 0 {
		return nil, fmt.Errorf("no instance type of the node class meets the flags and the requirements of the NodePool")
	}
	return types, nil
}

// wanted returns a function that reports whether a template is needed for a type.
func (o options) wanted(pool *v1.NodePool) (func(*cloudprovider.InstanceType) bool, error) {
	switch {
	case len(o.instanceTypes) > 0:
		return func(t *cloudprovider.InstanceType) bool { return slices.Contains(o.instanceTypes, t.Name) }, nil
	case pool == nil:
		return func(t *cloudprovider.InstanceType) bool { return t.Name == "m5.large" }, nil
	}
	lookup := instancetype.Vocabulary().Compile()
	want, err := lookup.ParseSet(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return nil, fmt.Errorf("NodePool %q: %w", pool.Name, err)
	}
	return func(t *cloudprovider.InstanceType) bool {
		return slices.ContainsFunc(t.Offerings, func(offering cloudprovider.Offering) bool {
			return offering.Available && t.Offers(&offering, want.Without(v1.CapacityTypeLabelKey))
		})
	}, nil
}

// reserve returns a copy of the type that has only the offering of --reservation, or the type itself without that flag.
func (o options) reserve(t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	if o.reservation == "" {
		return t
	}
	t = t.DeepCopy()
	t.Offerings = []cloudprovider.Offering{{
		Requirements: requirements.FromLabels(map[string]string{
			corev1.LabelTopologyZone:                    t.Offerings[0].Zone(),
			v1.CapacityTypeLabelKey:                     v1.CapacityTypeReserved,
			awsv1.LabelCapacityReservationID:            o.reservation,
			awsv1.LabelCapacityReservationType:          string(awsv1.CapacityReservationTypeDefault),
			awsv1.LabelCapacityReservationInterruptible: "false",
		}),
		Available: true, ReservationCapacity: 1,
	}}
	return t
}
