package planvalidator

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// attached is a volume of a pod, and the nodes that the volume can be attached to.
type attached struct {
	// driver and id identify the volume for attachment limits. driver is empty for volumes to which no limit applies.
	driver, id string
	// onNodes are the alternative node selections for existing nodes, and onNew those for new nodes. A node must meet one alternative. nil
	// means any node. The two lists differ because new nodes can't be selected by hostname.
	onNodes, onNew [][]expression
	// unmade is true for a volume that will be created in the zone of the first pod that uses it.
	unmade bool
}

// volumesOf returns the pod's volumes. It returns false for volumes that this checker does not support: claims that wait for a manually
// created volume, claims that a node was already selected for, and PersistentVolumes of in-tree plugins.
func (c *checker) volumesOf(pod *corev1.Pod) ([]attached, bool) {
	var out []attached
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod.Name + "-" + v.Name
		default:
			// Disks that pods name without a claim can be used in any zone. They count towards the attachment limit of a CSI driver.
			if one := inlineDisk(&v.VolumeSource); one.driver != "" {
				out = append(out, one)
			}
			continue
		}
		one, ok := c.claimOf(pod.Namespace, name, v)
		if !ok {
			return nil, false
		}
		out = append(out, one)
	}
	return out, true
}

// inlineDisk returns the disk that a pod names without a claim. Its driver is empty if no attachment limit applies to it. Source:
// kube-scheduler's NodeVolumeLimits with the translation of in-tree volumes to CSI.
func inlineDisk(v *corev1.VolumeSource) attached {
	switch {
	case v.AWSElasticBlockStore != nil:
		id := v.AWSElasticBlockStore.VolumeID // vol-1 or aws://zone/vol-1
		return attached{driver: "ebs.csi.aws.com", id: id[strings.LastIndexByte(id, '/')+1:]}
	case v.GCEPersistentDisk != nil:
		return attached{driver: "pd.csi.storage.gke.io", id: v.GCEPersistentDisk.PDName}
	case v.AzureDisk != nil:
		return attached{driver: "disk.csi.azure.com", id: v.AzureDisk.DataDiskURI}
	case v.Cinder != nil:
		return attached{driver: "cinder.csi.openstack.org", id: v.Cinder.VolumeID}
	}
	return attached{}
}

func (c *checker) claimOf(namespace, name string, v *corev1.Volume) (attached, bool) {
	at := slices.IndexFunc(c.s.PersistentVolumeClaims, func(x *corev1.PersistentVolumeClaim) bool {
		return x.Namespace == namespace && x.Name == name
	})
	if at < 0 {
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
			return attached{}, false
		}
		return c.unbound(namespace+"/"+name, v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName)
	}
	claim := c.s.PersistentVolumeClaims[at]
	if claim.Spec.VolumeName == "" {
		if claim.Annotations["volume.kubernetes.io/selected-node"] != "" {
			return attached{}, false
		}
		return c.unbound(namespace+"/"+name, claim.Spec.StorageClassName)
	}
	for _, pv := range c.s.PersistentVolumes {
		if pv.Name == claim.Spec.VolumeName {
			return c.volume(pv)
		}
	}
	return attached{}, false
}

// unbound returns a volume that a StorageClass will create, restricted by the allowed topologies of the class. It returns false if this
// checker does not support the class.
func (c *checker) unbound(id string, class *string) (attached, bool) {
	for _, sc := range c.s.StorageClasses {
		if class == nil || sc.Name != *class {
			continue
		}
		if sc.VolumeBindingMode == nil || *sc.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer || strings.HasPrefix(sc.Provisioner, "kubernetes.io/") || sc.Provisioner == "" {
			return attached{}, false
		}
		out := attached{driver: sc.Provisioner, id: id, unmade: true}
		for _, term := range sc.AllowedTopologies {
			var all []expression
			for _, e := range term.MatchLabelExpressions {
				all = append(all, c.expression(e.Key, corev1.NodeSelectorOpIn, e.Values))
			}
			out.onNodes = append(out.onNodes, all)
		}
		out.onNew = out.onNodes
		return out, true
	}
	return attached{}, false
}

// volume returns an existing volume. Each term of the volume's node affinity, combined with the zone and region labels of the volume, is
// one alternative for the node.
func (c *checker) volume(pv *corev1.PersistentVolume) (attached, bool) {
	var out attached
	if pv.Spec.CSI != nil {
		out.driver, out.id = pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle
	} else if pv.Spec.Local == nil && pv.Spec.HostPath == nil {
		return out, false
	}
	var byLabel []expression
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if v, ok := pv.Labels[key]; ok {
			byLabel = append(byLabel, c.expression(key, corev1.NodeSelectorOpIn, strings.Split(v, "__")))
		}
	}
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		if byLabel != nil {
			out.onNodes = [][]expression{byLabel}
		}
		out.onNew = out.onNodes
		return out, true
	}
	for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		onNode, onNew := slices.Clone(byLabel), slices.Clone(byLabel)
		for _, e := range term.MatchExpressions {
			x := c.expression(e.Key, e.Operator, e.Values)
			onNode = append(onNode, x)
			if x.key != corev1.LabelHostname || out.driver != "" {
				onNew = append(onNew, x)
			}
		}
		out.onNodes, out.onNew = append(out.onNodes, onNode), append(out.onNew, onNew)
	}
	return out, true
}

// volumesRefuse says why the pod's volumes can't be attached to the node, or returns "" if they can. It checks that the node is in the
// topology of each volume, that all pods with the same uncreated volume are in one zone, and that the node can attach all volumes.
func (w *world) volumesRefuse(m *node, pod *corev1.Pod) string {
	list, ok := w.c.volumesOf(pod)
	if !ok {
		return "volumes beyond this checker"
	}
	for _, v := range list {
		alternatives := v.onNodes
		if m.isNew {
			alternatives = v.onNew
		}
		if alternatives != nil && !slices.ContainsFunc(alternatives, func(all []expression) bool {
			return !slices.ContainsFunc(all, func(e expression) bool { return !m.labels.get(e.key).ensures(e.rule) })
		}) {
			return "a volume is elsewhere"
		}
		if v.unmade && !w.togetherWith(m, v) {
			return "a volume will be made elsewhere"
		}
	}
	type volume struct{ driver, id string }
	on, before := map[volume]bool{}, map[string]int64{}
	note := func(v attached) bool {
		fresh := !on[volume{v.driver, v.id}]
		on[volume{v.driver, v.id}] = true
		return fresh
	}
	for _, x := range m.pods {
		volumes, _ := w.c.volumesOf(x)
		for _, v := range volumes {
			if note(v) {
				before[v.driver]++
			}
		}
	}
	for _, v := range list {
		if !note(v) {
			continue
		}
		if before[v.driver]++; m.limits(v.driver, before[v.driver]) {
			return "too many volumes"
		}
	}
	return ""
}

// attachesAll reports whether a new node of the type can attach all volumes of the pods. A volume that several of the pods use counts once.
func (c *checker) attachesAll(it *cloudprovider.InstanceType, pods []*corev1.Pod) bool {
	type volume struct{ driver, id string }
	seen, used := map[volume]bool{}, map[string]int64{}
	for _, pod := range pods {
		volumes, _ := c.volumesOf(pod)
		for _, v := range volumes {
			if !seen[volume{v.driver, v.id}] {
				seen[volume{v.driver, v.id}] = true
				used[v.driver]++
			}
		}
	}
	for driver, limit := range it.VolumeLimits {
		if used[driver] > int64(limit) {
			return false
		}
	}
	return true
}

// limits reports whether the node can attach fewer than n volumes of the driver.
func (m *node) limits(driver string, n int64) bool {
	limit, limited := m.volumes[driver]
	return limited && n > limit
}

// togetherWith reports whether all placed pods that use the volume are in the node's zone.
func (w *world) togetherWith(m *node, v attached) bool {
	for _, other := range w.nodes {
		zone := w.domain(other, corev1.LabelTopologyZone)
		if zone == "" || zone == w.domain(m, corev1.LabelTopologyZone) {
			continue
		}
		for _, x := range other.pods {
			volumes, _ := w.c.volumesOf(x)
			if slices.ContainsFunc(volumes, func(o attached) bool { return o.driver == v.driver && o.id == v.id }) {
				return false
			}
		}
	}
	return true
}

// diskClash names a disk that the given pod can't share on one node with one of the other pods, and that both pods name without a claim. It
// returns "" if there is no such disk. Source: kube-scheduler's VolumeRestrictions.
func diskClash(others []*corev1.Pod, pod *corev1.Pod) string {
	for i := range pod.Spec.Volumes {
		for _, x := range others {
			for j := range x.Spec.Volumes {
				if disk := sameDisk(&pod.Spec.Volumes[i].VolumeSource, &x.Spec.Volumes[j].VolumeSource); disk != "" {
					return "disk " + disk
				}
			}
		}
	}
	return ""
}

func sameDisk(a, b *corev1.VolumeSource) string {
	switch {
	case a.AWSElasticBlockStore != nil && b.AWSElasticBlockStore != nil && a.AWSElasticBlockStore.VolumeID == b.AWSElasticBlockStore.VolumeID:
		return a.AWSElasticBlockStore.VolumeID
	case a.GCEPersistentDisk != nil && b.GCEPersistentDisk != nil && a.GCEPersistentDisk.PDName == b.GCEPersistentDisk.PDName &&
		!(a.GCEPersistentDisk.ReadOnly && b.GCEPersistentDisk.ReadOnly):
		return a.GCEPersistentDisk.PDName
	case a.ISCSI != nil && b.ISCSI != nil && a.ISCSI.IQN == b.ISCSI.IQN && !(a.ISCSI.ReadOnly && b.ISCSI.ReadOnly):
		return a.ISCSI.IQN
	case a.RBD != nil && b.RBD != nil && a.RBD.RBDPool == b.RBD.RBDPool && a.RBD.RBDImage == b.RBD.RBDImage && !(a.RBD.ReadOnly && b.RBD.ReadOnly) &&
		slices.ContainsFunc(a.RBD.CephMonitors, func(m string) bool { return slices.Contains(b.RBD.CephMonitors, m) }):
		return a.RBD.RBDPool + "/" + a.RBD.RBDImage
	}
	return ""
}

// takeAttached reduces the attachment limits of the node. It subtracts the volumes that are attached to the node (VolumeAttachments)
// although none of the node's pods uses them.
func (c *checker) takeAttached(n *scheduling.Node, limits map[string]int64) {
	type volume struct{ driver, id string }
	seen := map[volume]bool{}
	for _, pod := range n.Pods {
		if finished(pod) {
			continue
		}
		volumes, _ := c.volumesOf(pod)
		for _, v := range volumes {
			seen[volume{v.driver, v.id}] = true
		}
	}
	for _, a := range c.s.VolumeAttachments {
		for _, pv := range c.s.PersistentVolumes {
			if a.Spec.NodeName != n.Name || a.Spec.Source.PersistentVolumeName == nil || *a.Spec.Source.PersistentVolumeName != pv.Name || pv.Spec.CSI == nil {
				continue
			}
			v := volume{a.Spec.Attacher, pv.Spec.CSI.VolumeHandle}
			if left, limited := limits[v.driver]; limited && !seen[v] {
				limits[v.driver] = left - 1
			}
			seen[v] = true
		}
	}
}
