package settings

import (
	"flag"
	"slices"

	"github.com/drawknife/drawknife/aws/instancetype"
)

// InstanceTypeFlags returns the names of the flags that AddInstanceTypeFlags registers. The caller owns the slice.
func InstanceTypeFlags() []string {
	return []string{
		"vpc-cni-prefix-delegation", "vpc-cni-custom-networking", "without-pod-eni", "measured-memory-overhead", "fractional-gpus",
		"device-drivers", "nvidia-mig", "nvidia-shares", "device-resources", "huge-pages",
	}
}

// InstanceTypes returns the options of instance types that result from the settings. The memory overhead and the reserved interfaces are
// not included, because providers have separate settings for them.
func (a AWS) InstanceTypes() instancetype.Options {
	out := instancetype.Options{
		WithoutPodENI: a.WithoutPodENI, FractionalGPUs: a.FractionalGPUs, DeviceDrivers: a.DeviceDrivers, NVIDIAMIG: a.NVIDIAMIG, NVIDIAShares: a.NVIDIAShares, DeviceResources: a.DeviceResources, HugePages: a.HugePages,
	}
	if a.PrefixDelegation || a.CustomNetworking {
		out.PodDensity = instancetype.VPCCNI{PrefixDelegation: a.PrefixDelegation, CustomNetworking: a.CustomNetworking}
	}
	if a.MeasuredMemory {
		out.MemoryPrior = instancetype.MemoryPriorMeasured
	}
	return out
}

// AddInstanceTypeFlags registers the flags of the settings from which InstanceTypes is computed. fs.Parse fails for an invalid value, and
// writes valid ones to a.
func (a *AWS) AddInstanceTypeFlags(fs *flag.FlagSet) {
	for _, s := range definitions() {
		if slices.Contains(InstanceTypeFlags(), s.name) {
			fs.Var(&awsFlag{setting: s, into: a}, s.name, s.usage)
		}
	}
}

// awsFlag is a flag.Value that writes directly into an AWS.
type awsFlag struct {
	setting *setting
	into    *AWS
}

// String returns the current value.
func (f *awsFlag) String() string {
	if f == nil || f.into == nil {
		return ""
	}
	return f.setting.show(&Settings{AWS: *f.into})
}

// IsBoolFlag reports whether the flag may be given without a value.
func (f *awsFlag) IsBoolFlag() bool { return f.setting.boolean }

// Set reads the value and checks it.
func (f *awsFlag) Set(text string) error {
	scratch := Settings{AWS: *f.into}
	if err := f.setting.parse(&scratch, text); err != nil {
		return err
	}
	options := scratch.AWS.InstanceTypes()
	if err := options.Validate(); err != nil {
		return err
	}
	*f.into = scratch.AWS
	return nil
}
