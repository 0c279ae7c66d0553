package userdata

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// bottlerocket returns the user's settings with the generated settings, which override them. The document is written again with sorted
// keys: comments and layout are lost.
func bottlerocket(c *Config, warn func(string, ...any)) (string, error) {
	warnOther(c, warn)
	if c.Kubelet.PodsPerCore != nil {
		warn("kubelet.podsPerCore is left out: family %s can't set it", c.Family)
	}
	settings, err := userSettings(c, warn)
	if err != nil {
		return "", err
	}
	kubernetes := table(settings, "kubernetes")
	for _, key := range slices.Sorted(maps.Keys(kubernetes)) {
		if !karpenterKeeps(key) {
			warn("userData: the setting %q of settings.kubernetes is passed on, although Karpenter left it out: Bottlerocket refuses user data with settings that it does not know", key)
		}
	}
	if err := overlayKubernetes(c, kubernetes); err != nil {
		return "", err
	}
	if c.InstanceStorePolicy == awsv1.InstanceStorePolicyRAID0 {
		table(settings, "bootstrap-commands")[storageCommandName] = storageCommand(c.OSVersion)
		if known, old := before(c.OSVersion, 22); known && old {
			warn("instanceStorePolicy needs Bottlerocket 1.22, and the image has %s", c.OSVersion)
		}
	}
	text, err := toml.Marshal(map[string]any{"settings": settings})
	if err != nil {
		return "", fmt.Errorf("writing the settings as TOML: %w", err)
	}
	return string(text), nil
}

// bottlerocketShape describes the settings into which generated values are merged: the user's settings must have these types, and the TOML
// reader reports the position of a wrong type.
type bottlerocketShape struct {
	Settings struct {
		Kubernetes struct {
			NodeLabels map[string]string   `toml:"node-labels"`
			NodeTaints map[string][]string `toml:"node-taints"`
		} `toml:"kubernetes"`
		BootstrapCommands map[string]struct {
			Commands  [][]string    `toml:"commands"`
			Mode      bootstrapMode `toml:"mode"`
			Essential bool          `toml:"essential"`
		} `toml:"bootstrap-commands"`
	} `toml:"settings"`
}

// bootstrapMode says when a bootstrap command runs. It is not a string, because then the TOML reader would not call UnmarshalText.
type bootstrapMode struct{}

// UnmarshalText accepts only Bottlerocket's words.
func (*bootstrapMode) UnmarshalText(text []byte) error {
	if !slices.Contains([]string{"always", "once", "off"}, string(text)) {
		return errors.New("the mode of a bootstrap command must be always, once or off")
	}
	return nil
}

// userSettings parses the user's settings. Bottlerocket uses nothing else in user data.
func userSettings(c *Config, warn func(string, ...any)) (map[string]any, error) {
	var document map[string]any
	if err := toml.Unmarshal([]byte(c.UserData), &document); err != nil {
		return nil, malformedTOML(c, err, "is not TOML: check the quotes, the brackets and that no key stands twice")
	}
	if deeper(document, maxDepth) {
		return nil, c.malformed(0, 0, "has tables or lists that are nested more than %d deep: no setting of Bottlerocket needs that", maxDepth)
	}
	if err := toml.Unmarshal([]byte(c.UserData), new(bottlerocketShape)); err != nil {
		return nil, malformedTOML(c, err, "is of the wrong type for settings.kubernetes or settings.bootstrap-commands: "+
			"labels are strings, taints lists of strings, commands lists of lists of strings, a mode is always, once or off")
	}
	for _, key := range slices.Sorted(maps.Keys(document)) {
		if key != "settings" {
			warn("userData: the top-level table %q is left out: Bottlerocket reads only settings", key)
		}
	}
	settings, ok := document["settings"].(map[string]any)
	if !ok {
		settings = make(map[string]any)
	}
	return settings, nil
}

// maxDepth is the maximum depth of nested tables or lists: far more than any setting needs. In TOML, the name of each table contains the
// names of all tables around it: a text of a few kilobytes with thousands of nested tables would become a gigabyte when written.
const maxDepth = 64

// deeper reports whether tables or lists in a value are nested more deeply than the number of levels in the parameter most.
func deeper(value any, most int) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if most == 0 || deeper(inner, most-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return most == 0 || deeper(inner, most-1) })
	}
	return false
}

// karpenterKeeps reports whether Karpenter knows the Kubernetes setting. Karpenter drops all other settings, so user data that worked with
// Karpenter may contain settings that Bottlerocket does not know.
func karpenterKeeps(key string) bool {
	switch key {
	case "allowed-unsafe-sysctls", "api-server", "cloud-provider", "cluster-certificate", "cluster-dns-ip", "cluster-domain", "cluster-name",
		"container-log-max-files", "container-log-max-size", "container-log-max-workers", "container-log-monitor-interval",
		"cpu-cfs-quota-enforced", "cpu-manager-policy", "cpu-manager-policy-options", "cpu-manager-reconcile-period",
		"credential-providers", "device-ownership-from-security-context", "event-burst", "event-qps",
		"eviction-hard", "eviction-max-pod-grace-period", "eviction-soft", "eviction-soft-grace-period", "hostname-override-source",
		"ids-per-pod", "image-gc-high-threshold-percent", "image-gc-low-threshold-percent", "kube-api-burst", "kube-api-qps", "kube-reserved",
		"log-level", "max-pods", "memory-manager-policy", "memory-manager-reserved-memory", "node-labels", "node-taints", "pod-pids-limit",
		"registry-burst", "registry-qps", "seccomp-default", "server-tls-bootstrap", "shutdown-grace-period",
		"shutdown-grace-period-for-critical-pods", "single-process-oom-kill", "static-pods", "system-reserved", "topology-manager-policy",
		"topology-manager-policy-options", "topology-manager-scope":
		return true
	}
	return false
}

// malformedTOML returns an error with the position of err. It drops the reader's message, which may quote the text.
func malformedTOML(c *Config, err error, problem string) error {
	var line, column int
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, column = decode.Position()
	}
	return c.malformed(line, column, "%s", problem)
}

// table returns the table called key in another table, and creates it if it is missing.
func table(of map[string]any, key string) map[string]any {
	if t, ok := of[key].(map[string]any); ok {
		return t
	}
	t := make(map[string]any)
	of[key] = t
	return t
}

// overlayKubernetes writes the generated values to settings.kubernetes.
func overlayKubernetes(c *Config, kubernetes map[string]any) error {
	k := &c.Kubelet
	kubernetes["cluster-name"] = c.ClusterName
	kubernetes["api-server"] = c.Endpoint
	delete(kubernetes, "cluster-certificate")
	if c.CABundle != "" {
		kubernetes["cluster-certificate"] = c.CABundle
	}
	_, userDNS := kubernetes["cluster-dns-ip"]
	if dns := c.dns(); dns != "" && (!userDNS || len(k.ClusterDNS) > 0) {
		kubernetes["cluster-dns-ip"] = dns
	}
	if k.MaxPods != nil {
		kubernetes["max-pods"] = k.MaxPods.IntVal
	}
	labels := table(kubernetes, "node-labels")
	for key, value := range nodeLabels(c.Labels) {
		labels[key] = value
	}
	kubernetes["node-taints"] = taintTable(c.Taints)

	periods, err := goDurations(k.EvictionSoftGracePeriod)
	if err != nil {
		return err
	}
	for key, block := range map[string]map[string]string{
		"system-reserved":            k.SystemReserved,
		"kube-reserved":              k.KubeReserved,
		"eviction-hard":              k.EvictionHard,
		"eviction-soft":              k.EvictionSoft,
		"eviction-soft-grace-period": periods,
	} {
		if len(block) > 0 {
			kubernetes[key] = block
		}
	}
	if v := k.EvictionMaxPodGracePeriod; v != nil {
		kubernetes["eviction-max-pod-grace-period"] = *v
	}
	// Both thresholds are strings in Bottlerocket's model.
	if v := k.ImageGCHighThresholdPercent; v != nil {
		kubernetes["image-gc-high-threshold-percent"] = fmt.Sprint(*v)
	}
	if v := k.ImageGCLowThresholdPercent; v != nil {
		kubernetes["image-gc-low-threshold-percent"] = fmt.Sprint(*v)
	}
	if v := k.CPUCFSQuota; v != nil {
		kubernetes["cpu-cfs-quota-enforced"] = *v
	}
	return nil
}

// taintTable converts taints to Bottlerocket's form: taints with the same key share a list.
func taintTable(taints []corev1.Taint) map[string][]string {
	byKey := make(map[string][]string)
	for _, taint := range taints {
		byKey[taint.Key] = append(byKey[taint.Key], taint.Value+":"+string(taint.Effect))
	}
	return byKey
}

// storageCommandName sorts before the user's commands, so that storage is ready when they run.
const storageCommandName = "000-mount-instance-storage"

// storageCommand returns the command that uses local disks as node storage. From version 1.46 on, Bottlerocket itself decides which
// directories to store on these disks.
func storageCommand(version string) map[string]any {
	bind := []string{"apiclient", "ephemeral-storage", "bind"}
	if known, old := before(version, 46); !known || old {
		bind = append(bind, "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")
	}
	return map[string]any{
		"commands":  [][]string{{"apiclient", "ephemeral-storage", "init"}, bind},
		"mode":      "always",
		"essential": true,
	}
}

// before returns whether a version of Bottlerocket is known, and whether it is older than 1.minor.
func before(version string, minor int) (known, older bool) {
	if version == awsv1.AliasVersionLatest {
		return true, false
	}
	numbers := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(numbers) != 3 {
		return false, false
	}
	have := [2]int{}
	for i := range have {
		n, ok := decimal(numbers[i])
		if !ok {
			return false, false
		}
		have[i] = n
	}
	return true, have[0] < 1 || have[0] == 1 && have[1] < minor
}

// decimal parses up to nine digits.
func decimal(text string) (n int, ok bool) {
	if text == "" || len(text) > 9 {
		return 0, false
	}
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = 10*n + int(r-'0')
	}
	return n, true
}
