package volumes

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// Unsupported lists the features of volumes that a provider's nodes don't support.
type Unsupported struct {
	// TopologyKeys are keys of StorageClasses' allowed topologies that no node of the provider has.
	TopologyKeys []string
	// Drivers are CSI drivers with volumes that no node of the provider can attach.
	Drivers []string
}

// Index finds the constraints that pods' volumes put on a node. New makes an Index in one pass over a snapshot's objects. The Index never
// changes afterwards, so any number of goroutines may use it. It uses the rules of kube-scheduler's plugins: VolumeBinding, VolumeZone,
// NodeVolumeLimits and the ReadWriteOncePod rule of VolumeRestrictions.
type Index struct {
	vocab       *requirements.Lookup
	unsupported Unsupported
	volumes     map[string]*corev1.PersistentVolume
	classes     map[string]*storagev1.StorageClass
	// defaultClass is the class of claims that name no class, or "" if there is no default.
	defaultClass string
	claims       map[claimKey]*claim
	// unmade has, by StorageClass, the claim that controllers will create for a generic ephemeral volume of this class.
	unmade map[string]*claim
	// attachments are the attachable volumes that pods of the snapshot use.
	attachments map[ID]*attachment
	// attachedTo are the volumes that VolumeAttachments attach to each node, without duplicates.
	attachedTo map[string][]ID
	// topologies are the distinct lists of alternatives. The first list is nil, which means no constraint.
	topologies   [][]requirements.Set
	topologyText map[string]int32
}

// claimKey names a PersistentVolumeClaim.
type claimKey struct{ namespace, name string }

// claim is a PersistentVolumeClaim that exists or will be created, with the result of resolveClaim: where it can be used and which volume
// it attaches.
type claim struct {
	// object is nil for a claim that does not exist yet.
	object *corev1.PersistentVolumeClaim
	// used is true if a pod of the snapshot uses the claim.
	used bool
	// fault is the reason why no node accepts pods with the claim, or nil if such pods may be placed.
	fault *Error
	claimPlace
	// attaches is the ID of the claim's volume. It is zero for volumes that are not attached.
	attaches ID
	shared   bool
	// unbound is true until a volume is created for the claim.
	unbound bool
	// exclusive is true for a claim that only one pod in the whole cluster can use (ReadWriteOncePod). holder is the pod that uses the
	// claim or will get it. It is nil if there is no such pod.
	exclusive bool
	holder    *corev1.Pod
	held      bool // true if holder is bound
}

// claimPlace describes on which nodes a volume can be used.
type claimPlace struct {
	// onNodes and onNew are indices into Index.topologies: onNodes for existing nodes, onNew for new nodes.
	onNodes, onNew int32
	// noNode says why no existing node can use the volume. It is empty if onNodes determines the existing nodes.
	noNode string
	// needsVolume is true if a pod on a new node must wait until someone creates a volume there, because dynamic provisioning does not
	// create it.
	needsVolume bool
}

// Constraints are the constraints that a pod's volumes put on a node. The zero value means no constraints. These constraints don't change
// the pod's own demands on nodes, and plans never relax them.
type Constraints struct {
	// Alternatives are topologies for a new node, in the order of preference: the node must meet one of them. Keys are canonical. Nil means
	// no constraint. Hostnames are removed from the terms of local and hostPath volumes.
	Alternatives []requirements.Set
	// OnNodes are the alternatives for existing nodes, with hostnames. Nil means no constraint.
	OnNodes []requirements.Set
	// NoNode says why no existing node can hold the pod. It is empty if OnNodes determines the existing nodes.
	NoNode string
	// NeedsVolume is true if kube-scheduler binds the pod to a new node only after someone creates a volume there. This is the case if the
	// hostname was removed from the terms of a local or hostPath volume, or if the class creates no volumes and no suitable volume is free.
	NeedsVolume bool
}

// Error says why a pod can't be planned because of its volumes.
type Error struct {
	// claim is the namespace/name of the PersistentVolumeClaim. It is empty if the claim does not exist yet.
	claim string
	// ephemeral is the name of the volume in the pod, if the claim does not exist yet.
	ephemeral string
	// volume and class are names of a PersistentVolume and a StorageClass. A name is empty if the object is not part of the fault.
	volume, class string
	fault, cure   string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("PersistentVolumeClaim %q", e.claim)
	if e.claim == "" {
		text = fmt.Sprintf("ephemeral volume %q", e.ephemeral)
	}
	if e.class != "" {
		text += fmt.Sprintf(" of StorageClass %q", e.class)
	}
	if e.volume != "" {
		text += fmt.Sprintf(" with PersistentVolume %q", e.volume)
	}
	return text + " " + e.fault + ": " + e.cure
}

// Objects are the inputs of New. They must not be changed afterwards.
type Objects struct {
	PersistentVolumes      []*corev1.PersistentVolume
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	StorageClasses         []*storagev1.StorageClass
	VolumeAttachments      []*storagev1.VolumeAttachment
	// Users yields each pod with volumes once, and whether the pod is bound. Bound pods come first.
	Users func(yield func(pod *corev1.Pod, bound bool) bool)
	// Hostnames returns the hostnames of the existing nodes that are not being removed, by node name. New calls Hostnames only if a node
	// was chosen for a volume that does not exist yet.
	Hostnames func() map[string]string
	// Unsupported describes the features that nodes of the provider don't support.
	Unsupported Unsupported
}

// New makes an Index of the volumes and of the pods that use them.
func New(s *Objects, vocab *requirements.Lookup) *Index {
	x := &Index{
		vocab:        vocab,
		unsupported:  s.Unsupported,
		volumes:      make(map[string]*corev1.PersistentVolume, len(s.PersistentVolumes)),
		classes:      make(map[string]*storagev1.StorageClass, len(s.StorageClasses)),
		claims:       make(map[claimKey]*claim, len(s.PersistentVolumeClaims)),
		unmade:       make(map[string]*claim, len(s.StorageClasses)),
		attachments:  map[ID]*attachment{},
		topologies:   [][]requirements.Set{nil},
		topologyText: map[string]int32{"": 0},
	}
	for _, pv := range s.PersistentVolumes {
		x.volumes[pv.Name] = pv
	}
	for _, class := range s.StorageClasses {
		x.classes[class.Name] = class
	}
	x.defaultClass = defaultStorageClass(s.StorageClasses)
	for _, pvc := range s.PersistentVolumeClaims {
		exclusive := slices.Contains(pvc.Spec.AccessModes, corev1.ReadWriteOncePod)
		x.claims[claimKey{pvc.Namespace, pvc.Name}] = &claim{object: pvc, exclusive: exclusive}
	}
	x.attachedTo = x.attachmentsByNode(s.VolumeAttachments)
	for pod := range s.Users {
		x.markUsed(pod)
	}
	for _, class := range slices.SortedFunc(slices.Values(s.StorageClasses), byName[*storagev1.StorageClass]) {
		c := &claim{}
		if c.fault = x.resolveUnbound(c, class.Name); provisions(class) {
			c.attaches.Driver = csiDriver(class.Provisioner)
		}
		x.unmade[class.Name] = c
	}
	x.resolveClaims(s)
	for pod, bound := range s.Users {
		x.countUse(pod, bound)
	}
	for _, c := range x.claims {
		if a := x.attachments[c.attaches]; a != nil {
			c.shared = a.pods > 1
		}
	}
	return x
}

// byName orders objects by namespace and name, so that the numbers of topologies do not depend on the order of objects in the snapshot.
func byName[T metav1.Object](a, b T) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

func (x *Index) markUsed(pod *corev1.Pod) {
	for i := range pod.Spec.Volumes {
		if key, ok := claimOf(pod, &pod.Spec.Volumes[i]); ok {
			if c := x.claims[key]; c != nil {
				c.used = true
			}
		}
	}
}

// countUse counts the pods of each attachable volume, and sets the holder of each exclusive claim. As in kube-scheduler, only claims that a
// pod refers to by name have a holder. The claim of an ephemeral volume has no other pod anyway.
func (x *Index) countUse(pod *corev1.Pod, bound bool) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		c, claimed := x.claimed(pod, v)
		if claimed && c.exclusive && v.PersistentVolumeClaim != nil {
			c.offer(pod, bound)
		}
		attaches := inlineVolume(v)
		if claimed {
			attaches = c.attaches
		}
		if attaches.Handle == "" {
			continue
		}
		a := x.attachments[attaches]
		if a == nil {
			a = &attachment{}
			x.attachments[attaches] = a
		}
		if a.last != pod {
			a.last = pod
			a.pods++
		}
	}
}

// offer makes the pod the holder of the claim if it takes precedence over the current holder.
func (c *claim) offer(pod *corev1.Pod, bound bool) {
	if !c.held && (c.holder == nil || claimsFirst(pod, c.holder)) {
		c.holder, c.held = pod, bound
	}
}

// claimsFirst reports whether, of two pending pods, the pod a gets an exclusive claim before the pod b. It compares priority, age and name.
func claimsFirst(a, b *corev1.Pod) bool {
	priority := cmp.Compare(derefOr(b.Spec.Priority, 0), derefOr(a.Spec.Priority, 0))
	return cmp.Or(priority, a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

// claimOf returns the key of a volume's claim. It returns false for volumes of a kind that has no claim.
func claimOf(pod *corev1.Pod, v *corev1.Volume) (claimKey, bool) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return claimKey{pod.Namespace, v.PersistentVolumeClaim.ClaimName}, true
	case v.Ephemeral != nil:
		return claimKey{pod.Namespace, pod.Name + "-" + v.Name}, true
	}
	return claimKey{}, false
}

// claimed finds the claim of a volume. It returns false for volumes of a kind that has no claim. The claim may not exist yet. If the claim
// is missing, or was not made for the pod's ephemeral volume, the result has its fault set.
func (x *Index) claimed(pod *corev1.Pod, v *corev1.Volume) (*claim, bool) {
	key, ok := claimOf(pod, v)
	if !ok {
		return nil, false
	}
	c := x.claims[key]
	switch {
	case c != nil && v.Ephemeral != nil && !madeFor(pod, c.object):
		return &claim{fault: &Error{claim: key.String(),
			fault: "was not made for the pod's ephemeral volume of that name",
			cure:  "delete or rename it, so that the pod gets its own"}}, true
	case c != nil:
		return c, true
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		return x.claimToMake(v), true
	}
	return &claim{fault: &Error{claim: key.String(), fault: "does not exist", cure: "create it"}}, true
}

func (k claimKey) String() string { return k.namespace + "/" + k.name }

// madeFor reports whether the claim was made for an ephemeral volume of the pod. A pod without UID does not exist yet, so that its claim
// can't name the pod as the owner. In this case, madeFor only checks that the claim has no controller.
func madeFor(pod *corev1.Pod, pvc *corev1.PersistentVolumeClaim) bool {
	for i := range pvc.OwnerReferences {
		if owner := &pvc.OwnerReferences[i]; owner.Controller != nil && *owner.Controller {
			return owner.UID == pod.UID
		}
	}
	return pod.UID == "" || pvc.UID == ""
}

// claimToMake returns the claim that a controller will make for an ephemeral volume: an unbound claim of the template's class.
func (x *Index) claimToMake(v *corev1.Volume) *claim {
	template := v.Ephemeral.VolumeClaimTemplate
	name := x.className(template.Annotations, &template.Spec)
	c := x.unmade[name]
	if c == nil {
		c = &claim{}
		c.fault = x.resolveUnbound(c, name) // there is no class with this name
	}
	if c.fault == nil {
		return c
	}
	fault := *c.fault
	fault.ephemeral = v.Name
	return &claim{fault: &fault}
}

// Of returns the constraints of the pod's volumes on a node. The error says why no node can hold the pod. It is an *Error if a single claim
// is the cause.
func (x *Index) Of(pod *corev1.Pod) (Constraints, error) {
	var (
		out            Constraints
		onNodes, onNew []int32
	)
	for i := range pod.Spec.Volumes {
		c, ok := x.claimed(pod, &pod.Spec.Volumes[i])
		if !ok {
			continue
		}
		if err := c.refusal(pod); err != nil {
			return Constraints{}, err
		}
		onNodes, onNew = append(onNodes, c.onNodes), append(onNew, c.onNew)
		out.NoNode = cmp.Or(out.NoNode, c.noNode)
		out.NeedsVolume = out.NeedsVolume || c.needsVolume
	}
	var ok bool
	if out.Alternatives, ok = x.combine(onNew); !ok {
		return Constraints{}, fmt.Errorf("the pod's volumes can't be used on one node, their topologies exclude each other (%s): "+
			"move the volumes to one place, or share them out among several pods", x.places(onNew))
	}
	if out.OnNodes, ok = x.combine(onNodes); !ok {
		out.NoNode = cmp.Or(out.NoNode, fmt.Sprintf("the pod's volumes are on different nodes (%s)", x.places(onNodes)))
	}
	return out, nil
}

// refusal returns the reason why the claim excludes the pod from every node, or nil if some node may accept the pod.
func (c *claim) refusal(pod *corev1.Pod) error {
	if c.fault != nil {
		return c.fault
	}
	if h := c.holder; h != nil && h != pod && (h.Name != pod.Name || h.Namespace != pod.Namespace) {
		return &Error{claim: pod.Namespace + "/" + c.object.Name,
			fault: fmt.Sprintf("is ReadWriteOncePod and pod %q has it or comes first", h.Name),
			cure:  "wait until that pod is gone, or give the claim another access mode"}
	}
	return nil
}

// AppendText appends the volumes' part of the text that identifies a pod's class. It appends nothing for pods without claims or attached
// volumes. The text is equal for pods with interchangeable volumes. Such pods have the same alternatives, the same number of unshared
// volumes of each driver, and the same shared volumes. For example, replicas have equal texts if each replica has its own claim and the
// claims are still unbound, or if the volumes of the claims can be used on the same nodes.
func (x *Index) AppendText(pod *corev1.Pod, buf []byte) []byte {
	volumes := pod.Spec.Volumes
	for i := range volumes {
		c, claimed := x.claimed(pod, &volumes[i])
		if !claimed {
			if inline := inlineVolume(&volumes[i]); inline.Handle != "" && !x.repeated(pod, i, inline) {
				buf = attachmentText(append(buf, 'i'), inline, x.isShared(inline))
			}
			continue
		}
		if err := c.refusal(pod); err != nil {
			buf = appendText(append(buf, 'e'), err.Error())
			continue
		}
		buf = append(buf, 'c')
		buf = binary.AppendVarint(buf, int64(c.onNodes))
		buf = binary.AppendVarint(buf, int64(c.onNew))
		buf = appendText(buf, c.noNode)
		if c.needsVolume {
			buf = append(buf, 'v')
		}
		switch {
		case c.attaches.Driver == "", x.repeated(pod, i, c.attaches):
			buf = append(buf, 'n')
		default:
			buf = attachmentText(append(buf, 'a'), c.attaches, c.shared)
		}
	}
	return buf
}

func appendText(buf []byte, s string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(s)))
	return append(buf, s...)
}
