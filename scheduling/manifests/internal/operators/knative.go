package operators

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Labels and annotations of Knative Serving: its packages serving and autoscaling, and "Configuring scale bounds" of its documentation.
const (
	labelKnativeService = "serving.knative.dev/service"

	annotationScaleClass = "autoscaling.knative.dev/class"
	classHPA             = "hpa.autoscaling.knative.dev"

	annotationQueueCPU    = "queue.sidecar.serving.knative.dev/cpu-resource-request"
	annotationQueueMemory = "queue.sidecar.serving.knative.dev/memory-resource-request"
	// queueCPU is the default of queue-sidecar-cpu-request in the ConfigMap config-deployment. Memory has no default.
	queueCPU = "25m"
)

type knativeService struct {
	meta `json:",inline"`
	Spec struct {
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// readKnativeService returns the pods of the latest revision. Knative adds a container, the queue proxy, to each of these pods.
func readKnativeService(text []byte) (*Object, error) {
	var service knativeService
	if err := decode(text, &service); err != nil {
		return nil, err
	}
	const path = "spec.template"
	pod := service.Spec.Template
	if pod == nil {
		return nil, &FieldError{Path: path, Rule: "must be given"}
	}
	withLabels(pod, map[string]string{labelKnativeService: service.Metadata.Name})
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == "" {
			c.Name = "user-container"
			if len(pod.Spec.Containers) > 1 {
				c.Name += "-" + strconv.Itoa(i)
			}
		}
	}
	template := Template{Path: path, CountPath: path + ".metadata.annotations", Pod: pod, PerReplica: 1}
	scale, initial, err := scaleOf(pod.Annotations, template.CountPath)
	if err != nil {
		return nil, err
	}
	template.Scale, template.Replicas = scale, max(initial, scale.Min)
	if !scale.Unbounded {
		template.Replicas = min(template.Replicas, scale.Max)
	}
	proxy, err := queueProxy(pod.Annotations, template.CountPath)
	if err != nil {
		return nil, err
	}
	if len(pod.Spec.Containers) > 0 {
		pod.Spec.Containers = append(pod.Spec.Containers, proxy)
	}
	return &Object{Templates: []Template{template}}, nil
}

// scaleOf reads the bounds and the initial number of pods. Without annotations, a revision starts with one pod. It scales down to zero pods
// if the class of its autoscaler can do so.
func scaleOf(annotations map[string]string, path string) (*Scale, int, error) {
	s := &Scale{By: "Knative"}
	if annotations[annotationScaleClass] == classHPA {
		s.Min = 1
	}
	initial := 1
	for _, bound := range []struct {
		names []string
		into  *int
	}{
		{[]string{"autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale"}, &s.Min},
		{[]string{"autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale"}, &s.Max},
		{[]string{"autoscaling.knative.dev/initial-scale", "autoscaling.knative.dev/initialScale"}, &initial},
	} {
		for _, name := range bound.names {
			text, given := annotations[name]
			if !given {
				continue
			}
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 0 {
				return nil, 0, &FieldError{Path: fmt.Sprintf("%s[%s]", path, name), Rule: fmt.Sprintf("must be a whole number from 0 on, not %q", text)}
			}
			*bound.into = int(n)
			break
		}
	}
	if s.Unbounded = s.Max == 0; !s.Unbounded {
		s.Max = max(s.Max, s.Min)
	}
	return s, initial, nil
}

// queueProxy returns the container that Knative adds to each pod.
func queueProxy(annotations map[string]string, path string) (corev1.Container, error) {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(queueCPU)}
	for name, of := range map[string]corev1.ResourceName{annotationQueueCPU: corev1.ResourceCPU, annotationQueueMemory: corev1.ResourceMemory} {
		text, given := annotations[name]
		if !given {
			continue
		}
		amount, err := quantities.Parse(text)
		if err != nil || amount.Sign() < 0 {
			return corev1.Container{}, &FieldError{Path: fmt.Sprintf("%s[%s]", path, name), Rule: fmt.Sprintf("must be a quantity such as 25m, not %q", text)}
		}
		requests[of] = amount
	}
	return corev1.Container{Name: "queue-proxy", Resources: corev1.ResourceRequirements{Requests: requests}}, nil
}
