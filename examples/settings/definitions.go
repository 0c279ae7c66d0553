package settings

import (
	"log/slog"
	"strings"
	"time"

	"github.com/drawknife/drawknife/scheduling"
)

// setting is one that can be set: its names in every source and where its value goes.
type setting struct {
	// name of the flag without its dashes; the environment's is the same in upper case with underscores.
	name string
	// field is the path in Settings.
	field string
	usage string
	// fileOnly settings have neither flag nor variable.
	fileOnly bool
	// keepsEmpty settings mean something by an empty value in the environment.
	keepsEmpty bool
	boolean    bool
	// shortened values are not shown in full.
	shortened bool
	// successor, when there is one, is what users should set instead (W703).
	successor string
	// droppedSince is the release of Karpenter from which nothing heeds it (W704).
	droppedSince string
	// alphaUntil is the release since which only objects of v1alpha5 heed it (W704 without such).
	alphaUntil string
	// ofGlobal settings mean nothing to the planner reference.
	ofGlobal bool
	// old names in flags and environment.
	old []oldName
	// configMap are the keys in karpenter-global-settings.
	configMap []string
	// chart are the paths in chart values, today's first.
	chart []chartPath

	kind  string
	parse func(*Settings, string) error
	show  func(*Settings) string
}

// oldName is a name of a flag; the variable's is made of it.
type oldName struct {
	name string
	// opposite of what the setting says.
	opposite bool
	boolean  bool
}

// chartPath is where chart values have a setting.
type chartPath struct {
	path string
	// opposite of what the setting says.
	opposite bool
	// over wins over paths without it: a component's own value over the one for all.
	over bool
	// gate is the feature gate that the path is about, for the setting of all gates.
	gate string
}

func environmentName(flag string) string {
	return strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// option completes a setting.
type option func(*setting)

func define[T any](name, field string, k kind[T], at func(*Settings) *T, usage string, options ...option) *setting {
	s := &setting{name: name, field: field, usage: usage, kind: k.name}
	_, s.boolean = any(*new(T)).(bool)
	s.parse = func(into *Settings, text string) error {
		value, err := k.parse(text)
		if err == nil {
			*at(into) = value
		}
		return err
	}
	s.show = func(of *Settings) string { return k.format(*at(of)) }
	for _, o := range options {
		o(s)
	}
	return s
}

func inChart(paths ...string) option {
	return func(s *setting) {
		for _, p := range paths {
			s.chart = append(s.chart, chartPath{path: p})
		}
	}
}

func inChartAs(path chartPath) option { return func(s *setting) { s.chart = append(s.chart, path) } }

func inConfigMap(keys ...string) option { return func(s *setting) { s.configMap = keys } }

func formerly(name string) option {
	return func(s *setting) { s.old = append(s.old, oldName{name: name, boolean: s.boolean}) }
}

func formerlyOpposite(name string) option {
	return func(s *setting) { s.old = append(s.old, oldName{name: name, opposite: true, boolean: true}) }
}

func alphaOnly(until, successor string) option {
	return func(s *setting) { s.alphaUntil, s.successor = until, successor }
}

func (s *Settings) legacy() *Legacy {
	if s.AWS.Legacy == nil {
		l := DefaultLegacy()
		s.AWS.Legacy = &l
	}
	return s.AWS.Legacy
}

// definitions are all settings, in the order in which they are listed. What is new is one more entry; the chart of the
// controller is held to this list by a test.
func definitions() []*setting {
	keepEmpty := func(s *setting) { s.keepsEmpty = true }
	shortened := func(s *setting) { s.shortened = true }
	return append(append(planningDefinitions(), disruptionDefinitions()...), append(awsDefinitions(keepEmpty, shortened), processDefinitions()...)...)
}

func planningDefinitions() []*setting {
	gates := func(s *setting) {
		s.configMap = []string{"featureGates.driftEnabled"}
		for _, g := range []struct{ path, gate string }{
			{"drift", "Drift"}, {"driftEnabled", "Drift"}, {"spotToSpotConsolidation", "SpotToSpotConsolidation"},
			{"nodeRepair", "NodeRepair"}, {"reservedCapacity", "ReservedCapacity"}, {"nodeOverlay", "NodeOverlay"},
			{"staticCapacity", "StaticCapacity"}, {"capacityBuffer", "CapacityBuffer"},
		} {
			s.chart = append(s.chart, chartPath{path: "settings.featureGates." + g.path, gate: g.gate})
		}
	}
	return []*setting{
		define("batch-max-duration", "Planning.BatchMaxDuration", durations(), func(s *Settings) *time.Duration { return &s.Planning.BatchMaxDuration },
			"longest time for which pending pods are collected before they are planned together",
			inConfigMap("batchMaxDuration"), inChart("settings.batchMaxDuration", "controller.batchMaxDuration")),
		define("batch-idle-duration", "Planning.BatchIdleDuration", durations(), func(s *Settings) *time.Duration { return &s.Planning.BatchIdleDuration },
			"time without a new pending pod after which they are planned early",
			inConfigMap("batchIdleDuration"), inChart("settings.batchIdleDuration", "controller.batchIdleDuration")),
		define("preference-policy", "Planning.PreferencePolicy", choices("preference policy", scheduling.PreferencesRespect, scheduling.PreferencesIgnore),
			func(s *Settings) *scheduling.PreferencePolicy { return &s.Planning.PreferencePolicy },
			"what to do with wishes of pods: Respect or Ignore", inChart("settings.preferencePolicy")),
		define("min-values-policy", "Planning.MinValuesPolicy", choices("minValues policy", scheduling.MinValuesStrict, scheduling.MinValuesBestEffort),
			func(s *Settings) *scheduling.MinValuesPolicy { return &s.Planning.MinValuesPolicy },
			"what to do with minValues that can't be met: Strict or BestEffort", inChart("settings.minValuesPolicy")),
		define("disruption-planner", "Planning.DisruptionPlanner", choices("disruption planner", PlannerGlobal, PlannerReference),
			func(s *Settings) *DisruptionPlanner { return &s.Planning.DisruptionPlanner },
			"how to decide which nodes are removed and replaced: global, or reference for Karpenter's way", inChart("settings.disruptionPlanner")),
		define("disruption-approval", "Planning.Approval", choices("way of approving", ApprovalNone, ApprovalConfigMap), func(s *Settings) *Approval { return &s.Planning.Approval },
			"whether removing and replacing nodes waits for approval: none, or configmap to have each command wait as a ConfigMap until it is annotated", inChart("settings.disruptionApproval")),
		define("disruption-approval-wait", "Planning.ApprovalWait", durations(), func(s *Settings) *time.Duration { return &s.Planning.ApprovalWait },
			"how long a command waits for approval before it is dropped", inChart("settings.disruptionApprovalWait")),
		define("eviction", "Planning.Eviction", choices("way of evicting", EvictAtOnce, EvictSurgeFirst), func(s *Settings) *Eviction { return &s.Planning.Eviction },
			"how pods leave nodes that are drained: at-once, or surge-first to have others ready before", inChart("settings.eviction")),
		define("ignore-dra-requests", "Planning.IgnoreResourceClaims", bools(), func(s *Settings) *bool { return &s.Planning.IgnoreResourceClaims },
			"plan as if pods had no dynamic resource claims", inChart("settings.ignoreDRARequests")),
		define("feature-gates", "Planning.FeatureGates", gatesKind(), func(s *Settings) *FeatureGates { return &s.Planning.FeatureGates },
			"comma list of Name=true or Name=false; gates that are not named keep their defaults", gates),
		define("serve-alpha", "Planning.ServeAlpha", bools(), func(s *Settings) *bool { return &s.Planning.ServeAlpha },
			"act on objects of the generation v1alpha5 where there are any", inChart("settings.serveAlpha")),
		define("serve-beta", "Planning.ServeBeta", bools(), func(s *Settings) *bool { return &s.Planning.ServeBeta },
			"serve v1beta1 next to v1, with the conversion webhook on", inChart("settings.serveBeta")),
	}
}

func awsDefinitions(keepEmpty, shortened option) []*setting {
	dropped := func(s *setting) { s.droppedSince = "1.0" }
	fileOnly := func(s *setting) { s.fileOnly = true }
	return []*setting{
		define("cluster-name", "AWS.ClusterName", texts(), func(s *Settings) *string { return &s.AWS.ClusterName },
			"name of the cluster, by which its machines are known; required with --provider aws",
			inConfigMap("aws.clusterName"), inChart("settings.clusterName", "settings.aws.clusterName", "clusterName")),
		define("cluster-endpoint", "AWS.ClusterEndpoint", texts(), func(s *Settings) *string { return &s.AWS.ClusterEndpoint },
			"URL that new nodes reach the API server at; empty: EKS is asked",
			inConfigMap("aws.clusterEndpoint"), inChart("settings.clusterEndpoint", "settings.aws.clusterEndpoint", "clusterEndpoint")),
		define("cluster-ca-bundle", "AWS.ClusterCABundle", texts(), func(s *Settings) *string { return &s.AWS.ClusterCABundle },
			"certificate authority of the API server in base64; empty: the controller's own", shortened,
			inConfigMap("aws.clusterCABundle"), inChart("settings.clusterCABundle", "settings.aws.clusterCABundle")),
		define("eks-control-plane", "AWS.DiscoverCluster", bools(), func(s *Settings) *bool { return &s.AWS.DiscoverCluster },
			"ask EKS for the version and the details of the cluster", inChart("settings.eksControlPlane")),
		define("isolated-vpc", "AWS.IsolatedVPC", bools(), func(s *Settings) *bool { return &s.AWS.IsolatedVPC },
			"reach no service without an endpoint in the network: no price list", formerly("aws-isolated-vpc"),
			inConfigMap("aws.isolatedVPC"), inChart("settings.isolatedVPC", "settings.aws.isolatedVPC")),
		define("vm-memory-overhead-percent", "AWS.VMMemoryOverheadPercent", floats[float64]("fraction"), func(s *Settings) *float64 { return &s.AWS.VMMemoryOverheadPercent },
			"fraction of a machine's memory that is lost to the hypervisor, from 0 to below 1", formerly("vm-memory-overhead"),
			inConfigMap("aws.vmMemoryOverheadPercent"), inChart("settings.vmMemoryOverheadPercent", "settings.aws.vmMemoryOverheadPercent")),
		define("interruption-queue", "AWS.InterruptionQueue", texts(), func(s *Settings) *string { return &s.AWS.InterruptionQueue },
			"name of the SQS queue with notices of interruptions; empty: none", keepEmpty,
			inConfigMap("aws.interruptionQueueName"), inChart("settings.interruptionQueue", "settings.interruptionQueueName", "settings.aws.interruptionQueueName")),
		define("reserved-enis", "AWS.ReservedENIs", integers[int64]("number"), func(s *Settings) *int64 { return &s.AWS.ReservedENIs },
			"network interfaces of a machine that pods get no addresses from",
			inConfigMap("aws.reservedENIs"), inChart("settings.reservedENIs", "settings.aws.reservedENIs")),
		define("vpc-cni-prefix-delegation", "AWS.PrefixDelegation", bools(), func(s *Settings) *bool { return &s.AWS.PrefixDelegation },
			"the VPC CNI gives pods addresses out of prefixes (ENABLE_PREFIX_DELEGATION)", inChart("settings.vpcCNIPrefixDelegation")),
		define("vpc-cni-custom-networking", "AWS.CustomNetworking", bools(), func(s *Settings) *bool { return &s.AWS.CustomNetworking },
			"the VPC CNI gives pods addresses of other subnets than the node's (AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG)", inChart("settings.vpcCNICustomNetworking")),
		define("without-pod-eni", "AWS.WithoutPodENI", bools(), func(s *Settings) *bool { return &s.AWS.WithoutPodENI },
			"the VPC CNI serves no branch interfaces for pods", inChart("settings.withoutPodENI")),
		define("measured-memory-overhead", "AWS.MeasuredMemory", bools(), func(s *Settings) *bool { return &s.AWS.MeasuredMemory },
			"bound the memory that a machine loses by what was measured, instead of by vm-memory-overhead-percent", inChart("settings.measuredMemoryOverhead")),
		define("fractional-gpus", "AWS.FractionalGPUs", bools(), func(s *Settings) *bool { return &s.AWS.FractionalGPUs },
			"machines with a part of a GPU offer it as a GPU", inChart("settings.fractionalGPUs")),
		define("device-resources", "AWS.DeviceResources", pairsKind(), func(s *Settings) *map[string]string { return &s.AWS.DeviceResources },
			"extended resources by EC2's name of a device, as U30=xilinx.com/u30", inChart("settings.deviceResources")),
		define("huge-pages", "AWS.HugePages", pairsKind(), func(s *Settings) *map[string]string { return &s.AWS.HugePages },
			"huge pages that machines set aside at boot, as hugepages-2Mi=1Gi", inChart("settings.hugePages")),
		define("disable-dry-run", "AWS.DisableDryRun", bools(), func(s *Settings) *bool { return &s.AWS.DisableDryRun },
			"leave out the dry runs that node classes are checked with", inChart("settings.disableDryRun")),
		define("enable-zonal-shift", "AWS.EnableZonalShift", bools(), func(s *Settings) *bool { return &s.AWS.EnableZonalShift },
			"keep out of zones that ARC shifts the cluster away from", inChart("settings.enableZonalShift")),
		define("ami-refresh-interval", "AWS.AMIRefreshInterval", durations(), func(s *Settings) *time.Duration { return &s.AWS.AMIRefreshInterval },
			"how often images are looked for, at least 1m", inChart("settings.amiRefreshInterval")),
		define("subnet-refresh-interval", "AWS.SubnetRefreshInterval", durations(), func(s *Settings) *time.Duration { return &s.AWS.SubnetRefreshInterval },
			"how often subnets are looked for, at least 1m", inChart("settings.subnetRefreshInterval")),
		define("aws-partition", "AWS.Partition", choices("partition", partitions()...), func(s *Settings) *string { return &s.AWS.Partition },
			"partition that ARNs are made for", inChart("settings.awsPartition")),
		define("aws-region", "AWS.Region", texts(), func(s *Settings) *string { return &s.AWS.Region },
			"region that machines are launched in; empty: that of the AWS configuration or of the machine this runs on", inChart("settings.awsRegion")),

		define("aws-default-instance-profile", "AWS.Legacy.DefaultInstanceProfile", texts(), func(s *Settings) *string { return &s.legacy().DefaultInstanceProfile },
			"instance profile of v1alpha1 node templates without one", alphaOnly("0.33", "spec.instanceProfile of the EC2NodeClass"),
			inConfigMap("aws.defaultInstanceProfile"), inChart("settings.aws.defaultInstanceProfile", "aws.defaultInstanceProfile")),
		define("aws-enable-pod-eni", "AWS.Legacy.EnablePodENI", bools(), func(s *Settings) *bool { return &s.legacy().EnablePodENI },
			"machines of v1alpha5 Provisioners report branch interfaces", alphaOnly("0.32", "nothing: they are reported wherever there are any"),
			inConfigMap("aws.enablePodENI"), inChart("settings.aws.enablePodENI")),
		define("aws-eni-limited-pod-density", "AWS.Legacy.EnableENILimitedPodDensity", bools(), func(s *Settings) *bool { return &s.legacy().EnableENILimitedPodDensity },
			"network interfaces limit the pods of machines of v1alpha5 Provisioners", alphaOnly("0.33", "spec.kubelet.maxPods of the EC2NodeClass"),
			inConfigMap("aws.enableENILimitedPodDensity"), inChart("settings.aws.enableENILimitedPodDensity")),
		define("aws-node-name-convention", "AWS.Legacy.NodeNameConvention", choices("node name convention", NodeNameIP, NodeNameResource),
			func(s *Settings) *NodeNameConvention { return &s.legacy().NodeNameConvention },
			"how nodes of v1alpha5 Provisioners are named: ip-name or resource-name", alphaOnly("0.28", "nothing: the names that nodes register with count"),
			inConfigMap("aws.nodeNameConvention"), inChart("settings.aws.nodeNameConvention")),
		define("aws-tags", "AWS.Legacy.Tags", tagsKind(), func(s *Settings) *map[string]string { return &s.legacy().Tags },
			"", fileOnly, alphaOnly("0.33", "spec.tags of the EC2NodeClass"), inConfigMap("aws.tags"), inChart("settings.aws.tags")),
		define("assume-role-arn", "AWS.Legacy.AssumeRoleARN", texts(), func(s *Settings) *string { return &s.legacy().AssumeRoleARN },
			"role that AWS was called with; credentials are those of the process", dropped,
			inConfigMap("aws.assumeRoleARN"), inChart("settings.assumeRoleARN", "settings.aws.assumeRoleARN")),
		define("assume-role-duration", "AWS.Legacy.AssumeRoleDuration", durations(), func(s *Settings) *time.Duration { return &s.legacy().AssumeRoleDuration },
			"duration of that role's sessions, at least 15m", dropped,
			inConfigMap("aws.assumeRoleDuration"), inChart("settings.assumeRoleDuration", "settings.aws.assumeRoleDuration")),
	}
}

func processDefinitions() []*setting {
	return []*setting{
		define("provider", "Process.Provider", choices("provider", ProviderAWS, ProviderFake), func(s *Settings) *Provider { return &s.Process.Provider },
			"cloud that machines come from: aws, or fake for simulated nodes", inChart("settings.provider")),
		define("allow-simulated-nodes", "Process.AllowSimulatedNodes", bools(), func(s *Settings) *bool { return &s.Process.AllowSimulatedNodes },
			"let --provider fake make nodes on which pods never run", inChart("settings.allowSimulatedNodes")),
		define("install-crds", "Process.InstallCRDs", bools(), func(s *Settings) *bool { return &s.Process.InstallCRDs },
			"create and update the CustomResourceDefinitions at start", inChart("settings.installCRDs")),
		define("kubeconfig", "Process.Kubeconfig", texts(), func(s *Settings) *string { return &s.Process.Kubeconfig },
			"file that says how to reach the cluster; empty: the pod's service account"),
		define("system-namespace", "Process.SystemNamespace", texts(), func(s *Settings) *string { return &s.Process.SystemNamespace },
			"namespace that the controller runs in"),
		define("legacy-config-map", "Process.LegacyConfigMap", texts(), func(s *Settings) *string { return &s.Process.LegacyConfigMap },
			"ConfigMap in the system namespace with settings of releases up to 0.32; empty: none", inChart("settings.legacyConfigMap")),
		define("metrics-port", "Process.MetricsPort", integers[int]("port"), func(s *Settings) *int { return &s.Process.MetricsPort },
			"port of the metrics", inChart("controller.metrics.port")),
		define("health-probe-port", "Process.HealthProbePort", integers[int]("port"), func(s *Settings) *int { return &s.Process.HealthProbePort },
			"port of /healthz and /readyz", inChart("controller.healthProbe.port")),
		define("webhook-port", "Process.WebhookPort", integers[int]("port"), func(s *Settings) *int { return &s.Process.WebhookPort },
			"port of the conversion webhook", inChart("webhook.port")),
		define("disable-webhook", "Process.DisableWebhook", bools(), func(s *Settings) *bool { return &s.Process.DisableWebhook },
			"leave the conversion webhook out", inChartAs(chartPath{path: "webhook.enabled", opposite: true})),
		define("webhook-service", "Process.WebhookService", texts(), func(s *Settings) *string { return &s.Process.WebhookService },
			"service in the system namespace that the API server reaches the conversion webhook by"),
		define("webhook-cert-dir", "Process.WebhookCertDir", texts(), func(s *Settings) *string { return &s.Process.WebhookCertDir },
			"folder with the webhook's tls.crt and tls.key, and perhaps ca.crt; empty: the controller keeps a certificate of its own"),
		define("kube-client-qps", "Process.KubeClientQPS", floats[float32]("rate"), func(s *Settings) *float32 { return &s.Process.KubeClientQPS },
			"calls a second to the API server, on average", inChart("settings.kubeClientQPS")),
		define("kube-client-burst", "Process.KubeClientBurst", integers[int]("number"), func(s *Settings) *int { return &s.Process.KubeClientBurst },
			"calls to the API server at once", inChart("settings.kubeClientBurst")),
		define("disable-leader-election", "Process.LeaderElection", inverted(), func(s *Settings) *bool { return &s.Process.LeaderElection },
			"act without holding the lease: for a single replica", formerlyOpposite("leader-elect"), inChart("settings.disableLeaderElection")),
		define("leader-election-name", "Process.LeaderElectionName", texts(), func(s *Settings) *string { return &s.Process.LeaderElectionName },
			"name of the lease", inChart("settings.leaderElectionName")),
		define("leader-election-namespace", "Process.LeaderElectionNamespace", texts(), func(s *Settings) *string { return &s.Process.LeaderElectionNamespace },
			"namespace of the lease; empty: the system namespace", inChart("settings.leaderElectionNamespace")),
		define("karpenter-lease", "Process.KarpenterLease", texts(), func(s *Settings) *string { return &s.Process.KarpenterLease },
			"name of the lease that Karpenter holds while it acts; nothing is done as long as it is held; none beside one of v1alpha5, which knows no NodePools", inChart("settings.karpenterLease")),
		define("adopt", "Process.Adopt", choices("adoption", AdoptNo, AdoptYes, AdoptDryRun), func(s *Settings) *Adoption { return &s.Process.Adopt },
			"take over the nodes that Karpenter launched: true, or dry-run to see what that means", inChart("settings.adopt"),
			func(s *setting) { s.boolean = true }),
		define("disable-cluster-state-observability", "Process.WithoutObjectMetrics", bools(), func(s *Settings) *bool { return &s.Process.WithoutObjectMetrics },
			"leave out metrics and events that grow with the number of nodes and pods", inChart("settings.disableClusterStateObservability")),
		define("enable-profiling", "Process.EnableProfiling", bools(), func(s *Settings) *bool { return &s.Process.EnableProfiling },
			"serve Go's profiles on the port of the metrics", inChart("settings.enableProfiling")),
		define("memory-limit", "Process.MemoryLimit", integers[int64]("number of bytes"), func(s *Settings) *int64 { return &s.Process.MemoryLimit },
			"memory limit of the container in bytes, nine tenths of which the garbage collector keeps to; -1: none", inChart("settings.memoryLimit")),
		define("log-level", "Process.LogLevel", levels(), func(s *Settings) *slog.Level { return &s.Process.LogLevel },
			"lowest level that is logged: debug, info, warn or error", inChart("logLevel", "logConfig.logLevel.global"),
			inChartAs(chartPath{path: "controller.logLevel", over: true}), inChartAs(chartPath{path: "logConfig.logLevel.controller", over: true})),
		define("log-encoding", "Process.LogEncoding", choices("log encoding", LogJSON, LogConsole), func(s *Settings) *LogEncoding { return &s.Process.LogEncoding },
			"form of log records: json or console", inChart("logEncoding", "logConfig.logEncoding"),
			inChartAs(chartPath{path: "controller.logEncoding", over: true})),
		define("log-output-paths", "Process.LogOutputPaths", paths(), func(s *Settings) *[]string { return &s.Process.LogOutputPaths },
			"comma list of files that records are written to; stdout and stderr are the process's own",
			inChart("logOutputPaths", "logConfig.outputPaths", "controller.outputPaths")),
		define("log-error-output-paths", "Process.LogErrorOutputPaths", paths(), func(s *Settings) *[]string { return &s.Process.LogErrorOutputPaths },
			"the same for errors of logging itself", inChart("logErrorOutputPaths", "logConfig.errorOutputPaths", "controller.errorOutputPaths")),
	}
}

// unused is what Karpenter reads and this controller does not.
type unused struct {
	name string
	// since is the release from which Karpenter does not either (W704); empty: it still does (W701).
	since string
}

func unusedSettings() []unused {
	return []unused{
		{"logging-config", "1.0"}, {"webhook-metrics-port", "1.1"}, {"karpenter-service", "1.1"},
		{"cpu-requests", ""}, {"disable-controller-warmup", ""}, {"aws-feature-gates", ""},
	}
}

func partitions() []string {
	return []string{"aws", "aws-cn", "aws-us-gov", "aws-eusc", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f"}
}
