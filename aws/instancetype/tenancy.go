package instancetype

import (
	"math"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// dedicatedPremium is the assumed premium for dedicated hardware, as a share of the price of shared hardware. In AWS's price lists, the
// premium for Dedicated Instances is 6 % or 10 %, depending on the type, and a Dedicated Host costs about 10 % more than the instances that
// fill it. It is used if no price for dedicated hardware is known.
const dedicatedPremium = 0.10

// TenancyOf returns the tenancy that all instances must have to meet the requirements: dedicated if the requirements exclude shared
// hardware, and otherwise empty.
func TenancyOf(want requirements.Set) string {
	if allowed := want.Get(awsv1.LabelInstanceTenancy); want.Has(awsv1.LabelInstanceTenancy) &&
		!allowed.Has(awsv1.TenancyDefault) && allowed.Has(awsv1.TenancyDedicated) {
		return awsv1.TenancyDedicated
	}
	return ""
}

// TenancyApart is the tenancy in Settings and Options for NodePools whose requirements name the tenancy and allow both shared and dedicated
// hardware. Every type then has offerings for both tenancies, each with its own price. It is no tenancy of EC2.
const TenancyApart = "default+dedicated"

// TenancyWanted is TenancyOf, or TenancyApart if the requirements name the label of the tenancy and allow both shared and dedicated hardware.
func TenancyWanted(want requirements.Set) string {
	if allowed := want.Get(awsv1.LabelInstanceTenancy); want.Has(awsv1.LabelInstanceTenancy) && allowed.Has(awsv1.TenancyDefault) && allowed.Has(awsv1.TenancyDedicated) {
		return TenancyApart
	}
	return TenancyOf(want)
}

// TenancyOfPool is TenancyWanted for the requirements and labels of a NodePool's template. It is empty for a nil pool, and for requirements
// that can't be read.
func TenancyOfPool(pool *poolv1.NodePool) string {
	if pool == nil {
		return ""
	}
	want, err := requirements.ParseSet(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return ""
	}
	return TenancyWanted(want.Merge(requirements.FromLabels(pool.Spec.Template.Labels)))
}

// readPlacement reads the tenancy of a class, and whether its burstable instances have unlimited CPU credits, which matters on hosts.
func (s *Settings) readPlacement(spec *awsv1.EC2NodeClassSpec) {
	if tenancy := spec.EffectiveTenancy(); tenancy != "" {
		s.Tenancy = tenancy
	}
	if v := spec.CreditSpecification; v != nil && s.Tenancy == awsv1.TenancyHost {
		s.UnlimitedCredits = option.Or(v.CPUCredits, "") == awsv1.CPUCreditsUnlimited
	}
}

// tenancyIncompatible says why instances of a type can't have the tenancy of the settings.
func tenancyIncompatible(t *catalog.Type, s *Settings) string {
	switch {
	case s.Tenancy != awsv1.TenancyHost:
		return ""
	case !t.DedicatedHosts:
		return "it does not run on Dedicated Hosts"
	case t.Burstable && s.UnlimitedCredits:
		return "with unlimited CPU credits it does not run on Dedicated Hosts"
	}
	return ""
}

// Variants returns the shape for each tenancy that has offerings of its own: two shapes with TenancyApart, and otherwise the shape itself.
// The result is nil for a nil shape.
func (s *Shape) Variants() []*Shape {
	switch {
	case s == nil:
		return nil
	case s.tenancy != TenancyApart:
		return []*Shape{s}
	}
	shared, dedicated := *s, *s
	shared.tenancy, dedicated.tenancy = awsv1.TenancyDefault, awsv1.TenancyDedicated
	return []*Shape{&shared, &dedicated}
}

// OfferingLabels returns the labels by which an offering states its tenancy. setting is Settings.Tenancy.
func OfferingLabels(setting, tenancy string) []requirements.Requirement {
	if setting == TenancyApart && tenancy != "" {
		return []requirements.Requirement{requirements.In(awsv1.LabelInstanceTenancy, tenancy)}
	}
	return HardwareLabels(tenancy)
}

// HardwareLabels returns the labels by which offerings on dedicated hardware differ from those on shared hardware. They keep stock-outs and
// estimates of the two kinds of hardware apart. The result is empty for shared hardware and for an empty tenancy, because most clusters use
// only shared hardware.
func HardwareLabels(tenancy string) []requirements.Requirement {
	if tenancy == "" || tenancy == awsv1.TenancyDefault {
		return nil
	}
	return []requirements.Requirement{requirements.In(awsv1.LabelInstanceTenancy, tenancy)}
}

// Tenancy of the instance: one of the Tenancy constants of aws/api/v1, empty if the NodeClaim chooses between default and dedicated, or
// TenancyApart for a shape with Variants. It is empty for nil.
func (s *Shape) Tenancy() string {
	if s == nil {
		return ""
	}
	return s.tenancy
}

// OnHosts reports whether the instance runs on a Dedicated Host. EC2 sells neither spot instances nor reserved capacity on Dedicated Hosts.
func (s *Shape) OnHosts() bool { return s != nil && s.tenancy == awsv1.TenancyHost }

// Dedicated reports whether the instance has dedicated hardware: a Dedicated Instance, or one on a Dedicated Host.
func (s *Shape) Dedicated() bool {
	return s != nil && (s.tenancy == awsv1.TenancyDedicated || s.tenancy == awsv1.TenancyHost)
}

// WithTenancy estimates the price of an instance with the shape's tenancy, USD per hour, from the price on shared hardware, with its source
// and basis. An instance on shared hardware keeps its price.
func (s *Shape) WithTenancy(usd float64, source string, basis *cloudprovider.PriceBasis) (float64, string, *cloudprovider.PriceBasis) {
	if !s.Dedicated() || usd <= 0 {
		return usd, source, basis
	}
	raise := func(usd float64) float64 { return math.Round(usd*(1+dedicatedPremium)*1e6) / 1e6 }
	source += ", and 10 % for dedicated hardware (estimate)"
	if s.OnHosts() {
		source += ": the share of its Dedicated Host"
	}
	if basis = basis.Repriced(raise); basis != nil {
		estimated := *basis
		estimated.Confidence = cloudprovider.PriceEstimated
		basis = &estimated
	}
	return raise(usd), source, basis
}
