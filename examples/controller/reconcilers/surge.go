package reconcilers

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/provisioning"
)

// surge handles the evictions that drains want: its Evictor decides which pods to evict now, and scales their workloads. If the drain does
// not repeat a wanted eviction, it is forgotten. Changes of workloads are recorded only on the workloads themselves.
type surge struct {
	client  client.Client
	evictor provisioning.Evictor
	// evict evicts a pod.
	evict    func(provisioning.EvictPod)
	recorder *recorder
	log      *slog.Logger
	now      func() time.Time

	mu     sync.Mutex
	wanted map[types.UID]wantedEviction
	wake   chan struct{}
}

// wantedEviction is a pod that a drain wants to evict, with the time of the drain's last request.
type wantedEviction struct {
	provisioning.EvictPod
	at time.Time
}

const (
	// wantedFor is how long a wanted eviction is remembered. It is longer than the interval at which drains repeat their wanted evictions.
	wantedFor = 3 * drainPause
	// surgeRetry is the wait after a failed call of the method look.
	surgeRetry = 2 * time.Second
)

func newSurge(evictor provisioning.Evictor, act *actor) *surge {
	return &surge{
		client: act.client, evictor: evictor, evict: act.evictions.add, recorder: act.recorder, log: act.log, now: act.now,
		wanted: map[types.UID]wantedEviction{}, wake: make(chan struct{}, 1),
	}
}

// add registers a pod that a drain wants to evict.
func (s *surge) add(pod provisioning.EvictPod) {
	s.mu.Lock()
	_, known := s.wanted[pod.UID]
	s.wanted[pod.UID] = wantedEviction{pod, s.now()}
	s.mu.Unlock()
	if !known {
		wake(s.wake)
	}
}

// NeedLeaderElection returns true: only one process scales workloads.
func (s *surge) NeedLeaderElection() bool { return true }

// Start handles wanted evictions until ctx ends. The first look finds workloads that an earlier process has scaled.
func (s *surge) Start(ctx context.Context) error {
	for {
		again, err := s.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			s.log.Error("cannot list workloads and pods for evictions, retrying", "retryAfter", surgeRetry, "error", err)
			again = surgeRetry
		}
		rest(ctx, s.wake, again)
	}
}

// look takes the next step for each workload, and returns when to look again; 0 means to wait for the next wanted eviction.
func (s *surge) look(ctx context.Context) (again time.Duration, err error) {
	objects, err := s.objects(ctx)
	if err != nil {
		return 0, err
	}
	evictions, again := s.stillWanted()
	pods, err := s.pods(ctx, namespacesOf(evictions, objects))
	if err != nil {
		return 0, err
	}
	evictions = s.present(evictions, pods)
	for _, leaving := range provisioning.NewWorkloads(objects).Leaving(evictions, pods) {
		step := s.evictor.Evict(leaving, s.now())
		again = sooner(again, step.Again)
		s.recorder.publish(step.Events)
		for _, effect := range step.Effects {
			if err := s.do(ctx, effect); err != nil {
				s.log.Warn("cannot scale workload or evict its pods, retrying", "effect", effect.String(), "error", err)
				again = sooner(again, surgeRetry)
			}
		}
	}
	return again, nil
}

// stillWanted returns the evictions that drains want. again is the time until the first of these evictions expires, if no drain repeats it.
func (s *surge) stillWanted() (list []provisioning.EvictPod, again time.Duration) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.wanted, func(_ types.UID, w wantedEviction) bool { return now.Sub(w.at) >= wantedFor })
	for _, w := range s.wanted {
		list = append(list, w.EvictPod)
		again = sooner(again, w.at.Add(wantedFor).Sub(now))
	}
	return list, again
}

// present returns the evictions whose pods still exist.
func (s *surge) present(list []provisioning.EvictPod, pods []*corev1.Pod) []provisioning.EvictPod {
	there := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		there[pod.UID] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(list, func(e provisioning.EvictPod) bool {
		if !there[e.UID] {
			delete(s.wanted, e.UID)
		}
		return !there[e.UID]
	})
}

// objects returns all Deployments, ReplicaSets and HorizontalPodAutoscalers. The objects belong to the cache: do not change them.
func (s *surge) objects(ctx context.Context) (o provisioning.WorkloadObjects, err error) {
	var deployments appsv1.DeploymentList
	var sets appsv1.ReplicaSetList
	var autoscalers autoscalingv2.HorizontalPodAutoscalerList
	for _, list := range []client.ObjectList{&deployments, &sets, &autoscalers} {
		if err := s.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return o, err
		}
	}
	return provisioning.WorkloadObjects{
		Deployments: pointers(deployments.Items), ReplicaSets: pointers(sets.Items), Autoscalers: pointers(autoscalers.Items),
	}, nil
}

// pods returns the pods of the namespaces.
func (s *surge) pods(ctx context.Context, namespaces []string) (out []*corev1.Pod, err error) {
	for _, namespace := range namespaces {
		var list corev1.PodList
		if err := s.client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		out = append(out, pointers(list.Items)...)
	}
	return out, nil
}

// namespacesOf returns the sorted namespaces that have pods to evict, or a workload that is scaled up for such pods.
func namespacesOf(evictions []provisioning.EvictPod, o provisioning.WorkloadObjects) []string {
	names := map[string]bool{}
	for _, e := range evictions {
		names[e.Key.Namespace] = true
	}
	for _, d := range o.Deployments {
		if d.Annotations[provisioning.SurgeAnnotation] != "" {
			names[d.Namespace] = true
		}
	}
	for _, rs := range o.ReplicaSets {
		if rs.Annotations[provisioning.SurgeAnnotation] != "" {
			names[rs.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (s *surge) do(ctx context.Context, effect provisioning.Effect) error {
	return provisioning.Do(ctx, effect, surgeEffects{surge: s})
}

// surgeEffects carries out only the effects of an Evictor.
type surgeEffects struct {
	provisioning.RefuseEffects
	surge *surge
}

func (s surgeEffects) EvictPod(_ context.Context, e provisioning.EvictPod) error {
	s.surge.evict(e)
	return nil
}

func (s surgeEffects) ScaleWorkload(ctx context.Context, e provisioning.ScaleWorkload) error {
	return s.surge.scale(ctx, e)
}

// scale writes the number of replicas and the annotation in one request. If the workload has changed since it was read, the next call of
// look reads it again.
func (s *surge) scale(ctx context.Context, e provisioning.ScaleWorkload) error {
	var object client.Object
	var replicas **int32
	switch e.Kind {
	case "Deployment":
		d := &appsv1.Deployment{}
		object, replicas = d, &d.Spec.Replicas
	case "ReplicaSet":
		rs := &appsv1.ReplicaSet{}
		object, replicas = rs, &rs.Spec.Replicas
	default:
		return fmt.Errorf("a %s can't be scaled", e.Kind)
	}
	if err := s.client.Get(ctx, e.Key, object); err != nil {
		return client.IgnoreNotFound(err)
	}
	asks := int32(1)
	if *replicas != nil {
		asks = **replicas
	}
	if object.GetUID() != e.UID || asks != e.From {
		return nil
	}
	base := object.DeepCopyObject().(client.Object)
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	delete(annotations, provisioning.SurgeAnnotation)
	if e.Surge != nil {
		annotations[provisioning.SurgeAnnotation] = e.Surge.String()
	}
	object.SetAnnotations(annotations)
	*replicas = &e.To
	err := s.client.Patch(ctx, object, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err == nil {
		log := s.log.With("kind", e.Kind, "workload", e.Key, "from", e.From, "to", e.To)
		switch {
		case e.To > e.From:
			log.Info("scaled workload up before evictions")
		case e.To < e.From:
			log.Info("scaled workload down after evictions")
		default:
			log.Info("changed surge annotation of workload")
		}
	}
	return err
}
