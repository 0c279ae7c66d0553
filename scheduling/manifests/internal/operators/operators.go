// Package operators computes which pods the controllers of other projects make of their objects, for kinds where a pod template and a count
// do not suffice: LeaderWorkerSets, SparkApplications, Services of Knative, and the kinds of KubeRay.
//
// Stability: internal.
package operators

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/internal/fieldtypes"
	"github.com/drawknife/drawknife/internal/quantities"
)

// Kind is a kind of object, for all of its versions.
type Kind struct{ Group, Kind string }

// reader reads an object of a kind.
type reader func(text []byte) (*Object, error)

// readers returns the kinds that this package reads.
func readers() map[Kind]reader {
	return map[Kind]reader{
		{"leaderworkerset.x-k8s.io", "LeaderWorkerSet"}:       readLeaderWorkerSet,
		{"sparkoperator.k8s.io", "SparkApplication"}:          readSparkApplication,
		{"sparkoperator.k8s.io", "ScheduledSparkApplication"}: readScheduledSparkApplication,
		{"serving.knative.dev", "Service"}:                    readKnativeService,
		{"ray.io", "RayCluster"}:                              readRayCluster,
		{"ray.io", "RayJob"}:                                  readRayJob,
		{"ray.io", "RayService"}:                              readRayService,
	}
}

// Object describes the pods of an object.
type Object struct {
	// Templates are the object's pod templates.
	Templates []Template
	// Suspended is the path of the field that keeps the object from having pods, and empty if it has pods.
	Suspended string
	// Ended reports that the pods of the object have done their work, or that the object makes no pods.
	Ended bool
	// Scheduled reports that the object has pods only at times, like a CronJob.
	Scheduled bool
	// Reference names another object, whose pod template this object uses. Nil if the object has its own templates.
	Reference *Reference
}

// Reference is what an object says about pods that it makes of another object's pod template.
type Reference struct {
	// Kind and Name identify the other object, which is in the same namespace.
	Kind, Name string
	// Replicas is the number of pods, from the field CountPath.
	Replicas  int
	CountPath string
	// ScaleDown reports that the other object loses its own pods when this object has pods.
	ScaleDown bool
}

// Template is a pod template with the number of its pods, which is Replicas times PerReplica.
type Template struct {
	// Path is the path of the template in the object, and CountPath is the path of its number of replicas.
	Path, CountPath      string
	Pod                  *corev1.PodTemplateSpec
	Replicas, PerReplica int
	// Scale is the range of Replicas if the object scales itself; otherwise nil.
	Scale *Scale
	// IndexLabels returns the labels of the pod with an index, in addition to those of the template. Nil: none.
	IndexLabels func(index int) map[string]string
	// Claims are the volume claims of which each pod gets a copy.
	Claims []corev1.PersistentVolumeClaim
}

// Scale is a range of replicas.
type Scale struct {
	// By names the mechanism that scales.
	By string
	// Min and Max are the bounds. Max has no meaning if Unbounded is true.
	Min, Max  int
	Unbounded bool
}

// FieldError is a field that breaks a rule.
type FieldError struct {
	// Path of the field; empty if the object as a whole can't be decoded.
	Path string
	// Rule says what is wrong, and what would be right.
	Rule string
	// WrongType reports that the field has a value of a wrong type.
	WrongType bool
}

// Error returns "path: rule".
func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Rule
	}
	return e.Path + ": " + e.Rule
}

// Knows reports whether Read reads objects of the kind.
func Knows(kind Kind) bool { return readers()[kind] != nil }

// Read reads an object, which is JSON. The error is a *FieldError. The object is nil for a kind that is not known.
func Read(kind Kind, text []byte) (*Object, error) {
	read := readers()[kind]
	if read == nil {
		return nil, nil
	}
	return read(text)
}

// ReadReference reads an object that may refer to another object instead of having a pod template. This is a Rollout of Argo with the field
// spec.workloadRef. The error is a *FieldError. For other objects, the result is nil.
func ReadReference(kind Kind, text []byte) (*Reference, error) {
	if kind != (Kind{"argoproj.io", "Rollout"}) {
		return nil, nil
	}
	var rollout struct {
		Spec struct {
			Replicas    *int32 `json:"replicas"`
			WorkloadRef *struct {
				Kind      string `json:"kind"`
				Name      string `json:"name"`
				ScaleDown string `json:"scaleDown"`
			} `json:"workloadRef"`
		} `json:"spec"`
	}
	if err := decode(text, &rollout); err != nil {
		return nil, err
	}
	ref := rollout.Spec.WorkloadRef
	if ref == nil {
		return nil, nil
	}
	const path = "spec.replicas"
	n, err := count(rollout.Spec.Replicas, 1, path)
	if err != nil {
		return nil, err
	}
	return &Reference{Kind: ref.Kind, Name: ref.Name, Replicas: n, CountPath: path, ScaleDown: ref.ScaleDown == "onsuccess" || ref.ScaleDown == "progressively"}, nil
}

// OwnerLabels returns, for each kind, the label with which its controller marks all pods of an object; the value is the object's name. The
// labels are needed because the controllers make further objects between the object and its pods: owner references of pods do not name the
// object.
func OwnerLabels() map[Kind]string {
	return map[Kind]string{
		{"leaderworkerset.x-k8s.io", "LeaderWorkerSet"}: labelLWS,
		{"sparkoperator.k8s.io", "SparkApplication"}:    labelSparkApp,
		{"serving.knative.dev", "Service"}:              labelKnativeService,
		{"jobset.x-k8s.io", "JobSet"}:                   "jobset.sigs.k8s.io/jobset-name",
		{"ray.io", "RayCluster"}:                        "ray.io/cluster",
	}
}

// meta is the part of the metadata that readers need.
type meta struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

// decode decodes JSON into the given struct, and ignores fields that the struct lacks.
func decode(text []byte, into any) error {
	err := quantities.CheckJSON(text, reflect.TypeOf(into))
	if err == nil {
		err = sigsjson.UnmarshalCaseSensitivePreserveInts(text, into)
	}
	if err == nil {
		return nil
	}
	if faults := fieldtypes.Faults(text, reflect.TypeOf(into).Elem()); len(faults) > 0 {
		return &FieldError{Path: faults[0].Path, Rule: faults[0].Message, WrongType: true}
	}
	return &FieldError{Rule: strings.TrimPrefix(err.Error(), "json: "), WrongType: true}
}

// count returns the number of pods in a field, or the default (missing) if the field is not set.
func count(n *int32, missing int, path string) (int, error) {
	switch {
	case n == nil:
		return missing, nil
	case *n < 0:
		return 0, &FieldError{Path: path, Rule: fmt.Sprintf("must be a whole number from 0 on, not %d", *n)}
	}
	return int(*n), nil
}

// withLabels sets labels of a template.
func withLabels(pod *corev1.PodTemplateSpec, labels map[string]string) {
	if pod.Labels == nil {
		pod.Labels = make(map[string]string, len(labels))
	}
	for key, value := range labels {
		pod.Labels[key] = value
	}
}
