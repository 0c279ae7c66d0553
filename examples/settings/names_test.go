package settings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
)

// named is a setting with its names in every generation, and a value that is not the default.
type named struct {
	statement string
	// name of today's flag; empty for what has none.
	name string
	// old names in flags.
	old []string
	// configMap key up to 0.32, and chart paths of all layouts.
	configMap string
	chart     []string
	// value as it is written, and as Effective shows it if that differs.
	value, shown string
	// inverse names say the opposite.
	inverse string
}

// everyName is section 2 of the specification: SET-008, SET-009, SET-012 to SET-024, SET-026 to SET-035, and sections 3, 4, 6 and
// 7: SET-045 to SET-049, SET-051 to SET-056, SET-060 to SET-064, SET-096 to SET-103.
func everyName() []named {
	return []named{
		{statement: "SET-008 SET-105", name: "batch-max-duration", configMap: "batchMaxDuration", chart: []string{"settings.batchMaxDuration", "controller.batchMaxDuration"}, value: "15s"},
		{statement: "SET-009 SET-106", name: "batch-idle-duration", configMap: "batchIdleDuration", chart: []string{"settings.batchIdleDuration", "controller.batchIdleDuration"}, value: "500ms"},
		{statement: "SET-012 SET-116 SET-097 SET-098", name: "cluster-name", configMap: "aws.clusterName", chart: []string{"settings.clusterName", "settings.aws.clusterName", "clusterName"}, value: "green"},
		{statement: "SET-013 SET-117 SET-097 SET-098", name: "cluster-endpoint", configMap: "aws.clusterEndpoint", chart: []string{"settings.clusterEndpoint", "settings.aws.clusterEndpoint", "clusterEndpoint"}, value: "https://example.com"},
		{statement: "SET-015 SET-118 SET-098", name: "cluster-ca-bundle", configMap: "aws.clusterCABundle", chart: []string{"settings.clusterCABundle", "settings.aws.clusterCABundle"}, value: "Y2VydA=="},
		{statement: "SET-016 SET-119", name: "eks-control-plane", chart: []string{"settings.eksControlPlane"}, value: "true"},
		{statement: "SET-017 SET-120 SET-098", name: "isolated-vpc", old: []string{"aws-isolated-vpc"}, configMap: "aws.isolatedVPC", chart: []string{"settings.isolatedVPC", "settings.aws.isolatedVPC"}, value: "true"},
		{statement: "SET-018 SET-132", name: "aws-enable-pod-eni", configMap: "aws.enablePodENI", chart: []string{"settings.aws.enablePodENI"}, value: "true"},
		{statement: "SET-019 SET-133", name: "aws-eni-limited-pod-density", configMap: "aws.enableENILimitedPodDensity", chart: []string{"settings.aws.enableENILimitedPodDensity"}, value: "false"},
		{statement: "SET-020 SET-123 SET-098", name: "reserved-enis", configMap: "aws.reservedENIs", chart: []string{"settings.reservedENIs", "settings.aws.reservedENIs"}, value: "1"},
		{statement: "SET-021 SET-134", name: "aws-node-name-convention", configMap: "aws.nodeNameConvention", chart: []string{"settings.aws.nodeNameConvention"}, value: "resource-name"},
		{statement: "SET-022 SET-121 SET-098", name: "vm-memory-overhead-percent", old: []string{"vm-memory-overhead"}, configMap: "aws.vmMemoryOverheadPercent", chart: []string{"settings.vmMemoryOverheadPercent", "settings.aws.vmMemoryOverheadPercent"}, value: "0.1"},
		{statement: "SET-023 SET-131 SET-097", name: "aws-default-instance-profile", configMap: "aws.defaultInstanceProfile", chart: []string{"settings.aws.defaultInstanceProfile", "aws.defaultInstanceProfile"}, value: "profile"},
		{statement: "SET-026 SET-136 SET-098", name: "assume-role-arn", configMap: "aws.assumeRoleARN", chart: []string{"settings.assumeRoleARN", "settings.aws.assumeRoleARN"}, value: "arn:aws:iam::123456789012:role/r"},
		{statement: "SET-027 SET-136 SET-098", name: "assume-role-duration", configMap: "aws.assumeRoleDuration", chart: []string{"settings.assumeRoleDuration", "settings.aws.assumeRoleDuration"}, value: "20m", shown: "20m0s"},
		{statement: "SET-028 SET-122 SET-099", name: "interruption-queue", configMap: "aws.interruptionQueueName", chart: []string{"settings.interruptionQueue", "settings.aws.interruptionQueueName"}, value: "queue"},
		{statement: "SET-029 SET-107", name: "preference-policy", chart: []string{"settings.preferencePolicy"}, value: "Ignore"},
		{statement: "SET-030 SET-108", name: "min-values-policy", chart: []string{"settings.minValuesPolicy"}, value: "BestEffort"},
		{statement: "(not of Karpenter)", name: "commitments", chart: []string{"settings.commitments"}, value: "true"},
		{statement: "(not of Karpenter)", name: "commitments-file", chart: []string{"settings.commitmentsFile"}, value: "/commitments.yaml"},
		{statement: "(not of Karpenter)", name: "cost-explorer", chart: []string{"settings.costExplorer"}, value: "true"},
		{statement: "(not of Karpenter)", name: "commitment-reports", chart: []string{"settings.commitmentReports"}, value: "/reports"},
		{statement: "(not of Karpenter)", name: "spot-score-configurations", chart: []string{"settings.spotScoreConfigurations"}, value: "10"},
		{statement: "(not of Karpenter)", name: "spot-risk", chart: []string{"settings.spotRisk"}, value: "true"},
		{statement: "(not of Karpenter)", name: "learn-from-nodes", chart: []string{"settings.learnFromNodes"}, value: "true"},
		{statement: "(not of Karpenter)", name: "history-config-map", chart: []string{"settings.historyConfigMap"}, value: "drawknife-history"},
		{statement: "(not of Karpenter)", name: "disruption-planner", chart: []string{"settings.disruptionPlanner"}, value: "reference"},
		{statement: "(not of Karpenter)", name: "disruption-pay-back", chart: []string{"settings.disruptionPayBack"}, value: "3h", shown: "3h0m0s"},
		{statement: "(not of Karpenter)", name: "disruption-min-saving", chart: []string{"settings.disruptionMinSaving"}, value: "0.5"},
		{statement: "(not of Karpenter)", name: "disruption-min-saving-share", chart: []string{"settings.disruptionMinSavingShare"}, value: "0.3"},
		{statement: "(not of Karpenter)", name: "disruption-price", chart: []string{"settings.disruptionPrice"}, value: "0.01"},
		{statement: "(not of Karpenter)", name: "disruption-cool-down", chart: []string{"settings.disruptionCoolDown"}, value: "20m", shown: "20m0s"},
		{statement: "(not of Karpenter)", name: "disruption-spot-to-spot-types", chart: []string{"settings.disruptionSpotToSpotTypes"}, value: "5"},
		{statement: "(not of Karpenter)", name: "disruption-max-members", chart: []string{"settings.disruptionMaxMembers"}, value: "4"},
		{statement: "(not of Karpenter)", name: "disruption-max-bins", chart: []string{"settings.disruptionMaxBins"}, value: "4"},
		{statement: "(not of Karpenter)", name: "disruption-work", chart: []string{"settings.disruptionWork"}, value: "1000"},
		{statement: "(not of Karpenter)", name: "burst-launches", chart: []string{"settings.burstLaunches"}, value: "20"},
		{statement: "(not of Karpenter)", name: "vpc-cni-prefix-delegation", chart: []string{"settings.vpcCNIPrefixDelegation"}, value: "true"},
		{statement: "(not of Karpenter)", name: "vpc-cni-custom-networking", chart: []string{"settings.vpcCNICustomNetworking"}, value: "true"},
		{statement: "(not of Karpenter)", name: "without-pod-eni", chart: []string{"settings.withoutPodENI"}, value: "true"},
		{statement: "(not of Karpenter)", name: "measured-memory-overhead", chart: []string{"settings.measuredMemoryOverhead"}, value: "true"},
		{statement: "(not of Karpenter)", name: "fractional-gpus", chart: []string{"settings.fractionalGPUs"}, value: "true"},
		{statement: "(not of Karpenter)", name: "device-drivers", chart: []string{"settings.deviceDrivers"}, value: "nvidia=gpu.nvidia.com"},
		{statement: "(not of Karpenter)", name: "nvidia-mig", chart: []string{"settings.nvidiaMIG"}, value: "true"},
		{statement: "(not of Karpenter)", name: "nvidia-shares", chart: []string{"settings.nvidiaShares"}, value: "4"},
		{statement: "(not of Karpenter)", name: "device-resources", chart: []string{"settings.deviceResources"}, value: "U30=xilinx.com/u30"},
		{statement: "(not of Karpenter)", name: "huge-pages", chart: []string{"settings.hugePages"}, value: "hugepages-2Mi=1Gi"},
		{statement: "(not of Karpenter)", name: "disruption-robustness", chart: []string{"settings.disruptionRobustness"}, value: "8"},
		{statement: "(not of Karpenter)", name: "disruption-checks", chart: []string{"settings.disruptionChecks"}, value: "64"},
		{statement: "(not of Karpenter)", name: "disruption-approval", chart: []string{"settings.disruptionApproval"}, value: "configmap"},
		{statement: "(not of Karpenter)", name: "disruption-approval-wait", chart: []string{"settings.disruptionApprovalWait"}, value: "24h", shown: "24h0m0s"},
		{statement: "(not of Karpenter)", name: "disruption-launch-time", chart: []string{"settings.disruptionLaunchTime"}, value: "5m", shown: "5m0s"},
		{statement: "(not of Karpenter)", name: "disruption-ready-time", chart: []string{"settings.disruptionReadyTime"}, value: "2m", shown: "2m0s"},
		{statement: "(not of Karpenter)", name: "disruption-drain-limit", chart: []string{"settings.disruptionDrainLimit"}, value: "2h", shown: "2h0m0s"},
		{statement: "(not of Karpenter)", name: "disruption-expire-ahead", chart: []string{"settings.disruptionExpireAhead"}, value: "30m", shown: "30m0s"},
		{statement: "(not of Karpenter)", name: "disruption-validation-delay", chart: []string{"settings.disruptionValidationDelay"}, value: "1m", shown: "1m0s"},
		{statement: "(not of Karpenter)", name: "fees", chart: []string{"settings.fees"}, value: "public-ipv4,root-volume=100"},
		{statement: "(not of Karpenter)", name: "eviction", chart: []string{"settings.eviction"}, value: "surge-first"},
		{statement: "SET-031 SET-109", name: "ignore-dra-requests", chart: []string{"settings.ignoreDRARequests"}, value: "false"},
		{statement: "SET-032 SET-124", name: "disable-dry-run", chart: []string{"settings.disableDryRun"}, value: "true"},
		{statement: "SET-033 SET-125", name: "enable-zonal-shift", chart: []string{"settings.enableZonalShift"}, value: "true"},
		{statement: "SET-034 SET-126", name: "ami-refresh-interval", chart: []string{"settings.amiRefreshInterval"}, value: "2m", shown: "2m0s"},
		{statement: "SET-035 SET-127", name: "subnet-refresh-interval", chart: []string{"settings.subnetRefreshInterval"}, value: "2m", shown: "2m0s"},
		{statement: "SET-111", name: "serve-alpha", chart: []string{"settings.serveAlpha"}, value: "false"},
		{statement: "SET-111", name: "serve-beta", chart: []string{"settings.serveBeta"}, value: "false"},
		{statement: "SET-128", name: "aws-partition", chart: []string{"settings.awsPartition"}, value: "aws-cn"},
		{statement: "SET-129", name: "aws-region", chart: []string{"settings.awsRegion"}, value: "eu-west-1"},
		{statement: "SET-045 SET-144", name: "metrics-port", chart: []string{"controller.metrics.port"}, value: "8000"},
		{statement: "SET-046 SET-145", name: "health-probe-port", chart: []string{"controller.healthProbe.port"}, value: "9081"},
		{statement: "SET-047 SET-146", name: "webhook-port", chart: []string{"webhook.port"}, value: "443"},
		{statement: "SET-049 SET-147", name: "disable-webhook", value: "false"},
		{statement: "(not of Karpenter)", name: "karpenter-lease", chart: []string{"settings.karpenterLease"}, value: "other"},
		{statement: "(not of Karpenter)", name: "adopt", chart: []string{"settings.adopt"}, value: "true"},
		{statement: "(not of Karpenter)", name: "webhook-service", value: "other"},
		{statement: "(not of Karpenter)", name: "webhook-cert-dir", value: "/etc/certificate"},
		{statement: "SET-051 SET-148", name: "kube-client-qps", chart: []string{"settings.kubeClientQPS"}, value: "50.5"},
		{statement: "SET-052 SET-149", name: "kube-client-burst", chart: []string{"settings.kubeClientBurst"}, value: "100"},
		{statement: "SET-054 SET-150", name: "disable-leader-election", chart: []string{"settings.disableLeaderElection"}, value: "true"},
		{statement: "SET-054 SET-103 SET-150", inverse: "leader-elect", name: "disable-leader-election", value: "true"},
		{statement: "SET-055 SET-151", name: "leader-election-name", chart: []string{"settings.leaderElectionName"}, value: "lease"},
		{statement: "SET-055 SET-151", name: "leader-election-namespace", chart: []string{"settings.leaderElectionNamespace"}, value: "ns"},
		{statement: "PRV-010", name: "disable-cluster-state-observability", chart: []string{"settings.disableClusterStateObservability"}, value: "true"},
		{statement: "SET-053 SET-152", name: "enable-profiling", chart: []string{"settings.enableProfiling"}, value: "true"},
		{statement: "(not of Karpenter)", name: "debug-page", chart: []string{"settings.debugPage"}, value: "true"},
		{statement: "SET-056 SET-153", name: "memory-limit", chart: []string{"settings.memoryLimit"}, value: "1073741824"},
		{statement: "SET-060 SET-061 SET-154", name: "log-level", chart: []string{"logLevel", "logConfig.logLevel.global", "controller.logLevel", "logConfig.logLevel.controller"}, value: "debug"},
		{statement: "SET-062 SET-155 SET-101", name: "log-encoding", chart: []string{"logEncoding", "logConfig.logEncoding", "controller.logEncoding"}, value: "console"},
		{statement: "SET-063 SET-156 SET-101", name: "log-output-paths", chart: []string{"logOutputPaths", "logConfig.outputPaths", "controller.outputPaths"}, value: "stdout,/tmp/log"},
		{statement: "SET-064 SET-156 SET-101", name: "log-error-output-paths", chart: []string{"logErrorOutputPaths", "logConfig.errorOutputPaths", "controller.errorOutputPaths"}, value: "stdout,/tmp/log"},
		{statement: "the controller's own", name: "install-crds", chart: []string{"settings.installCRDs"}, value: "true"},
		{statement: "the controller's own", name: "allow-simulated-nodes", chart: []string{"settings.allowSimulatedNodes"}, value: "true"},
		{statement: "the controller's own", name: "legacy-config-map", chart: []string{"settings.legacyConfigMap"}, value: "karpenter-global-settings"},
		{statement: "the controller's own", name: "kubeconfig", value: "/root/.kube/config"},
		{statement: "SET-007", name: "system-namespace", value: "karpenter"},
	}
}

// at is the value of a setting as Effective shows it.
func at(t *testing.T, loaded *settings.Loaded, name string) settings.Value {
	t.Helper()
	all := loaded.Effective()
	i := slices.IndexFunc(all, func(v settings.Value) bool { return v.Name == name })
	if i < 0 {
		t.Fatalf("there is no setting %q", name)
	}
	return all[i]
}

// nested is chart values with one value at a path.
func nested(path, value string) string {
	var out strings.Builder
	parts := strings.Split(path, ".")
	for i, part := range parts {
		out.WriteString(strings.Repeat("  ", i) + part + ":")
		if i < len(parts)-1 {
			out.WriteByte('\n')
		}
	}
	return out.String() + " " + value + "\n"
}

// Each name of each generation sets the setting, as a flag, in the environment by the same name in capitals (SET-005), in the
// ConfigMap and in chart values.
func TestEveryNameOfEveryGeneration(t *testing.T) {
	const clusterName = "cluster-name"
	for _, c := range everyName() {
		t.Run(c.statement+" "+c.name, func(t *testing.T) {
			want := c.value
			if c.shown != "" {
				want = c.shown
			}
			check := func(how, written string, from settings.Sources) {
				t.Helper()
				if c.name != clusterName {
					from.MoreFlags = nil
					if from.ConfigMap == nil {
						from.ConfigMap = map[string]string{}
					}
					from.ConfigMap["aws.clusterName"] = "blue"
				}
				loaded := load(t, from)
				got := at(t, loaded, c.name)
				if got.Text != want || got.WrittenAs != written {
					t.Errorf("%s: got %q from %q, want %q from %q", how, got.Text, got.WrittenAs, want, written)
				}
			}
			env := func(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }
			if c.inverse != "" {
				opposite := map[string]string{"true": "false", "false": "true"}[c.value]
				check("old flag", "--"+c.inverse, settings.Sources{Args: []string{"--" + c.inverse, opposite}})
				check("old variable", env(c.inverse), settings.Sources{LookupEnv: environment(map[string]string{env(c.inverse): opposite})})
				return
			}
			for _, name := range append([]string{c.name}, c.old...) {
				check("flag", "--"+name, settings.Sources{Args: []string{"--" + name, c.value}})
				check("variable", env(name), settings.Sources{LookupEnv: environment(map[string]string{env(name): c.value})})
			}
			if c.configMap != "" {
				check("ConfigMap", c.configMap, settings.Sources{ConfigMap: map[string]string{c.configMap: c.value}})
			}
			for _, path := range c.chart {
				value := c.value
				if strings.HasSuffix(strings.ToLower(path), "paths") {
					value = "[" + value + "]"
				}
				file := func(string) ([]byte, error) { return []byte(nested(path, value)), nil }
				check("chart", path, settings.Sources{Args: []string{"--settings-file=values.yaml"}, ReadFile: file})
			}
		})
	}
}

// No setting is without a row above, but for those that other tests are about.
func TestNoSettingIsForgotten(t *testing.T) {
	elsewhere := []string{"feature-gates", "aws-tags", "provider"}
	loaded := load(t, settings.Sources{Args: []string{"--cluster-name=blue"}})
	for _, v := range loaded.Effective() {
		if !slices.Contains(elsewhere, v.Name) && !slices.ContainsFunc(everyName(), func(c named) bool { return c.name == v.Name }) {
			t.Errorf("setting %s is in no table", v.Name)
		}
	}
}

// What Karpenter reads and this controller does not: SET-048, SET-050, SET-057 to SET-059, SET-065, SET-104.
func TestUnusedSettings(t *testing.T) {
	for _, name := range []string{"WEBHOOK_METRICS_PORT", "KARPENTER_SERVICE", "LOGGING_CONFIG"} {
		l := settings.ParseEnv(environment(map[string]string{name: "x"}))
		if diff := cmp.Diff([]string{"W704 env " + name}, problems(l.Problems)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	}
	for _, name := range []string{"cpu-requests", "disable-controller-warmup", "aws-feature-gates"} {
		loaded := load(t, settings.Sources{Args: []string{"--cluster-name=blue", "--" + name, "1"}})
		if diff := cmp.Diff([]string{"W701 flag --" + name}, problems(loaded.Warnings)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	}
	for _, name := range []string{"ASSUME_ROLE_ARN", "ASSUME_ROLE_DURATION"} {
		loaded := load(t, settings.Sources{Args: []string{"--cluster-name=blue"}, LookupEnv: environment(map[string]string{name: "15m"})})
		if diff := cmp.Diff([]string{"W704 env " + name}, problems(loaded.Warnings)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	}
}
