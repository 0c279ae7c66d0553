package volumes

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// Annotations and names used by Kubernetes' own volume controllers.
const (
	// annBindCompleted means that the claim and its volume are bound to each other permanently.
	annBindCompleted = "pv.kubernetes.io/bind-completed"
	// annSelectedNode means that kube-scheduler has chosen a node, and that the provisioner is creating the volume for this node.
	annSelectedNode = "volume.kubernetes.io/selected-node"
	// annDefaultClass marks the StorageClass of claims that name no class.
	annDefaultClass = "storageclass.kubernetes.io/is-default-class"
	// noProvisioner is the provisioner of classes with volumes that are created manually or by a static provisioner.
	noProvisioner = "kubernetes.io/no-provisioner"
)

// defaultStorageClass returns the newest class that is marked as default, like the API server's admission. Among default classes of equal
// age, it returns the first by name. It returns "" if no class is marked as default.
func defaultStorageClass(classes []*storagev1.StorageClass) string {
	var best *storagev1.StorageClass
	for _, class := range classes {
		if class.Annotations[annDefaultClass] != "true" {
			continue
		}
		if best == nil {
			best = class
			continue
		}
		newer := best.CreationTimestamp.Compare(class.CreationTimestamp.Time)
		if cmp.Or(newer, cmp.Compare(class.Name, best.Name)) < 0 {
			best = class
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

// className returns the StorageClass of an unbound claim. The old annotation takes precedence over the field. If the claim has neither, the
// result is the default class, because a controller will set this class. It is "" if there is no default class.
func (x *Index) className(annotations map[string]string, spec *corev1.PersistentVolumeClaimSpec) string {
	if name, ok := annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	if spec.StorageClassName != nil {
		return *spec.StorageClassName
	}
	return x.defaultClass
}

// NodesChosen reports whether a node was chosen for a volume that does not exist yet. In this case, the result of New depends on which
// nodes exist.
func NodesChosen(claims []*corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claims, func(c *corev1.PersistentVolumeClaim) bool {
		return c.Spec.VolumeName == "" && c.Annotations[annSelectedNode] != ""
	})
}

// resolveClaims determines where each claim can be used and which volume it attaches.
func (x *Index) resolveClaims(s *Objects) {
	var hostnames map[string]string
	if NodesChosen(s.PersistentVolumeClaims) {
		hostnames = s.Hostnames()
	}
	var waiting []*claim
	for _, pvc := range slices.SortedFunc(slices.Values(s.PersistentVolumeClaims), byName[*corev1.PersistentVolumeClaim]) {
		c := x.claims[claimKey{pvc.Namespace, pvc.Name}]
		if c.object != pvc {
			continue // if two claims have the same name, the last one is used
		}
		c.attaches = x.attaches(pvc)
		if c.fault = x.resolveClaim(c, hostnames); c.fault != nil {
			c.fault.claim = pvc.Namespace + "/" + pvc.Name
		} else if c.needsVolume && c.used {
			waiting = append(waiting, c)
		}
	}
	x.assignFreeVolumes(s.PersistentVolumes, waiting)
}

// resolveClaim finds where the claim can be used. It returns an error if no pod can use the claim, because the claim's volume is lost,
// missing or being deleted, or because no volume can be created for it. The checks are in kube-scheduler's order.
func (x *Index) resolveClaim(c *claim, hostnames map[string]string) *Error {
	pvc := c.object
	volume := pvc.Spec.VolumeName
	switch {
	case pvc.Status.Phase == corev1.ClaimLost:
		return &Error{volume: volume, fault: "has lost its volume", cure: "restore the volume, or make the claim again"}
	case pvc.DeletionTimestamp != nil:
		return &Error{fault: "is being deleted", cure: "wait until it is gone and make it again"}
	case volume == "":
		return x.resolveWaiting(c, hostnames)
	case !metav1.HasAnnotation(pvc.ObjectMeta, annBindCompleted):
		return &Error{volume: volume, fault: "is not bound to it yet",
			cure: "wait, or see in the claim's events why the volume is not taken (size, access modes, another claim)"}
	}
	pv := x.volumes[volume]
	if pv == nil {
		return &Error{volume: volume, fault: "is bound to a volume that does not exist",
			cure: "restore the volume, or make the claim again"}
	}
	return x.resolveBound(c, pv)
}

// resolveBound sets where a bound claim can be used, according to its volume.
func (x *Index) resolveBound(c *claim, pv *corev1.PersistentVolume) *Error {
	if pv.DeletionTimestamp != nil {
		return &Error{volume: pv.Name, fault: "is bound to a volume that is being deleted", cure: "make the claim again"}
	}
	if slices.Contains(x.unsupported.Drivers, c.attaches.Driver) {
		return x.unsupportedDriver(pv.Name, pv.Spec.StorageClassName, c.attaches.Driver)
	}
	alternatives, ok := x.volumeTopology(pv)
	if !ok {
		return &Error{volume: pv.Name, fault: "has node affinity that no node can meet",
			cure: "correct the volume's spec.nodeAffinity or labels"}
	}
	c.place(x, pv, alternatives)
	return nil
}

// place sets where the claim can be used, according to the topology of its volume. Existing nodes must have the hostname of a local or
// hostPath volume. New nodes need not have this hostname, because the volume must be created again on a new node.
func (c *claim) place(x *Index, pv *corev1.PersistentVolume, alternatives []requirements.Set) {
	c.onNodes = x.intern(alternatives)
	c.onNew, c.noNode, c.needsVolume, c.unbound = c.onNodes, "", false, false
	if pv.Spec.Local == nil && pv.Spec.HostPath == nil {
		return
	}
	moved := make([]requirements.Set, len(alternatives))
	for i, set := range alternatives {
		moved[i] = set.Without(corev1.LabelHostname)
		c.needsVolume = c.needsVolume || set.Has(corev1.LabelHostname)
	}
	c.onNew = x.intern(moved)
}

func (x *Index) unsupportedDriver(volume, class, driver string) *Error {
	return &Error{volume: volume, class: class,
		fault: fmt.Sprintf("is of driver %q, which the cloud provider does not support", driver),
		cure:  "use a StorageClass of another driver"}
}

// resolveWaiting sets where an unbound claim can be used, according to its class or to the node that kube-scheduler has chosen for it. A
// chosen node that is deleted or being removed is ignored, because the provisioner undoes the choice of such a node.
func (x *Index) resolveWaiting(c *claim, hostnames map[string]string) *Error {
	class, node := x.className(c.object.Annotations, &c.object.Spec), c.object.Annotations[annSelectedNode]
	if fault := x.resolveUnbound(c, class); fault != nil {
		return fault
	}
	hostname, ok := hostnames[node]
	if !ok || c.needsVolume {
		return nil
	}
	chosen := requirements.NewSet(requirements.In(corev1.LabelHostname, hostname))
	both, ok := crossProduct(x.topologies[c.onNodes], []requirements.Set{chosen})
	if !ok {
		return &Error{class: class,
			fault: fmt.Sprintf("was promised node %q, which the class's allowed topologies exclude", node),
			cure:  "remove annotation " + annSelectedNode}
	}
	c.onNodes = x.intern(both)
	c.onNew = c.onNodes
	return nil
}

// resolveUnbound sets where a claim can be used that has no volume yet. name is its StorageClass. The volume will be created where the
// claim's pod runs.
func (x *Index) resolveUnbound(c *claim, name string) *Error {
	if name == "" {
		return &Error{fault: "is unbound and has no StorageClass",
			cure: "name one in the claim, mark one as the default, or bind a volume by hand"}
	}
	class := x.classes[name]
	switch {
	case class == nil:
		return &Error{class: name, fault: "is unbound and its StorageClass does not exist",
			cure: "create the class, or name another one"}
	case class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		return &Error{class: name, fault: "is unbound although its class binds immediately",
			cure: "see in the claim's events why no volume was made, or use a class with volumeBindingMode WaitForFirstConsumer"}
	}
	if key := x.unsupportedTopology(class); key != "" {
		return &Error{class: name,
			fault: fmt.Sprintf("may only be made by topology key %q, which the cloud provider does not support", key),
			cure:  "use another key in the class's allowedTopologies"}
	}
	driver := csiDriver(class.Provisioner)
	if slices.Contains(x.unsupported.Drivers, driver) {
		return x.unsupportedDriver("", name, driver)
	}
	alternatives, ok := x.classTopology(class)
	if !ok {
		return &Error{class: name, fault: "can't be made anywhere, since the class's allowed topologies admit no node",
			cure: "correct the class's allowedTopologies"}
	}
	c.onNodes = x.intern(alternatives)
	c.onNew = c.onNodes
	c.unbound = true
	if !provisions(class) {
		c.needsVolume = true
		c.noNode = fmt.Sprintf("StorageClass %q makes no volumes itself and no PersistentVolume of it is free", name)
	}
	return nil
}

// unsupportedTopology returns a key of the class's allowed topologies that the provider declared unsupported, or "" if all keys are
// supported.
func (x *Index) unsupportedTopology(class *storagev1.StorageClass) string {
	keys := x.unsupported.TopologyKeys
	if len(keys) == 0 {
		return ""
	}
	for _, term := range class.AllowedTopologies {
		for _, expression := range term.MatchLabelExpressions {
			if slices.Contains(keys, expression.Key) || slices.Contains(keys, x.vocab.Canonical(expression.Key)) {
				return expression.Key
			}
		}
	}
	return ""
}
