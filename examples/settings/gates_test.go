package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
)

// SET-036, SET-038 to SET-044, SET-137 to SET-143, SET-163, SET-176, DIS-289: gates that are not named keep their defaults.
func TestFeatureGates(t *testing.T) {
	for _, c := range []struct {
		text string
		want settings.FeatureGates
	}{
		{"", settings.FeatureGates{Drift: true, ReservedCapacity: true}},
		{"Drift=false,SpotToSpotConsolidation=true", settings.FeatureGates{SpotToSpotConsolidation: true, ReservedCapacity: true}},
		{" NodeRepair = true ,, ReservedCapacity=false,", settings.FeatureGates{Drift: true, NodeRepair: true}},
		{"NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true,ProvisioningRequest=true,NodeOverlay=true", settings.FeatureGates{Drift: true, ReservedCapacity: true, NodeOverlay: true, StaticCapacity: true, CapacityBuffer: true, ProvisioningRequest: true}},
	} {
		loaded := load(t, settings.Sources{LookupEnv: environment(map[string]string{"CLUSTER_NAME": "blue", "FEATURE_GATES": c.text})})
		if diff := cmp.Diff(c.want, loaded.Settings.Planning.FeatureGates); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
		again, err := settings.ParseFeatureGates(c.want.String())
		if err != nil || again != c.want {
			t.Errorf("%v is written as %q, which is read as %v, %v", c.want, c.want.String(), again, err)
		}
	}
	for text, says := range map[string]string{
		"Drift": "must be Drift=true or Drift=false", "Drift=yes": "must be Drift=true", "drift=true": `unknown gate "drift"`,
		"Drift=true,Drift=false": "twice with different values", "=true": `unknown gate ""`,
	} {
		if _, err := settings.ParseFeatureGates(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, not %q", text, err, says)
		}
	}
}
