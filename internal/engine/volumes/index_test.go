package volumes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
)

const (
	volumeZone    = corev1.LabelTopologyZone
	ebsVolumeZone = "topology.ebs.csi.aws.com/zone"
)

// volumeVocabulary is a provider's, with a CSI driver's name for the zone.
func volumeVocabulary() *requirements.Lookup {
	return requirements.CoreVocabulary().Merge(requirements.Vocabulary{
		Aliases: map[string]string{ebsVolumeZone: volumeZone},
	}).Compile()
}

// cluster is what volumes are read from, with the pods that use them.
type cluster struct {
	PersistentVolumes      []*corev1.PersistentVolume
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	StorageClasses         []*storagev1.StorageClass
	// Hostnames are those of nodes that stay, by name.
	Hostnames map[string]string
	// Bound and Pods have volumes, of which the first are bound.
	Bound, Pods []*corev1.Pod
}

func indexVolumes(s *cluster) *Index {
	return New(s.objects(Unsupported{TopologyKeys: []string{"rack.test/no"}, Drivers: []string{"no.csi.test"}}), volumeVocabulary())
}

func (s *cluster) objects(unsupported Unsupported) *Objects {
	return &Objects{
		PersistentVolumes: s.PersistentVolumes, PersistentVolumeClaims: s.PersistentVolumeClaims, StorageClasses: s.StorageClasses,
		Hostnames:   func() map[string]string { return s.Hostnames },
		Unsupported: unsupported,
		Users: func(yield func(pod *corev1.Pod, bound bool) bool) {
			for i, pod := range slices.Concat(s.Bound, s.Pods) {
				if !yield(pod, i < len(s.Bound)) {
					return
				}
			}
		},
	}
}

// volumePod uses claims by name; "~class" makes a generic ephemeral volume of a class.
func volumePod(name string, claims ...string) *corev1.Pod {
	p := build.Pod(name, build.Namespace("ns"), build.UID(name))
	for i, claim := range claims {
		v := corev1.Volume{Name: fmt.Sprintf("v%d", i)}
		if class, ephemeral := strings.CutPrefix(claim, "~"); ephemeral {
			template := &corev1.PersistentVolumeClaimTemplate{}
			if class != "" {
				template.Spec.StorageClassName = &class
			}
			v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}
		} else {
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

type claimOption func(*corev1.PersistentVolumeClaim)

func ofClass(name string) claimOption {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &name }
}

func boundTo(volume string) claimOption {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volume
		c.Annotations = map[string]string{annBindCompleted: "yes"}
		c.Status.Phase = corev1.ClaimBound
	}
}

func claimNamed(name string, options ...claimOption) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}}
	c.Status.Phase = corev1.ClaimPending
	for _, o := range options {
		o(c)
	}
	return c
}

type pvOption func(*corev1.PersistentVolume)

// csiVolume is a volume of a CSI driver; terms are its node affinity.
func csiVolume(name, driver string, options ...pvOption) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "handle-" + name}
	pv.Status.Phase = corev1.VolumeBound
	for _, o := range options {
		o(pv)
	}
	return pv
}

// localVolume lies on a disk of one host.
func localVolume(name, host string, options ...pvOption) *corev1.PersistentVolume {
	pv := csiVolume(name, "")
	pv.Spec.CSI = nil
	pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/mnt"}
	at(corev1.LabelHostname + " In " + host)(pv)
	for _, o := range options {
		o(pv)
	}
	return pv
}

// at adds a node affinity term: expressions "key In a b", "key NotIn a", "key Exists".
func at(expressions ...string) pvOption {
	return func(pv *corev1.PersistentVolume) {
		if pv.Spec.NodeAffinity == nil {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
		}
		var term corev1.NodeSelectorTerm
		for _, e := range expressions {
			f := strings.Fields(e)
			term.MatchExpressions = append(term.MatchExpressions,
				corev1.NodeSelectorRequirement{Key: f[0], Operator: corev1.NodeSelectorOperator(f[1]), Values: f[2:]})
		}
		required := pv.Spec.NodeAffinity.Required
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
	}
}

func labelled(key, value string) pvOption {
	return func(pv *corev1.PersistentVolume) { pv.Labels = map[string]string{key: value} }
}

// storageClass binds when the first consumer comes; topologies are terms of one key each, "key a b".
func storageClass(name, provisioner string, topologies ...string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
	for _, t := range topologies {
		f := strings.Fields(t)
		class.AllowedTopologies = append(class.AllowedTopologies, corev1.TopologySelectorTerm{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: f[0], Values: f[1:]}},
		})
	}
	return class
}

func setTexts(sets []requirements.Set) []string {
	var out []string
	for _, s := range sets {
		out = append(out, s.String())
	}
	return out
}

// topologySnapshot has one claim for each way a volume can be placed.
func topologySnapshot() *cluster {
	immediate := storageClass("immediate", "ebs.csi.aws.com")
	immediate.VolumeBindingMode = nil
	zoned := storageClass("zoned", "ebs.csi.aws.com", ebsVolumeZone+" a b", ebsVolumeZone+" c")
	return &cluster{
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{
			claimNamed("anywhere", boundTo("anywhere")),
			claimNamed("zone-a", boundTo("zone-a")),
			claimNamed("zone-a-or-b", boundTo("zone-a-or-b")),
			claimNamed("zone-b-or-c", boundTo("zone-b-or-c")),
			claimNamed("arm-or-amd", boundTo("arm-or-amd")),
			claimNamed("old", boundTo("old")),
			claimNamed("older", boundTo("older")),
			claimNamed("labelled-twice", boundTo("labelled-twice")),
			claimNamed("empty-terms", boundTo("empty-terms")),
			claimNamed("local", boundTo("local")),
			claimNamed("local-2", boundTo("local-2")),
			claimNamed("local-zoned", boundTo("local-zoned")),
			claimNamed("local-or-zone", boundTo("local-or-zone")),
			claimNamed("network-host", boundTo("network-host")),
			claimNamed("new", ofClass("gp3")),
			claimNamed("new-zoned", ofClass("zoned")),
			claimNamed("chosen", ofClass("zoned"), func(c *corev1.PersistentVolumeClaim) { c.Annotations = map[string]string{annSelectedNode: "n1"} }),
			claimNamed("chosen-gone", ofClass("zoned"), func(c *corev1.PersistentVolumeClaim) { c.Annotations = map[string]string{annSelectedNode: "n9"} }),
			claimNamed("chosen-leaving", ofClass("zoned"), func(c *corev1.PersistentVolumeClaim) { c.Annotations = map[string]string{annSelectedNode: "n2"} }),
		},
		PersistentVolumes: []*corev1.PersistentVolume{
			csiVolume("anywhere", "nfs.csi.test"),
			csiVolume("zone-a", "ebs.csi.aws.com", at(ebsVolumeZone+" In a")),
			csiVolume("zone-a-or-b", "ebs.csi.aws.com", at(volumeZone+" In a"), at(volumeZone+" In b")),
			csiVolume("zone-b-or-c", "ebs.csi.aws.com", at(volumeZone+" In b"), at(volumeZone+" In c")),
			csiVolume("arm-or-amd", "ebs.csi.aws.com", at("kubernetes.io/arch In arm64"), at("kubernetes.io/arch In amd64")),
			csiVolume("old", "ebs.csi.aws.com", labelled(corev1.LabelFailureDomainBetaZone, "a__b")),
			csiVolume("older", "ebs.csi.aws.com", labelled(volumeZone, "b"), at(volumeZone+" In a"), at("kubernetes.io/arch In arm64")),
			csiVolume("labelled-twice", "ebs.csi.aws.com", labelled(volumeZone, "a____b")),
			csiVolume("empty-terms", "ebs.csi.aws.com", at(), at(volumeZone+" In a", volumeZone+" In b"), at(volumeZone+" In c")),
			localVolume("local", "h1"),
			localVolume("local-2", "h2"),
			localVolume("local-zoned", "h1", func(pv *corev1.PersistentVolume) {
				term := &pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0]
				term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: volumeZone, Operator: "In", Values: []string{"a"}})
			}),
			localVolume("local-or-zone", "h1", at(volumeZone+" In a")),
			csiVolume("network-host", "topolvm.test", at(corev1.LabelHostname+" In h1")),
		},
		StorageClasses: []*storagev1.StorageClass{storageClass("gp3", "ebs.csi.aws.com"), zoned, immediate},
		Hostnames:      map[string]string{"n1": "h1"},
	}
}

func TestVolumeTopology(t *testing.T) {
	const zone, host, arch = volumeZone + " In ", corev1.LabelHostname + " In ", "kubernetes.io/arch In "
	tests := []struct {
		name   string
		claims []string
		// want are the alternatives of new nodes, and of those that are there unless onNodes says otherwise.
		want, onNodes []string
		noNode        string
		needsVolume   bool
	}{
		{name: "SCH-100 no volume"},
		{name: "SCH-101 a volume for all nodes", claims: []string{"anywhere"}},
		{name: "SCH-101 bound, the driver's key is canonical", claims: []string{"zone-a"}, want: []string{zone + "[a]"}},
		{name: "SCH-101 each term is an alternative", claims: []string{"zone-a-or-b"}, want: []string{zone + "[a]", zone + "[b]"}},
		{name: "SCH-101 zone label of old", claims: []string{"old"}, want: []string{zone + "[a, b]"}},
		{name: "SCH-101 zone label narrows the terms", claims: []string{"older"}, want: []string{arch + "[arm64]; " + zone + "[b]"}},
		{name: "SCH-101 zone label that can't be read", claims: []string{"labelled-twice"}},
		{name: "SCH-101 terms that match nothing", claims: []string{"empty-terms"}, want: []string{zone + "[c]"}},
		{name: "SCH-101 unbound, any topology", claims: []string{"new"}},
		{name: "SCH-101 unbound, allowed topologies", claims: []string{"new-zoned"}, want: []string{zone + "[a, b]", zone + "[c]"}},
		{name: "SCH-101 unbound, the node is chosen", claims: []string{"chosen"},
			want: []string{host + "[h1]; " + zone + "[a, b]", host + "[h1]; " + zone + "[c]"}},
		{name: "SCH-101 unbound, the chosen node is gone", claims: []string{"chosen-gone"}, want: []string{zone + "[a, b]", zone + "[c]"}},
		{name: "SCH-101 unbound, the chosen node is leaving", claims: []string{"chosen-leaving"}, want: []string{zone + "[a, b]", zone + "[c]"}},
		{name: "SCH-101 local: a term of the hostname alone leaves any new node", claims: []string{"local-or-zone"},
			onNodes: []string{host + "[h1]", zone + "[a]"}, needsVolume: true},
		{name: "SCH-101 local: the hostname holds for nodes that are there", claims: []string{"local"}, onNodes: []string{host + "[h1]"}, needsVolume: true},
		{name: "SCH-101 local with a zone", claims: []string{"local-zoned"}, want: []string{zone + "[a]"},
			onNodes: []string{host + "[h1]; " + zone + "[a]"}, needsVolume: true},
		{name: "SCH-101 a host's network volume stays there", claims: []string{"network-host"}, want: []string{host + "[h1]"}},
		{name: "SCH-101 ephemeral", claims: []string{"~zoned"}, want: []string{zone + "[a, b]", zone + "[c]"}},
		{name: "SCH-102 contradictions are pruned", claims: []string{"zone-a-or-b", "zone-b-or-c"}, want: []string{zone + "[b]"}},
		{name: "SCH-102 cross product in order", claims: []string{"arm-or-amd", "zone-a-or-b"}, want: []string{
			arch + "[arm64]; " + zone + "[a]", arch + "[arm64]; " + zone + "[b]", arch + "[amd64]; " + zone + "[a]", arch + "[amd64]; " + zone + "[b]"}},
		{name: "SCH-102 one volume twice", claims: []string{"zone-a-or-b", "zone-a-or-b"}, want: []string{zone + "[a]", zone + "[b]"}},
		{name: "SCH-102 local volumes of two nodes", claims: []string{"local", "local-2"}, needsVolume: true, noNode: "different nodes"},
	}
	x := indexVolumes(topologySnapshot())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := x.Of(volumePod("p", test.claims...))
			if err != nil {
				t.Fatal(err)
			}
			onNodes := test.onNodes
			if onNodes == nil {
				onNodes = test.want
			}
			if diff := cmp.Diff(test.want, setTexts(got.Alternatives)); diff != "" {
				t.Errorf("new nodes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(onNodes, setTexts(got.OnNodes)); diff != "" {
				t.Errorf("nodes that are there (-want +got):\n%s", diff)
			}
			if (got.NoNode == "") != (test.noNode == "") || !strings.Contains(got.NoNode, test.noNode) || got.NeedsVolume != test.needsVolume {
				t.Errorf("noNode %q, needsVolume %v", got.NoNode, got.NeedsVolume)
			}
		})
	}
}

// SCH-102: when all combinations contradict each other, the pod fails.
func TestSCH102VolumesThatExcludeEachOther(t *testing.T) {
	s := topologySnapshot()
	s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, claimNamed("zone-c", boundTo("zone-c")))
	s.PersistentVolumes = append(s.PersistentVolumes, csiVolume("zone-c", "ebs.csi.aws.com", at(volumeZone+" In c")))
	_, err := indexVolumes(s).Of(volumePod("p", "zone-a-or-b", "zone-c"))
	if err == nil || !strings.Contains(err.Error(), "exclude each other") || !strings.Contains(err.Error(), "[c]") {
		t.Errorf("got %v", err)
	}
}

func TestSCH104VolumesThatRefuseAPod(t *testing.T) {
	now := metav1.NewTime(time.Unix(1_700_000_000, 0))
	classless := ""
	s := &cluster{
		StorageClasses: []*storagev1.StorageClass{
			storageClass("gp3", "ebs.csi.aws.com"), storageClass("no-key", "ebs.csi.aws.com", "rack.test/no 1"),
			storageClass("no-driver", "no.csi.test"), storageClass("nowhere", "ebs.csi.aws.com", "empty"),
			func() *storagev1.StorageClass {
				c := storageClass("immediate", "ebs.csi.aws.com")
				*c.VolumeBindingMode = storagev1.VolumeBindingImmediate
				return c
			}(),
			func() *storagev1.StorageClass {
				c := storageClass("unset", "ebs.csi.aws.com")
				c.VolumeBindingMode = nil
				return c
			}(),
		},
		PersistentVolumes: []*corev1.PersistentVolume{
			csiVolume("good", "ebs.csi.aws.com"),
			csiVolume("going", "ebs.csi.aws.com", func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &now }),
			csiVolume("no-driver", "no.csi.test"),
			csiVolume("nowhere", "ebs.csi.aws.com", at()),
		},
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{
			claimNamed("deleted", boundTo("good"), func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &now }),
			claimNamed("lost", boundTo("good"), func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost }),
			claimNamed("volume-missing", boundTo("missing")),
			claimNamed("volume-deleted", boundTo("going")),
			claimNamed("not-bound-yet", boundTo("good"), func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil }),
			claimNamed("volume-driver", boundTo("no-driver")),
			claimNamed("volume-nowhere", boundTo("nowhere")),
			claimNamed("no-class"),
			claimNamed("empty-class", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &classless }),
			claimNamed("unknown-class", ofClass("unknown")),
			claimNamed("immediate", ofClass("immediate")),
			claimNamed("unset", ofClass("unset")),
			claimNamed("no-key", ofClass("no-key")),
			claimNamed("no-driver", ofClass("no-driver")),
			claimNamed("nowhere", ofClass("nowhere")),
			claimNamed("old-annotation", ofClass("gp3"), func(c *corev1.PersistentVolumeClaim) {
				c.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "immediate"}
			}),
			claimNamed("p-v0", ofClass("gp3")),
		},
	}
	s.StorageClasses[3].AllowedTopologies[0].MatchLabelExpressions = nil
	for _, test := range []struct {
		claim string
		// want are the words of the reason: what is wrong and what to do.
		want []string
	}{
		{"missing", []string{`"ns/missing" does not exist`, "create it"}},
		{"deleted", []string{`"ns/deleted" is being deleted`, "wait"}},
		{"lost", []string{`"ns/lost" with PersistentVolume "good" has lost its volume`, "restore"}},
		{"volume-missing", []string{`PersistentVolume "missing"`, "does not exist", "restore"}},
		{"volume-deleted", []string{`PersistentVolume "going"`, "is being deleted", "again"}},
		{"not-bound-yet", []string{`PersistentVolume "good" is not bound to it yet`, "events"}},
		{"volume-driver", []string{`PersistentVolume "no-driver"`, `driver "no.csi.test"`, "another driver"}},
		{"volume-nowhere", []string{`PersistentVolume "nowhere"`, "no node can meet", "nodeAffinity"}},
		{"no-class", []string{`"ns/no-class" is unbound and has no StorageClass`, "default"}},
		{"empty-class", []string{`"ns/empty-class" is unbound and has no StorageClass`}},
		{"unknown-class", []string{`StorageClass "unknown" is unbound`, "does not exist", "create the class"}},
		{"immediate", []string{`StorageClass "immediate"`, "binds immediately", "WaitForFirstConsumer"}},
		{"unset", []string{`StorageClass "unset"`, "binds immediately"}},
		{"no-key", []string{`StorageClass "no-key"`, `"rack.test/no"`, "allowedTopologies"}},
		{"no-driver", []string{`StorageClass "no-driver"`, `driver "no.csi.test"`}},
		{"nowhere", []string{`StorageClass "nowhere"`, "admit no node"}},
		{"old-annotation", []string{`StorageClass "immediate"`}},
		{"~unknown", []string{`ephemeral volume "v0" of StorageClass "unknown"`}},
		{"~immediate", []string{`ephemeral volume "v0" of StorageClass "immediate"`}},
		{"~", []string{`ephemeral volume "v0" is unbound and has no StorageClass`}},
		{"~gp3", []string{`"ns/p-v0" was not made for the pod`, "delete or rename"}},
	} {
		t.Run(test.claim, func(t *testing.T) {
			pod := volumePod("q", test.claim)
			if test.claim == "~gp3" {
				pod = volumePod("p", test.claim)
			}
			_, err := indexVolumes(s).Of(pod)
			if volumeErr := (*Error)(nil); !errors.As(err, &volumeErr) {
				t.Fatalf("got %v", err)
			}
			for _, words := range test.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q lacks %q", err, words)
				}
			}
		})
	}
}

// A claim without a class gets the default one: the newest, of equally old ones the first by name.
func TestDefaultStorageClassOfClaims(t *testing.T) {
	isDefault := func(c *storagev1.StorageClass, born int64) *storagev1.StorageClass {
		c.Annotations = map[string]string{annDefaultClass: "true"}
		c.CreationTimestamp = metav1.NewTime(time.Unix(born, 0))
		return c
	}
	old := isDefault(storageClass("a-old", "x.test", volumeZone+" a"), 1)
	second := isDefault(storageClass("c", "x.test", volumeZone+" c"), 2)
	first := isDefault(storageClass("b", "x.test", volumeZone+" b"), 2)
	s := &cluster{
		StorageClasses:         []*storagev1.StorageClass{old, second, first, storageClass("d", "x.test", volumeZone+" d")},
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{claimNamed("c")},
	}
	for _, claim := range []string{"c", "~"} {
		got, err := indexVolumes(s).Of(volumePod("p", claim))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{volumeZone + " In [b]"}, setTexts(got.Alternatives)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", claim, diff)
		}
	}
}

// SCH-100: the claim of an ephemeral volume is named after pod and volume, and must be the pod's own. A pod that is not
// made yet has no UID to compare.
func TestSCH100ClaimsOfEphemeralVolumes(t *testing.T) {
	yes := true
	own := claimNamed("p-v0", boundTo("pv"))
	own.OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", Name: "p", UID: "p", Controller: &yes}}
	drawn := claimNamed("d-v0", boundTo("pv"))
	drawn.UID = ""
	s := &cluster{
		StorageClasses:         []*storagev1.StorageClass{storageClass("gp3", "ebs.csi.aws.com")},
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{own, drawn},
		PersistentVolumes:      []*corev1.PersistentVolume{csiVolume("pv", "ebs.csi.aws.com", at(volumeZone+" In a"))},
	}
	drawnPod := volumePod("d", "~gp3")
	drawnPod.UID = ""
	for _, pod := range []*corev1.Pod{volumePod("p", "~gp3"), drawnPod} {
		got, err := indexVolumes(s).Of(pod)
		if err != nil || len(got.Alternatives) != 1 {
			t.Errorf("pod %s: %v, %v", pod.Name, setTexts(got.Alternatives), err)
		}
	}
	other := volumePod("p", "~gp3")
	other.UID = "another pod of the name"
	if _, err := indexVolumes(s).Of(other); err == nil {
		t.Error("another pod's claim was taken")
	}
}

// A ReadWriteOncePod claim that a running pod has is no one else's; of waiting pods the first one gets it.
func TestReadWriteOncePodHasOnePod(t *testing.T) {
	once := func(c *corev1.PersistentVolumeClaim) {
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	urgent := volumePod("urgent", "waiting")
	urgent.Spec.Priority = new(int32)
	*urgent.Spec.Priority = 10
	running, wants := volumePod("running", "running"), volumePod("wants", "running")
	wants.Spec.Priority = urgent.Spec.Priority
	late, many := volumePod("late", "waiting"), volumePod("many", "many")
	s := &cluster{
		StorageClasses: []*storagev1.StorageClass{storageClass("gp3", "ebs.csi.aws.com")},
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{
			claimNamed("running", ofClass("gp3"), once), claimNamed("waiting", ofClass("gp3"), once), claimNamed("many", ofClass("gp3")),
		},
		Bound: []*corev1.Pod{running, volumePod("many-too", "many")},
		Pods:  []*corev1.Pod{late, urgent, wants, many},
	}
	x := indexVolumes(s)
	for pod, refused := range map[*corev1.Pod]bool{running: false, wants: true, late: true, urgent: false, many: false} {
		if _, err := x.Of(pod); (err != nil) != refused {
			t.Errorf("pod %s: %v", pod.Name, err)
		}
	}
	if _, err := x.Of(running.DeepCopy()); err != nil {
		t.Errorf("a copy of the pod that has the claim: %v", err)
	}
	if _, err := x.Of(wants); err == nil || !strings.Contains(err.Error(), `"running" has it`) {
		t.Errorf("got %v", err)
	}
	if same := string(x.AppendText(late, nil)) == string(x.AppendText(urgent, nil)); same {
		t.Error("the pod that is refused has the text of the one that is not")
	}
}

// Volumes of classes without a provisioner are handed out one by one, and where none is left no node that is there
// will do.
func TestVolumesMadeByHand(t *testing.T) {
	size := func(gib string) claimOption {
		return func(c *corev1.PersistentVolumeClaim) {
			c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(gib)}
		}
	}
	free := func(gib string) pvOption {
		return func(pv *corev1.PersistentVolume) {
			pv.Status.Phase = corev1.VolumeAvailable
			pv.Spec.StorageClassName = "local"
			pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(gib)}
		}
	}
	reserved := func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ns", Name: "reserving"}
	}
	s := &cluster{
		StorageClasses: []*storagev1.StorageClass{storageClass("local", noProvisioner)},
		PersistentVolumes: []*corev1.PersistentVolume{
			localVolume("a", "h20", free("20Gi")), localVolume("b", "h10", free("10Gi")), localVolume("c", "h50", free("50Gi"), reserved),
			localVolume("aa", "h98", free("5Gi"), func(pv *corev1.PersistentVolume) { pv.Spec.AccessModes = nil }),
			localVolume("d", "h99", free("5Gi"), func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = "other" }),
			csiVolume("e", "san.test", free("100Gi"), at(volumeZone+" In a")),
		},
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{
			claimNamed("unused", ofClass("local"), size("1Gi")), claimNamed("big", ofClass("local"), size("15Gi")),
			claimNamed("small", ofClass("local"), size("5Gi")), claimNamed("reserving", ofClass("local"), size("5Gi")),
			claimNamed("huge", ofClass("local"), size("90Gi")), claimNamed("too-much", ofClass("local"), size("900Gi")),
		},
	}
	for _, name := range []string{"big", "small", "reserving", "huge", "too-much"} {
		s.Pods = append(s.Pods, volumePod(name, name))
	}
	want := map[string]string{
		"big": corev1.LabelHostname + " In [h20]", "small": corev1.LabelHostname + " In [h10]", "reserving": corev1.LabelHostname + " In [h50]",
		"huge": volumeZone + " In [a]", "too-much": "",
	}
	x := indexVolumes(s)
	for _, pod := range s.Pods {
		got, err := x.Of(pod)
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.Join(setTexts(got.OnNodes), "|"); at != want[pod.Name] {
			t.Errorf("%s is at %q, want %q", pod.Name, at, want[pod.Name])
		}
		if (got.NoNode != "") != (pod.Name == "too-much") || got.NeedsVolume != (pod.Name != "huge") {
			t.Errorf("%s: noNode %q, needsVolume %v", pod.Name, got.NoNode, got.NeedsVolume)
		}
		if claims := len(x.Attached(pod)); claims != map[string]int{"huge": 1}[pod.Name] {
			t.Errorf("%s attaches %d volumes", pod.Name, claims)
		}
	}
}

// The order of volumes, and of the snapshot's objects, changes nothing about which nodes will do; and those are the
// nodes that meet every volume's node affinity as Kubernetes reads it.
func TestSCH102OrderOfVolumesDoesNotMatter(t *testing.T) {
	keys := []string{volumeZone, "example.com/rack", "example.com/row"}
	vocab := volumeVocabulary()
	seeded.Check(t, func(t *rapid.T) {
		s := &cluster{}
		var names []string
		for i := range rapid.IntRange(1, 4).Draw(t, "volumes") {
			name := fmt.Sprintf("c%d", i)
			pv := csiVolume(name, "x.test")
			for range rapid.IntRange(0, 3).Draw(t, "terms") {
				var expressions []string
				for _, key := range keys {
					operator := rapid.SampledFrom([]string{"", "", "In", "NotIn", "DoesNotExist"}).Draw(t, "operator")
					switch operator {
					case "In", "NotIn":
						values := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 2, rapid.ID).Draw(t, "values")
						expressions = append(expressions, key+" "+operator+" "+strings.Join(values, " "))
					case "DoesNotExist":
						expressions = append(expressions, key+" "+operator)
					}
				}
				at(expressions...)(pv)
			}
			s.PersistentVolumes = append(s.PersistentVolumes, pv)
			s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, claimNamed(name, boundTo(name)))
			names = append(names, name)
		}
		got, err := New(s.objects(Unsupported{}), vocab).Of(volumePod("p", names...))
		turned := &cluster{PersistentVolumes: slices.Clone(s.PersistentVolumes), PersistentVolumeClaims: slices.Clone(s.PersistentVolumeClaims)}
		slices.Reverse(turned.PersistentVolumes)
		slices.Reverse(turned.PersistentVolumeClaims)
		shuffled := rapid.Permutation(names).Draw(t, "order")
		again, againErr := New(turned.objects(Unsupported{}), vocab).Of(volumePod("p", shuffled...))
		if (err == nil) != (againErr == nil) {
			t.Fatalf("one order: %v, another: %v", err, againErr)
		}
		for _, zone := range []string{"", "a", "b", "c"} {
			for _, rack := range []string{"", "a", "b", "c"} {
				for _, row := range []string{"", "a", "b"} {
					node := labels.Set{}
					for i, value := range []string{zone, rack, row} {
						if value != "" {
							node[keys[i]] = value
						}
					}
					want := nodeMeetsVolumes(t, s.PersistentVolumes, node)
					if one := err == nil && anyMet(got.Alternatives, node); one != want {
						t.Fatalf("node %v: %v, Kubernetes says %v; alternatives %q, error %v", node, one, want, setTexts(got.Alternatives), err)
					}
					if other := againErr == nil && anyMet(again.Alternatives, node); other != want {
						t.Fatalf("node %v in order %v: %v, want %v", node, shuffled, other, want)
					}
				}
			}
		}
	})
}

func anyMet(alternatives []requirements.Set, node labels.Set) bool {
	return alternatives == nil || slices.ContainsFunc(alternatives, func(s requirements.Set) bool {
		return requirements.FromLabels(node).Compatible(s, nil) == nil
	})
}

// nodeMeetsVolumes reads node affinity with Kubernetes' own label selectors.
func nodeMeetsVolumes(t *rapid.T, volumes []*corev1.PersistentVolume, node labels.Set) bool {
	operators := map[corev1.NodeSelectorOperator]string{"In": "in", "NotIn": "notin"}
	for _, pv := range volumes {
		if pv.Spec.NodeAffinity == nil {
			continue
		}
		met := false
		for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
			var parts []string
			for _, e := range term.MatchExpressions {
				if e.Operator == "DoesNotExist" {
					parts = append(parts, "!"+e.Key)
				} else {
					parts = append(parts, e.Key+" "+operators[e.Operator]+" ("+strings.Join(e.Values, ",")+")")
				}
			}
			selector, err := labels.Parse(strings.Join(parts, ","))
			if err != nil {
				t.Fatal(err)
			}
			met = met || len(parts) > 0 && selector.Matches(node)
		}
		if !met {
			return false
		}
	}
	return true
}
