package v1alpha5

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/internal/kindfields"
	"github.com/drawknife/drawknife/internal/manifesttest"
	"github.com/drawknife/drawknife/internal/seeded"
)

var update = flag.Bool("update", false, "rewrite the golden files in their canonical form")

// object is what all kinds have in common.
type object interface {
	runtime.Object
	Validate() field.ErrorList
}

// aws are the options that the AWS provider's objects are converted with, without defaults.
func aws() ConvertOptions {
	return ConvertOptions{
		NodeTemplate:  schema.GroupVersionKind{Group: "karpenter.k8s.aws", Version: "v1alpha1", Kind: "AWSNodeTemplate"},
		NodeClass:     schema.GroupVersionKind{Group: "karpenter.k8s.aws", Version: "v1beta1", Kind: "EC2NodeClass"},
		RetiredLabels: []string{"karpenter.k8s.aws/instance-pods"},
	}
}

// API-001, API-004, API-008, API-042 to API-054, API-074 to API-089, API-098 to API-106: every field is read, and written
// as it was.
func TestManifestsRoundTrip(t *testing.T) {
	for file, newObject := range map[string]func() object{
		"provisioner-full.yaml":   func() object { return &Provisioner{} },
		"provisioner-inline.yaml": func() object { return &Provisioner{} },
		"machine.yaml":            func() object { return &Machine{} },
	} {
		t.Run(file, func(t *testing.T) {
			o := newObject()
			if manifesttest.RoundTrip(t, file, o, AddToScheme, *update) {
				comeBack(t, o)
			}
		})
	}
}

// comeBack converts the object to v1 and back, and by v1beta1 alone.
func comeBack(t interface {
	Helper()
	Fatalf(string, ...any)
	Fatal(...any)
}, o object) {
	t.Helper()
	options := aws()
	options.Force = true
	before, _ := json.Marshal(o)
	var back [2]object
	switch o := o.(type) {
	case *Provisioner:
		hub, _ := o.ToV1(options)
		back[0], _ = ProvisionerFromV1(hub, o.Provenance(), options)
		beta, _ := o.ToV1Beta1(options)
		back[1], _ = ProvisionerFromV1Beta1(beta, o.Provenance(), options)
	case *Machine:
		hub, _ := o.ToV1(options)
		back[0], _ = MachineFromV1(hub, o.Provenance(), options)
		beta, _ := o.ToV1Beta1(options)
		back[1], _ = MachineFromV1Beta1(beta, o.Provenance(), options)
	}
	if after, _ := json.Marshal(o); !bytes.Equal(before, after) {
		t.Fatalf("the argument was changed from\n%s\nto\n%s", before, after)
	}
	for i, got := range back {
		var want, have any
		for into, from := range map[*any]object{&want: o, &have: got} {
			text, err := json.Marshal(from)
			if err != nil {
				t.Fatal(err)
			}
			*into = canonical(t, text, i == 0)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatalf("came back otherwise, by v1 alone %d (-before +after):\n%s", i, diff)
		}
	}
}

// canonical takes out of an object what conversions say they don't keep: apiVersion and kind, which are filled in, how
// durations are written, and in v1 what it has of conditions.
func canonical(t interface{ Fatal(...any) }, text []byte, lossyStatus bool) any {
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	delete(o, "apiVersion")
	delete(o, "kind")
	status, _ := o["status"].(map[string]any)
	if _, machine := status["nodeName"]; machine && lossyStatus {
		delete(status, "conditions")
	}
	spec, _ := o["spec"].(map[string]any)
	for _, at := range []string{"kubeletConfiguration", "kubelet"} {
		kubelet, _ := spec[at].(map[string]any)
		periods, _ := kubelet["evictionSoftGracePeriod"].(map[string]any)
		for signal, period := range periods {
			d, err := v1.ParseDuration(period.(string))
			if err != nil {
				t.Fatal(err)
			}
			periods[signal] = d.Duration.String()
		}
	}
	return o
}

// API-009, API-011, API-258, API-261, API-264, API-270, API-272 to API-275, API-281, API-294, API-296, API-297: to v1 and back
// gives the Provisioner back, and so does v1beta1; the argument stays as it was, and a second conversion gives the same.
func TestRandomProvisionersSurvive(t *testing.T) {
	var drawn kindfields.Seen
	seeded.Check(t, func(t *rapid.T) {
		p := drawProvisioner(t)
		drawn.Note(p)
		if errs := p.Validate(); len(errs) > 0 {
			t.Fatalf("drawn invalid: %v", errs.ToAggregate())
		}
		hub, warnings := p.ToV1(aws())
		if err := warnings.Err(); err != nil {
			// API-269: what is valid converts, or says why not.
			if hub != nil || p.Spec.Provider != nil || p.Spec.ProviderRef != nil {
				t.Fatal(err)
			}
			return
		}
		if errs := hub.Validate(); len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		again, againWarnings := p.ToV1(aws())
		if diff := cmp.Diff(hub, again) + cmp.Diff(warnings, againWarnings); diff != "" {
			t.Fatalf("a second conversion differs:\n%s", diff)
		}
		comeBack(t, p)
	})
	if !testing.Short() { // which draws a fifth
		drawn.Complete(t, &Provisioner{}, manifesttest.UndrawnMetadata()...)
	}
}

// API-334, API-335: nor is anything lost of a Machine.
func TestRandomMachinesSurvive(t *testing.T) {
	var drawn kindfields.Seen
	seeded.Check(t, func(t *rapid.T) {
		p := drawProvisioner(t)
		m := &Machine{
			ObjectMeta: p.ObjectMeta,
			Spec: MachineSpec{
				Taints: p.Spec.Taints, StartupTaints: p.Spec.StartupTaints, Requirements: p.Spec.Requirements,
				Kubelet: p.Spec.KubeletConfiguration, MachineTemplateRef: p.Spec.ProviderRef,
				Resources: v1.ResourceRequirements{Requests: manifesttest.Resources().Draw(t, "requests")},
			},
			Status: MachineStatus{
				NodeName: manifesttest.Word().Draw(t, "node"), ProviderID: manifesttest.Word().Draw(t, "provider"),
				Capacity: manifesttest.Resources().Draw(t, "capacity"), Allocatable: manifesttest.Resources().Draw(t, "allocatable"),
				Conditions: drawConditions(t, ConditionMachineLaunched, ConditionMachineRegistered, ConditionMachineInitialized, ConditionMachineEmpty, ConditionReady),
			},
		}
		m.Labels = map[string]string{ProvisionerNameLabelKey: "pool"}
		if m.Spec.MachineTemplateRef == nil {
			m.Annotations = map[string]string{ProviderAnnotationKey: "{}"}
		}
		drawn.Note(m)
		if _, warnings := m.ToV1(aws()); warnings.Err() != nil {
			t.Fatal(warnings.Err())
		}
		comeBack(t, m)
	})
	if !testing.Short() { // which draws a fifth
		drawn.Complete(t, &Machine{}, manifesttest.UndrawnMetadata()...)
	}
}

func FuzzManifest(f *testing.F) {
	manifesttest.Seed(f)
	f.Add([]byte("metadata: {name: a}\nspec: {providerRef: {name: a}, ttlSecondsUntilExpired: 9223372036854775807, limits: {resources: {cpu: 1e9}}}"))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		for _, newObject := range []func() object{
			func() object { return &Provisioner{} },
			func() object { return &Machine{} },
		} {
			o := newObject()
			if !manifesttest.Reread(t, manifest, o, newObject()) {
				continue
			}
			convertBothWays(t, o)
		}
	})
}

// convertBothWays checks API-269: what is valid gives an object that v1 takes, or an error; and nothing panics.
func convertBothWays(t *testing.T, o object) {
	valid := len(o.Validate()) == 0
	switch o := o.(type) {
	case *Provisioner:
		hub, warnings := o.ToV1(aws())
		if (hub == nil) != (warnings.Err() != nil) {
			t.Fatalf("hub %v, error %v", hub, warnings.Err())
		}
		if valid && hub != nil && len(hub.Validate()) > 0 {
			t.Fatalf("v1 refuses it: %v", hub.Validate().ToAggregate())
		}
		if hub != nil {
			ProvisionerFromV1(hub, o.Provenance(), aws())
		}
	case *Machine:
		hub, warnings := o.ToV1(aws())
		if (hub == nil) != (warnings.Err() != nil) {
			t.Fatalf("hub %v, error %v", hub, warnings.Err())
		}
		if hub != nil {
			MachineFromV1(hub, o.Provenance(), aws())
		}
	}
}

// drawProvisioner draws a valid Provisioner; which fields it can have is checked by the tests that use it.
func drawProvisioner(t *rapid.T) *Provisioner {
	word := manifesttest.Word()
	p := &Provisioner{ObjectMeta: manifesttest.Metadata().Draw(t, "metadata")}
	p.Spec.Labels = rapid.MapOfN(word, word, 0, 3).Draw(t, "labels")
	p.Spec.Annotations = rapid.MapOfN(word, word, 0, 3).Draw(t, "annotations")
	p.Spec.Taints, p.Spec.StartupTaints = manifesttest.Taints("taint").Draw(t, "taints"), manifesttest.Taints("startup").Draw(t, "startupTaints")
	p.Spec.Requirements = rapid.OneOf(rapid.Just[[]corev1.NodeSelectorRequirement](nil), manifesttest.Requirements()).Draw(t, "requirements")
	if rapid.Bool().Draw(t, "kubelet") {
		p.Spec.KubeletConfiguration = drawKubelet(t)
	}
	switch rapid.IntRange(0, 2).Draw(t, "settings") {
	case 0:
		p.Spec.Provider = &runtime.RawExtension{Raw: []byte(`{"subnetSelector":{"a":"b"}}`)}
	case 1:
		p.Spec.ProviderRef = &MachineTemplateRef{
			Name:       word.Draw(t, "template"),
			Kind:       rapid.SampledFrom([]string{"", "AWSNodeTemplate", "EC2NodeClass", "Other"}).Draw(t, "kind"),
			APIVersion: rapid.SampledFrom([]string{"", "karpenter.k8s.aws/v1alpha1", "karpenter.k8s.aws/v1beta1", "example.com/v1"}).Draw(t, "apiVersion"),
		}
	}
	ttl := rapid.Ptr(rapid.Int64Range(0, 1<<40), true)
	p.Spec.TTLSecondsUntilExpired = ttl.Draw(t, "expired")
	switch rapid.IntRange(0, 3).Draw(t, "consolidation") {
	case 0:
		p.Spec.Consolidation = &Consolidation{Enabled: rapid.Ptr(rapid.Bool(), true).Draw(t, "enabled")}
	case 1:
		p.Spec.TTLSecondsAfterEmpty = ttl.Draw(t, "empty")
	}
	p.Spec.Weight = rapid.Ptr(rapid.Int32Range(1, 100), true).Draw(t, "weight")
	if rapid.Bool().Draw(t, "limited") {
		p.Spec.Limits = &Limits{Resources: manifesttest.Resources().Draw(t, "limits")}
	}
	if rapid.Bool().Draw(t, "status") {
		at := manifesttest.Time().Draw(t, "scaled")
		p.Status = ProvisionerStatus{LastScaleTime: &at, Resources: manifesttest.Resources().Draw(t, "resources"), Conditions: drawConditions(t, ConditionActive)}
	}
	return p
}

func drawKubelet(t *rapid.T) *KubeletConfiguration {
	number := rapid.Ptr(rapid.Int32Range(0, 500), true)
	reserved := rapid.SampledFrom([]corev1.ResourceList{nil, {}, {"cpu": resource.MustParse("100m")}, {"memory": resource.MustParse("1Gi"), "pid": resource.MustParse("1k")}})
	thresholds := rapid.SampledFrom([]map[string]string{nil, {}, {"memory.available": "5%"}, {"nodefs.available": "1Gi", "pid.available": "3%"}})
	k := &KubeletConfiguration{
		ClusterDNS:       rapid.SampledFrom([][]string{nil, {}, {"10.0.0.10", "fd00::a"}}).Draw(t, "clusterDNS"),
		ContainerRuntime: rapid.SampledFrom([]*string{nil, new(string)}).Draw(t, "runtime"),
		MaxPods:          number.Draw(t, "maxPods"), PodsPerCore: number.Draw(t, "podsPerCore"),
		SystemReserved: reserved.Draw(t, "systemReserved"), KubeReserved: reserved.Draw(t, "kubeReserved"),
		EvictionHard: thresholds.Draw(t, "evictionHard"), EvictionSoft: thresholds.Draw(t, "evictionSoft"),
		EvictionMaxPodGracePeriod: number.Draw(t, "evictionMaxPodGracePeriod"),
		CPUCFSQuota:               rapid.Ptr(rapid.Bool(), true).Draw(t, "cpuCFSQuota"),
	}
	if k.ContainerRuntime != nil {
		*k.ContainerRuntime = rapid.SampledFrom([]string{"containerd", "dockerd"}).Draw(t, "which")
	}
	if len(k.EvictionSoft) > 0 {
		k.EvictionSoftGracePeriod = make(map[string]v1.Duration)
		for _, signal := range sortedKeys(k.EvictionSoft) {
			period, err := v1.ParseDuration(rapid.SampledFrom([]string{"1m", "90s", "1h0m0s"}).Draw(t, "period"))
			if err != nil {
				t.Fatal(err)
			}
			k.EvictionSoftGracePeriod[signal] = period
		}
	}
	if rapid.Bool().Draw(t, "collects") {
		low, high := rapid.Int32Range(0, 49).Draw(t, "low"), rapid.Int32Range(50, 100).Draw(t, "high")
		k.ImageGCLowThresholdPercent, k.ImageGCHighThresholdPercent = &low, &high
	}
	return k
}

// drawConditions draws conditions of the given types as some release wrote them.
func drawConditions(t *rapid.T, kinds ...string) []v1beta1.Condition {
	var out []v1beta1.Condition
	for _, kind := range kinds {
		if rapid.Bool().Draw(t, kind) {
			out = append(out, v1beta1.Condition{
				Type: kind, Status: rapid.SampledFrom([]metav1.ConditionStatus{"True", "False", "Unknown"}).Draw(t, "status"),
				Severity: rapid.SampledFrom([]string{"", "Info"}).Draw(t, "severity"), Reason: rapid.SampledFrom([]string{"", "Why"}).Draw(t, "reason"),
				Message: rapid.SampledFrom([]string{"", "it is so"}).Draw(t, "message"), ObservedGeneration: rapid.Int64Range(0, 3).Draw(t, "generation"),
				LastTransitionTime: manifesttest.Time().Draw(t, "since"),
			})
		}
	}
	return out
}
