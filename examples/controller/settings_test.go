package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
)

func loaded(t *testing.T, args ...string) settings.Settings {
	t.Helper()
	l, err := settings.Load(settings.Sources{Args: append([]string{"--cluster-name=blue"}, args...)})
	if err != nil {
		t.Fatal(err)
	}
	return l.Settings
}

// SET-116 to SET-130: the AWS provider is given what the settings say.
func TestAWSSettings(t *testing.T) {
	config := awsConfig(loaded(t, "--aws-region=eu-west-1", "--ami-refresh-interval=3m", "--subnet-refresh-interval=2m", "--vm-memory-overhead-percent=0.1",
		"--reserved-enis=1", "--isolated-vpc=true", "--interruption-queue=queue", "--disable-dry-run=true", "--enable-zonal-shift=true", "--feature-gates=ReservedCapacity=false"))
	if config.ClusterName != "blue" || config.SDK.Region != "eu-west-1" || *config.ImagesEvery != 3*time.Minute || *config.SubnetsEvery != 2*time.Minute ||
		*config.VMMemoryOverheadPercent != 0.1 || config.ReservedENIs != 1 || !config.IsolatedVPC || config.InterruptionQueue != "queue" ||
		!config.WithoutDryRuns || !config.ZonalShift || !config.WithoutReservedCapacity {
		t.Errorf("got %+v", config)
	}
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
}

// Options of instance types that go beyond Karpenter's settings reach the provider.
func TestInstanceTypeSettings(t *testing.T) {
	config := awsConfig(loaded(t, "--vpc-cni-prefix-delegation=true", "--vpc-cni-custom-networking=true", "--without-pod-eni=true", "--measured-memory-overhead=true",
		"--fractional-gpus=true", "--device-drivers=nvidia=gpu.nvidia.com", "--device-resources=U30=xilinx.com/u30", "--huge-pages=hugepages-2Mi=1Gi,hugepages-1Gi=2Gi"))
	want := instancetype.Options{
		PodDensity: instancetype.VPCCNI{PrefixDelegation: true, CustomNetworking: true}, WithoutPodENI: true, MemoryPrior: instancetype.MemoryPriorMeasured,
		FractionalGPUs: true, DeviceDrivers: map[string]string{"nvidia": "gpu.nvidia.com"}, DeviceResources: map[string]string{"U30": "xilinx.com/u30"}, HugePages: map[string]string{"hugepages-2Mi": "1Gi", "hugepages-1Gi": "2Gi"},
	}
	if !reflect.DeepEqual(config.InstanceTypes, want) || config.VMMemoryOverheadPercent != nil {
		t.Errorf("got %+v", config.InstanceTypes)
	}
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	if plain := awsConfig(loaded(t)); !reflect.DeepEqual(plain.InstanceTypes, instancetype.Options{}) {
		t.Errorf("by default %+v", plain.InstanceTypes)
	}
}

// SET-106, SET-107, SET-110: and the reconcilers.
func TestPlanningSettings(t *testing.T) {
	o, err := reconcilerOptions(loaded(t, "--batch-idle-duration=2s", "--batch-max-duration=20s", "--preference-policy=Ignore", "--min-values-policy=BestEffort", "--eviction=surge-first", "--fees=public-ipv4",
		"--disruption-robustness=4", "--disruption-checks=7", "--feature-gates=NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true,ProvisioningRequest=true,ReservedCapacity=false").Planning)
	if err != nil {
		t.Fatal(err)
	}
	if model := o.CostModel(&scheduling.Snapshot{}); len(model.Terms) != 1 || model.Terms[0].Name != "public-ipv4" {
		t.Errorf("the cost model is %+v", model)
	}
	if plain, err := reconcilerOptions(loaded(t).Planning); err != nil || plain.CostModel != nil {
		t.Error("fees are counted that are not set", err)
	}
	if global, ok := o.Disruption.Planner.(*disruption.Global); !ok || global.Robustness != 4 || global.Checks != 7 || global.Query.Preferences != "Ignore" {
		t.Errorf("the planner is %+v", o.Disruption.Planner)
	}
	if o.Batch.Idle != 2*time.Second || o.Batch.Max != 20*time.Second || o.Query.Preferences != "Ignore" || o.Query.MinValues != "BestEffort" ||
		o.Evictor != (provisioning.SurgeFirst{}) || !o.Features.NodeOverlay || !o.Features.StaticCapacity || !o.Features.CapacityBuffer || !o.Features.ProvisioningRequest || !o.Features.NoReservedCapacity {
		t.Errorf("got %+v", o)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// SET-154 to SET-156: records go where they are to, in the form and from the level that is set; that one could not be written
// is said elsewhere.
func TestLogging(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"text": {[]string{"--log-encoding=console"}, `level=INFO msg=told commit=`},
		"JSON": {[]string{"--log-encoding=json"}, `"level":"INFO","msg":"told","commit":`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, trouble bytes.Buffer
			log, closeLog, err := newLogger(loaded(t, append(c.args, "--log-output-paths=stdout,"+path)...).Process, &out, &trouble)
			if err != nil {
				t.Fatal(err)
			}
			log.Debug("not told")
			log.Info("told", "n", 1)
			closeLog()
			written, err := os.ReadFile(path)
			if !strings.Contains(out.String(), c.want) || !strings.Contains(string(written), c.want) || err != nil || trouble.Len() > 0 || strings.Contains(out.String(), "not told") {
				t.Errorf("out %q, file %q, %v, trouble %q", &out, written, err, &trouble)
			}
		})
	}
	var trouble bytes.Buffer
	log, closeLog, err := newLogger(loaded(t).Process, brokenWriter{}, &trouble)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog()
	log.Info("told")
	if !strings.Contains(trouble.String(), "the disk is full") {
		t.Errorf("told %q", &trouble)
	}
	for _, setting := range []string{"log-output-paths", "log-error-output-paths"} {
		if _, _, err := newLogger(loaded(t, "--"+setting+"="+t.TempDir()).Process, &trouble, &trouble); err == nil || !strings.HasPrefix(err.Error(), setting+":") {
			t.Errorf("a folder as %s: %v", setting, err)
		}
	}
}

// Settings that can't be end the program with the code for that, and --help with none.
func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"help":          {[]string{"--help"}, exitDone},
		"version":       {[]string{"--provider=fake", "--version"}, exitDone},
		"no cluster":    {nil, exitUsage},
		"fake as it is": {[]string{"--provider=fake"}, exitUsage},
		"unknown flag":  {[]string{"--nonsense"}, exitUsage},
		"no API server": {[]string{"--provider=fake", "--allow-simulated-nodes=true", "--kubeconfig=" + filepath.Join(t.TempDir(), "none")}, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			var out, trouble bytes.Buffer
			if got := run(t.Context(), c.args, &out, &trouble); got != c.want || out.Len()+trouble.Len() == 0 {
				t.Errorf("exit code %d, want %d: %s%s", got, c.want, &out, &trouble)
			}
			if name == "version" && (!strings.HasPrefix(out.String(), "drawknife controller ") || strings.Count(out.String(), "\n") != 1) {
				t.Errorf("%q, want one line that says what it is", &out)
			}
		})
	}
}
