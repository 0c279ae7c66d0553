package snapshots

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

// buffers makes placeholders of CapacityBuffers. Some placeholders have the labels of a workload, so that topology rules count them like
// pods of the workload.
func (m *maker) buffers() {
	if !m.has(Buffers) {
		return
	}
	in := buffers.Input{}
	in.Buffers = list(m, "buffers", 0, 2, func() *v1beta1.CapacityBuffer {
		name := m.name("buffer")
		app := name
		if m.chance("buffer of a workload", 50) {
			app = m.templates[m.number("buffered workload", 0, len(m.templates)-1)].app
		}
		t := m.template(app)
		in.PodTemplates = append(in.PodTemplates, &corev1.PodTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: t.pod.Namespace, Name: name},
			Template:   corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: t.pod.Labels}, Spec: t.pod.Spec},
		})
		replicas := int32(m.number("placeholders", 1, 4))
		b := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: t.pod.Namespace, Name: name, UID: types.UID(name)}}
		b.Spec.PodTemplateRef, b.Spec.Replicas = &v1beta1.LocalObjectRef{Name: name}, &replicas
		return b
	})
	resolved := buffers.Resolve(in)
	for i := range resolved {
		if !resolved[i].Ready() {
			panic(fmt.Sprintf("snapshots: buffer %s: %s", resolved[i].Buffer.Name, resolved[i].Message))
		}
	}
	m.s.Placeholders = buffers.Placeholders(resolved)
}
