package snapshots

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const driver = "disk.csi.example.com"

// volume describes a claim that each pod of a workload uses. It may be one claim for all of them.
type volume struct {
	name string
	// shared is true if all pods use the same claim.
	shared bool
	// class is the storage class of a claim that is not bound yet. It is empty if the claim is bound.
	class string
	// ephemeral is true if each pod owns its claim.
	ephemeral bool
}

// storage makes the StorageClasses.
func (m *maker) storage() {
	if !m.has(Volumes) {
		return
	}
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	class := func(name string, terms ...corev1.TopologySelectorTerm) {
		m.s.StorageClasses = append(m.s.StorageClasses, &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: driver, VolumeBindingMode: &wait, AllowedTopologies: terms,
		})
	}
	in := func(zones ...string) corev1.TopologySelectorTerm {
		return corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneKey, Values: zones}}}
	}
	class("anywhere")
	class("all-zones", in(m.zones...))
	class("one-zone", in(choose(m, "class zone", m.zones...)))
	class("either-zone", in(m.zones[0]), in(m.zones[len(m.zones)-1]))
	if m.has(HandMade) {
		m.handMade()
	}
}

func (m *maker) volumes(t *template) {
	for m.with(Volumes, "volume", 30) && len(t.volumes) < 2 {
		v := volume{name: fmt.Sprintf("data%d", len(t.volumes)), shared: m.with(SharedClaims, "shared", 25)}
		if m.chance("waits for consumer", 60) {
			v.class = choose(m, "storage class", m.classes()...)
			v.ephemeral = !v.shared && m.chance("ephemeral", 20)
		}
		t.volumes = append(t.volumes, v)
	}
}

// attach adds the volumes of the workload to a pod.
func (m *maker) attach(t *template, pod *corev1.Pod) {
	for _, v := range t.volumes {
		source := corev1.VolumeSource{}
		claim := t.app + "-" + v.name
		if !v.shared {
			claim = pod.Name + "-" + v.name
		}
		if v.ephemeral {
			source.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claimSpec(v.class)}}
		} else {
			source.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: v.name, VolumeSource: source})
		m.claim(v, claim, pod)
	}
}

func claimSpec(class string) corev1.PersistentVolumeClaimSpec {
	spec := corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}
	spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: amount("1Gi")}
	spec.StorageClassName = &class
	return spec
}

// claim makes the claim unless it was made for an earlier pod.
func (m *maker) claim(v volume, name string, pod *corev1.Pod) {
	for _, c := range m.s.PersistentVolumeClaims {
		if c.Namespace == pod.Namespace && c.Name == name {
			return
		}
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, UID: types.UID("claim-" + pod.Namespace + "-" + name)}, Spec: claimSpec(v.class)}
	claim.Status.Phase = corev1.ClaimPending
	if v.ephemeral {
		yes := true
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &yes}}
	}
	m.s.PersistentVolumeClaims = append(m.s.PersistentVolumeClaims, claim)
	// A claim of an immediate class is bound before its pod can be scheduled. Until then, the pod must wait.
	if v.class == "" || v.class == immediateClass && m.chance("provisioned", 85) {
		m.bind(claim, m.volumeTerms())
	}
}

// volumeTerms draws the zones from which a volume can be used, as a list of alternatives. nil means all zones.
func (m *maker) volumeTerms() [][]string {
	switch m.number("volume reach", 0, 4) {
	case 3:
		return nil
	case 4:
		return [][]string{{m.zones[0]}, {m.zones[len(m.zones)-1]}}
	}
	return [][]string{distinct(some(m, "volume zones", m.zones))}
}

// bind binds a claim to a new volume.
func (m *maker) bind(claim *corev1.PersistentVolumeClaim, terms [][]string) {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim.Namespace + "-" + claim.Name}}
	pv.Spec = corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{corev1.ResourceStorage: amount("1Gi")}, AccessModes: claim.Spec.AccessModes, StorageClassName: *claim.Spec.StorageClassName,
		ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: claim.Namespace + "-" + claim.Name}},
	}
	if len(terms) > 0 {
		required := &corev1.NodeSelector{}
		for _, zones := range terms {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: zones}},
			})
		}
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: required}
		if len(terms) == 1 && len(terms[0]) == 1 && m.chance("zone label", 30) {
			pv.Labels = map[string]string{zoneKey: terms[0][0]}
		}
	}
	pv.Status.Phase = corev1.VolumeBound
	claim.Spec.VolumeName = pv.Name
	claim.Status.Phase = corev1.ClaimBound
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	m.s.PersistentVolumes = append(m.s.PersistentVolumes, pv)
}

// csiNode limits the number of volumes that a node can attach.
func (m *maker) csiNode(node string) {
	if !m.has(AttachLimits) || !m.has(Volumes) || !m.chance("csi node", 70) {
		return
	}
	d := storagev1.CSINodeDriver{Name: driver, NodeID: node, TopologyKeys: []string{zoneKey}}
	if m.chance("attach limit", 80) {
		count := int32(m.number("attachable", 0, 3))
		d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
	}
	m.s.CSINodes = append(m.s.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{d}}})
}

// inlineDisk makes the pods use one of a few disks directly.
func (m *maker) inlineDisk(spec *corev1.PodSpec) {
	if !m.with(InlineDisks, "inline disk", 10) {
		return
	}
	readOnly := m.chance("read only", 50)
	name := choose(m, "disk", "d1", "d2")
	source := choose(m, "disk kind",
		corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: name, ReadOnly: readOnly}},
		corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}},
		corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: name, ReadOnly: readOnly}},
		corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m1", choose(m, "monitor", "m2", "m3")}, RBDImage: name, ReadOnly: readOnly}},
		corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m3"}, RBDImage: name, ReadOnly: readOnly}},
	)
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "inline", VolumeSource: source})
}

// attachments leaves volumes attached to nodes on which no pod uses them.
func (m *maker) attachments() {
	for _, n := range m.s.CSINodes {
		for _, pv := range m.s.PersistentVolumes {
			if pv.Spec.CSI == nil || !m.with(Attachments, "attached", 15) {
				continue
			}
			m.s.VolumeAttachments = append(m.s.VolumeAttachments, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: n.Name + "-" + pv.Name},
				Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: n.Name, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv.Name}}})
		}
	}
}
