package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/internal/quantities"
)

// EvictionSignals returns the signals that eviction thresholds may be set for. The caller owns the slice.
func EvictionSignals() []string {
	return []string{
		"imagefs.available", "imagefs.inodesFree", "memory.available", "nodefs.available", "nodefs.inodesFree",
		"pid.available",
	}
}

// ReservedResources returns the resources that can be reserved. The caller owns the slice.
func ReservedResources() []string { return []string{"cpu", "ephemeral-storage", "memory", "pid"} }

var percentageForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

// validateKubelet checks the values of the block and whether the family supports them. For keys that have no field in KubeletConfiguration,
// it checks only whether the kubelet knows them and whether their values have the right form.
func validateKubelet(k *KubeletConfiguration, family AMIFamily, features Features, path *field.Path) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := validateMaxPods(k.MaxPods, features, path.Child("maxPods"))
	errs = append(errs, notNegative(k.PodsPerCore, path.Child("podsPerCore"))...)
	errs = append(errs, notNegative(k.EvictionMaxPodGracePeriod, path.Child("evictionMaxPodGracePeriod"))...)
	errs = append(errs, validateReserved(k.SystemReserved, features, path.Child("systemReserved"))...)
	errs = append(errs, validateReserved(k.KubeReserved, features, path.Child("kubeReserved"))...)
	errs = append(errs, validateThresholds(k.EvictionHard, path.Child("evictionHard"))...)
	errs = append(errs, validateThresholds(k.EvictionSoft, path.Child("evictionSoft"))...)
	errs = append(errs, validateGracePeriods(k.EvictionSoftGracePeriod, path.Child("evictionSoftGracePeriod"))...)
	errs = append(errs, validateSoftPairs(k, path)...)
	errs = append(errs, validateImageGC(k, path)...)
	errs = append(errs, validateOther(k.Other, path)...)
	return append(errs, validateFamilySupport(k, family, path)...)
}

func validateMaxPods(maxPods *intstr.IntOrString, features Features, path *field.Path) field.ErrorList {
	switch {
	case maxPods == nil:
		return nil
	case maxPods.Type == intstr.Int:
		return notNegative(&maxPods.IntVal, path)
	case !features.KubeletExpressions:
		return field.ErrorList{field.Invalid(path, maxPods.StrVal, "is an expression, which is not enabled: write a number without quotes")}
	case strings.TrimSpace(maxPods.StrVal) == "":
		return field.ErrorList{field.Invalid(path, maxPods.StrVal, "is an empty expression: write a number, or leave it out")}
	}
	return nil
}

func validateReserved(reserved map[string]string, features Features, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(reserved)) {
		at, value := path.Key(name), reserved[name]
		if !slices.Contains(ReservedResources(), name) {
			errs = append(errs, field.NotSupported(at, name, ReservedResources()))
			continue
		}
		if strings.HasPrefix(value, "-") {
			errs = append(errs, field.Invalid(at, value, "must not be negative"))
			continue
		}
		if _, err := quantities.Parse(value); err == nil {
			continue
		}
		switch {
		case strings.TrimSpace(value) == "":
			errs = append(errs, field.Invalid(at, value, "must not be empty: write a quantity such as 100m or 512Mi, or leave it out"))
		case !features.KubeletExpressions:
			errs = append(errs, field.Invalid(at, value, "not a quantity: write it like 100m or 512Mi (expressions are not enabled)"))
		}
	}
	return errs
}

func validateSignal(signal string, path *field.Path) field.ErrorList {
	if slices.Contains(EvictionSignals(), signal) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, signal, EvictionSignals())}
}

func validateThresholds(thresholds map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, signal := range slices.Sorted(maps.Keys(thresholds)) {
		at, value := path.Key(signal), thresholds[signal]
		errs = append(errs, validateSignal(signal, at)...)
		if number, ok := strings.CutSuffix(value, "%"); ok {
			percent, err := strconv.ParseFloat(number, 64)
			if err != nil || !percentageForm.MatchString(value) || percent > 100 {
				errs = append(errs, field.Invalid(at, value, "a percentage goes from 0% to 100%: write it like 5%"))
			}
			continue
		}
		quantity, err := quantities.Parse(value)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(at, value, "neither a quantity nor a percentage: write it like 200Mi or 5%"))
		case quantity.Sign() < 0:
			errs = append(errs, field.Invalid(at, value, "must not be negative"))
		}
	}
	return errs
}

func validateGracePeriods(periods map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, signal := range slices.Sorted(maps.Keys(periods)) {
		at, value := path.Key(signal), periods[signal]
		errs = append(errs, validateSignal(signal, at)...)
		period, err := time.ParseDuration(value)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(at, value, "not a duration: write it like 90s or 2m"))
		case period < 0:
			errs = append(errs, field.Invalid(at, value, "must not be negative"))
		}
	}
	return errs
}

// validateSoftPairs requires a grace period for each soft threshold, and a soft threshold for each grace period: otherwise the kubelet
// refuses to start.
func validateSoftPairs(k *KubeletConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoft)) {
		if _, ok := k.EvictionSoftGracePeriod[signal]; !ok {
			errs = append(errs, field.Required(path.Child("evictionSoftGracePeriod").Key(signal), "evictionSoft has a threshold for it: give its grace period, such as 2m"))
		}
	}
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		if _, ok := k.EvictionSoft[signal]; !ok {
			errs = append(errs, field.Required(path.Child("evictionSoft").Key(signal), "evictionSoftGracePeriod has a period for it: give its threshold, such as 5%"))
		}
	}
	return errs
}

func validateImageGC(k *KubeletConfiguration, path *field.Path) field.ErrorList {
	high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent
	errs := between(high, path.Child("imageGCHighThresholdPercent"), 0, 100)
	errs = append(errs, between(low, path.Child("imageGCLowThresholdPercent"), 0, 100)...)
	if high != nil && low != nil && *high <= *low {
		errs = append(errs, field.Invalid(path.Child("imageGCHighThresholdPercent"), *high, fmt.Sprintf("must be greater than imageGCLowThresholdPercent, which is %d", *low)))
	}
	return errs
}

func validateOther(other map[string]RawJSON, path *field.Path) field.ErrorList {
	if len(other) == 0 {
		return nil
	}
	var errs field.ErrorList
	shapes := otherKubeletShapes()
	for _, key := range slices.Sorted(maps.Keys(other)) {
		at := path.Child(key)
		want, known := shapes[key]
		switch {
		case key == "registerWithTaints":
			errs = append(errs, field.Forbidden(at, "the taints of a node come from its NodePool: use taints or startupTaints there"))
		case key == "evictionMinimumReclaim":
			var reclaim map[string]string
			if err := json.Unmarshal(other[key], &reclaim); err != nil {
				errs = append(errs, field.Invalid(at, string(other[key]), "must map signals to quantities or percentages, as in memory.available: 100Mi"))
				continue
			}
			errs = append(errs, validateThresholds(reclaim, at)...)
		case slices.Contains(ManagedKubeletKeys(), key):
			errs = append(errs, field.Forbidden(at, "has a field of its own: set that"))
		case !known:
			errs = append(errs, unknownKubeletKey(at, key))
		default:
			errs = append(errs, validateShape(other[key], want, at)...)
		}
	}
	return errs
}

// validateFamilySupport refuses settings that a family's start-up configuration can't express. AL2023 can express every key. Custom can
// express no settings, so the user's own user data must contain them.
func validateFamilySupport(k *KubeletConfiguration, family AMIFamily, path *field.Path) field.ErrorList {
	if family == AMIFamilyAL2023 || family == AMIFamilyCustom {
		return nil
	}
	var errs field.ErrorList
	var shapes map[string]shape
	if len(k.Other) > 0 {
		shapes = otherKubeletShapes()
	}
	for _, key := range slices.Sorted(maps.Keys(k.Other)) {
		if _, known := shapes[key]; known && key != "registerWithTaints" {
			errs = append(errs, field.Forbidden(path.Child(key), fmt.Sprintf("family %s can't set it: use %s, or set it in userData", family, AMIFamilyAL2023)))
		}
	}
	if k.PodsPerCore != nil && family == AMIFamilyBottlerocket {
		errs = append(errs, field.Forbidden(path.Child("podsPerCore"), fmt.Sprintf("family %s can't set it: use maxPods", family)))
	}
	if len(k.ClusterDNS) > 1 {
		errs = append(errs, field.Forbidden(path.Child("clusterDNS"), fmt.Sprintf("family %s takes one address: leave one, or use %s", family, AMIFamilyAL2023)))
	}
	return errs
}
