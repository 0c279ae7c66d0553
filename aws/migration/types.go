package migration

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// checkInstanceTypes compares, for each NodePool, the instance types that Karpenter offers with drawknife's.
func (v *verifier) checkInstanceTypes() {
	if v.KarpenterTypes == nil {
		v.report.skip(CheckInstanceTypes, "", "the instance types that Karpenter offers are not known, so they are computed by its rule: give its metrics to compare with its own list")
	}
	for _, pool := range v.NodePools {
		class := v.classes[pool.Spec.Template.Spec.NodeClassRef.Name]
		if class == nil || v.lists[class.Name] == nil {
			continue
		}
		want, err := requirements.ParseSet(pool.Spec.Template.Spec.Requirements)
		if err != nil {
			continue // checkObjects reports this error as a finding
		}
		v.compareTypes(pool, class, want)
	}
}

func (v *verifier) compareTypes(pool *v1.NodePool, class *awsv1.EC2NodeClass, want requirements.Set) {
	object := poolObject(pool.Name)
	ours := typeNames(v.wanted(class, want))
	theirs, err := v.karpenterTypes(class, want)
	if err != nil {
		v.report.skip(CheckInstanceTypes, object, "Karpenter's instance types cannot be computed: %v", err)
		return
	}
	inUse := map[string]bool{}
	for _, claim := range v.NodeClaims {
		if claim.Labels[v1.NodePoolLabelKey] == pool.Name && claim.Labels[corev1.LabelInstanceTypeStable] != "" {
			inUse[claim.Labels[corev1.LabelInstanceTypeStable]] = true
		}
	}
	gained, lost := without(ours, theirs), without(theirs, ours)
	for name := range inUse {
		if !slices.Contains(ours, name) && !slices.Contains(lost, name) {
			lost = append(lost, name)
		}
	}
	slices.Sort(lost)
	const field = "spec.template.spec.requirements"
	for _, group := range v.reasons(class, lost) {
		severity, cure := SeverityInfo, ""
		if slices.ContainsFunc(group.names, func(name string) bool { return inUse[name] }) {
			severity, cure = SeverityWarning, "nodes of these types stay, but no new ones are launched; correct the class if they are needed"
		}
		if len(ours) == 0 {
			severity, cure = SeverityError, "correct the class or the requirements: no node can be launched for the pool"
		}
		v.report.found(severity, CheckInstanceTypes, object, field, cure, "loses %d of %d instance types, because %s: %s", len(group.names), len(theirs), group.reason, some(group.names))
	}
	if len(gained) > 0 {
		v.report.found(SeverityInfo, CheckInstanceTypes, object, field, "", "gains %d instance types that Karpenter does not offer: %s", len(gained), some(gained))
	}
}

// karpenterTypes returns the names of the types that Karpenter offers for a class and the requirements of a pool. Karpenter also lists
// types on which no pod fits because of the resources that the class reserves.
func (v *verifier) karpenterTypes(class *awsv1.EC2NodeClass, want requirements.Set) ([]string, error) {
	relaxed := class.DeepCopy()
	if k := relaxed.Spec.Kubelet; k != nil {
		k.KubeReserved, k.SystemReserved, k.EvictionHard, k.EvictionSoft, k.EvictionSoftGracePeriod = nil, nil, nil, nil, nil
	}
	options := v.InstanceTypes
	options.ReservedENIs, options.HugePages = 0, nil
	list, err := v.shapes(relaxed, options)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range list {
		name := list[i].Type.Name
		if list[i].Incompatible == "" && (v.KarpenterTypes == nil || slices.Contains(v.KarpenterTypes, name)) && v.sold(&list[i], class, want) {
			out = append(out, name)
		}
	}
	return out, nil
}

// shapes returns the instance types that nodes of a class can have.
func (v *verifier) shapes(class *awsv1.EC2NodeClass, o instancetype.Options) ([]instancetype.Shape, error) {
	settings, err := instancetype.NewSettings(v.types, class, o)
	if err != nil {
		return nil, err
	}
	return instancetype.Shapes(v.types, settings)
}

// sold reports whether a type meets requirements and is offered in a zone with a subnet of the class that the requirements allow. Prices
// and capacity types do not matter.
func (v *verifier) sold(shape *instancetype.Shape, class *awsv1.EC2NodeClass, want requirements.Set) bool {
	want = want.Without(v1.CapacityTypeLabelKey, v1.NodePoolLabelKey)
	for _, index := range shape.Facts.Zones {
		zone := v.types.Zones[index]
		if len(class.Status.Subnets) > 0 && !slices.ContainsFunc(class.Status.Subnets, func(s awsv1.Subnet) bool { return s.Zone == zone.Name }) {
			continue
		}
		at := requirements.NewSet(requirements.In(corev1.LabelTopologyZone, zone.Name))
		if zone.ID != "" {
			at = at.With(requirements.In(awsv1.LabelTopologyZoneID, zone.ID))
		}
		if shape.Type.Offers(&cloudprovider.Offering{Requirements: at}, want) {
			return true
		}
	}
	return false
}

// reasonGroup contains the instance types that drawknife does not offer for the same reason.
type reasonGroup struct {
	reason string
	names  []string
}

// reasons groups the instance types in the list lost by the reason why drawknife does not offer them. The groups are sorted.
func (v *verifier) reasons(class *awsv1.EC2NodeClass, lost []string) []reasonGroup {
	by := map[string][]string{}
	for _, name := range lost {
		at := slices.IndexFunc(v.types.Types, func(t catalog.Type) bool { return t.Name == name })
		reason := "the region's catalogue does not have them"
		if at >= 0 {
			listed := slices.IndexFunc(v.lists[class.Name], func(s instancetype.Shape) bool { return s.Type.Name == name })
			switch {
			case listed >= 0 && v.lists[class.Name][listed].Incompatible != "":
				reason = v.lists[class.Name][listed].Incompatible
			case listed >= 0:
				reason = "they do not meet the requirements of the pool with drawknife's labels, or are not sold in its zones"
			default:
				reason = "they are too small for what the class reserves"
			}
		}
		by[reason] = append(by[reason], name)
	}
	var out []reasonGroup
	for reason, names := range by {
		out = append(out, reasonGroup{reason, names})
	}
	slices.SortFunc(out, func(a, b reasonGroup) int { return strings.Compare(a.reason, b.reason) })
	return out
}

func typeNames(list []*cloudprovider.InstanceType) []string {
	var out []string
	for _, t := range list {
		out = append(out, t.Name)
	}
	return out
}

func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
}

// some returns the first entries of a list as text.
func some(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
