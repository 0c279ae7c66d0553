package manifests

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Autoscaling says with how many pods a workload is planned that a HorizontalPodAutoscaler, or a ScaledObject of KEDA, scales.
type Autoscaling string

const (
	// AutoscalingCurrent plans with the current replicas of the workload, or the nearest number within the autoscaler's bounds. It is the
	// zero value's meaning too.
	AutoscalingCurrent Autoscaling = "current"
	// AutoscalingMin plans with the autoscaler's least number of replicas.
	AutoscalingMin Autoscaling = "min"
	// AutoscalingMax plans with its greatest.
	AutoscalingMax Autoscaling = "max"
)

// scaler is what an autoscaler says of the workload that it scales.
type scaler struct {
	name     string
	min, max int
}

// isScaler reports whether objects of the kind scale workloads.
func isScaler(g groupKind) bool {
	return g == groupKind{"autoscaling", "HorizontalPodAutoscaler"} || g == groupKind{"keda.sh", "ScaledObject"}
}

// readScaler notes the bounds of an autoscaler. It returns false for an unreadable autoscaler.
func (l *loader) readScaler(d document) bool {
	var object struct {
		Metadata struct{ Namespace, Name, UID, CreationTimestamp string }
		Spec     struct {
			ScaleTargetRef                   struct{ APIVersion, Kind, Name string }
			MinReplicas, MaxReplicas         *int32
			MinReplicaCount, MaxReplicaCount *int32
		}
	}
	if json.Unmarshal(d.text, &object) != nil || object.Spec.ScaleTargetRef.Name == "" {
		return false
	}
	s := scaler{name: d.groupKind.kind + " " + object.Metadata.Name, min: 1, max: 1}
	lower, upper := object.Spec.MinReplicas, object.Spec.MaxReplicas
	kind, group := object.Spec.ScaleTargetRef.Kind, ""
	if d.groupKind.group == "keda.sh" {
		lower, upper = object.Spec.MinReplicaCount, object.Spec.MaxReplicaCount
		s.min, s.max = 0, 100
		if kind == "" {
			kind = kindDeployment
		}
	}
	if before, _, grouped := strings.Cut(object.Spec.ScaleTargetRef.APIVersion, "/"); grouped {
		group = before
	} else if kind == kindDeployment || kind == kindStatefulSet || kind == kindReplicaSet {
		group = groupApps
	}
	if lower != nil {
		s.min = max(int(*lower), 0)
	}
	if upper != nil {
		s.max = int(*upper)
	}
	s.max = max(s.max, s.min)
	namespace := object.Metadata.Namespace
	if namespace == "" {
		namespace = l.opts.Namespace
	}
	key := objectKey{groupKind{group, kind}, namespace, object.Spec.ScaleTargetRef.Name}
	if l.isFormer(d.origin, object.Metadata.UID, object.Metadata.CreationTimestamp) {
		return true
	}
	if _, given := l.scalers[key]; !given || !l.live(d.origin) {
		l.scalers[key] = s
	}
	return true
}

// autoscale sets how many pods of a workload are planned that an autoscaler scales, and says so.
func (l *loader) autoscale(w *workload) {
	group := ""
	if before, _, grouped := strings.Cut(w.owner.APIVersion, "/"); grouped {
		group = before
	}
	s, ok := l.scalers[keyOf(group, w.kind, w.object)]
	if !ok {
		return
	}
	switch l.opts.Autoscaling {
	case AutoscalingMin:
		w.count = s.min
	case AutoscalingMax:
		w.count = s.max
	default:
		if w.count > 0 { // at 0 autoscaling is off
			w.count = min(max(w.count, s.min), s.max)
		}
	}
	l.warn(w.origin, remark{
		code: WarningAutoscaled, kind: w.kind, name: qualifiedName(w.object), path: w.countPath, detail: qualifiedName(w.object),
		message: fmt.Sprintf("%s scales it from %d to %d pods: planned with %d", s.name, s.min, s.max, w.count),
	})
}
