package convert

import (
	"fmt"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/internal/fieldtypes"
	"github.com/drawknife/drawknife/internal/quantities"
)

// newWorkload returns an empty object of a Kubernetes kind that has pods, or nil for every other kind.
func newWorkload(kind schema.GroupVersionKind) any {
	switch kind.GroupVersion() {
	case corev1.SchemeGroupVersion:
		switch kind.Kind {
		case "Pod":
			return &corev1.Pod{}
		case "PodTemplate":
			return &corev1.PodTemplate{}
		case "ReplicationController":
			return &corev1.ReplicationController{}
		}
	case appsv1.SchemeGroupVersion:
		switch kind.Kind {
		case "Deployment":
			return &appsv1.Deployment{}
		case "ReplicaSet":
			return &appsv1.ReplicaSet{}
		case "StatefulSet":
			return &appsv1.StatefulSet{}
		case "DaemonSet":
			return &appsv1.DaemonSet{}
		}
	case batchv1.SchemeGroupVersion:
		switch kind.Kind {
		case "Job":
			return &batchv1.Job{}
		case "CronJob":
			return &batchv1.CronJob{}
		}
	}
	return nil
}

// checkWorkload reports errors in the fields of a workload: unknown fields, and values of the wrong type. The object itself is passed on
// unchanged, so these errors matter only to strict reading.
func (d *decoder) checkWorkload(at Position, text []byte, kind schema.GroupVersionKind, name string) {
	object := newWorkload(kind)
	if object == nil {
		return
	}
	if err := quantities.CheckJSON(text, reflect.TypeOf(object)); err != nil {
		for line := range strings.Lines(err.Error()) {
			d.problem(at, name, strings.TrimSuffix(line, "\n"))
		}
		return
	}
	unknown, err := sigsjson.UnmarshalStrict(text, object)
	if err != nil {
		faults := fieldtypes.Faults(text, reflect.TypeOf(object).Elem())
		for _, f := range faults {
			d.problem(at, name, fmt.Sprintf("%s %s", f.Path, f.Message))
		}
		if len(faults) == 0 {
			d.problem(at, name, strings.TrimPrefix(err.Error(), "json: "))
		}
		return
	}
	for _, err := range unknown {
		d.problem(at, name, err.Error())
	}
}
