package verdicts

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// addObjects adds the objects to which the pods refer.
func (v *Verdict) addObjects(world World) {
	if world.Namespaces != nil {
		v.Namespaces, _ = world.Namespaces.List(labels.Everything())
	}
	if world.Attachments != nil {
		for _, o := range world.Attachments() {
			if attachment, ok := o.(*storagev1.VolumeAttachment); ok {
				v.Attachments = append(v.Attachments, attachment)
			}
		}
	}
	claims := map[string]bool{}
	v.addClaims(world, v.Pod, claims)
	for _, n := range v.Nodes {
		for _, p := range n.Pods {
			v.addClaims(world, p, claims)
		}
		if world.CSINode != nil {
			if node, err := world.CSINode(n.Node.Name); err == nil && node != nil {
				node = node.DeepCopy()
				node.Name = n.Node.Name // a test's lister returns the same object for every name
				v.CSINodes = append(v.CSINodes, node)
			}
		}
	}
	volumes := map[string]bool{}
	if world.Volumes != nil {
		for _, pv := range world.Volumes() {
			v.Volumes = append(v.Volumes, pv)
			volumes[pv.Name] = true
		}
	}
	classes := map[string]bool{}
	addVolume := func(name string) {
		if name == "" || world.Volume == nil || volumes[name] {
			return
		}
		volumes[name] = true
		if pv, err := world.Volume.Get(name); err == nil && pv != nil {
			v.Volumes = append(v.Volumes, pv)
		}
	}
	for _, a := range v.Attachments {
		if name := a.Spec.Source.PersistentVolumeName; name != nil {
			addVolume(*name)
		}
	}
	for _, c := range v.Claims {
		addVolume(c.Spec.VolumeName)
		if name := classOf(c); name != "" && world.Class != nil && !classes[name] {
			classes[name] = true
			if class, err := world.Class.Get(name); err == nil && class != nil {
				v.Classes = append(v.Classes, class)
			}
		}
	}
	slices.SortFunc(v.Attachments, func(a, b *storagev1.VolumeAttachment) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(v.Volumes, func(a, b *corev1.PersistentVolume) int { return strings.Compare(a.Name, b.Name) })
}

func (v *Verdict) addClaims(world World, pod *corev1.Pod, seen map[string]bool) {
	if world.Claim == nil {
		return
	}
	for _, volume := range pod.Spec.Volumes {
		name := ""
		switch {
		case volume.PersistentVolumeClaim != nil:
			name = volume.PersistentVolumeClaim.ClaimName
		case volume.Ephemeral != nil:
			name = pod.Name + "-" + volume.Name
		default:
			continue
		}
		if key := pod.Namespace + "/" + name; !seen[key] {
			seen[key] = true
			if claim, err := world.Claim(pod.Namespace, name); err == nil && claim != nil {
				v.Claims = append(v.Claims, claim)
			}
		}
	}
}

func classOf(c *corev1.PersistentVolumeClaim) string {
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return c.Annotations[corev1.BetaStorageClassAnnotation]
}
