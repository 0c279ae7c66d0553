package instancetype

import (
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Values of Settings.NVIDIAShares other than a number, from the setting consumableShares of NVIDIA's driver.
const (
	// SharesDisabled: each GPU serves one claim. This is the default.
	SharesDisabled = ""
	// SharesByMemory: claims share a GPU by the memory that they request; a claim without a memory request takes the whole memory.
	SharesByMemory = "memory"
	// SharesUnlimited: any number of claims share a GPU, whatever memory they request.
	SharesUnlimited = "unlimited"
)

// maxShares is the maximum number of shares; time-slicing a GPU among more claims is useless.
const maxShares = 1000

// sharesOf parses a number of shares. For valid values that are not numbers it returns 0. It returns false for invalid values.
func sharesOf(text string) (int64, bool) {
	switch text {
	case SharesDisabled, SharesByMemory, SharesUnlimited:
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0 && n <= maxShares
}

// share changes the device d so that several claims can use it, if the parameter shares (the driver's setting) allows this. Memory is
// counted in MiB.
//
// Source: cmd/gpu-kubelet-plugin/consumable_shares.go of the driver's repository.
func share(d *resourcev1.Device, shares string) {
	n, known := sharesOf(shares)
	if shares == SharesDisabled || !known {
		return
	}
	yes, none, step := true, resource.MustParse("0"), resource.MustParse("1Mi")
	d.AllowMultipleAllocations = &yes
	memory := d.Capacity["memory"]
	all := memory.Value.DeepCopy()
	policy := func(byDefault, least, most, step resource.Quantity) *resourcev1.CapacityRequestPolicy {
		return &resourcev1.CapacityRequestPolicy{Default: &byDefault, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &least, Max: &most, Step: &step}}
	}
	if shares == SharesByMemory {
		memory.RequestPolicy = policy(all, step, all.DeepCopy(), step.DeepCopy())
	} else {
		memory.RequestPolicy = policy(none, none.DeepCopy(), all, step)
	}
	d.Capacity["memory"] = memory
	if n > 0 {
		one, total := resource.MustParse("1"), *resource.NewQuantity(n, resource.DecimalSI)
		d.Capacity["shares"] = resourcev1.DeviceCapacity{Value: total, RequestPolicy: policy(one, one.DeepCopy(), total.DeepCopy(), one.DeepCopy())}
	}
}
