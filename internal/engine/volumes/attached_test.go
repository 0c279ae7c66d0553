package volumes

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claimTexts writes claims as "driver id", with a star on shared ones.
func claimTexts(claims []Claim) []string {
	var out []string
	for _, c := range claims {
		text := c.Driver + " " + c.Handle
		if c.Shared {
			text += " *"
		}
		if c.Unbound {
			text += " unbound"
		}
		out = append(out, text)
	}
	return out
}

// inTreeVolume is a volume of a plugin that was built into Kubernetes.
func inTreeVolume(name string, source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
	pv := csiVolume(name, "")
	pv.Spec.PersistentVolumeSource = source
	return pv
}

// attachSnapshot has claims of each way to find a driver.
func attachSnapshot() *cluster {
	now := metav1.Now()
	s := &cluster{
		StorageClasses: []*storagev1.StorageClass{
			storageClass("gp3", driverEBS), storageClass("gp2", inTreeEBS), storageClass("pd", inTreeGCEDisk),
			storageClass("azure", inTreeAzureDisk), storageClass("cinder", inTreeCinder), storageClass("hand", noProvisioner),
			storageClass("zoned", driverEBS, volumeZone+" a"),
		},
		PersistentVolumes: []*corev1.PersistentVolume{
			csiVolume("csi", driverEBS), csiVolume("csi-2", driverEBS), csiVolume("shared", "nfs.test"),
			inTreeVolume("ebs", corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://us-east-1a/vol-1"}}),
			inTreeVolume("gce", corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "disk-1"}}),
			inTreeVolume("azure", corev1.PersistentVolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DataDiskURI: "/disks/1"}}),
			inTreeVolume("cinder", corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "c-1"}}),
			inTreeVolume("nfs", corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}}),
			localVolume("local", "h1"),
		},
	}
	for _, pv := range s.PersistentVolumes {
		s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, claimNamed(pv.Name, boundTo(pv.Name)))
	}
	for _, class := range s.StorageClasses {
		for i := range 3 {
			s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, claimNamed(fmt.Sprintf("new-%s-%d", class.Name, i), ofClass(class.Name)))
		}
	}
	s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, claimNamed("going", boundTo("csi-2"), func(c *corev1.PersistentVolumeClaim) {
		c.DeletionTimestamp = &now
	}))
	return s
}

func TestSCH105AttachedVolumes(t *testing.T) {
	inline := volumePod("inline", "csi")
	inline.Spec.Volumes = append(inline.Spec.Volumes,
		corev1.Volume{Name: "i", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-9"}}},
		corev1.Volume{Name: "e", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	tests := []struct {
		name string
		pod  *corev1.Pod
		want []string
	}{
		{"CSI volume", volumePod("p", "csi"), []string{driverEBS + " handle-csi"}},
		{"sorted, each once", volumePod("p", "shared", "csi", "csi", "new-gp3-0"),
			[]string{driverEBS + " handle-csi", driverEBS + " ns/new-gp3-0 unbound", "nfs.test handle-shared *"}},
		{"EBS of old", volumePod("p", "ebs"), []string{driverEBS + " vol-1"}},
		{"GCE disk of old", volumePod("p", "gce"), []string{driverGCEDisk + " disk-1"}},
		{"Azure disk of old", volumePod("p", "azure"), []string{driverAzureDisk + " /disks/1"}},
		{"Cinder of old", volumePod("p", "cinder"), []string{driverCinder + " c-1"}},
		{"not attached", volumePod("p", "nfs", "local", "new-hand-0"), nil},
		{"provisioners of old", volumePod("p", "new-gp2-0", "new-pd-0", "new-azure-0", "new-cinder-0"), []string{
			driverCinder + " ns/new-cinder-0 unbound", driverAzureDisk + " ns/new-azure-0 unbound",
			driverEBS + " ns/new-gp2-0 unbound", driverGCEDisk + " ns/new-pd-0 unbound"}},
		{"ephemeral", volumePod("p", "~gp3", "~gp3"), []string{driverEBS + " ns/p-v0 unbound", driverEBS + " ns/p-v1 unbound"}},
		{"not to be resolved", volumePod("p", "missing", "~unknown"), nil},
		{"a claim that is being deleted still holds its slot", volumePod("p", "going"), []string{driverEBS + " handle-csi-2"}},
		{"inline, as it once was", inline, []string{driverEBS + " handle-csi", driverEBS + " vol-9"}},
	}
	s := attachSnapshot()
	s.Bound = []*corev1.Pod{volumePod("a", "shared", "shared")}
	s.Pods = []*corev1.Pod{volumePod("b", "shared"), volumePod("c", "csi", "csi")}
	x := indexVolumes(s)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, claimTexts(x.Attached(test.pod))); diff != "" {
				t.Errorf("attached (-want +got):\n%s", diff)
			}
		})
	}
}

// Pods have one text when their volumes are interchangeable, and only then.
func TestVolumeTextTellsPodsApart(t *testing.T) {
	inline := func(name, id string) *corev1.Pod {
		p := volumePod(name)
		p.Spec.Volumes = []corev1.Volume{{Name: "i", VolumeSource: corev1.VolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id}}}}
		return p
	}
	tests := []struct {
		name string
		a, b *corev1.Pod
		same bool
	}{
		{"replicas with unbound claims of their own", volumePod("a", "new-gp3-0"), volumePod("b", "new-gp3-1"), true},
		{"replicas with ephemeral volumes", volumePod("a", "~gp3"), volumePod("b", "~gp3"), true},
		{"an ephemeral volume and a claim", volumePod("a", "~gp3"), volumePod("b", "new-gp3-1"), true},
		{"replicas with volumes in one place", volumePod("a", "csi"), volumePod("b", "csi-2"), true},
		{"refused for the same reason", volumePod("a", "~unknown"), volumePod("b", "~unknown"), true},
		{"inline volumes", inline("a", "vol-1"), inline("b", "vol-2"), true},
		{"more volumes", volumePod("a", "new-gp3-0"), volumePod("b", "new-gp3-1", "new-gp3-2"), false},
		{"one claim twice, two claims", volumePod("a", "new-gp3-0", "new-gp3-0"), volumePod("b", "new-gp3-1", "new-gp3-2"), false},
		{"another driver", volumePod("a", "new-gp3-0"), volumePod("b", "new-pd-0"), false},
		{"another topology", volumePod("a", "new-gp3-0"), volumePod("b", "new-zoned-0"), false},
		{"local and not", volumePod("a", "local"), volumePod("b", "nfs"), false},
		{"a shared claim and one's own", volumePod("a", "shared"), volumePod("b", "csi"), false},
		{"one refused", volumePod("a", "missing"), volumePod("b", "nfs"), false},
		{"refused for different claims", volumePod("a", "missing"), volumePod("b", "missing-too"), false},
		{"volumes and none", volumePod("a", "nfs"), volumePod("b"), false},
	}
	s := attachSnapshot()
	s.Pods = []*corev1.Pod{volumePod("x", "shared"), volumePod("y", "shared")}
	x := indexVolumes(s)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := x.AppendText(test.a, nil), x.AppendText(test.b, nil)
			if same := string(a) == string(b); same != test.same {
				t.Errorf("%q and %q", a, b)
			}
		})
	}
	if text := x.AppendText(volumePod("p"), []byte("before")); string(text) != "before" {
		t.Errorf("a pod without volumes has text %q", text)
	}
	plain := volumePod("p")
	plain.Spec.Volumes = []corev1.Volume{{Name: "t", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}}}
	buf := make([]byte, 0, 8)
	if n := testing.AllocsPerRun(100, func() { buf = x.AppendText(plain, buf[:0]) }); n != 0 || len(buf) != 0 {
		t.Errorf("a pod without claims costs %v allocations and has text %q", n, buf)
	}
}

func TestSCH105NodeVolumeLimits(t *testing.T) {
	count := int32(25)
	node := &storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: driverEBS, Allocatable: &storagev1.VolumeNodeResources{Count: &count}},
		{Name: "efs.csi.aws.com"}, {Name: "s3.csi.aws.com", Allocatable: &storagev1.VolumeNodeResources{}},
	}}}
	if diff := cmp.Diff(map[string]int64{driverEBS: 25}, NodeLimits(node)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := NodeLimits(nil); len(got) != 0 {
		t.Errorf("without a CSINode: %v", got)
	}
}

// BenchmarkVolumeIndex reads 20,000 bound claims in three zones, with a pod each.
func BenchmarkVolumeIndex(b *testing.B) {
	s := &cluster{StorageClasses: []*storagev1.StorageClass{storageClass("gp3", driverEBS)}}
	for i := range 20_000 {
		name := fmt.Sprintf("data-%d", i)
		s.PersistentVolumes = append(s.PersistentVolumes, csiVolume(name, driverEBS, at(ebsVolumeZone+" In "+[]string{"a", "b", "c"}[i%3])))
		s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, claimNamed(name, boundTo(name)))
		s.Pods = append(s.Pods, volumePod(name, name))
	}
	vocab := volumeVocabulary()
	b.ReportAllocs()
	for b.Loop() {
		x := New(s.objects(Unsupported{}), vocab)
		var buf []byte
		for _, pod := range s.Pods {
			buf = x.AppendText(pod, buf[:0])
		}
	}
}
