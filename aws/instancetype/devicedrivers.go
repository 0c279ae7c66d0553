package instancetype

import (
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Kinds of devices for which Settings.DeviceDrivers names drivers.
const (
	// DevicesNVIDIA are NVIDIA's GPUs. Without a driver here they are ResourceNVIDIAGPU.
	DevicesNVIDIA = "nvidia"
	// DevicesEFA are Elastic Fabric Adapters. Without a driver here they are ResourceEFA.
	DevicesEFA = "efa"
	// DevicesNeuron are Inferentia2 and Trainium devices. Without a driver here they are ResourceNeuron and ResourceNeuronCore.
	DevicesNeuron = "neuron"
)

// deviceKinds returns the kinds of devices, each with the driver of the device's maker.
func deviceKinds() map[string]string {
	return map[string]string{DevicesNVIDIA: NVIDIADriver, DevicesEFA: EFADriver, DevicesNeuron: NeuronDriver}
}

// checkDrivers refuses unknown kinds and invalid driver names.
func checkDrivers(drivers map[string]string) error {
	known := deviceKinds()
	for _, kind := range slices.Sorted(maps.Keys(drivers)) {
		if _, ok := known[kind]; !ok {
			return badSetting("deviceDrivers["+kind+"]", "is no kind of device for which drivers are supported: use one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		name := drivers[kind]
		if len(validation.IsDNS1123Subdomain(name)) > 0 || len(name) > resourcev1.DriverNameMaxLength {
			return badSetting("deviceDrivers["+kind+"]", "must be the name of a driver such as %q, is %q", known[kind], name)
		}
	}
	return nil
}

// readDeviceAnnotations applies a class's annotations about drivers, which override the options.
func (s *Settings) readDeviceAnnotations(annotations map[string]string) error {
	if text, ok := annotations[awsv1.AnnotationDeviceDrivers]; ok {
		s.DeviceDrivers = nil
		for entry := range strings.SplitSeq(text, ",") {
			if entry = strings.TrimSpace(entry); entry == "" {
				continue
			}
			kind, driver, pair := strings.Cut(entry, "=")
			if !pair {
				return badSetting("metadata.annotations["+awsv1.AnnotationDeviceDrivers+"]", "must be a list of KIND=DRIVER, as in %q, is %q", "nvidia="+NVIDIADriver, text)
			}
			if s.DeviceDrivers == nil {
				s.DeviceDrivers = map[string]string{}
			}
			s.DeviceDrivers[kind] = driver
		}
		if err := checkDrivers(s.DeviceDrivers); err != nil {
			return err
		}
	}
	if text, ok := annotations[awsv1.AnnotationNVIDIAConsumableCapacity]; ok {
		if s.NVIDIAShares = text; text == "disabled" {
			s.NVIDIAShares = SharesDisabled
		}
		return s.checkSharing()
	}
	return nil
}

// checkSharing refuses settings that NVIDIA's driver does not support, or that can't be planned for.
func (s *Settings) checkSharing() error {
	if _, ok := sharesOf(s.NVIDIAShares); !ok {
		return badSetting("nvidiaShares", "must be %q, %q or a number from 1 to %d, is %q", SharesByMemory, SharesUnlimited, maxShares, s.NVIDIAShares)
	}
	if s.NVIDIAMIG && s.NVIDIAShares != SharesDisabled {
		return badSetting("nvidiaShares", "can't be combined with nvidiaMIG: shares of partitions are not planned")
	}
	return nil
}

// deviceTemplates returns the devices that the configured drivers will publish on an instance of the type.
func (p *plan) deviceTemplates(t *catalog.Type) []cloudprovider.DevicePool {
	var out []cloudprovider.DevicePool
	if driver := p.DeviceDrivers[DevicesNVIDIA]; driver != "" {
		out = append(out, nvidiaPools(t, driver, p.NVIDIAMIG, p.NVIDIAShares)...)
	}
	if driver := p.DeviceDrivers[DevicesEFA]; driver != "" {
		out = append(out, efaPools(t, driver, p.efas(t))...)
	}
	if driver := p.DeviceDrivers[DevicesNeuron]; driver != "" {
		out = append(out, neuronPools(t, driver)...)
	}
	return out
}

// efas returns the number of EFA interfaces of an instance of the class: those that the class lists, or all that the type offers.
func (p *plan) efas(t *catalog.Type) int64 {
	if p.NetworkInterfaces != nil {
		return p.efaOnly
	}
	return t.Network.EFA
}
