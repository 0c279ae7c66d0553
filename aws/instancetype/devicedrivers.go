package instancetype

import (
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Kinds of devices that Settings.DeviceDrivers names drivers of.
const (
	// DevicesNVIDIA are NVIDIA's GPUs, which otherwise are ResourceNVIDIAGPU.
	DevicesNVIDIA = "nvidia"
)

// deviceKinds are all of them, sorted, with the driver that its maker publishes.
func deviceKinds() map[string]string {
	return map[string]string{DevicesNVIDIA: NVIDIADriver}
}

// checkDrivers refuses kinds that are not known and names that no driver can have.
func checkDrivers(drivers map[string]string) error {
	known := deviceKinds()
	for _, kind := range slices.Sorted(maps.Keys(drivers)) {
		if _, ok := known[kind]; !ok {
			return badSetting("deviceDrivers["+kind+"]", "is no kind of device with drivers here: give one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		name := drivers[kind]
		if len(validation.IsDNS1123Subdomain(name)) > 0 || len(name) > resourcev1.DriverNameMaxLength {
			return badSetting("deviceDrivers["+kind+"]", "must be the name of a driver such as %q, is %q", known[kind], name)
		}
	}
	return nil
}

// deviceTemplates are what the drivers of the settings will publish on an instance of the type.
func (p *plan) deviceTemplates(t *catalog.Type) []cloudprovider.DevicePool {
	var out []cloudprovider.DevicePool
	if driver := p.DeviceDrivers[DevicesNVIDIA]; driver != "" {
		for _, pool := range NVIDIADevices(t) {
			pool.Driver = driver
			out = append(out, pool)
		}
	}
	return out
}
