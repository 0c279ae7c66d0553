package v1

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Tenancy says with whom the hardware of an instance is shared.
//
// +kubebuilder:validation:Enum=default;dedicated;host
type Tenancy string

// Placement says on whose hardware instances run.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.hostID) && has(self.hostResourceGroupARN))",message="names one host and a group of hosts: give one of hostID and hostResourceGroupARN"
// +kubebuilder:validation:XValidation:rule="!(has(self.hostID) || has(self.hostResourceGroupARN)) || !has(self.tenancy) || self.tenancy == 'host'",message="names Dedicated Hosts: tenancy must be host"
type Placement struct {
	// Tenancy is default (hardware shared with other accounts), dedicated (Dedicated Instances: hardware of this account alone, at a higher
	// price), or host (Dedicated Hosts, which you allocate and pay). Nil means host if HostID or HostResourceGroupARN is given, and
	// otherwise what the NodeClaim requires by the label karpenter.k8s.aws/instance-tenancy.
	// +optional
	Tenancy *Tenancy `json:"tenancy,omitempty"`
	// HostID is the Dedicated Host to run on: "h-0123456789abcdef0". Nil means any host of the account that places instances
	// automatically.
	// +optional
	// +kubebuilder:validation:Pattern=`^h-[0-9a-f]+$`
	HostID *string `json:"hostID,omitempty"`
	// HostResourceGroupARN is the host resource group to run in, which allocates hosts as they are needed:
	// "arn:aws:resource-groups:REGION:ACCOUNT:group/NAME". Nil means none.
	// +optional
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:resource-groups:[^:]+:[0-9]{12}:group/.+$`
	HostResourceGroupARN *string `json:"hostResourceGroupARN,omitempty"`
}

// EffectiveTenancy returns the tenancy that the class chooses: one of the Tenancy constants, or empty if the NodeClaim chooses.
func (s *EC2NodeClassSpec) EffectiveTenancy() string {
	p := s.Placement
	switch {
	case p == nil:
		return ""
	case p.HostID != nil, p.HostResourceGroupARN != nil:
		return TenancyHost
	case p.Tenancy == nil:
		return ""
	}
	return string(*p.Tenancy)
}

// Host returns the ID of the Dedicated Host, or the ARN of the host resource group, that the class names; empty if it names none.
func (s *EC2NodeClassSpec) Host() string {
	switch p := s.Placement; {
	case p == nil:
		return ""
	case p.HostID != nil:
		return *p.HostID
	case p.HostResourceGroupARN != nil:
		return *p.HostResourceGroupARN
	}
	return ""
}

// validatePlacement checks the tenancy and the hosts.
func validatePlacement(s *EC2NodeClassSpec, path *field.Path) field.ErrorList {
	p := s.Placement
	if p == nil {
		return nil
	}
	errs := oneOf(p.Tenancy, path.Child("tenancy"), TenancyDefault, TenancyDedicated, TenancyHost)
	if p.HostID != nil && p.HostResourceGroupARN != nil {
		errs = append(errs, field.Invalid(path, *p.HostID, "names one host and a group of hosts: give one of hostID and hostResourceGroupARN"))
	}
	if named := p.HostID != nil || p.HostResourceGroupARN != nil; named && p.Tenancy != nil && *p.Tenancy != TenancyHost {
		errs = append(errs, field.Invalid(path.Child("tenancy"), *p.Tenancy, "must be host, because hosts are named"))
	}
	if p.HostID != nil && !hasForm(`^h-[0-9a-f]+$`, *p.HostID) {
		errs = append(errs, field.Invalid(path.Child("hostID"), *p.HostID, "must be the id of a Dedicated Host: h-0123456789abcdef0"))
	}
	if arn := p.HostResourceGroupARN; arn != nil && !hasForm(`^arn:[^:]+:resource-groups:[^:]+:[0-9]{12}:group/.+$`, *arn) {
		errs = append(errs, field.Invalid(path.Child("hostResourceGroupARN"), *arn, "must be the ARN of a host resource group: arn:aws:resource-groups:REGION:ACCOUNT:group/NAME"))
	}
	if s.EffectiveTenancy() == TenancyHost && s.PlacementGroupSelector != nil {
		errs = append(errs, field.Forbidden(path, "Dedicated Hosts cannot be in a placement group: remove placementGroupSelector, or the hosts"))
	}
	return errs
}

func hasForm(pattern, text string) bool {
	ok, err := regexp.MatchString(pattern, text)
	return err == nil && ok
}
