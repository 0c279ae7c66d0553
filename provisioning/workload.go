package provisioning

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/scheduling/pods"
)

// SurgeAnnotation is set on a Deployment or ReplicaSet that SurgeFirst has scaled. Its value is the Surge as a string. It is removed when
// the surge ends.
const SurgeAnnotation = "drawknife.dev/surge"

// Surge describes what SurgeFirst did to a workload.
type Surge struct {
	// From is the original number of replicas, and By the number of added replicas; By is 0 if the surge was given up.
	From, By int32
	// Since is when the surge started, or when a replacement last became ready; to the second.
	Since time.Time
}

// String returns the value of the annotation: "3+1 2026-05-04T10:00:00Z".
func (s Surge) String() string {
	return fmt.Sprintf("%d+%d %s", s.From, s.By, s.Since.UTC().Format(time.RFC3339))
}

// ParseSurge reads what Surge.String wrote.
func ParseSurge(text string) (Surge, error) {
	var s Surge
	var since string
	if n, err := fmt.Sscanf(text, "%d+%d %s", &s.From, &s.By, &since); err != nil || n != 3 {
		return Surge{}, fmt.Errorf("annotation %s is %q: write FROM+BY TIME, such as 3+1 2026-05-04T10:00:00Z, or remove it", SurgeAnnotation, text)
	}
	var err error
	if s.Since, err = time.Parse(time.RFC3339, since); err != nil {
		return Surge{}, fmt.Errorf("annotation %s is %q: write its time like 2026-05-04T10:00:00Z: %w", SurgeAnnotation, text, err)
	}
	if s.From < 0 || s.By < 0 || s.From > maxReplicas || s.By > maxReplicas {
		return Surge{}, fmt.Errorf("annotation %s is %q: its numbers of pods must be from 0 to %d", SurgeAnnotation, text, maxReplicas)
	}
	return s, nil
}

// maxReplicas is the largest number of replicas that is used in computations, so that the sum of two numbers of replicas fits into an
// int32.
const maxReplicas = 1 << 30

// Workload is the scale of a Deployment, or of a ReplicaSet without a Deployment.
type Workload struct {
	// Kind is Deployment or ReplicaSet; Key and UID identify it.
	Kind string
	Key  types.NamespacedName
	UID  types.UID
	// Replicas is spec.replicas, including the replicas that a surge added.
	Replicas int32
	// Surge is the parsed SurgeAnnotation of the workload; nil if the annotation is missing or can't be parsed.
	Surge *Surge
	// NoSurge is why the workload can't be scaled up for a while; empty if it can be scaled up.
	NoSurge string
}

// asks returns the number of replicas that the workload has without the surge.
func (w *Workload) asks() int32 {
	if w.Surge != nil && w.Surge.By > 0 {
		return w.Surge.From
	}
	return w.Replicas
}

// ScaleWorkload sets spec.replicas of a Deployment or ReplicaSet, and its SurgeAnnotation, in one write, if the object still has the UID
// and From replicas.
type ScaleWorkload struct {
	Kind     string
	Key      types.NamespacedName
	UID      types.UID
	From, To int32
	// Surge is the new value of the annotation; nil removes it.
	Surge *Surge
}

// String describes the action.
func (e ScaleWorkload) String() string {
	note := "none"
	if e.Surge != nil {
		note = e.Surge.String()
	}
	return fmt.Sprintf("scale %s %s from %d to %d (surge %s)", e.Kind, e.Key, e.From, e.To, note)
}

func (w *Workload) scale(to int32, surge *Surge) ScaleWorkload {
	return ScaleWorkload{Kind: w.Kind, Key: w.Key, UID: w.UID, From: w.Replicas, To: to, Surge: surge}
}

// withdraw ends a surge. It restores the number of replicas before the surge, but not if another client has changed the number.
func (w *Workload) withdraw() []Effect {
	switch {
	case w.Surge == nil:
		return nil
	case w.Surge.By > 0 && w.Replicas == w.Surge.From+w.Surge.By:
		return []Effect{w.scale(w.Surge.From, nil)}
	}
	return []Effect{w.scale(w.Replicas, nil)}
}

// Workloads finds the workload of a pod. It is read-only.
type Workloads struct {
	byUID map[types.UID]*Workload
	// owner has the UID of the Deployment of each ReplicaSet, by the UID of the ReplicaSet.
	owner map[types.UID]types.UID
}

// WorkloadObjects are the objects of a cluster for NewWorkloads. They are not changed.
type WorkloadObjects struct {
	Deployments []*appsv1.Deployment
	ReplicaSets []*appsv1.ReplicaSet
	// Autoscalers control the number of replicas of their targets, so SurgeFirst does not scale these targets.
	Autoscalers []*autoscalingv2.HorizontalPodAutoscaler
}

// NewWorkloads reads the objects once. Some workloads are never surged: a Deployment with the strategy Recreate, which must not have two
// versions at the same time, and a workload that has an autoscaler, has 0 replicas, or is being deleted.
func NewWorkloads(o WorkloadObjects) *Workloads {
	o.Deployments, o.ReplicaSets, o.Autoscalers = present(o.Deployments), present(o.ReplicaSets), present(o.Autoscalers)
	scaled := map[string]bool{}
	for _, h := range o.Autoscalers {
		scaled[h.Spec.ScaleTargetRef.Kind+" "+h.Namespace+"/"+h.Spec.ScaleTargetRef.Name] = true
	}
	w := &Workloads{byUID: map[types.UID]*Workload{}, owner: map[types.UID]types.UID{}}
	for _, d := range o.Deployments {
		load := workloadOf("Deployment", &d.ObjectMeta, d.Spec.Replicas, scaled)
		if load.NoSurge == "" && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
			load.NoSurge = "its strategy is Recreate: its pods don't run side by side"
		}
		w.byUID[d.UID] = load
	}
	for _, rs := range o.ReplicaSets {
		if owner := metav1.GetControllerOf(rs); owner != nil {
			w.owner[rs.UID] = owner.UID
			continue
		}
		w.byUID[rs.UID] = workloadOf("ReplicaSet", &rs.ObjectMeta, rs.Spec.Replicas, scaled)
	}
	return w
}

func workloadOf(kind string, meta *metav1.ObjectMeta, replicas *int32, scaled map[string]bool) *Workload {
	w := &Workload{Kind: kind, Key: types.NamespacedName{Namespace: meta.Namespace, Name: meta.Name}, UID: meta.UID, Replicas: 1}
	if replicas != nil {
		w.Replicas = *replicas
	}
	if surge, err := ParseSurge(meta.Annotations[SurgeAnnotation]); err == nil {
		w.Surge = &surge
	}
	switch {
	case meta.DeletionTimestamp != nil:
		w.NoSurge = "it is being deleted"
	case scaled[kind+" "+w.Key.String()]:
		w.NoSurge = "an autoscaler sets its number of replicas"
	case w.Replicas <= 0 || w.Replicas >= maxReplicas:
		w.NoSurge = fmt.Sprintf("it asks for %d replicas", w.Replicas)
	}
	return w
}

// Of returns the workload that owns the pod, or nil if unknown.
func (w *Workloads) Of(pod *corev1.Pod) *Workload {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil
	}
	if up, ok := w.owner[owner.UID]; ok {
		return w.byUID[up]
	}
	return w.byUID[owner.UID]
}

// Leaving groups the evictions of drains by workload: first the pods without a workload, then the workloads by kind, namespace and name. It
// includes workloads that still have a surge but no pods to evict, so that the Evictor undoes the surge. list has the cluster's pods, at
// least those of the workloads and those to evict.
func (w *Workloads) Leaving(evictions []EvictPod, list []*corev1.Pod) []Leaving {
	asked := make(map[evictionKey]EvictPod, len(evictions))
	for _, e := range evictions {
		asked[evictionKey{e.Key, e.UID}] = e
	}
	var others Leaving
	groups := map[types.UID]*Leaving{}
	for uid, load := range w.byUID {
		if load.Surge != nil {
			groups[uid] = &Leaving{Workload: load}
		}
	}
	mine := map[types.UID][]*corev1.Pod{}
	for _, pod := range list {
		key := evictionKey{namespacedName(pod), pod.UID}
		e, goes := asked[key]
		delete(asked, key)
		load := w.Of(pod)
		switch {
		case load == nil && goes:
			others.Evictions = append(others.Evictions, e)
		case load == nil:
		default:
			mine[load.UID] = append(mine[load.UID], pod)
			if !goes {
				continue
			}
			if groups[load.UID] == nil {
				groups[load.UID] = &Leaving{Workload: load}
			}
			groups[load.UID].Evictions = append(groups[load.UID].Evictions, e)
		}
	}
	for _, e := range asked { // these pods are no longer in the list, and the eviction API will report that they are gone
		others.Evictions = append(others.Evictions, e)
	}
	others.Evictions = sortedEvictions(others.Evictions)
	var out []Leaving
	for uid, group := range groups {
		group.Pods = mine[uid]
		out = append(out, *group)
	}
	slices.SortFunc(out, func(a, b Leaving) int {
		x, y := a.Workload, b.Workload
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Key.Namespace, y.Key.Namespace), cmp.Compare(x.Key.Name, y.Key.Name))
	})
	if len(others.Evictions) > 0 {
		out = append([]Leaving{others}, out...)
	}
	return out
}

func namespacedName(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// servesNow reports whether the pod is ready and not being deleted.
func servesNow(pod *corev1.Pod) bool { return pods.Active(pod) && pods.Ready(pod) }
