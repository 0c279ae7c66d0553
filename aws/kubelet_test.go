package aws_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// API-375, API-376, API-377: a kubelet block in the annotation of the claim, which claims take from their pool, counts in place of
// the class's own: for what the instance can hold, for what its kubelet is told, and for the instance that was launched
// already. The drift hash is the class's, so that nothing drifts once the annotation is gone.
func TestKubeletOfTheClaim(t *testing.T) {
	maxPods := intstr.FromInt32(20)
	for name, c := range map[string]struct {
		annotation string
		pods       int64
	}{
		"of the class":         {"", 20},
		"of the claim":         {`{"maxPods":7}`, 7},
		"of the claim, silent": {`{}`, 29},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			class := readyClass("default")
			class.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: &maxPods}
			p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.NodeClasses = aws.NodeClasses{"default": class} })
			asked := claim("a", in(corev1.LabelArchStable, "amd64"))
			if c.annotation != "" {
				asked.Annotations = map[string]string{v1beta1.KubeletAnnotationKey: c.annotation}
			}
			for _, when := range []string{"launched", "there already"} {
				created, err := p.Create(t.Context(), asked)
				if err != nil {
					t.Fatal(err)
				}
				if got := created.Status.Capacity.Pods().Value(); got != c.pods {
					t.Errorf("%s: room for %d pods, want %d", when, got, c.pods)
				}
				if got, want := created.Annotations[awsv1.AnnotationHash], class.Hash("Q0E="); got != want {
					t.Errorf("%s: drift hash %q, want the class's %q", when, got, want)
				}
				asked.Status.ProviderID = created.Status.ProviderID
				asked.Labels = created.Labels
			}
			if len(a.userData) == 0 || a.count("CreateFleet") != 1 {
				t.Fatalf("%d launch templates, %d launches", len(a.userData), a.count("CreateFleet"))
			}
			for _, text := range a.userData {
				told, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					t.Fatal(err)
				}
				if has := strings.Contains(string(told), "maxPods: 7"); has != (c.pods == 7) || strings.Contains(string(told), "maxPods: 20") != (c.pods == 20) {
					t.Errorf("the kubelet is told:\n%s", told)
				}
			}
			asked.Annotations = map[string]string{awsv1.AnnotationHash: class.Hash("Q0E="), awsv1.AnnotationHashVersion: awsv1.HashVersion}
			if reason, err := p.IsDrifted(t.Context(), asked); reason != "" || err != nil {
				t.Errorf("drifted: %q, %v", reason, err)
			}
			if class.Spec.Kubelet.MaxPods != &maxPods {
				t.Error("the class was changed")
			}
		})
	}
}

// API-377: planning for a pool uses the block that the pool brings; the class's other pools keep the class's.
func TestKubeletOfThePool(t *testing.T) {
	p := newProvider(t, newAccount(t))
	room := func(pool *v1.NodePool) int64 {
		t.Helper()
		types, err := p.InstanceTypes(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range types {
			if it.Name == "m5.large" {
				return it.Capacity.Pods().Value()
			}
		}
		t.Fatal("there is no m5.large")
		return 0
	}
	annotated := nodePool()
	annotated.Annotations = map[string]string{v1beta1.KubeletAnnotationKey: `{"maxPods":7}`}
	if own, class := room(annotated), room(nodePool()); own != 7 || class != 29 {
		t.Errorf("room for %d pods with the block and %d without, want 7 and 29", own, class)
	}
}

// A block that can't be read, or can't be meant, is refused with the field, on the pool and on the claim, and nothing is launched.
func TestKubeletRefused(t *testing.T) {
	for text, says := range map[string]string{
		`{`:                          "annotation compatibility.karpenter.sh/v1beta1-kubelet-conversion",
		`{"maxPods":-1}`:             "metadata.annotations[compatibility.karpenter.sh/v1beta1-kubelet-conversion].maxPods",
		`{"kubeReserved":{"x":"1"}}`: "metadata.annotations[compatibility.karpenter.sh/v1beta1-kubelet-conversion].kubeReserved",
	} {
		t.Run(text, func(t *testing.T) {
			a := newAccount(t)
			p := newProvider(t, a)
			annotations := map[string]string{v1beta1.KubeletAnnotationKey: text}
			pool, asked := nodePool(), claim("a")
			pool.Annotations, asked.Annotations = annotations, annotations
			_, ofPool := p.InstanceTypes(t.Context(), pool)
			_, ofClaim := p.Create(t.Context(), asked)
			for kind, err := range map[cloudprovider.ErrorKind]error{cloudprovider.NodeClassNotReady: ofPool, cloudprovider.Permanent: ofClaim} {
				var kinded interface {
					Kind() cloudprovider.ErrorKind
				}
				if !errors.As(err, &kinded) || kinded.Kind() != kind || !strings.Contains(err.Error(), says) {
					t.Errorf("%v, want one of kind %v that says %q", err, kind, says)
				}
			}
			if a.count("CreateFleet") != 0 {
				t.Error("an instance was launched")
			}
		})
	}
}
