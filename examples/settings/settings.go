package settings

import (
	"log/slog"
	"time"

	"github.com/drawknife/drawknife/scheduling"
)

// Settings are all settings. They are plain data: changing them has no effect on objects created from them.
type Settings struct {
	// Planning are the settings of planning, for any cloud.
	Planning Planning
	// AWS are the settings of the AWS provider.
	AWS AWS
	// Process are the settings of the controller's process.
	Process Process
}

// Default returns the defaults of all settings. The name of the cluster, which has no default, is empty.
func Default() Settings {
	return Settings{Planning: defaultPlanning(), AWS: defaultAWS(), Process: defaultProcess()}
}

// Planning are the settings of planning.
type Planning struct {
	// BatchMaxDuration is the longest time to collect pending pods before planning them together; more than 0, 10 seconds by
	// default. A longer window gives fewer and larger nodes.
	BatchMaxDuration time.Duration
	// BatchIdleDuration is the time without a new pending pod after which planning starts early; more than 0, at most
	// BatchMaxDuration, 1 second by default.
	BatchIdleDuration time.Duration
	// PreferencePolicy is the treatment of pods' preferences; scheduling.PreferencesRespect by default.
	PreferencePolicy scheduling.PreferencePolicy
	// MinValuesPolicy is the treatment of minValues that can't be met; scheduling.MinValuesStrict by default.
	MinValuesPolicy scheduling.MinValuesPolicy
	// IgnoreResourceClaims plans as if pods had no dynamic resource claims; true by default.
	IgnoreResourceClaims bool
	// DisruptionPlanner decides which nodes are removed and replaced; PlannerGlobal by default.
	DisruptionPlanner DisruptionPlanner
	// Disruption are the options of the disruption planner.
	Disruption Disruption
	// Approval says whether disruption commands need approval; ApprovalNone by default. ApprovalWait is the longest time for which a
	// command waits for approval; more than 0, 1 hour by default.
	Approval     Approval
	ApprovalWait time.Duration
	// Fees are the costs of nodes in addition to the list prices of their instances, in the form of fees.Parse of package scheduling/fees;
	// empty, which is the default, means no fees.
	Fees string
	// Eviction is how pods are evicted from drained nodes; EvictAtOnce by default.
	Eviction Eviction
	// CommitmentsFile is a file with commitments of the account (docs/costs.md). If it is set, commitments are not read from the cloud.
	// Empty, the default, means no file.
	CommitmentsFile string
	// SpotRisk means that plans include the expected costs of interruptions of spot nodes (docs/spot.md). False by default.
	SpotRisk bool
	// LearnFromNodes means that plans use the resources that joined nodes reported for their instance type, image and class. Timeouts are
	// adapted to the time that these nodes took to register (docs/catalog.md). False by default.
	LearnFromNodes bool
	// FeatureGates switch behaviour on and off.
	FeatureGates FeatureGates
	// ServeAlpha treats v1alpha5 objects like objects of later versions, if the cluster has their kinds. ServeBeta serves v1beta1 in
	// addition to v1, which needs the conversion webhook: see Process.DisableWebhook. ServeAlpha and ServeBeta are true by default.
	ServeAlpha, ServeBeta bool
}

func defaultPlanning() Planning {
	return Planning{
		BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second,
		PreferencePolicy: scheduling.PreferencesRespect, MinValuesPolicy: scheduling.MinValuesStrict,
		DisruptionPlanner: PlannerGlobal, Disruption: DefaultDisruption(), Approval: ApprovalNone, ApprovalWait: time.Hour, Eviction: EvictAtOnce, IgnoreResourceClaims: true, FeatureGates: DefaultFeatureGates(), ServeAlpha: true, ServeBeta: true,
	}
}

// DisruptionPlanner is the planner that decides which nodes are removed and replaced.
type DisruptionPlanner string

const (
	// PlannerGlobal plans all nodes together: disruption.Global.
	PlannerGlobal DisruptionPlanner = "global"
	// PlannerReference uses Karpenter's methods, one after another: disruption.Reference.
	PlannerReference DisruptionPlanner = "reference"
)

// Approval says how disruption commands are approved.
type Approval string

const (
	// ApprovalNone means that commands start without approval.
	ApprovalNone Approval = "none"
	// ApprovalConfigMap shows each command as a ConfigMap in Process.SystemNamespace, until somebody approves or refuses it with an
	// annotation.
	ApprovalConfigMap Approval = "configmap"
)

// Eviction says how pods are evicted.
type Eviction string

const (
	// EvictAtOnce evicts pods as soon as their node is drained, as Karpenter does: provisioning.EvictAtOnce.
	EvictAtOnce Eviction = "at-once"
	// EvictSurgeFirst scales Deployments and ReplicaSets up before it evicts their pods: provisioning.SurgeFirst.
	EvictSurgeFirst Eviction = "surge-first"
)

// Process are the settings of the controller's process.
type Process struct {
	// Provider is the cloud; ProviderAWS by default.
	Provider Provider
	// AllowSimulatedNodes must be true for ProviderFake, whose nodes are Node objects without a kubelet: pods bound to them never run.
	// False by default.
	AllowSimulatedNodes bool
	// InstallCRDs makes the controller create and update its CustomResourceDefinitions at start. It is false by default, because the chart
	// of the CRDs does this.
	InstallCRDs bool
	// Kubeconfig is the path of the kubeconfig file; empty means that the pod's own service account is used.
	Kubeconfig string
	// SystemNamespace is the namespace of the controller; "kube-system" by default.
	SystemNamespace string
	// HistoryConfigMap is the name of a ConfigMap in SystemNamespace. It keeps, also after a restart, what the controller has learned about
	// stock, spot markets and nodes. Empty, the default, means that nothing is kept.
	HistoryConfigMap string
	// LegacyConfigMap is the name of a ConfigMap in SystemNamespace with settings of Karpenter up to 0.32. Karpenter calls this ConfigMap
	// "karpenter-global-settings". Empty, the default, means that no such ConfigMap is read. See Sources.ReadConfigMaps.
	LegacyConfigMap string
	// MetricsPort, HealthProbePort and WebhookPort are TCP ports from 1 to 65535, all different; 8080, 8081 and 8443 by
	// default.
	MetricsPort, HealthProbePort, WebhookPort int
	// DisableWebhook turns off the conversion webhook; true by default.
	DisableWebhook bool
	// WebhookService is the name of the service in SystemNamespace by which the API server reaches the webhook; "drawknife" by default. The
	// webhook's certificate is stored in a Secret with this name and the suffix "-webhook".
	WebhookService string
	// WebhookCertDir is a folder with a certificate for the webhook that another program manages: tls.crt, tls.key and optionally ca.crt.
	// Empty, the default, means that the controller creates a certificate.
	WebhookCertDir string
	// KubeClientQPS is the maximum average rate of calls to the API server per second, more than 0; 200 by default.
	KubeClientQPS float32
	// KubeClientBurst is the maximum number of calls in a burst, at least 1; 300 by default.
	KubeClientBurst int
	// LeaderElection makes sure that only one replica acts; true by default.
	LeaderElection bool
	// LeaderElectionName and LeaderElectionNamespace are the name and the namespace of the Lease; "drawknife-leader-election" and
	// SystemNamespace by default.
	LeaderElectionName, LeaderElectionNamespace string
	// KarpenterLease is the name of the lease that Karpenter holds while it acts, in any namespace; "karpenter-leader-election" by default.
	// The controller does nothing while Karpenter holds this lease. With the value LeaseIgnored, the controller acts in parallel to a
	// Karpenter that has no NodePools.
	KarpenterLease string
	// Adopt says whether nodes that Karpenter launched are taken over; AdoptNo by default.
	Adopt Adoption
	// WithoutObjectMetrics disables metrics with a time series for each node or pod, and events about changed conditions. False by
	// default.
	WithoutObjectMetrics bool
	// EnableProfiling serves Go's profiles on the metrics port. False by default.
	EnableProfiling bool
	// DebugPage serves a page with nodes, pending pods, commands and costs on the metrics port. False by default.
	DebugPage bool
	// MemoryLimit is the container's limit in bytes; -1, the default, means no limit. See SoftMemoryLimit.
	MemoryLimit int64
	// LogLevel is the lowest level that is logged; slog.LevelInfo by default.
	LogLevel slog.Level
	// LogEncoding is the format of log records; LogJSON by default.
	LogEncoding LogEncoding
	// LogOutputPaths are the files for log records, and LogErrorOutputPaths are the files for errors of logging itself. "stdout" and
	// "stderr", which are the defaults, mean the standard streams of the process.
	LogOutputPaths, LogErrorOutputPaths []string
}

func defaultProcess() Process {
	return Process{
		Provider: ProviderAWS, SystemNamespace: "kube-system",
		MetricsPort: 8080, HealthProbePort: 8081, WebhookPort: 8443, DisableWebhook: true, WebhookService: "drawknife",
		KubeClientQPS: 200, KubeClientBurst: 300,
		LeaderElection: true, LeaderElectionName: "drawknife-leader-election",
		KarpenterLease: "karpenter-leader-election", Adopt: AdoptNo,
		MemoryLimit: -1, LogLevel: slog.LevelInfo, LogEncoding: LogJSON,
		LogOutputPaths: []string{"stdout"}, LogErrorOutputPaths: []string{"stderr"},
	}
}

// SoftMemoryLimit returns nine tenths of MemoryLimit, in bytes, for debug.SetMemoryLimit. ok is false if MemoryLimit is not set.
func (p Process) SoftMemoryLimit() (bytes int64, ok bool) {
	if p.MemoryLimit < 0 {
		return 0, false
	}
	return p.MemoryLimit/10*9 + p.MemoryLimit%10*9/10, true
}

// Provider is a cloud provider.
type Provider string

const (
	// ProviderAWS launches EC2 instances.
	ProviderAWS Provider = "aws"
	// ProviderFake creates Node objects without instances; see Process.AllowSimulatedNodes.
	ProviderFake Provider = "fake"
)

// Adoption says what to do with nodes that another controller launched.
type Adoption string

const (
	// AdoptNo means that a controller that has never acted in the cluster does nothing while there are such nodes.
	AdoptNo Adoption = "false"
	// AdoptYes takes over such nodes.
	AdoptYes Adoption = "true"
	// AdoptDryRun prints the consequences of taking over such nodes, and changes nothing.
	AdoptDryRun Adoption = "dry-run"
)

// LeaseIgnored is a value of Process.KarpenterLease. The controller then runs in parallel to a Karpenter with v1alpha5, and each has its
// own pools.
const LeaseIgnored = "none"

// LogEncoding is the format of log records.
type LogEncoding string

const (
	// LogJSON writes one JSON object per line.
	LogJSON LogEncoding = "json"
	// LogConsole writes text for people.
	LogConsole LogEncoding = "console"
)
