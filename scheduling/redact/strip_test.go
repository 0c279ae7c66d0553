package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/redact"
)

const secret = "hunter2"

// burden gives a pod everything that planning does not read.
func burden(meta *metav1.ObjectMeta, spec *corev1.PodSpec) {
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = secret
	meta.Annotations["example.com/token"] = secret
	meta.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: secret}}
	spec.ServiceAccountName, spec.Hostname = secret, secret
	spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: secret}}
	spec.HostAliases = []corev1.HostAlias{{IP: secret}}
	spec.DNSConfig = &corev1.PodDNSConfig{Searches: []string{secret}}
	spec.SecurityContext = &corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{User: secret}}
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{Name: "a", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}},
		corev1.Volume{Name: "b", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}}},
		corev1.Volume{Name: "d", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: secret, Path: secret}}})
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			c := &list[i]
			probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{secret}}, HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString(secret)}}}
			c.Env = []corev1.EnvVar{{Name: "PASSWORD", Value: secret}}
			c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}}}
			c.Args, c.Command, c.Image, c.WorkingDir = []string{"--token=" + secret}, []string{secret}, secret, secret
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe = probe, probe, probe
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{secret}}}}
			c.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/" + secret}}
		}
	}
}

// burdened is the snapshot with such pods.
func burdened(s *scheduling.Snapshot) *scheduling.Snapshot {
	for _, pod := range s.Pods {
		burden(&pod.ObjectMeta, &pod.Spec)
		pod.Status.Message = secret
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "x", Message: secret})
	}
	for i := range s.Nodes {
		for _, pod := range s.Nodes[i].Pods {
			burden(&pod.ObjectMeta, &pod.Spec)
		}
		if n := s.Nodes[i].Object; n != nil {
			n.Status.Addresses = []corev1.NodeAddress{{Address: secret}}
			n.Status.Images = []corev1.ContainerImage{{Names: []string{secret}}}
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "x", Message: secret})
		}
	}
	return s
}

// drained is the snapshot with the pods of its first nodes waiting for a place.
func drained(s *scheduling.Snapshot) *scheduling.Snapshot {
	for i := range s.Nodes[:3] {
		n := &s.Nodes[i]
		n.Leaving = true
		for _, pod := range n.Pods {
			free := pod.DeepCopy()
			free.Spec.NodeName = ""
			s.Pods = append(s.Pods, free)
		}
		n.Pods = nil
	}
	return s
}

func planOf(t testing.TB, s *scheduling.Snapshot) string {
	t.Helper()
	model, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(t.Context(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The plan of what is left is that of the snapshot, byte for byte, also once it has been written and read; nothing that planning
// does not read is left, and stripping again changes nothing.
func TestStrip(t *testing.T) {
	for name, s := range map[string]*scheduling.Snapshot{
		"mixed": workload.Mixed(60, 1), "mixed otherwise": workload.Mixed(60, 2), "preferring": workload.Preferring(60, 3),
		"fleet": drained(workload.Fleet{Nodes: 6, Fill: 0.4, Seed: 4}.Snapshot()), "another fleet": drained(workload.Fleet{Nodes: 12, Fill: 0.5, Mixed: true, Seed: 5}.Snapshot()),
	} {
		t.Run(name, func(t *testing.T) {
			before := planOf(t, s)
			if len(before) < 100 {
				t.Fatalf("no plan: %s", before)
			}
			stripped := redact.Strip(burdened(s))
			var text, again bytes.Buffer
			if err := stripped.EncodeJSON(&text); err != nil {
				t.Fatal(err)
			}
			if at := strings.Index(text.String(), secret); at >= 0 {
				t.Fatalf("left: %s", text.String()[max(0, at-200):at+20])
			}
			read, err := scheduling.DecodeSnapshot(bytes.NewReader(text.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			for name, snapshot := range map[string]*scheduling.Snapshot{"stripped": stripped, "read": read} {
				if after := planOf(t, snapshot); after != before {
					t.Fatalf("%s: the plan is another: %s", name, cmp.Diff(before, after))
				}
			}
			if err := redact.Strip(stripped).EncodeJSON(&again); err != nil || again.String() != text.String() {
				t.Fatal("stripped twice it is another", err)
			}
		})
	}
}

// Every kind of object loses what is not named, and keeps what planning may read.
func TestStripKeeps(t *testing.T) {
	if redact.Strip(nil) != nil {
		t.Error("of nothing something is left")
	}
	now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	meta := metav1.ObjectMeta{
		Name: "a", Namespace: "n", UID: "u", Labels: map[string]string{"a": "b"}, CreationTimestamp: now, GenerateName: secret,
		Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "true", corev1.PodDeletionCost: "5", "example.com/a": secret},
	}
	s := &scheduling.Snapshot{
		Pods:       []*corev1.Pod{{ObjectMeta: meta, Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}}}, nil},
		DaemonSets: []*appsv1.DaemonSet{{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Value: secret}}}}}}}}},
		PersistentVolumes: []*corev1.PersistentVolume{{ObjectMeta: meta, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h", VolumeAttributes: map[string]string{"password": secret}, NodeStageSecretRef: &corev1.SecretReference{Name: secret}},
		}}}},
		Services: []*corev1.Service{{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: map[string]string{"a": "b"}, ExternalName: secret}}},
	}
	out := redact.Strip(s)
	text := fmt.Sprintf("%+v", *out)
	var encoded bytes.Buffer
	if err := out.Encode(&encoded); err != nil || strings.Contains(text+encoded.String(), secret) {
		t.Errorf("%v, left:\n%s", err, &encoded)
	}
	pod := out.Pods[0]
	if pod.Annotations["karpenter.sh/do-not-disrupt"] != "true" || pod.Annotations[corev1.PodDeletionCost] != "5" || len(pod.Annotations) != 2 || pod.Labels["a"] != "b" ||
		pod.CreationTimestamp != now || pod.UID != "u" || pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "c" {
		t.Errorf("kept of a pod: %+v", pod)
	}
	if v := out.PersistentVolumes[0].Spec.CSI; v.Driver != "d" || v.VolumeHandle != "h" {
		t.Errorf("kept of a volume: %+v", v)
	}
	if out.Pods[1] != nil || len(out.Services[0].Spec.Selector) != 1 || s.Pods[0].Annotations["example.com/a"] != secret {
		t.Error("a null entry, a selector or the snapshot itself has changed")
	}
}
