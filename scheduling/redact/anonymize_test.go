package redact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/redact"
)

// renamed says where two JSON texts differ otherwise than by a renaming of strings that gives each a name of its own.
func renamed(a, b string) error {
	first, second := json.NewDecoder(strings.NewReader(a)), json.NewDecoder(strings.NewReader(b))
	there, back := map[string]string{}, map[string]string{}
	for {
		x, errX := first.Token()
		y, errY := second.Token()
		if errX != nil || errY != nil {
			if errors.Is(errX, io.EOF) && errors.Is(errY, io.EOF) {
				return nil
			}
			return fmt.Errorf("at %v: %v, %v", x, errX, errY)
		}
		s, isString := x.(string)
		r, isStringToo := y.(string)
		if !isString || !isStringToo {
			if x != y {
				return fmt.Errorf("at byte %d: %v became %v", first.InputOffset(), x, y)
			}
			continue
		}
		if s == r {
			continue // it is well known, though there may be a name like it
		}
		if to, known := there[s]; known && to != r {
			return fmt.Errorf("%q became %q and %q", s, to, r)
		}
		if from, known := back[r]; known && from != s {
			return fmt.Errorf("%q and %q became %q", from, s, r)
		}
		there[s], back[r] = r, s
	}
}

func drawnSnapshot(t *rapid.T) *scheduling.Snapshot {
	n, seed := rapid.IntRange(5, 30).Draw(t, "size"), rapid.Uint64Range(1, 1000).Draw(t, "seed")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return workload.Mixed(n, seed)
	case 1:
		return workload.Preferring(n, seed)
	case 2:
		return workload.Apart(n, seed)
	}
	return drained(workload.Fleet{Nodes: 4 + n/6, Fill: 0.5, Mixed: seed%2 == 0, Seed: seed}.Snapshot())
}

// The plan of a snapshot with other names is the plan of the snapshot with other names.
func TestAnonymizePlansAlike(t *testing.T) {
	seeded.Times(t, 12, func(t *rapid.T) {
		s := drawnSnapshot(t)
		anonymous := redact.Anonymize(s, nil)
		before, after := planFor(t, s), planFor(t, anonymous)
		if len(before) < 100 {
			t.Fatalf("no plan: %s", before)
		}
		if err := renamed(before, after); err != nil {
			t.Fatalf("%v\n%.300s\n%.300s", err, before, after)
		}
		if len(s.Pods) > 0 && strings.Contains(after, `"`+s.Pods[0].Name+`"`) {
			t.Fatalf("%q is in the plan", s.Pods[0].Name)
		}
	})
}

func planFor(t *rapid.T, s *scheduling.Snapshot) string {
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

// private is a snapshot with a name of the cluster's own wherever there can be one.
func private() *scheduling.Snapshot {
	const own = secret
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: own + name, Namespace: own, UID: own, Labels: map[string]string{"team": own, corev1.LabelHostname: own, corev1.LabelTopologyZone: "zone-a"},
			Annotations: map[string]string{
				"karpenter.sh/do-not-disrupt": "true", "karpenter.sh/x": own, "volume.kubernetes.io/selected-node": own,
				"volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com",
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: own, UID: own}},
		}
	}
	requirement := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	s := workload.Mixed(3, 1)
	s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: meta("pod"), Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"team": own, corev1.LabelArchStable: "amd64"}, SchedulerName: "default-scheduler", PriorityClassName: "system-node-critical",
		Tolerations: []corev1.Toleration{{Key: "team", Value: own}},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{requirement("team", own), {Key: "rank", Operator: corev1.NodeSelectorOpGt, Values: []string{"7"}}},
			MatchFields:      []corev1.NodeSelectorRequirement{requirement("metadata.name", own+"node")},
		}}}}},
		Containers: []corev1.Container{{Name: own, Ports: []corev1.ContainerPort{{Name: own, HostIP: "127.0.0.1", HostPort: 80}}}},
		Volumes: []corev1.Volume{
			{Name: own, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: own + "claim"}}},
			{Name: own + "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": own}}}},
	}})
	class := own + "class"
	s.PersistentVolumeClaims = []*corev1.PersistentVolumeClaim{
		{ObjectMeta: meta("claim"), Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, VolumeName: own + "volume"}},
		{ObjectMeta: meta("pod-" + own + "scratch")},
	}
	s.PersistentVolumes = []*corev1.PersistentVolume{{ObjectMeta: meta("volume"), Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: own},
	}}}}
	s.StorageClasses = []*storagev1.StorageClass{{ObjectMeta: meta("class"), Provisioner: "ebs.csi.aws.com"}}
	s.CSINodes = []*storagev1.CSINode{{ObjectMeta: meta("node"), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com", NodeID: own}}}}}
	s.VolumeAttachments = []*storagev1.VolumeAttachment{{ObjectMeta: meta("attachment"), Spec: storagev1.VolumeAttachmentSpec{Attacher: "ebs.csi.aws.com", NodeName: own + "node"}}}
	s.Namespaces = []*corev1.Namespace{{ObjectMeta: meta("")}}
	s.Services = []*corev1.Service{{ObjectMeta: meta("service"), Spec: corev1.ServiceSpec{Selector: map[string]string{"team": own}}}}
	s.DaemonSets = []*appsv1.DaemonSet{{ObjectMeta: meta("daemons")}}
	node := scheduling.Node{Name: own + "node", Pool: v1.NewPoolKey(own), Object: &corev1.Node{ObjectMeta: meta("node")}, Claim: &v1.NodeClaim{ObjectMeta: meta("nodeclaim")}}
	node.Object.Spec = corev1.NodeSpec{ProviderID: "aws:///zone-a/" + own, Taints: []corev1.Taint{{Key: "team", Value: own}}}
	node.Claim.Spec.NodeClassRef = v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: own}
	node.Claim.Status.ProviderID = node.Object.Spec.ProviderID
	s.Nodes = []scheduling.Node{node}
	pool := scheduling.NodePool{Key: v1.NewPoolKey(own), NotReady: own + " not found", Object: &v1.NodePool{ObjectMeta: meta("")}}
	schedule := "@daily"
	pool.Object.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "10%", Schedule: &schedule}}
	s.NodePools = append(s.NodePools, pool)
	percent := 5.0
	s.CostModel = &scheduling.CostModel{Terms: []scheduling.CostTerm{{Name: own, Source: own, Percent: &percent, Where: scheduling.CostSelector{
		NodePools: []string{own, "v1alpha5/" + own}, Requirements: []corev1.NodeSelectorRequirement{requirement("team", own)},
	}}}}
	return s
}

// No name is left anywhere; what rules read is; names that belong together still do; the hash of a name depends on the key alone.
func TestAnonymize(t *testing.T) {
	if redact.Anonymize(nil, nil) != nil {
		t.Error("of nothing something is left")
	}
	s := private()
	var original, text bytes.Buffer
	if err := s.EncodeJSON(&original); err != nil {
		t.Fatal(err)
	}
	out := redact.Anonymize(s, []byte("key"))
	if err := out.EncodeJSON(&text); err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(text.String(), secret); at >= 0 {
		t.Errorf("left: %s", text.String()[max(0, at-200):at+20])
	}
	for _, kept := range []string{
		`"team"`, `"rank"`, `"7"`, `"zone-a"`, `"amd64"`, `"system-node-critical"`, `"default-scheduler"`, `"ebs.csi.aws.com"`, `"127.0.0.1"`, `"10%"`, `"@daily"`,
		`"EC2NodeClass"`, `"karpenter.sh/do-not-disrupt": "true"`, `"volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"`,
	} {
		if !strings.Contains(text.String(), kept) {
			t.Errorf("%s is not kept", kept)
		}
	}
	var again bytes.Buffer
	if err := s.EncodeJSON(&again); err != nil || again.String() != original.String() {
		t.Error("the snapshot itself has changed", err)
	}
	pod, node := out.Pods[len(out.Pods)-1], out.Nodes[0]
	scratch := pod.Name + "-" + pod.Spec.Volumes[1].Name
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for _, pair := range [][2]string{
		{pod.Labels["team"], pod.Spec.NodeSelector["team"]}, {pod.Labels["team"], node.Object.Spec.Taints[0].Value}, {pod.Labels["team"], pod.Namespace},
		{pod.Labels["team"], terms[0].MatchExpressions[0].Values[0]}, {node.Name, terms[0].MatchFields[0].Values[0]}, {node.Name, node.Object.Name}, {node.Name, out.CSINodes[0].Name},
		{node.Name, out.VolumeAttachments[0].Spec.NodeName}, {node.Object.Spec.ProviderID, node.Claim.Status.ProviderID},
		{pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName, out.PersistentVolumeClaims[0].Name}, {scratch, out.PersistentVolumeClaims[1].Name},
		{*out.PersistentVolumeClaims[0].Spec.StorageClassName, out.StorageClasses[0].Name}, {out.PersistentVolumeClaims[0].Spec.VolumeName, out.PersistentVolumes[0].Name},
		{"v1alpha5/" + out.CostModel.Terms[0].Where.NodePools[0], out.CostModel.Terms[0].Where.NodePools[1]},
	} {
		if pair[0] != pair[1] || pair[0] == "" {
			t.Errorf("%q and %q were equal", pair[0], pair[1])
		}
	}
	hash := func(s *scheduling.Snapshot) string {
		word := s.Pods[len(s.Pods)-1].Name
		if !regexp.MustCompile(`^n[0-9]+-[0-9a-f]{8}$`).MatchString(word) {
			t.Fatalf("word %q", word)
		}
		return word[strings.Index(word, "-"):]
	}
	fewer := private()
	fewer.Pods = fewer.Pods[len(fewer.Pods)-1:]
	fewer.Services = nil
	if same := redact.Anonymize(fewer, []byte("key")); hash(same) != hash(out) {
		t.Error("with the same key the hash is another in another snapshot")
	}
	if hash(redact.Anonymize(s, nil)) == hash(out) {
		t.Error("without the key the hash is the same")
	}
}

// What an answer assumes can still be read, and names in it have become the words that stand for them elsewhere.
func TestAnonymizeKeepsSentences(t *testing.T) {
	s := private()
	s.NodePools[0].Key = v1.NewPoolKey("spot")
	s.Assumptions = []string{
		"region eu-west-1 (from the nodes), zones eu-west-1a, eu-west-1b (a guess: no node says, name them with --zones)",
		"all spot prices are estimates", "NodePool \"" + secret + "\" has " + secret + "node, not " + secret + "nodes.", "",
	}
	out := redact.Anonymize(s, nil)
	want := []string{s.Assumptions[0], s.Assumptions[1], "NodePool \"" + out.Pods[len(out.Pods)-1].Namespace + "\" has " + out.Nodes[0].Name + ", not " + secret + "nodes.", ""}
	if !slices.Equal(out.Assumptions, want) {
		t.Errorf("got  %q\nwant %q", out.Assumptions, want)
	}
}

// Nothing that a snapshot may hold is left out by Strip altogether.
func TestStripKeepsEveryList(t *testing.T) {
	full := &scheduling.Snapshot{}
	v := reflect.ValueOf(full).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice {
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			if f.Type().Elem().Kind() == reflect.Pointer {
				f.Index(0).Set(reflect.New(f.Type().Elem().Elem()))
			}
		}
	}
	inline := corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}}
	full.VolumeAttachments[0].Spec.Source.InlineVolumeSpec = &inline
	full.PodDisruptionBudgets[0].Spec.MinAvailable = &intstr.IntOrString{IntVal: 1}
	out := redact.Strip(full)
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Slice && reflect.ValueOf(out).Elem().Field(i).Len() != 1 {
			t.Errorf("%s is left out", v.Type().Field(i).Name)
		}
	}
	if at := out.VolumeAttachments[0].Spec.Source.InlineVolumeSpec; at == nil || at.AWSElasticBlockStore.VolumeID != "vol-1" {
		t.Error("what is attached is left out")
	}
	if !slices.Equal(redact.Anonymize(full, nil).UnsupportedVolumeDrivers, full.UnsupportedVolumeDrivers) {
		t.Error("drivers are left out")
	}
}

// Limits on spot nodes stay, and the name of a workload is replaced by the same word on all of its pods.
func TestAnonymizeKeepsSpotLimits(t *testing.T) {
	s := &scheduling.Snapshot{}
	for _, name := range []string{"a", "b"} {
		s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{
			"drawknife.dev/spot-max-share": "12.5%", "drawknife.dev/on-demand-base": "2", "drawknife.dev/workload": secret,
		}}})
	}
	out := redact.Anonymize(s, []byte("key"))
	a, b := out.Pods[0].Annotations, out.Pods[1].Annotations
	if a["drawknife.dev/spot-max-share"] != "12.5%" || a["drawknife.dev/on-demand-base"] != "2" || a["drawknife.dev/workload"] != b["drawknife.dev/workload"] ||
		a["drawknife.dev/workload"] == secret || a["drawknife.dev/workload"] == "" {
		t.Errorf("%v and %v", a, b)
	}
}
