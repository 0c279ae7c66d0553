package settings

import (
	"log/slog"
	"strings"
	"time"

	"github.com/drawknife/drawknife/scheduling"
)

// setting is one setting: its names in every source, and the field of Settings that has its value.
type setting struct {
	// name is the flag without its dashes; the environment variable is the same in upper case with underscores.
	name string
	// field is the path in Settings.
	field string
	usage string
	// fileOnly means that the setting has neither a flag nor an environment variable.
	fileOnly bool
	// keepsEmpty is true if an empty value of the environment variable has a meaning.
	keepsEmpty bool
	boolean    bool
	// shortened means that messages and lists show only the beginning of a long value.
	shortened bool
	// successor is the setting to use instead of this one, or empty (W703).
	successor string
	// droppedSince is the release of Karpenter since which this setting has no effect (W704).
	droppedSince string
	// alphaUntil is the release since which the setting affects only v1alpha5 objects (W704 if there are no such objects).
	alphaUntil string
	// ofGlobal means that the setting has an effect only with --disruption-planner=global.
	ofGlobal bool
	// old are the old names of the flag and of the environment variable.
	old []oldName
	// configMap are the keys of the setting in karpenter-global-settings.
	configMap []string
	// chart are the paths of the setting in chart values, the current path first.
	chart []chartPath

	kind  string
	parse func(*Settings, string) error
	show  func(*Settings) string
}

// oldName is an old name of a flag; the name of the variable is derived from it.
type oldName struct {
	name string
	// opposite is true if the value means the opposite of the setting.
	opposite bool
	boolean  bool
}

// chartPath is the path of a setting in chart values.
type chartPath struct {
	path string
	// opposite is true if the value means the opposite of the setting.
	opposite bool
	// If over is true, this path overrides paths whose field over is false: a component's own value overrides the common value.
	over bool
	// gate is the feature gate at this path, in the setting of all gates.
	gate string
}

func environmentName(flag string) string {
	return strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// option sets further fields of a setting.
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

// definitions returns all settings, in the order in which they are listed. To add a setting, add an entry here; a test compares the chart
// of the controller with this list.
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
			{"provisioningRequest", "ProvisioningRequest"},
		} {
			s.chart = append(s.chart, chartPath{path: "settings.featureGates." + g.path, gate: g.gate})
		}
	}
	return []*setting{
		define("batch-max-duration", "Planning.BatchMaxDuration", durations(), func(s *Settings) *time.Duration { return &s.Planning.BatchMaxDuration },
			"longest time to collect pending pods before planning them together",
			inConfigMap("batchMaxDuration"), inChart("settings.batchMaxDuration", "controller.batchMaxDuration")),
		define("batch-idle-duration", "Planning.BatchIdleDuration", durations(), func(s *Settings) *time.Duration { return &s.Planning.BatchIdleDuration },
			"time without a new pending pod after which planning starts before batch-max-duration is over",
			inConfigMap("batchIdleDuration"), inChart("settings.batchIdleDuration", "controller.batchIdleDuration")),
		define("preference-policy", "Planning.PreferencePolicy", choices("preference policy", scheduling.PreferencesRespect, scheduling.PreferencesIgnore),
			func(s *Settings) *scheduling.PreferencePolicy { return &s.Planning.PreferencePolicy },
			"Respect or Ignore the preferences of pods, such as preferred node affinity", inChart("settings.preferencePolicy")),
		define("min-values-policy", "Planning.MinValuesPolicy", choices("minValues policy", scheduling.MinValuesStrict, scheduling.MinValuesBestEffort),
			func(s *Settings) *scheduling.MinValuesPolicy { return &s.Planning.MinValuesPolicy },
			"what to do if a NodePool's minValues cannot be met: Strict launches no node, BestEffort launches one with fewer values", inChart("settings.minValuesPolicy")),
		define("disruption-planner", "Planning.DisruptionPlanner", choices("disruption planner", PlannerGlobal, PlannerReference),
			func(s *Settings) *DisruptionPlanner { return &s.Planning.DisruptionPlanner },
			"planner that chooses the nodes to remove and replace: global (all nodes together), or reference (Karpenter's methods, one after another)", inChart("settings.disruptionPlanner")),
		define("disruption-approval", "Planning.Approval", choices("way of approving", ApprovalNone, ApprovalConfigMap), func(s *Settings) *Approval { return &s.Planning.Approval },
			"approval of disruption commands: none (start without approval), or configmap (write each command to a ConfigMap, and start it after an annotation approves it)", inChart("settings.disruptionApproval")),
		define("disruption-approval-wait", "Planning.ApprovalWait", durations(), func(s *Settings) *time.Duration { return &s.Planning.ApprovalWait },
			"longest time that a command waits for approval; then it is dropped", inChart("settings.disruptionApprovalWait")),
		define("fees", "Planning.Fees", texts(), func(s *Settings) *string { return &s.Planning.Fees },
			"fees that nodes cost beyond list prices, such as public-ipv4,root-volume=100@linux; empty: no fees", inChart("settings.fees")),
		define("eviction", "Planning.Eviction", choices("way of evicting", EvictAtOnce, EvictSurgeFirst), func(s *Settings) *Eviction { return &s.Planning.Eviction },
			"how to evict pods from drained nodes: at-once, or surge-first (scale up their Deployments and ReplicaSets before the eviction)", inChart("settings.eviction")),
		define("ignore-dra-requests", "Planning.IgnoreResourceClaims", bools(), func(s *Settings) *bool { return &s.Planning.IgnoreResourceClaims },
			"plan as if pods had no claims of Dynamic Resource Allocation", inChart("settings.ignoreDRARequests")),
		define("commitments-file", "Planning.CommitmentsFile", texts(), func(s *Settings) *string { return &s.Planning.CommitmentsFile },
			"file with the account's commitments, used instead of those that the cloud reports; empty: no file", inChart("settings.commitmentsFile")),
		define("spot-risk", "Planning.SpotRisk", bools(), func(s *Settings) *bool { return &s.Planning.SpotRisk },
			"add the expected cost of interruptions to the price of spot nodes", inChart("settings.spotRisk")),
		define("learn-from-nodes", "Planning.LearnFromNodes", bools(), func(s *Settings) *bool { return &s.Planning.LearnFromNodes },
			"plan with the resources and startup times that nodes of an instance type have shown, instead of estimates", inChart("settings.learnFromNodes")),
		define("feature-gates", "Planning.FeatureGates", gatesKind(), func(s *Settings) *FeatureGates { return &s.Planning.FeatureGates },
			"feature gates as a comma-separated list of Name=true or Name=false; gates that are not listed keep their defaults", gates),
		define("serve-alpha", "Planning.ServeAlpha", bools(), func(s *Settings) *bool { return &s.Planning.ServeAlpha },
			"also handle objects of v1alpha5 (Provisioner, Machine, AWSNodeTemplate)", inChart("settings.serveAlpha")),
		define("serve-beta", "Planning.ServeBeta", bools(), func(s *Settings) *bool { return &s.Planning.ServeBeta },
			"serve v1beta1 in addition to v1; has no effect with --disable-webhook", inChart("settings.serveBeta")),
	}
}

func awsDefinitions(keepEmpty, shortened option) []*setting {
	dropped := func(s *setting) { s.droppedSince = "1.0" }
	fileOnly := func(s *setting) { s.fileOnly = true }
	return []*setting{
		define("cluster-name", "AWS.ClusterName", texts(), func(s *Settings) *string { return &s.AWS.ClusterName },
			"name of the cluster, which identifies its instances; required with --provider aws",
			inConfigMap("aws.clusterName"), inChart("settings.clusterName", "settings.aws.clusterName", "clusterName")),
		define("cluster-endpoint", "AWS.ClusterEndpoint", texts(), func(s *Settings) *string { return &s.AWS.ClusterEndpoint },
			"URL of the API server for new nodes; empty: ask EKS",
			inConfigMap("aws.clusterEndpoint"), inChart("settings.clusterEndpoint", "settings.aws.clusterEndpoint", "clusterEndpoint")),
		define("cluster-ca-bundle", "AWS.ClusterCABundle", texts(), func(s *Settings) *string { return &s.AWS.ClusterCABundle },
			"certificate authority of the API server for new nodes, in base64; empty: ask EKS", shortened,
			inConfigMap("aws.clusterCABundle"), inChart("settings.clusterCABundle", "settings.aws.clusterCABundle")),
		define("eks-control-plane", "AWS.DiscoverCluster", bools(), func(s *Settings) *bool { return &s.AWS.DiscoverCluster },
			"read the cluster's Kubernetes version from EKS instead of from the API server", inChart("settings.eksControlPlane")),
		define("isolated-vpc", "AWS.IsolatedVPC", bools(), func(s *Settings) *bool { return &s.AWS.IsolatedVPC },
			"do not call the price list and IAM: use built-in on-demand prices, and require that node classes name an instance profile", formerly("aws-isolated-vpc"),
			inConfigMap("aws.isolatedVPC"), inChart("settings.isolatedVPC", "settings.aws.isolatedVPC")),
		define("vm-memory-overhead-percent", "AWS.VMMemoryOverheadPercent", floats[float64]("fraction"), func(s *Settings) *float64 { return &s.AWS.VMMemoryOverheadPercent },
			"assumed fraction of an instance's memory that the hypervisor takes, from 0 to below 1", formerly("vm-memory-overhead"),
			inConfigMap("aws.vmMemoryOverheadPercent"), inChart("settings.vmMemoryOverheadPercent", "settings.aws.vmMemoryOverheadPercent")),
		define("interruption-queue", "AWS.InterruptionQueue", texts(), func(s *Settings) *string { return &s.AWS.InterruptionQueue },
			"name of the SQS queue of interruption notices; empty: read no queue", keepEmpty,
			inConfigMap("aws.interruptionQueueName"), inChart("settings.interruptionQueue", "settings.interruptionQueueName", "settings.aws.interruptionQueueName")),
		define("reserved-enis", "AWS.ReservedENIs", integers[int64]("number"), func(s *Settings) *int64 { return &s.AWS.ReservedENIs },
			"number of network interfaces of each instance that are not used for pods",
			inConfigMap("aws.reservedENIs"), inChart("settings.reservedENIs", "settings.aws.reservedENIs")),
		define("burst-launches", "AWS.BurstLaunches", integers[int]("number"), func(s *Settings) *int { return &s.AWS.BurstLaunches },
			"smallest number of equal, simultaneous launches that share one CreateFleet call, at least 2; 0: one call for each launch", inChart("settings.burstLaunches")),
		define("vpc-cni-prefix-delegation", "AWS.PrefixDelegation", bools(), func(s *Settings) *bool { return &s.AWS.PrefixDelegation },
			"assume that the VPC CNI assigns address prefixes (ENABLE_PREFIX_DELEGATION)", inChart("settings.vpcCNIPrefixDelegation")),
		define("vpc-cni-custom-networking", "AWS.CustomNetworking", bools(), func(s *Settings) *bool { return &s.AWS.CustomNetworking },
			"assume that the VPC CNI takes pod addresses from other subnets than that of the node (AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG)", inChart("settings.vpcCNICustomNetworking")),
		define("without-pod-eni", "AWS.WithoutPodENI", bools(), func(s *Settings) *bool { return &s.AWS.WithoutPodENI },
			"assume that the VPC CNI provides no branch interfaces for pods", inChart("settings.withoutPodENI")),
		define("measured-memory-overhead", "AWS.MeasuredMemory", bools(), func(s *Settings) *bool { return &s.AWS.MeasuredMemory },
			"estimate the hypervisor's share of memory from measurements instead of vm-memory-overhead-percent", inChart("settings.measuredMemoryOverhead")),
		define("fractional-gpus", "AWS.FractionalGPUs", bools(), func(s *Settings) *bool { return &s.AWS.FractionalGPUs },
			"count the part of a GPU of types such as g6f.large as one GPU, instead of as none", inChart("settings.fractionalGPUs")),
		define("device-drivers", "AWS.DeviceDrivers", pairsKind(), func(s *Settings) *map[string]string { return &s.AWS.DeviceDrivers },
			"DRA drivers that run instead of device plugins, by kind of device, such as nvidia=gpu.nvidia.com; empty: none", inChart("settings.deviceDrivers")),
		define("nvidia-mig", "AWS.NVIDIAMIG", bools(), func(s *Settings) *bool { return &s.AWS.NVIDIAMIG },
			"assume that NVIDIA's DRA driver offers partitions of GPUs (its feature gate DynamicMIG)", inChart("settings.nvidiaMIG")),
		define("nvidia-shares", "AWS.NVIDIAShares", texts(), func(s *Settings) *string { return &s.AWS.NVIDIAShares },
			"how many claims may share an NVIDIA GPU (consumableShares of NVIDIA's DRA driver): a number, memory (as many as its memory allows) or unlimited; empty: one claim", inChart("settings.nvidiaShares")),
		define("device-resources", "AWS.DeviceResources", pairsKind(), func(s *Settings) *map[string]string { return &s.AWS.DeviceResources },
			"name of the extended resource for each EC2 device name, such as U30=xilinx.com/u30", inChart("settings.deviceResources")),
		define("huge-pages", "AWS.HugePages", pairsKind(), func(s *Settings) *map[string]string { return &s.AWS.HugePages },
			"huge pages that nodes allocate at boot, such as hugepages-2Mi=1Gi; empty: none", inChart("settings.hugePages")),
		define("disable-dry-run", "AWS.DisableDryRun", bools(), func(s *Settings) *bool { return &s.AWS.DisableDryRun },
			"skip the launch dry runs that validate node classes", inChart("settings.disableDryRun")),
		define("enable-zonal-shift", "AWS.EnableZonalShift", bools(), func(s *Settings) *bool { return &s.AWS.EnableZonalShift },
			"avoid a zone while an ARC zonal shift moves the cluster away from it", inChart("settings.enableZonalShift")),
		define("commitments", "AWS.Commitments", bools(), func(s *Settings) *bool { return &s.AWS.Commitments },
			"plan with the account's Savings Plans and Reserved Instances", inChart("settings.commitments")),
		define("cost-explorer", "AWS.CostExplorer", bools(), func(s *Settings) *bool { return &s.AWS.CostExplorer },
			"with --commitments: ask Cost Explorer for the account's discounts and use of commitments; each request costs $0.01", inChart("settings.costExplorer")),
		define("commitment-reports", "AWS.CommitmentReports", texts(), func(s *Settings) *string { return &s.AWS.CommitmentReports },
			"directory in which the account's clusters share their use of commitments; empty: use the ConfigMap of history-config-map", inChart("settings.commitmentReports")),
		define("spot-score-configurations", "AWS.SpotScoreConfigurations", integers[int]("number"), func(s *Settings) *int { return &s.AWS.SpotScoreConfigurations },
			"with --spot-risk: number of different sets of instance types for which spot placement scores may be requested within 24h; 0: request none", inChart("settings.spotScoreConfigurations")),
		define("ami-refresh-interval", "AWS.AMIRefreshInterval", durations(), func(s *Settings) *time.Duration { return &s.AWS.AMIRefreshInterval },
			"interval between searches for AMIs, at least 1m", inChart("settings.amiRefreshInterval")),
		define("subnet-refresh-interval", "AWS.SubnetRefreshInterval", durations(), func(s *Settings) *time.Duration { return &s.AWS.SubnetRefreshInterval },
			"interval between searches for subnets, at least 1m", inChart("settings.subnetRefreshInterval")),
		define("aws-partition", "AWS.Partition", choices("partition", partitions()...), func(s *Settings) *string { return &s.AWS.Partition },
			"AWS partition, such as aws-cn; has no effect, because the partition follows from the region", inChart("settings.awsPartition")),
		define("aws-region", "AWS.Region", texts(), func(s *Settings) *string { return &s.AWS.Region },
			"AWS region to launch in; empty: the region of the AWS configuration, or of the instance that runs the controller", inChart("settings.awsRegion")),

		define("aws-default-instance-profile", "AWS.Legacy.DefaultInstanceProfile", texts(), func(s *Settings) *string { return &s.legacy().DefaultInstanceProfile },
			"instance profile of AWSNodeTemplates (v1alpha1) that name no instance profile", alphaOnly("0.33", "spec.instanceProfile of the EC2NodeClass"),
			inConfigMap("aws.defaultInstanceProfile"), inChart("settings.aws.defaultInstanceProfile", "aws.defaultInstanceProfile")),
		define("aws-enable-pod-eni", "AWS.Legacy.EnablePodENI", bools(), func(s *Settings) *bool { return &s.legacy().EnablePodENI },
			"make nodes of v1alpha5 Provisioners report the resource vpc.amazonaws.com/pod-eni (branch interfaces for pods)", alphaOnly("0.32", "nothing: all nodes with branch interfaces report them"),
			inConfigMap("aws.enablePodENI"), inChart("settings.aws.enablePodENI")),
		define("aws-eni-limited-pod-density", "AWS.Legacy.EnableENILimitedPodDensity", bools(), func(s *Settings) *bool { return &s.legacy().EnableENILimitedPodDensity },
			"limit pods by network interfaces on instances of v1alpha5 Provisioners", alphaOnly("0.33", "spec.kubelet.maxPods of the EC2NodeClass"),
			inConfigMap("aws.enableENILimitedPodDensity"), inChart("settings.aws.enableENILimitedPodDensity")),
		define("aws-node-name-convention", "AWS.Legacy.NodeNameConvention", choices("node name convention", NodeNameIP, NodeNameResource),
			func(s *Settings) *NodeNameConvention { return &s.legacy().NodeNameConvention },
			"form of the names of nodes of v1alpha5 Provisioners: ip-name (from the address) or resource-name (from the instance ID)", alphaOnly("0.28", "nothing: the names that nodes register with count"),
			inConfigMap("aws.nodeNameConvention"), inChart("settings.aws.nodeNameConvention")),
		define("aws-tags", "AWS.Legacy.Tags", tagsKind(), func(s *Settings) *map[string]string { return &s.legacy().Tags },
			"", fileOnly, alphaOnly("0.33", "spec.tags of the EC2NodeClass"), inConfigMap("aws.tags"), inChart("settings.aws.tags")),
		define("assume-role-arn", "AWS.Legacy.AssumeRoleARN", texts(), func(s *Settings) *string { return &s.legacy().AssumeRoleARN },
			"role for AWS calls; has no effect: give the process its credentials instead", dropped,
			inConfigMap("aws.assumeRoleARN"), inChart("settings.assumeRoleARN", "settings.aws.assumeRoleARN")),
		define("assume-role-duration", "AWS.Legacy.AssumeRoleDuration", durations(), func(s *Settings) *time.Duration { return &s.legacy().AssumeRoleDuration },
			"duration of the sessions of assume-role-arn, at least 15m; has no effect", dropped,
			inConfigMap("aws.assumeRoleDuration"), inChart("settings.assumeRoleDuration", "settings.aws.assumeRoleDuration")),
	}
}

func processDefinitions() []*setting {
	return []*setting{
		define("provider", "Process.Provider", choices("provider", ProviderAWS, ProviderFake), func(s *Settings) *Provider { return &s.Process.Provider },
			"cloud provider: aws, or fake for simulated nodes", inChart("settings.provider")),
		define("allow-simulated-nodes", "Process.AllowSimulatedNodes", bools(), func(s *Settings) *bool { return &s.Process.AllowSimulatedNodes },
			"allow --provider fake, which creates nodes without a kubelet: pods on them never run", inChart("settings.allowSimulatedNodes")),
		define("install-crds", "Process.InstallCRDs", bools(), func(s *Settings) *bool { return &s.Process.InstallCRDs },
			"create and update the CustomResourceDefinitions at start", inChart("settings.installCRDs")),
		define("kubeconfig", "Process.Kubeconfig", texts(), func(s *Settings) *string { return &s.Process.Kubeconfig },
			"kubeconfig file; empty: use the service account of the controller's pod"),
		define("system-namespace", "Process.SystemNamespace", texts(), func(s *Settings) *string { return &s.Process.SystemNamespace },
			"namespace that the controller runs in"),
		define("history-config-map", "Process.HistoryConfigMap", texts(), func(s *Settings) *string { return &s.Process.HistoryConfigMap },
			"ConfigMap in the system namespace that keeps learned data over restarts; empty: keep none", inChart("settings.historyConfigMap")),
		define("legacy-config-map", "Process.LegacyConfigMap", texts(), func(s *Settings) *string { return &s.Process.LegacyConfigMap },
			"ConfigMap in the system namespace with settings of Karpenter up to 0.32 (karpenter-global-settings); empty: read none", inChart("settings.legacyConfigMap")),
		define("metrics-port", "Process.MetricsPort", integers[int]("port"), func(s *Settings) *int { return &s.Process.MetricsPort },
			"TCP port on which metrics are served", inChart("controller.metrics.port")),
		define("health-probe-port", "Process.HealthProbePort", integers[int]("port"), func(s *Settings) *int { return &s.Process.HealthProbePort },
			"TCP port on which /healthz and /readyz are served", inChart("controller.healthProbe.port")),
		define("webhook-port", "Process.WebhookPort", integers[int]("port"), func(s *Settings) *int { return &s.Process.WebhookPort },
			"TCP port on which the conversion webhook is served", inChart("webhook.port")),
		define("disable-webhook", "Process.DisableWebhook", bools(), func(s *Settings) *bool { return &s.Process.DisableWebhook },
			"disable the conversion webhook", inChartAs(chartPath{path: "webhook.enabled", opposite: true})),
		define("webhook-service", "Process.WebhookService", texts(), func(s *Settings) *string { return &s.Process.WebhookService },
			"Service in the system namespace through which the API server calls the conversion webhook"),
		define("webhook-cert-dir", "Process.WebhookCertDir", texts(), func(s *Settings) *string { return &s.Process.WebhookCertDir },
			"folder with tls.crt, tls.key and optionally ca.crt of the conversion webhook; empty: the controller creates and renews a certificate"),
		define("kube-client-qps", "Process.KubeClientQPS", floats[float32]("rate"), func(s *Settings) *float32 { return &s.Process.KubeClientQPS },
			"largest average number of calls to the API server per second", inChart("settings.kubeClientQPS")),
		define("kube-client-burst", "Process.KubeClientBurst", integers[int]("number"), func(s *Settings) *int { return &s.Process.KubeClientBurst },
			"largest number of calls to the API server in a burst", inChart("settings.kubeClientBurst")),
		define("disable-leader-election", "Process.LeaderElection", inverted(), func(s *Settings) *bool { return &s.Process.LeaderElection },
			"run without leader election; run only one replica then", formerlyOpposite("leader-elect"), inChart("settings.disableLeaderElection")),
		define("leader-election-name", "Process.LeaderElectionName", texts(), func(s *Settings) *string { return &s.Process.LeaderElectionName },
			"name of the Lease for leader election", inChart("settings.leaderElectionName")),
		define("leader-election-namespace", "Process.LeaderElectionNamespace", texts(), func(s *Settings) *string { return &s.Process.LeaderElectionNamespace },
			"namespace of the Lease for leader election; empty: the system namespace", inChart("settings.leaderElectionNamespace")),
		define("karpenter-lease", "Process.KarpenterLease", texts(), func(s *Settings) *string { return &s.Process.KarpenterLease },
			"name of Karpenter's Lease; the controller waits while Karpenter holds it; none: do not wait, to run next to a Karpenter of v1alpha5, which has no NodePools", inChart("settings.karpenterLease")),
		define("adopt", "Process.Adopt", choices("adoption", AdoptNo, AdoptYes, AdoptDryRun), func(s *Settings) *Adoption { return &s.Process.Adopt },
			"what to do with nodes that Karpenter launched: true adopts them; dry-run only prints what adoption would change; with false, a controller that has never acted in the cluster does nothing while there are such nodes", inChart("settings.adopt"),
			func(s *setting) { s.boolean = true }),
		define("disable-cluster-state-observability", "Process.WithoutObjectMetrics", bools(), func(s *Settings) *bool { return &s.Process.WithoutObjectMetrics },
			"disable metrics with a time series for each node or pod, and events about changed conditions", inChart("settings.disableClusterStateObservability")),
		define("enable-profiling", "Process.EnableProfiling", bools(), func(s *Settings) *bool { return &s.Process.EnableProfiling },
			"serve Go's profiles (pprof) on metrics-port", inChart("settings.enableProfiling")),
		define("debug-page", "Process.DebugPage", bools(), func(s *Settings) *bool { return &s.Process.DebugPage },
			"serve a page with nodes, pending pods, commands and costs on metrics-port, at /debug/top", inChart("settings.debugPage")),
		define("memory-limit", "Process.MemoryLimit", integers[int64]("number of bytes"), func(s *Settings) *int64 { return &s.Process.MemoryLimit },
			"memory limit of the container in bytes; Go's garbage collector tries to keep memory below nine tenths of it; -1: no limit", inChart("settings.memoryLimit")),
		define("log-level", "Process.LogLevel", levels(), func(s *Settings) *slog.Level { return &s.Process.LogLevel },
			"lowest level that is logged: debug, info, warn or error", inChart("logLevel", "logConfig.logLevel.global"),
			inChartAs(chartPath{path: "controller.logLevel", over: true}), inChartAs(chartPath{path: "logConfig.logLevel.controller", over: true})),
		define("log-encoding", "Process.LogEncoding", choices("log encoding", LogJSON, LogConsole), func(s *Settings) *LogEncoding { return &s.Process.LogEncoding },
			"format of log records: json or console", inChart("logEncoding", "logConfig.logEncoding"),
			inChartAs(chartPath{path: "controller.logEncoding", over: true})),
		define("log-output-paths", "Process.LogOutputPaths", paths(), func(s *Settings) *[]string { return &s.Process.LogOutputPaths },
			"comma-separated list of files for log records; stdout and stderr are the streams of the process",
			inChart("logOutputPaths", "logConfig.outputPaths", "controller.outputPaths")),
		define("log-error-output-paths", "Process.LogErrorOutputPaths", paths(), func(s *Settings) *[]string { return &s.Process.LogErrorOutputPaths },
			"comma-separated list of files for errors of logging itself; stdout and stderr are the streams of the process", inChart("logErrorOutputPaths", "logConfig.errorOutputPaths", "controller.errorOutputPaths")),
	}
}

// unused is a setting of Karpenter that this controller does not have.
type unused struct {
	name string
	// since is the release in which Karpenter removed the setting (W704); empty means that Karpenter still has it (W701).
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
