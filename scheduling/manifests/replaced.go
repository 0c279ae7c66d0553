package manifests

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// replacing contains the objects that replace objects of a running cluster. Live sources are read last.
type replacing struct {
	// objects are the objects of sources that are not of a running cluster. It is empty if no source is of a running cluster.
	objects map[objectKey]decodable
	// replaced are the objects of the cluster that are not read because other objects replace them, and the objects that belong to the
	// replaced objects.
	replaced map[objectKey]bool
	// former are the manifests of Options.Former, which are not read.
	former map[objectKey]bool
}

// live reports whether an object is from a running cluster.
func (l *loader) live(o origin) bool { return o.source >= l.firstLive }

// replaces reports whether the first of two objects with the same name replaces the second.
func (l *loader) replaces(first, second origin) bool { return !l.live(first) && l.live(second) }

// keepForReplacing records an object that may replace an object of the cluster.
func (l *loader) keepForReplacing(d document, key objectKey, object decodable) {
	if l.live(d.origin) || l.firstLive == len(l.sources) {
		return
	}
	if l.replacing.objects == nil {
		l.replacing.objects = make(map[objectKey]decodable)
	}
	l.replacing.objects[key] = object
}

// replace leaves out an object of the cluster. The object that replaces it gets the fields that the API server and controllers have
// written.
func (l *loader) replace(d document, key objectKey, live decodable) {
	if l.replacing.replaced == nil {
		l.replacing.replaced = make(map[objectKey]bool)
	}
	l.replacing.replaced[key] = true
	if object := l.replacing.objects[key]; object != nil {
		keepServerFields(object, live)
	}
	l.warn(l.seen[key], remark{
		code: WarningReplaced, kind: d.groupKind.kind, name: qualifiedName(live), detail: qualifiedName(live),
		message: fmt.Sprintf("%s has this object, too; this one replaces it", l.sources[d.origin.source].Name),
	})
}

// keepServerFields gives an object the status of the object that it replaces. A claim without a volume also gets the volume.
func keepServerFields(object, live decodable) {
	if _, isPod := object.(*corev1.Pod); isPod {
		return // the status of the live pod is about the node where it runs
	}
	if claim, ok := object.(*corev1.PersistentVolumeClaim); ok {
		if was, ok := live.(*corev1.PersistentVolumeClaim); ok && claim.Spec.VolumeName == "" {
			claim.Spec.VolumeName = was.Spec.VolumeName
		}
	}
	into, from := reflect.Indirect(reflect.ValueOf(object)), reflect.Indirect(reflect.ValueOf(live))
	if into.Type() != from.Type() || into.Kind() != reflect.Struct {
		return
	}
	if status := into.FieldByName("Status"); status.IsValid() && status.CanSet() && status.IsZero() {
		status.Set(from.FieldByName("Status"))
	}
}

// leaveOutReplaced removes the pods of replaced workloads from the cluster's objects. It also removes the ReplicaSets and Jobs between the
// workloads and the pods.
func (l *loader) leaveOutReplaced() {
	if len(l.replacing.replaced) == 0 {
		return
	}
	l.objects.replicaSets = leaveOut(l, groupApps, kindReplicaSet, l.objects.replicaSets)
	l.objects.jobs = leaveOut(l, groupBatch, kindJob, l.objects.jobs)
	before := len(l.objects.pods)
	kept := l.objects.pods[:0]
	var first origin
	for _, e := range l.objects.pods {
		if !l.live(e.origin) || !l.ofReplaced(e.object) {
			kept = append(kept, e)
			continue
		}
		first = e.origin
		delete(l.seen, keyOf("", "Pod", e.object))
	}
	l.objects.pods = kept
	if n := before - len(kept); n > 0 {
		l.warn(first, remark{
			code: WarningReplaced, kind: "Pod", detail: "pods",
			message: fmt.Sprintf("%d pods of replaced workloads are left out of the cluster; the workloads' new pods are pending instead", n),
		})
	}
}

// leaveOut removes the objects of the cluster that belong to replaced objects, and records them in replaced.
func leaveOut[P decodable](l *loader, group, kind string, entries []entry[P]) []entry[P] {
	kept := entries[:0]
	for _, e := range entries {
		if !l.live(e.origin) || !l.ofReplaced(e.object) {
			kept = append(kept, e)
			continue
		}
		key := keyOf(group, kind, e.object)
		l.replacing.replaced[key] = true
		delete(l.seen, key)
	}
	return kept
}

// ofReplaced reports whether an object belongs to a replaced object, perhaps through a ReplicaSet or Job that the cluster's dump lacks.
func (l *loader) ofReplaced(object metav1.Object) bool {
	for _, ref := range object.GetOwnerReferences() {
		owner := ownerKey(object, ref)
		if l.replacing.replaced[owner] {
			return true
		}
		if _, known := l.seen[owner]; known {
			continue
		}
		between := map[string]objectKey{
			kindReplicaSet: {groupKind{groupApps, kindDeployment}, owner.namespace, stem(owner.name)},
			kindJob:        {groupKind{groupBatch, kindCronJob}, owner.namespace, stem(owner.name)},
		}
		if above, ok := between[owner.kind]; ok && l.replacing.replaced[above] {
			return true
		}
	}
	return false
}

// isFormer reports whether an object with this UID and creation time is a manifest of Options.Former. Such a manifest is not read.
func (l *loader) isFormer(o origin, uid, created string) bool {
	return o.source >= l.firstLive && o.source < l.endFormer && uid == "" && created == ""
}

// superseded reports whether an object is not read because of Options.Former: it is a manifest of Options.Former, or an object of the
// cluster for which only Options.Former has a manifest. The pods of such an object are also left out. The parameter known says that another
// source has an object with this key.
func (l *loader) superseded(d document, key objectKey, object decodable, known bool) bool {
	created := ""
	if t := object.GetCreationTimestamp(); !t.IsZero() {
		created = t.String()
	}
	switch {
	case l.endFormer == l.firstLive:
		return false
	case l.isFormer(d.origin, string(object.GetUID()), created):
		if l.replacing.former == nil {
			l.replacing.former = make(map[objectKey]bool)
		}
		l.replacing.former[key] = true
		return true
	case !known && l.live(d.origin) && l.replacing.former[key]:
		if l.replacing.replaced == nil {
			l.replacing.replaced = make(map[objectKey]bool)
		}
		l.replacing.replaced[key] = true
		return true
	}
	return false
}
