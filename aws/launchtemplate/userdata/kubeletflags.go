package userdata

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kubeletFlags returns the kubelet's arguments for families that configure it on the command line. The arguments have the order of the
// documentation, the keys of maps are sorted, and maps and lists are in double quotes.
func kubeletFlags(c *Config) (string, error) {
	k := &c.Kubelet
	var flags []string
	quoted := func(name, value string) {
		if value != "" {
			flags = append(flags, fmt.Sprintf("--%s=%q", name, value))
		}
	}
	number := func(name string, value *int32) {
		if value != nil {
			flags = append(flags, "--"+name+"="+strconv.Itoa(int(*value)))
		}
	}

	quoted("node-labels", pairs(nodeLabels(c.Labels), "="))
	// Set the flag for taints even if there are no taints.
	flags = append(flags, `--register-with-taints="`+strings.Join(taintTexts(c.Taints), ",")+`"`)
	if k.MaxPods != nil {
		number("max-pods", &k.MaxPods.IntVal)
	}
	number("pods-per-core", k.PodsPerCore)
	quoted("system-reserved", pairs(k.SystemReserved, "="))
	quoted("kube-reserved", pairs(k.KubeReserved, "="))
	quoted("eviction-hard", pairs(k.EvictionHard, "<"))
	quoted("eviction-soft", pairs(k.EvictionSoft, "<"))
	periods, err := goDurations(k.EvictionSoftGracePeriod)
	if err != nil {
		return "", err
	}
	quoted("eviction-soft-grace-period", pairs(periods, "="))
	number("eviction-max-pod-grace-period", k.EvictionMaxPodGracePeriod)
	number("image-gc-high-threshold", k.ImageGCHighThresholdPercent)
	number("image-gc-low-threshold", k.ImageGCLowThresholdPercent)
	if k.CPUCFSQuota != nil {
		flags = append(flags, "--cpu-cfs-quota="+strconv.FormatBool(*k.CPUCFSQuota))
	}
	return strings.Join(flags, " "), nil
}

// goDurations formats durations like Go: 90s is 1m30s.
func goDurations(periods map[string]string) (map[string]string, error) {
	printed := make(map[string]string, len(periods))
	for signal, text := range periods {
		period, err := time.ParseDuration(text)
		if err != nil {
			return nil, badConfig("kubelet.evictionSoftGracePeriod["+signal+"]", "%q is not a duration: write it like 90s", text)
		}
		printed[signal] = period.String()
	}
	return printed, nil
}

// warnOther warns about kubelet keys that a family can't express; validation refuses them.
func warnOther(c *Config, warn func(string, ...any)) {
	for _, key := range sortedOther(c) {
		warn("kubelet.%s is left out: family %s can't set it", key, c.Family)
	}
	if len(c.Kubelet.ClusterDNS) > 1 {
		warn("kubelet.clusterDNS: family %s uses only the first address", c.Family)
	}
}

func sortedOther(c *Config) []string { return slices.Sorted(maps.Keys(c.Kubelet.Other)) }
