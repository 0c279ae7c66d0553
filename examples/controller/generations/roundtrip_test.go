package generations

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
)

// draws makes changes such as reconcilers write, of a fixed seed.
type draws struct{ *rand.Rand }

func (d draws) often() bool { return d.IntN(3) == 0 }

func (d draws) one(list ...string) string { return list[d.IntN(len(list))] }

// strings sets and takes away some of the keys.
func (d draws) strings(in map[string]string, keys ...string) map[string]string {
	out := map[string]string{}
	for key, value := range in {
		out[key] = value
	}
	for _, key := range keys {
		switch d.IntN(4) {
		case 0:
			out[key] = d.one("", "true", "2026-01-02T03:04:05Z", `{"a":"b"}`)
		case 1:
			delete(out, key)
		}
	}
	if len(out) == 0 {
		return nil // as it is read
	}
	return out
}

// moment is a second, as the API keeps it.
func (d draws) moment() metav1.Time {
	return metav1.NewTime(at.Add(time.Duration(d.IntN(1e6)) * time.Second).Local())
}

func (d draws) resources() corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, "nvidia.com/gpu"} {
		if d.often() {
			out[name] = resource.MustParse(d.one("1", "1900m", "4Gi", "110", "0"))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// metadata changes what reconcilers write in addition to the status.
func (d draws) metadata(claim *v1.NodeClaim) {
	if d.often() {
		claim.Finalizers = [][]string{nil, {v1.TerminationFinalizer}, {v1.TerminationFinalizer, "example.com/other"}}[d.IntN(3)]
	}
	if d.often() {
		claim.Labels = d.strings(claim.Labels, corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable, v1.CapacityTypeLabelKey, "team", "karpenter.k8s.aws/instance-family")
	}
	if d.often() {
		claim.Annotations = d.strings(claim.Annotations, v1.NodePoolHashAnnotationKey, v1.NodePoolHashVersionAnnotationKey,
			v1.NodeClaimTerminationTimestampAnnotationKey, "drawknife.dev/created", "example.com/note", v1.DoNotDisruptAnnotationKey)
	}
}

// status changes what it says.
func (d draws) status(claim *v1.NodeClaim) {
	s := &claim.Status
	if d.often() {
		s.NodeName = d.one("", "node-1", "node-2")
	}
	if d.often() {
		s.ProviderID = d.one("", "aws:///us-east-1a/i-1", "aws:///us-east-1b/i-2")
	}
	if d.often() {
		s.ImageID = d.one("", "ami-1", "ami-2")
	}
	if d.often() {
		s.Capacity = d.resources()
	}
	if d.often() {
		s.Allocatable = d.resources()
	}
	if d.often() {
		s.LastPodEventTime = d.moment()
		if d.often() {
			s.LastPodEventTime = metav1.Time{}
		}
	}
	for _, kind := range []string{
		v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized, v1.ConditionConsolidatable, v1.ConditionDrifted, v1.ConditionDrained,
		v1.ConditionVolumesDetached, v1.ConditionInstanceTerminating, v1.ConditionConsistentStateFound, v1.ConditionDisruptionReason, "ExampleUnhealthy",
	} {
		switch d.IntN(8) {
		case 0:
			status := metav1.ConditionStatus(d.one("True", "False", "Unknown"))
			claim.Conditions().Set(kind, status, d.one(kind, "NotFound", "Underutilized"), d.one("", "a sentence, \"quoted\""), d.moment().Time)
		case 1:
			claim.Conditions().Clear(kind, d.moment().Time)
		}
	}
}

// API-009, API-011, API-335, API-336: whatever reconcilers write of a claim, in whichever way and one after the other, a Machine keeps:
// what is read back, and what the writer has in hand, is what was meant, and nothing else of what is stored has changed.
func TestWhatReconcilersWriteOfMachinesIsKept(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for round := range rounds {
		d := draws{rand.New(rand.NewPCG(1, uint64(round)))}
		c, base := stored(t, provisioned(t))
		claim := newClaim()
		if err := c.Create(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		spec := specOf(t, base)
		for step := range 8 {
			before, next := &v1.NodeClaim{}, &v1.NodeClaim{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(claim), before); err != nil {
				t.Fatal(err)
			}
			before.DeepCopyInto(next)
			what := d.one("metadata patched", "metadata patched as read", "metadata updated", "status patched", "status patched as read", "status updated")
			if what[0] == 'm' {
				d.metadata(next)
			} else {
				d.status(next)
			}
			meant := next.DeepCopy()
			var err error
			switch what {
			case "metadata patched":
				err = c.Patch(t.Context(), next, client.MergeFrom(before.DeepCopy()))
			case "metadata patched as read":
				err = c.Patch(t.Context(), next, locked(before))
			case "metadata updated":
				err = c.Update(t.Context(), next)
			case "status patched":
				err = c.Status().Patch(t.Context(), next, client.MergeFrom(before.DeepCopy()))
			case "status patched as read":
				err = c.Status().Patch(t.Context(), next, locked(before))
			case "status updated":
				err = c.Status().Update(t.Context(), next)
			}
			at := fmt.Sprintf("round %d, step %d, %s", round, step, what)
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			read := &v1.NodeClaim{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(claim), read); err != nil {
				t.Fatal(err)
			}
			for who, got := range map[string]*v1.NodeClaim{"read": read, "in hand": next} {
				meant.ResourceVersion, meant.TypeMeta = read.ResourceVersion, got.TypeMeta
				if diff := cmp.Diff(meant, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s: %s (-meant +got):\n%s", at, who, diff)
				}
			}
			if diff := cmp.Diff(spec, specOf(t, base)); diff != "" {
				t.Fatalf("%s: the Machine's spec (-before +after):\n%s", at, diff)
			}
		}
	}
}

func specOf(t *testing.T, base client.Client) v1alpha5.MachineSpec {
	t.Helper()
	m := &v1alpha5.Machine{}
	if err := base.Get(t.Context(), client.ObjectKey{Name: "web-1"}, m); err != nil {
		t.Fatal(err)
	}
	return m.Spec
}
