package v1beta1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/internal/quantities"
)

var percentageForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

// evictionSignals returns the signals for which thresholds may be set.
func evictionSignals() []string {
	return []string{
		"imagefs.available", "imagefs.inodesFree", "memory.available", "nodefs.available", "nodefs.inodesFree",
		"pid.available",
	}
}

// reservedResources returns the resources that can be reserved.
func reservedResources() []string { return []string{"cpu", "ephemeral-storage", "memory", "pid"} }

func validateKubelet(k *KubeletConfiguration, path *field.Path) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := notNegative(k.MaxPods, path.Child("maxPods"))
	errs = append(errs, notNegative(k.PodsPerCore, path.Child("podsPerCore"))...)
	errs = append(errs, notNegative(k.EvictionMaxPodGracePeriod, path.Child("evictionMaxPodGracePeriod"))...)
	errs = append(errs, validateReserved(k.SystemReserved, path.Child("systemReserved"))...)
	errs = append(errs, validateReserved(k.KubeReserved, path.Child("kubeReserved"))...)
	errs = append(errs, validateThresholds(k.EvictionHard, path.Child("evictionHard"))...)
	errs = append(errs, validateThresholds(k.EvictionSoft, path.Child("evictionSoft"))...)
	errs = append(errs, validateGracePeriods(k, path)...)
	return append(errs, validateImageGC(k, path)...)
}

func notNegative(n *int32, path *field.Path) field.ErrorList {
	if n == nil || *n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *n, "must not be negative")}
}

func validateReserved(reserved map[string]Amount, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(reserved)) {
		at, text := path.Key(name), string(reserved[name])
		if !slices.Contains(reservedResources(), name) {
			errs = append(errs, field.NotSupported(at, name, reservedResources()))
		}
		switch _, err := quantities.Parse(text); {
		case err != nil:
			errs = append(errs, field.Invalid(at, text, "not a quantity: write it like 100m or 512Mi"))
		case strings.HasPrefix(text, "-"):
			errs = append(errs, field.Invalid(at, text, "must not be negative"))
		}
	}
	return errs
}

func validateSignal(signal string, path *field.Path) field.ErrorList {
	if slices.Contains(evictionSignals(), signal) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, signal, evictionSignals())}
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
		switch _, err := quantities.Parse(value); {
		case err != nil:
			errs = append(errs, field.Invalid(at, value, "neither a quantity nor a percentage: write it like 200Mi or 5%"))
		case strings.HasPrefix(value, "-"):
			errs = append(errs, field.Invalid(at, value, "must not be negative"))
		}
	}
	return errs
}

// validateGracePeriods checks that each soft threshold has a grace period, and each grace period a threshold. If one of the two is missing,
// the kubelet refuses to start.
func validateGracePeriods(k *KubeletConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	periods := path.Child("evictionSoftGracePeriod")
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoft)) {
		if _, ok := k.EvictionSoftGracePeriod[signal]; !ok {
			errs = append(errs, field.Required(periods.Key(signal), "evictionSoft has a threshold for it: give its grace period, such as 2m"))
		}
	}
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		at, value := periods.Key(signal), k.EvictionSoftGracePeriod[signal]
		errs = append(errs, validateSignal(signal, at)...)
		if _, ok := k.EvictionSoft[signal]; !ok {
			errs = append(errs, field.Required(path.Child("evictionSoft").Key(signal), "evictionSoftGracePeriod has a period for it: give its threshold, such as 5%"))
		}
		switch period, err := time.ParseDuration(value); {
		case err != nil:
			errs = append(errs, field.Invalid(at, value, "not a duration: write it like 90s or 2m"))
		case period < 0:
			errs = append(errs, field.Invalid(at, value, "must not be negative"))
		}
	}
	return errs
}

func validateImageGC(k *KubeletConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent
	for name, percent := range map[string]*int32{"imageGCHighThresholdPercent": high, "imageGCLowThresholdPercent": low} {
		if percent != nil && (*percent < 0 || *percent > 100) {
			errs = append(errs, field.Invalid(path.Child(name), *percent, "must be between 0 and 100"))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	if high != nil && low != nil && *high <= *low {
		errs = append(errs, field.Invalid(path.Child("imageGCHighThresholdPercent"), *high, fmt.Sprintf("must be greater than imageGCLowThresholdPercent, which is %d", *low)))
	}
	return errs
}
