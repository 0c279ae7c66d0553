package settings_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
)

// SET-173, SET-068 to SET-093: a values file with everything in it gives the settings, and lists what says how the pod is run.
func TestFullValuesFileOf026(t *testing.T) {
	loaded := load(t, settings.Sources{Args: []string{"--settings-file=testdata/values-0.26.yaml"}, ReadFile: os.ReadFile})
	want := settings.Default()
	want.AWS.ClusterName, want.AWS.Region = "blue", "ap-northeast-2"
	want.AWS.Legacy = &settings.Legacy{
		DefaultInstanceProfile: "KarpenterNodeInstanceProfile-blue", EnableENILimitedPodDensity: true,
		NodeNameConvention: settings.NodeNameIP, AssumeRoleDuration: 15 * time.Minute,
		Tags: map[string]string{"Creator": "someone", "ManagedBy": "Helm", "Maintainer": "team"},
	}
	want.Process.LogLevel, want.Process.LogEncoding = -4, settings.LogConsole
	want.Process.LeaderElectionNamespace = "kube-system"
	if diff := cmp.Diff(want, loaded.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	moved := []string{
		"W703 file controller.errorOutputPaths", "W703 file controller.outputPaths", "W703 file settings.aws.clusterName",
		"W703 file settings.aws.isolatedVPC", "W703 file settings.aws.vmMemoryOverheadPercent", "W703 file settings.aws.defaultInstanceProfile",
		"W703 file settings.aws.enablePodENI", "W703 file settings.aws.enableENILimitedPodDensity", "W703 file settings.aws.nodeNameConvention",
		"W703 file settings.aws.tags",
	}
	if diff := cmp.Diff(moved, problems(loaded.Warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	ignored := strings.Fields(`additionalAnnotations additionalClusterRoleRules additionalLabels affinity controller.env controller.envFrom
		controller.extraVolumeMounts controller.image controller.resources controller.securityContext controller.sidecarContainer
		controller.sidecarVolumeMounts dnsConfig dnsPolicy extraObjects extraVolumes fullnameOverride hostNetwork imagePullPolicy
		imagePullSecrets nameOverride nodeSelector podAnnotations podDisruptionBudget podLabels podSecurityContext priorityClassName
		replicas revisionHistoryLimit serviceAccount serviceMonitor strategy terminationGracePeriodSeconds tolerations
		topologySpreadConstraints webhook.logLevel`)
	if diff := cmp.Diff(ignored, loaded.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
}

// SET-165, SET-061, SET-099 to SET-101, SET-036, SET-040: layouts of other generations, and what a file may not say.
func TestChartLayouts(t *testing.T) {
	for _, c := range []struct {
		name, values string
		// want are names of settings with their values, then problems.
		want map[string]string
		bad  []string
	}{
		{"0.18", "clusterName: blue\nclusterEndpoint: https://example.com\naws: {defaultInstanceProfile: p}\ncontroller: {batchMaxDuration: 20s, batchIdleDuration: 2s}\n",
			map[string]string{"cluster-name": "blue", "cluster-endpoint": "https://example.com", "aws-default-instance-profile": "p", "batch-max-duration": "20s", "batch-idle-duration": "2s"},
			[]string{"W703 file clusterEndpoint", "W703 file clusterName", "W703 file controller.batchIdleDuration", "W703 file controller.batchMaxDuration"}},
		{"0.32", "settings: {clusterName: blue, interruptionQueue: q, featureGates: {drift: false}}\nlogConfig: {enabled: true, outputPaths: [stdout], logLevel: {global: error, controller: debug, webhook: error}, logEncoding: json}\n",
			map[string]string{"cluster-name": "blue", "interruption-queue": "q", "log-level": "debug",
				"feature-gates": "Drift=false,SpotToSpotConsolidation=false,NodeRepair=false,ReservedCapacity=true,NodeOverlay=false,StaticCapacity=false,CapacityBuffer=false,ProvisioningRequest=false"},
			[]string{"W703 file logConfig.logEncoding", "W703 file logConfig.logLevel.global", "W703 file logConfig.outputPaths"}},
		{"v1", "settings: {clusterName: blue, featureGates: {nodeRepair: true, reservedCapacity: false, spotToSpotConsolidation: true, nodeOverlay: true, staticCapacity: true, capacityBuffer: true}}\nlogLevel: info\nlogOutputPaths: [stdout, /x]\n",
			map[string]string{"log-output-paths": "stdout,/x",
				"feature-gates": "Drift=true,SpotToSpotConsolidation=true,NodeRepair=true,ReservedCapacity=false,NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true,ProvisioningRequest=false"}, nil},
		{"webhook on", "settings: {clusterName: blue}\nwebhook: {enabled: true}\n", map[string]string{"disable-webhook": "false"}, nil},
		{"own level over the one for all", "settings: {clusterName: blue}\nlogLevel: error\ncontroller: {logLevel: debug}\n", map[string]string{"log-level": "debug"}, nil},
		{"two layouts that agree", "clusterName: blue\nsettings: {clusterName: blue, aws: {clusterName: blue}}\n", map[string]string{"cluster-name": "blue"}, []string{"W703 file clusterName", "W703 file settings.aws.clusterName"}},
		{"gates of the AWS provider", "settings: {clusterName: blue, awsFeatureGates: {nodeClassCEL: true, x: false}}\n", nil, []string{"W701 file settings.awsFeatureGates.nodeClassCEL"}},
		{"values may be empty", "settings: {clusterName: blue, aws: , batchMaxDuration: , reservedENIs: \"\"}\ncontroller: {}\n", map[string]string{"batch-max-duration": "10s"}, nil},

		{"two layouts that differ", "clusterName: blue\nsettings: {aws: {clusterName: green}}\n", nil, []string{"W703 file clusterName", "W703 file settings.aws.clusterName", "W702 file settings.aws.clusterName"}},
		{"one gate with two values", "settings: {clusterName: blue, featureGates: {drift: true, driftEnabled: false}}\n", nil, []string{"W703 file settings.featureGates.driftEnabled", "W702 file settings.featureGates.driftEnabled"}},
		{"the container's environment against a value", "settings: {clusterName: blue}\nlogLevel: info\ncontroller: {env: [{name: LOG_LEVEL, value: error}]}\n", nil, []string{"W702 file logLevel"}},
		{"no value for a gate", "settings: {clusterName: blue, featureGates: {drift: often}}\n", nil, []string{"W706 file settings.featureGates.drift"}},
		{"a mapping for a value", "settings: {clusterName: {a: b}}\n", nil, []string{"W706 file settings.clusterName"}},
		{"a tag that is a list", "settings: {clusterName: blue, aws: {tags: {a: [b]}}}\n", nil, []string{"W706 file settings.aws.tags.a"}},
		{"an environment that is no list", "settings: {clusterName: blue}\ncontroller: {env: {A: b}}\n", nil, []string{"W706 file controller.env"}},
		{"broken off", "settings:\n  clusterName: \"bl", nil, []string{"W706 file chart values"}},
		{"a key twice", "logLevel: info\nlogLevel: debug\n", nil, []string{"W706 file chart values"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			layer := settings.ParseChartValues([]byte(c.values))
			if diff := cmp.Diff(c.bad, problems(layer.Problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			loaded, err := settings.Combine(layer)
			var refused *settings.Error
			if wrong := slices.ContainsFunc(layer.Problems, func(p *settings.Problem) bool { return p.Code.IsError() }); wrong != errors.As(err, &refused) {
				t.Fatalf("combined: %v", err)
			} else if wrong {
				return
			}
			for name, want := range c.want {
				if got := at(t, loaded, name).Text; got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

// Unknown paths are warnings, a mapping as a whole where it is unknown as a whole.
func TestUnknownValues(t *testing.T) {
	l := settings.ParseChartValues([]byte("settings: {clusterNam: blue, aws: {x: y}}\nnoSuchThing: {a: {b: c}}\ncontroller: 3\n"))
	want := []string{"W701 file controller", "W701 file noSuchThing", "W701 file settings.aws.x", "W701 file settings.clusterNam"}
	if diff := cmp.Diff(want, problems(l.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := l.Problems[0].Message; got != "unknown settings key controller ignored" {
		t.Errorf("says %q", got)
	}
}

// SET-092, SET-167: what is wrong in the container's environment is told by the whole path of the variable.
func TestMessagesOfTheEnvironment(t *testing.T) {
	l := settings.ParseChartValues([]byte("controller: {env: [{name: LEADER_ELECT, value: 'false'}, {name: RESERVED_ENIS, value: few}]}\n"))
	var got []string
	for _, p := range l.Problems {
		got = append(got, p.Message)
	}
	want := []string{
		"controller.env[LEADER_ELECT] is deprecated, use DISABLE_LEADER_ELECTION=true",
		`controller.env[RESERVED_ENIS]: "few" is not a valid number: write a whole number in digits that fits into 64 bits`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file may hold a ConfigMap as kubectl prints it, of settings or of logging; a file that is too large is not read.
func TestFileWithConfigMap(t *testing.T) {
	l := settings.ParseFile([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: karpenter-global-settings}\ndata: {aws.clusterName: blue}\n"))
	loaded, err := settings.Combine(l, settings.ParseFile([]byte("kind: ConfigMap\nmetadata: {name: config-logging}\ndata: {loglevel.controller: error}\n")))
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Settings.AWS.ClusterName != "blue" || loaded.Settings.Process.LogLevel != 8 {
		t.Errorf("got %+v", loaded.Settings)
	}
	large := settings.ParseFile([]byte(strings.Repeat("#", 1<<20+1)))
	if diff := cmp.Diff([]string{"W706 file settings file"}, problems(large.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A path of an older layout is told with the one that later layouts have, a setting that has none with what to write instead.
func TestMovedValuesNameTheirPlace(t *testing.T) {
	loaded, err := settings.Combine(settings.ParseChartValues([]byte("settings: {aws: {clusterName: blue, defaultInstanceProfile: p}}\n")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range loaded.Warnings {
		got = append(got, p.Message)
	}
	want := []string{
		"settings.aws.clusterName is deprecated, use settings.clusterName",
		"settings.aws.defaultInstanceProfile is deprecated, use spec.instanceProfile of the EC2NodeClass",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
