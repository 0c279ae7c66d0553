package model

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// A volume that several pods of one node share takes one place of its driver: see sharedvolumes.go.

// attachNames adds a resource for each driver whose volumes the pod attaches.
func (m *Model) attachNames(pod *corev1.Pod, into map[corev1.ResourceName]struct{}) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	for _, claim := range m.Volumes.Attached(pod) {
		into[resources.Attachable(claim.Driver)] = struct{}{}
	}
}

// CertificateRequests are a class's requests with its volumes, for a certificate; volumes it shares may cost it nothing.
func (m *Model) CertificateRequests(c *podclass.Class) corev1.ResourceList {
	out, requests := resources.OfPod(c.Sample), c.Unshared()
	for at, name := range m.Resources.Names {
		if resources.Hidden(name) && requests[at] > 0 {
			out[name] = *resource.NewQuantity(requests[at], resource.DecimalSI)
		}
	}
	return out
}
