package settings_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/examples/settings"
)

// SET-001, SET-096, SET-174, SET-166: an installation of 0.18 has its settings in the environment but for the windows, which
// are in the ConfigMap; names that have a successor are told so.
func TestEnvironmentOf018(t *testing.T) {
	loaded := load(t, settings.Sources{
		LookupEnv: environment(map[string]string{
			"CLUSTER_NAME": "blue", "CLUSTER_ENDPOINT": "https://example.com", "AWS_DEFAULT_INSTANCE_PROFILE": "profile",
			"AWS_ENABLE_POD_ENI": "true", "AWS_ENI_LIMITED_POD_DENSITY": "false", "AWS_ISOLATED_VPC": "true",
			"AWS_NODE_NAME_CONVENTION": "resource-name", "VM_MEMORY_OVERHEAD": "0.08",
		}),
		ConfigMap: map[string]string{"batchMaxDuration": "20s", "batchIdleDuration": "2s"},
	})
	s := loaded.Settings
	legacy := settings.Legacy{
		DefaultInstanceProfile: "profile", EnablePodENI: true, NodeNameConvention: settings.NodeNameResource, AssumeRoleDuration: 15 * time.Minute,
	}
	if diff := cmp.Diff(&legacy, s.AWS.Legacy); diff != "" {
		t.Errorf("legacy (-want +got):\n%s", diff)
	}
	if s.AWS.ClusterName != "blue" || s.AWS.ClusterEndpoint != "https://example.com" || !s.AWS.IsolatedVPC || s.AWS.VMMemoryOverheadPercent != 0.08 ||
		s.Planning.BatchMaxDuration != 20*time.Second || s.Planning.BatchIdleDuration != 2*time.Second {
		t.Errorf("got %+v, %+v", s.AWS, s.Planning)
	}
	want := []string{
		"W703 env AWS_ISOLATED_VPC", "W703 env VM_MEMORY_OVERHEAD",
		"W703 env AWS_DEFAULT_INSTANCE_PROFILE", "W703 env AWS_ENABLE_POD_ENI", "W703 env AWS_ENI_LIMITED_POD_DENSITY", "W703 env AWS_NODE_NAME_CONVENTION",
	}
	if diff := cmp.Diff(want, problems(loaded.Warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := loaded.Warnings[0].Message; got != "AWS_ISOLATED_VPC is deprecated, use ISOLATED_VPC" {
		t.Errorf("says %q", got)
	}
}

// SET-166, SET-103: an old and a new name may both be set if they mean the same, the opposite of an opposite included.
func TestOldAndNewName(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{"ISOLATED_VPC": "true", "AWS_ISOLATED_VPC": "true"}, []string{"W703 env AWS_ISOLATED_VPC"}},
		{map[string]string{"ISOLATED_VPC": "true", "AWS_ISOLATED_VPC": "false"}, []string{"W702 env AWS_ISOLATED_VPC", "W703 env AWS_ISOLATED_VPC"}},
		{map[string]string{"DISABLE_LEADER_ELECTION": "true", "LEADER_ELECT": "false"}, []string{"W703 env LEADER_ELECT"}},
		{map[string]string{"DISABLE_LEADER_ELECTION": "true", "LEADER_ELECT": "true"}, []string{"W702 env LEADER_ELECT", "W703 env LEADER_ELECT"}},
		{map[string]string{"VM_MEMORY_OVERHEAD_PERCENT": "0.10", "VM_MEMORY_OVERHEAD": "0.1"}, []string{"W703 env VM_MEMORY_OVERHEAD"}},
		{map[string]string{"LEADER_ELECT": "no"}, []string{"W703 env LEADER_ELECT", "W706 env LEADER_ELECT"}},
	} {
		got := problems(settings.ParseEnv(environment(c.env)).Problems)
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: problems (-want +got):\n%s", c.env, diff)
		}
	}
	l := settings.ParseEnv(environment(map[string]string{"LEADER_ELECT": "false"}))
	if got := l.Problems[0].Message; got != "LEADER_ELECT is deprecated, use DISABLE_LEADER_ELECTION=true" {
		t.Errorf("says %q", got)
	}
}

// SET-002, SET-024, SET-164, SET-171, SET-172: the ConfigMap of 0.19 to 0.31, both forms of tags, and what it can't be.
func TestLegacyConfigMap(t *testing.T) {
	base := map[string]string{
		"batchMaxDuration": "10s", "batchIdleDuration": "1s", "aws.clusterName": "blue", "aws.clusterEndpoint": "https://example.com",
		"aws.defaultInstanceProfile": "profile", "aws.interruptionQueueName": "queue",
	}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(base)
		maps.Copy(all, more)
		return all
	}
	for _, c := range []struct {
		name string
		data map[string]string
		tags map[string]string
	}{
		{"SET-171 a key for each tag", with(map[string]string{"aws.tags.a": "b"}), map[string]string{"a": "b"}},
		{"SET-172 JSON", with(map[string]string{"aws.tags": `{"Creator":"x","ManagedBy":"Helm"}`}), map[string]string{"Creator": "x", "ManagedBy": "Helm"}},
		{"both forms", with(map[string]string{"aws.tags": `{"Creator":"x"}`, "aws.tags.example.com/a": "b"}), map[string]string{"Creator": "x", "example.com/a": "b"}},
		{"no tags", with(map[string]string{"aws.tags": ""}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			loaded := load(t, settings.Sources{ConfigMap: c.data})
			s := loaded.Settings
			if diff := cmp.Diff(c.tags, s.AWS.Legacy.Tags); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
			if s.AWS.ClusterName != "blue" || s.AWS.InterruptionQueue != "queue" || s.AWS.Legacy.DefaultInstanceProfile != "profile" || len(loaded.Warnings) > 0 {
				t.Errorf("got %+v, warnings %v", s.AWS, problems(loaded.Warnings))
			}
		})
	}
	for _, c := range []struct {
		name, key, value, want string
	}{
		{"unknown key", "aws.noSuchThing", "x", "W701 file aws.noSuchThing"},
		{"unknown feature gate", "featureGates.x", "true", "W701 file featureGates.x"},
		{"not JSON", "aws.tags", "a=b", "W706 file aws.tags"},
		{"nested JSON", "aws.tags", `{"a":{"b":"c"}}`, "W706 file aws.tags"},
		{"tag twice", "aws.tags", `{"a":"c"}`, "W702 file aws.tags.a"},
		{"SET-162 a bare number", "batchMaxDuration", "10", "W706 file batchMaxDuration"},
		{"gate that is no boolean", "featureGates.driftEnabled", "yes", "W706 file featureGates.driftEnabled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := map[string]string{c.key: c.value}
			if c.name == "tag twice" {
				data["aws.tags.a"] = "b"
			}
			if diff := cmp.Diff([]string{c.want}, problems(settings.ParseLegacyConfigMap(data).Problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// SET-065: the ConfigMap of logging is read up to 0.37; the webhook has no log of its own.
func TestLoggingConfigMap(t *testing.T) {
	loaded := load(t, settings.Sources{Args: []string{"--cluster-name=blue"}, LoggingConfigMap: map[string]string{
		"zap-logger-config":   `{"level":"info","encoding":"console","outputPaths":["stdout","/var/log/x"],"errorOutputPaths":["stderr"],"encoderConfig":{"timeKey":"time"}}`,
		"loglevel.controller": "debug", "loglevel.webhook": "error",
	}})
	p := loaded.Settings.Process
	if p.LogLevel.String() != "DEBUG" || p.LogEncoding != settings.LogConsole || !slices.Equal(p.LogOutputPaths, []string{"stdout", "/var/log/x"}) {
		t.Errorf("got %+v", p)
	}
	if diff := cmp.Diff([]string{"loglevel.webhook"}, loaded.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	l := settings.ParseLoggingConfigMap(map[string]string{"zap-logger-config": "level: info", "loglevel.x": "debug"})
	if diff := cmp.Diff([]string{"W701 file loglevel.x", "W706 file zap-logger-config"}, problems(l.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// SET-002, SET-007: the ConfigMap that a setting names is read in the controller's namespace, before anything is required.
func TestConfigMapsAreReadFromTheCluster(t *testing.T) {
	loaded := load(t, settings.Sources{
		Args:      []string{"--legacy-config-map=karpenter-global-settings", "--batch-max-duration=30s"},
		LookupEnv: environment(map[string]string{"SYSTEM_NAMESPACE": "karpenter"}),
		ReadConfigMaps: func(p settings.Process) (map[string]string, map[string]string, error) {
			if p.SystemNamespace != "karpenter" || p.LegacyConfigMap != "karpenter-global-settings" {
				t.Errorf("reads %s/%s", p.SystemNamespace, p.LegacyConfigMap)
			}
			return map[string]string{"aws.clusterName": "blue", "batchMaxDuration": "20s"}, map[string]string{"loglevel.controller": "debug"}, nil
		},
	})
	if s := loaded.Settings; s.AWS.ClusterName != "blue" || s.Planning.BatchMaxDuration != 30*time.Second || s.Process.LogLevel.String() != "DEBUG" {
		t.Errorf("got %+v", s)
	}
	_, err := settings.Load(settings.Sources{Args: []string{"--legacy-config-map=x"}, ReadConfigMaps: func(settings.Process) (map[string]string, map[string]string, error) {
		return nil, nil, errors.New("no such object")
	}})
	if err == nil || err.Error() != "reading configmap kube-system/x with the settings of an old release of Karpenter: no such object" {
		t.Errorf("got %v", err)
	}
}

// SET-004: nothing reads the ConfigMap unless it is named.
func TestConfigMapIsOptIn(t *testing.T) {
	if name := settings.Default().Process.LegacyConfigMap; name != "" {
		t.Errorf("reads %q by default", name)
	}
}

// SET-167, SET-102, SET-018, SET-019, SET-021: without objects of v1alpha5 what only they heed has no effect.
func TestAlphaSettingsWithoutAlpha(t *testing.T) {
	data := map[string]string{
		"aws.clusterName": "blue", "aws.enablePodENI": "true", "aws.enableENILimitedPodDensity": "false", "aws.nodeNameConvention": "ip-name",
		"aws.defaultInstanceProfile": "x", "aws.tags.a": "b",
	}
	if loaded := load(t, settings.Sources{ConfigMap: data}); len(loaded.Warnings) > 0 {
		t.Errorf("with them: %v", problems(loaded.Warnings))
	}
	loaded := load(t, settings.Sources{ConfigMap: data, Args: []string{"--serve-alpha=false"}})
	want := []string{
		"W704 file aws.defaultInstanceProfile", "W704 file aws.enablePodENI", "W704 file aws.enableENILimitedPodDensity",
		"W704 file aws.nodeNameConvention", "W704 file aws.tags.a",
	}
	if diff := cmp.Diff(want, problems(loaded.Warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := loaded.Warnings[1].Message; got != "aws.enablePodENI has no effect since Karpenter 0.32" {
		t.Errorf("says %q", got)
	}
}

// SET-025, SET-135: tags of a template win over global ones; reserved keys are refused, all of them at once.
func TestGlobalTags(t *testing.T) {
	l := &settings.Legacy{Tags: map[string]string{"a": "global", "b": "global"}}
	got := l.TagsFor(map[string]string{"a": "template", "c": "template"})
	if diff := cmp.Diff(map[string]string{"a": "template", "b": "global", "c": "template"}, got); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if got := (*settings.Legacy)(nil).TagsFor(map[string]string{"c": "d"}); len(got) != 1 {
		t.Errorf("without global tags: %v", got)
	}
	_, err := settings.Load(settings.Sources{ConfigMap: map[string]string{
		"aws.clusterName": "blue", "aws.tags": `{"karpenter.sh/nodepool":"x","kubernetes.io/cluster/blue":"owned","eks:eks-cluster-name":"x","ok":"x"}`,
	}})
	if diff := cmp.Diff([]string{"W707 file aws.tags", "W707 file aws.tags", "W707 file aws.tags"}, refused(t, err)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if !strings.Contains(err.Error(), "reserved tag key eks:eks-cluster-name in global tags") {
		t.Errorf("says %v", err)
	}
}

// SET-179, SET-133: without density by interfaces a node of the oldest generation takes 110 pods.
func TestFixedPodDensity(t *testing.T) {
	loaded := load(t, settings.Sources{ConfigMap: map[string]string{"aws.clusterName": "blue", "aws.enableENILimitedPodDensity": "false"}})
	pods := func(legacy *settings.Legacy) int64 {
		all, err := catalog.Embedded()
		if err != nil {
			t.Fatal(err)
		}
		types, err := instancetype.ResolveSettings(all, instancetype.Settings{Kubelet: instancetype.Kubelet{MaxPods: legacy.DefaultMaxPods()}})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range types {
			if it.Name == "m5.large" {
				quantity := it.Capacity["pods"]
				return quantity.Value()
			}
		}
		t.Fatal("there is no m5.large")
		return 0
	}
	if got := pods(loaded.Settings.AWS.Legacy); got != 110 {
		t.Errorf("m5.large takes %d pods, want 110", got)
	}
	if got := pods(nil); got != 29 {
		t.Errorf("m5.large takes %d pods by its interfaces, want 29", got)
	}
}
