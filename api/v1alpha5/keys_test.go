package v1alpha5

import "testing"

// API-220, API-221, API-230, API-232 to API-236: names that users and running clusters hold on to. Changing one breaks them.
func TestKeys(t *testing.T) {
	for got, want := range map[string]string{
		ProvisionerNameLabelKey:          "karpenter.sh/provisioner-name",
		MachineNameLabelKey:              "karpenter.sh/machine-name",
		ProvisionerHashAnnotationKey:     "karpenter.sh/provisioner-hash",
		EmptinessTimestampAnnotationKey:  "karpenter.sh/emptiness-timestamp",
		VoluntaryDisruptionAnnotationKey: "karpenter.sh/voluntary-disruption",
		ManagedByAnnotationKey:           "karpenter.sh/managed-by",
		LinkedAnnotationKey:              "karpenter.sh/linked",
		ProviderAnnotationKey:            "compatibility.karpenter.sh/provider",
		APIVersion:                       "karpenter.sh/v1alpha5",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
