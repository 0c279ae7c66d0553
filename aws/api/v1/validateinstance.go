package v1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateInstanceOptions checks CPU credits, bandwidth and licences.
func validateInstanceOptions(s *EC2NodeClassSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o := s.CreditSpecification; o != nil {
		errs = append(errs, oneOf(o.CPUCredits, spec.Child("creditSpecification", "cpuCredits"), CPUCreditsStandard, CPUCreditsUnlimited)...)
	}
	if o := s.NetworkPerformanceOptions; o != nil {
		errs = append(errs, oneOf(o.BandwidthWeighting, spec.Child("networkPerformanceOptions", "bandwidthWeighting"), BandwidthWeightingDefault, BandwidthWeightingVPC, BandwidthWeightingEBS)...)
	}
	licenses := spec.Child("licenseSpecifications")
	if n := len(s.LicenseSpecifications); n > maxLicenses {
		errs = append(errs, field.TooMany(licenses, n, maxLicenses))
	}
	for i, l := range s.LicenseSpecifications {
		if !isLicenseConfiguration(l.LicenseConfigurationARN) {
			errs = append(errs, field.Invalid(licenses.Index(i).Child("licenseConfigurationARN"), l.LicenseConfigurationARN,
				"must be the ARN of a licence configuration: arn:aws:license-manager:REGION:ACCOUNT:license-configuration:lic-..."))
		}
	}
	return errs
}

func isLicenseConfiguration(arn string) bool {
	return hasForm(`^arn:[^:]+:license-manager:[^:]+:[0-9]{12}:license-configuration:lic-[0-9a-f]+$`, arn)
}
