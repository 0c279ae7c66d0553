package buffers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/fake/build"
)

func ptr[T any](v T) *T { return &v }

// template has one container with these requests.
func template(requests ...string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: build.Amounts(requests...)}}}},
	}
}

func podTemplate(name string, requests ...string) *corev1.PodTemplate {
	return &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 7}, Template: template(requests...)}
}

func deployment(name string, replicas *int32, requests ...string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: replicas, Template: template(requests...)},
	}
}

// onTemplate is a buffer named like its PodTemplate.
func onTemplate(name string, replicas *int32, limits ...string) *v1beta1.CapacityBuffer {
	b := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}}
	b.Spec.PodTemplateRef = &v1beta1.LocalObjectRef{Name: name}
	b.Spec.Replicas = replicas
	if len(limits) > 0 {
		b.Spec.Limits = build.Amounts(limits...)
	}
	return b
}

// onWorkload is a buffer named like its workload.
func onWorkload(kind, name string, percentage *int32) *v1beta1.CapacityBuffer {
	b := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}}
	b.Spec.ScalableRef = &v1beta1.ScalableRef{APIGroup: "apps", Kind: kind, Name: name}
	b.Spec.Percentage = percentage
	return b
}
