package settings

import (
	"log/slog"
	"time"

	"github.com/drawknife/drawknife/scheduling"
)

// Settings is everything that can be set. It is plain data: changing it has no effect on what was built from it.
type Settings struct {
	// Planning is what decides how pods are placed, whatever the cloud.
	Planning Planning
	// AWS is what the AWS provider needs.
	AWS AWS
	// Process is how the controller runs.
	Process Process
}

// Default is every setting's default. The name of the cluster, which has none, is empty.
func Default() Settings {
	return Settings{Planning: defaultPlanning(), AWS: defaultAWS(), Process: defaultProcess()}
}

// Planning is what decides how pods are placed.
type Planning struct {
	// BatchMaxDuration is how long pods are collected at most before they are planned together; more than 0, 10 seconds by
	// default. A longer window gives fewer and larger nodes.
	BatchMaxDuration time.Duration
	// BatchIdleDuration without a new pod ends the window early; more than 0, at most BatchMaxDuration, 1 second by default.
	BatchIdleDuration time.Duration
	// PreferencePolicy says what to do with wishes of pods; scheduling.PreferencesRespect by default.
	PreferencePolicy scheduling.PreferencePolicy
	// MinValuesPolicy says what to do with minValues that can't be met; scheduling.MinValuesStrict by default.
	MinValuesPolicy scheduling.MinValuesPolicy
	// IgnoreResourceClaims plans as if pods had no dynamic resource claims; true by default.
	IgnoreResourceClaims bool
	// DisruptionPlanner decides which nodes are removed and replaced; PlannerGlobal by default.
	DisruptionPlanner DisruptionPlanner
	// Disruption is what it weighs.
	Disruption Disruption
	// Approval is whether removing and replacing nodes waits until somebody approves; ApprovalNone by default. ApprovalWait is for how
	// long, more than 0, 1 hour by default.
	Approval     Approval
	ApprovalWait time.Duration
	// Eviction is how pods leave nodes that are drained; EvictAtOnce by default.
	Eviction Eviction
	// FeatureGates switch behaviour on and off.
	FeatureGates FeatureGates
	// ServeAlpha has objects of the generation v1alpha5 acted on like those of later ones, in a cluster that has their kinds.
	// ServeBeta has v1beta1 served next to v1, which takes the conversion webhook: see Process.DisableWebhook. Both are true by
	// default.
	ServeAlpha, ServeBeta bool
}

func defaultPlanning() Planning {
	return Planning{
		BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second,
		PreferencePolicy: scheduling.PreferencesRespect, MinValuesPolicy: scheduling.MinValuesStrict,
		DisruptionPlanner: PlannerGlobal, Disruption: DefaultDisruption(), Approval: ApprovalNone, ApprovalWait: time.Hour, Eviction: EvictAtOnce, IgnoreResourceClaims: true, FeatureGates: DefaultFeatureGates(), ServeAlpha: true, ServeBeta: true,
	}
}

// DisruptionPlanner is a way of deciding which nodes are removed and replaced.
type DisruptionPlanner string

const (
	// PlannerGlobal looks at all nodes together: disruption.Global.
	PlannerGlobal DisruptionPlanner = "global"
	// PlannerReference does as Karpenter does, one method after another: disruption.Reference.
	PlannerReference DisruptionPlanner = "reference"
)

// Approval is a way of having commands of disruption approved.
type Approval string

const (
	// ApprovalNone has them begin without.
	ApprovalNone Approval = "none"
	// ApprovalConfigMap has each wait as a ConfigMap in Process.SystemNamespace until somebody annotates that.
	ApprovalConfigMap Approval = "configmap"
)

// Eviction is a way of making pods leave.
type Eviction string

const (
	// EvictAtOnce evicts pods as soon as their node is drained, as Karpenter does: provisioning.EvictAtOnce.
	EvictAtOnce Eviction = "at-once"
	// EvictSurgeFirst scales Deployments and ReplicaSets up before pods of theirs are evicted: provisioning.SurgeFirst.
	EvictSurgeFirst Eviction = "surge-first"
)

// Process is how the controller itself runs.
type Process struct {
	// Provider is the cloud that nodes come from; ProviderAWS by default.
	Provider Provider
	// AllowSimulatedNodes is needed for ProviderFake: its nodes are Node objects that no kubelet stands behind, and pods
	// bound to them never run. False by default.
	AllowSimulatedNodes bool
	// InstallCRDs has the controller create and update its CustomResourceDefinitions at start. False by default: their chart
	// does it.
	InstallCRDs bool
	// Kubeconfig is the path of the file that says how to reach the cluster; empty: the pod's own service account.
	Kubeconfig string
	// SystemNamespace is the namespace the controller runs in; "kube-system" by default.
	SystemNamespace string
	// LegacyConfigMap is the name of a ConfigMap in SystemNamespace with settings of releases up to 0.32,
	// "karpenter-global-settings" where Karpenter made it. Empty, the default: none is read. See Sources.ReadConfigMaps.
	LegacyConfigMap string
	// MetricsPort, HealthProbePort and WebhookPort are TCP ports from 1 to 65535, all different; 8080, 8081 and 8443 by
	// default.
	MetricsPort, HealthProbePort, WebhookPort int
	// DisableWebhook leaves the conversion webhook out; true by default.
	DisableWebhook bool
	// WebhookService is the name of the service in SystemNamespace by which the API server reaches the webhook; "drawknife" by
	// default. Its certificate is kept in a Secret of that name and "-webhook".
	WebhookService string
	// WebhookCertDir is a folder with the webhook's certificate, tls.crt, tls.key and optionally ca.crt, that somebody else
	// keeps. Empty, the default: the controller makes one.
	WebhookCertDir string
	// KubeClientQPS is how many calls a second are made to the API server on average, more than 0; 200 by default.
	KubeClientQPS float32
	// KubeClientBurst is how many may be made at once, at least 1; 300 by default.
	KubeClientBurst int
	// LeaderElection lets one replica act at a time; true by default.
	LeaderElection bool
	// LeaderElectionName and LeaderElectionNamespace are the Lease's; "drawknife-leader-election" and SystemNamespace by
	// default.
	LeaderElectionName, LeaderElectionNamespace string
	// KarpenterLease is the name of the lease that Karpenter holds while it acts, in whatever namespace;
	// "karpenter-leader-election" by default. Nothing is done while it is held. LeaseIgnored acts beside a Karpenter that knows no NodePools.
	KarpenterLease string
	// Adopt says whether nodes that Karpenter launched are taken over; AdoptNo by default.
	Adopt Adoption
	// WithoutObjectMetrics leaves out the metrics that have a time series for each node or pod, and the events of conditions that
	// change. False by default.
	WithoutObjectMetrics bool
	// EnableProfiling serves Go's profiles on the port of the metrics. False by default.
	EnableProfiling bool
	// MemoryLimit is the container's limit in bytes; -1, the default: none. See SoftMemoryLimit.
	MemoryLimit int64
	// LogLevel is the lowest level that is logged; slog.LevelInfo by default.
	LogLevel slog.Level
	// LogEncoding is the form of log records; LogJSON by default.
	LogEncoding LogEncoding
	// LogOutputPaths and LogErrorOutputPaths are files that records, and errors of logging itself, are written to; "stdout"
	// and "stderr" mean the process's own and are the defaults.
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

// SoftMemoryLimit is what debug.SetMemoryLimit is to be given: nine tenths of MemoryLimit, in bytes. Without a limit ok
// is false.
func (p Process) SoftMemoryLimit() (bytes int64, ok bool) {
	if p.MemoryLimit < 0 {
		return 0, false
	}
	return p.MemoryLimit/10*9 + p.MemoryLimit%10*9/10, true
}

// Provider is a cloud that nodes come from.
type Provider string

const (
	// ProviderAWS launches EC2 instances.
	ProviderAWS Provider = "aws"
	// ProviderFake makes Node objects without nodes; see Process.AllowSimulatedNodes.
	ProviderFake Provider = "fake"
)

// Adoption says what becomes of nodes that another controller launched.
type Adoption string

const (
	// AdoptNo waits while there are any and this controller never acted before.
	AdoptNo Adoption = "false"
	// AdoptYes takes them over.
	AdoptYes Adoption = "true"
	// AdoptDryRun prints what taking them over means, and does nothing.
	AdoptDryRun Adoption = "dry-run"
)

// LeaseIgnored is the value of Process.KarpenterLease for a Karpenter of v1alpha5 beside this controller: each has pools of its own.
const LeaseIgnored = "none"

// LogEncoding is the form of log records.
type LogEncoding string

const (
	// LogJSON is a JSON object a line.
	LogJSON LogEncoding = "json"
	// LogConsole is text for people.
	LogConsole LogEncoding = "console"
)
