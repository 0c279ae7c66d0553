package generations

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// teller publishes events on stored objects: an event of a v1alpha5 object names the object's stored kind.
type teller struct {
	recorder.EventRecorder
	// machines reads Machines and Provisioners from the cache.
	machines client.Reader
	has      kinds
}

// Eventf implements events.EventRecorder.
func (t *teller) Eventf(about, related runtime.Object, kind, reason, action, note string, args ...any) {
	t.EventRecorder.Eventf(t.stored(about), related, kind, reason, action, note, args...)
}

// AnnotatedEventf implements events.AnnotatedEventRecorder.
func (t *teller) AnnotatedEventf(about, related runtime.Object, annotations map[string]string, kind, reason, action, note string, args ...any) {
	t.EventRecorder.AnnotatedEventf(t.stored(about), related, annotations, kind, reason, action, note, args...)
}

// stored returns the stored object of the event's object.
func (t *teller) stored(about runtime.Object) runtime.Object {
	switch o := about.(type) {
	case *corev1.ObjectReference:
		return t.reference(o)
	case *awsv1.EC2NodeClass:
		switch name := parseClass(o.Name); {
		case name.template != "":
			return &corev1.ObjectReference{APIVersion: templateKind.GroupVersion().String(), Kind: templateKind.Kind, Name: name.template}
		case name.provisioner != "":
			return &corev1.ObjectReference{APIVersion: provisionerKind.GroupVersion().String(), Kind: provisionerKind.Kind, Name: name.provisioner, UID: o.UID}
		}
	}
	return about
}

// reference returns a reference to the Provisioner or Machine with this name, if the name states the generation v1alpha5 or the UID
// matches; otherwise, it returns ref.
func (t *teller) reference(ref *corev1.ObjectReference) *corev1.ObjectReference {
	if name, older := strings.CutPrefix(ref.Name, classPrefix); older && (ref.Kind == v1.KindNodeClaim || ref.Kind == v1.KindNodePool) {
		kind := machineKind
		if ref.Kind == v1.KindNodePool {
			kind = provisionerKind
		}
		out := *ref
		out.APIVersion, out.Kind, out.Name = kind.GroupVersion().String(), kind.Kind, name
		return &out
	}
	var object client.Object
	kind := provisionerKind
	switch {
	case ref.UID == "":
		return ref
	case ref.Kind == v1.KindNodePool && t.has.provisioners:
		object = &v1alpha5.Provisioner{}
	case ref.Kind == v1.KindNodeClaim && t.has.machines:
		object, kind = &v1alpha5.Machine{}, machineKind
	default:
		return ref
	}
	if err := t.machines.Get(context.Background(), client.ObjectKey{Name: ref.Name}, object); err != nil || object.GetUID() != ref.UID {
		return ref
	}
	out := *ref
	out.APIVersion, out.Kind = kind.GroupVersion().String(), kind.Kind
	return &out
}
