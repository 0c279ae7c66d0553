package settings

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/scheduling/fees"
)

// Validate reports all errors of the settings at once, as an *Error whose problems name fields. It returns nil if there are no errors.
// Combine and Load call Validate, and replace the fields by the names that users wrote.
func (s Settings) Validate() error {
	var problems []*Problem
	fields := make(map[string]string)
	for _, d := range definitions() {
		fields[d.name] = d.field
	}
	for _, f := range s.faults() {
		problems = append(problems, f.problem("", fields[f.setting], s.shown(f.setting)))
	}
	_, err := split(problems)
	return err
}

// fault is an invalid value of a setting.
type fault struct {
	setting string
	code    Code
	// about is the kind of value for CodeInvalid, and the key of the tag for CodeReservedTag.
	about string
	cure  string
}

func (f fault) problem(source Source, name, value string) *Problem {
	switch f.code {
	case CodeRequired:
		return &Problem{f.code, source, name, fmt.Sprintf("%s is required: %s", name, f.cure)}
	case CodeReservedTag:
		return &Problem{f.code, source, name, fmt.Sprintf("%s: reserved tag key %s in global tags: %s", name, f.about, f.cure)}
	}
	return invalid(source, name, value, f.about, f.cure)
}

// settle validates the combined settings and adjusts values that other settings limit. from contains the source of each setting; old
// contains the settings that come from a ConfigMap.
func (s *Settings) settle(all []*setting, from map[string]Value, old map[string]bool) []*Problem {
	var problems []*Problem
	written := func(name string) (Source, string) {
		if v, there := from[name]; there {
			return v.Source, v.WrittenAs
		}
		return SourceDefault, "--" + name
	}
	for _, f := range s.faults() {
		source, name := written(f.setting)
		problems = append(problems, f.problem(source, name, s.shown(f.setting)))
	}
	if p := &s.Planning; p.BatchIdleDuration > p.BatchMaxDuration && p.BatchMaxDuration > 0 {
		source, name := written("batch-idle-duration")
		problems = append(problems, &Problem{CodeLimited, source, name,
			fmt.Sprintf("BatchIdleDuration %s is longer than BatchMaxDuration %s and is limited to it", p.BatchIdleDuration, p.BatchMaxDuration)})
		p.BatchIdleDuration = p.BatchMaxDuration
	}
	if s.Process.LeaderElectionNamespace == "" {
		s.Process.LeaderElectionNamespace = s.Process.SystemNamespace
	}
	for _, d := range all {
		v, there := from[d.name]
		switch {
		case !there:
		case d.droppedSince != "":
			problems = append(problems, noEffect(v.Source, v.WrittenAs, d.droppedSince))
		case d.alphaUntil != "" && !s.Planning.ServeAlpha:
			problems = append(problems, noEffect(v.Source, v.WrittenAs, d.alphaUntil))
		case d.successor != "" && !old[d.name]:
			problems = append(problems, deprecated(v.Source, v.WrittenAs, d.successor))
		}
	}
	return problems
}

// shown returns the formatted value of the setting with this name.
func (s Settings) shown(name string) string {
	for _, d := range definitions() {
		if d.name == name {
			return s.text(d)
		}
	}
	return ""
}

// faults returns the invalid values, in the order of the fields.
func (s *Settings) faults() []fault {
	var out []fault
	refuse := func(ok bool, setting, kind, cure string) {
		if !ok {
			out = append(out, fault{setting, CodeInvalid, kind, cure})
		}
	}
	require := func(ok bool, setting, cure string) {
		if !ok {
			out = append(out, fault{setting: setting, code: CodeRequired, cure: cure})
		}
	}
	p, a, c := s.Planning, s.AWS, s.Process
	refuse(p.BatchMaxDuration > 0, "batch-max-duration", "duration", "it must be more than 0")
	refuse(p.BatchIdleDuration > 0, "batch-idle-duration", "duration", "it must be more than 0")
	refuse(p.ApprovalWait > 0, "disruption-approval-wait", "duration", "it must be more than 0")
	refuse(isKnown(choices("", "Respect", "Ignore"), string(p.PreferencePolicy)), "preference-policy", "preference policy", "write Respect or Ignore")
	refuse(isKnown(choices("", "Strict", "BestEffort"), string(p.MinValuesPolicy)), "min-values-policy", "minValues policy", "write Strict or BestEffort")

	if _, err := fees.Parse(p.Fees); err != nil {
		refuse(false, "fees", "choice of fees", err.Error())
	}

	out = append(out, p.Disruption.faults()...)

	require(a.ClusterName != "" || c.Provider != ProviderAWS, "cluster-name", "nodes are known by it; give the name the cluster has at EKS")
	refuse(a.ClusterEndpoint == "" || isEndpoint(a.ClusterEndpoint), "cluster-endpoint", "URL", "write an absolute one with a host, as in https://example.com")
	options := instancetype.Options{DeviceDrivers: a.DeviceDrivers, NVIDIAMIG: a.NVIDIAMIG, NVIDIAShares: a.NVIDIAShares, DeviceResources: a.DeviceResources, HugePages: a.HugePages}
	var invalid *instancetype.SettingError
	if err := options.Validate(); errors.As(err, &invalid) {
		name := "device-resources"
		switch {
		case strings.HasPrefix(invalid.Field, "hugePages"):
			name = "huge-pages"
		case strings.HasPrefix(invalid.Field, "deviceDrivers"):
			name = "device-drivers"
		case strings.HasPrefix(invalid.Field, "nvidiaShares"):
			name = "nvidia-shares"
		}
		refuse(false, name, "list of pairs", invalid.Field+" "+invalid.Problem)
	}
	refuse(a.VMMemoryOverheadPercent >= 0 && a.VMMemoryOverheadPercent < 1, "vm-memory-overhead-percent", "fraction", "it must be at least 0 and less than 1, as 0.075 for 7.5 %")
	refuse(a.ReservedENIs >= 0, "reserved-enis", "number", "it must be at least 0")
	refuse(a.BurstLaunches == 0 || a.BurstLaunches >= 2, "burst-launches", "number", "it must be at least 2, or 0 for a call for each launch")
	refuse(a.AMIRefreshInterval >= time.Minute, "ami-refresh-interval", "duration", "it must be at least 1m")
	refuse(a.SubnetRefreshInterval >= time.Minute, "subnet-refresh-interval", "duration", "it must be at least 1m")
	refuse(isKnown(choices("", partitions()...), a.Partition), "aws-partition", "partition", "write one of "+strings.Join(partitions(), ", "))
	if l := a.Legacy; l != nil {
		out = append(out, l.faults()...)
	}

	refuse(c.Provider == ProviderAWS || c.Provider == ProviderFake, "provider", "provider", "write aws or fake")
	refuse(c.Provider != ProviderFake || c.AllowSimulatedNodes, "provider", "provider on its own", "its nodes are simulated and pods on them never run; say --allow-simulated-nodes as well if that is what you want")
	require(c.SystemNamespace != "", "system-namespace", "leases and events of the controller are made in it")
	ports := map[int]string{}
	for _, port := range []struct {
		setting string
		number  int
	}{{"metrics-port", c.MetricsPort}, {"health-probe-port", c.HealthProbePort}, {"webhook-port", c.WebhookPort}} {
		refuse(port.number >= 1 && port.number <= 65535, port.setting, "port", "it must be from 1 to 65535")
		other, taken := ports[port.number]
		refuse(!taken, port.setting, "port", "--"+other+" is the same; each needs its own")
		ports[port.number] = port.setting
	}
	require(c.WebhookService != "" || c.DisableWebhook, "webhook-service", "the API server calls the conversion webhook by it; leave it out for the default")
	refuse(c.KubeClientQPS > 0, "kube-client-qps", "rate", "it must be more than 0")
	refuse(c.KubeClientBurst >= 1, "kube-client-burst", "number", "it must be at least 1")
	require(c.KarpenterLease != "", "karpenter-lease", "two controllers would act at a time; leave it out for the default")
	refuse(isKnown(choices("", AdoptNo, AdoptYes, AdoptDryRun), string(c.Adopt)), "adopt", "adoption", "write true, false or dry-run")
	require(c.LeaderElectionName != "" || !c.LeaderElection, "leader-election-name", "replicas agree on it; leave it out for the default")
	refuse(c.MemoryLimit > 0 || c.MemoryLimit == -1, "memory-limit", "number of bytes", "it must be more than 0, or -1 for none")
	refuse(isKnown(choices("", LogJSON, LogConsole), string(c.LogEncoding)), "log-encoding", "log encoding", "write json or console")
	require(len(c.LogOutputPaths) > 0, "log-output-paths", "without it nothing is logged; leave it out for stdout")
	require(len(c.LogErrorOutputPaths) > 0, "log-error-output-paths", "leave it out for stderr")
	return out
}

func (l *Legacy) faults() []fault {
	var out []fault
	if !isKnown(choices("", NodeNameIP, NodeNameResource), string(l.NodeNameConvention)) {
		out = append(out, fault{"aws-node-name-convention", CodeInvalid, "node name convention", "write ip-name or resource-name"})
	}
	for _, key := range slices.Sorted(maps.Keys(l.Tags)) {
		if reservedTag(key) {
			out = append(out, fault{"aws-tags", CodeReservedTag, key, "the provider sets it itself; leave it out"})
		}
	}
	if l.AssumeRoleDuration < 15*time.Minute {
		out = append(out, fault{"assume-role-duration", CodeInvalid, "duration", "it must be at least 15m"})
	}
	return out
}

func isKnown[T ~string](k kind[T], value string) bool {
	_, err := k.parse(value)
	return err == nil
}

func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.IsAbs() && u.Hostname() != ""
}

// reservedTag reports whether the provider itself sets the tag.
func reservedTag(key string) bool {
	return strings.HasPrefix(key, strings.TrimSuffix(awsv1.TagClusterPrefix, "/")) ||
		slices.Contains([]string{awsv1.TagClusterName, awsv1.TagNodePool, awsv1.TagNodeClaim, awsv1.TagNodeClass}, key)
}
