package settings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/examples/settings"
)

// SET-131 to SET-135: the ConfigMap by itself needs no cluster's name, and what it leaves out is as old releases had it.
func TestFromConfigMap(t *testing.T) {
	read, err := settings.FromConfigMap(map[string]string{
		"aws.defaultInstanceProfile": "p", "aws.enableENILimitedPodDensity": "false", "aws.tags.a": "b", "aws.vmMemoryOverheadPercent": "0.1", "nonsense": "x",
	}, settings.FirstGenerationUnknown)
	if err != nil {
		t.Fatal(err)
	}
	off := false
	want := &convert.LegacySettings{DefaultInstanceProfile: "p", Tags: map[string]string{"a": "b"}, ENILimitedPodDensity: &off}
	if diff := cmp.Diff(want, read.Settings.AWS.Legacy.ForConversion()); diff != "" {
		t.Errorf("for conversion (-want +got):\n%s", diff)
	}
	if read.Settings.AWS.VMMemoryOverheadPercent != 0.1 || read.Settings.Process.Provider != settings.ProviderAWS || !read.Settings.Planning.ServeAlpha {
		t.Errorf("settings %+v", read.Settings)
	}
	if diff := cmp.Diff([]string{"W701 file nonsense"}, problems(read.Warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if empty, err := settings.FromConfigMap(nil, settings.FirstGenerationUnknown); err != nil || empty.Settings.AWS.Legacy == nil || !empty.Settings.AWS.Legacy.EnableENILimitedPodDensity {
		t.Errorf("an empty one: %+v, %v", empty, err)
	}
	if got := (*settings.Legacy)(nil).ForConversion(); got != nil {
		t.Errorf("nil becomes %+v", got)
	}
}

// SET-167: without objects of the first generation settings for them mean nothing; what can't be is refused.
func TestFromConfigMapWarnsAndRefuses(t *testing.T) {
	read, err := settings.FromConfigMap(map[string]string{"aws.enablePodENI": "true"}, settings.FirstGenerationAbsent)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"W704 file aws.enablePodENI"}, problems(read.Warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	_, err = settings.FromConfigMap(map[string]string{"aws.enablePodENI": "maybe", "aws.tags": `{"karpenter.sh/nodepool":"x"}`}, settings.FirstGenerationUnknown)
	if diff := cmp.Diff([]string{"W706 file aws.enablePodENI", "W707 file aws.tags"}, refused(t, err)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}
