package kubelet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// byNode is the name of the index of pods by their node.
const byNode = "node"

// These are the shortest and the longest wait before a retry. The API server may be unavailable for some seconds, and waits should be short
// after it is back.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = 2 * time.Second
)

func newQueue[T comparable]() workqueue.TypedRateLimitingInterface[T] {
	return workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[T](firstRetry, lastRetry))
}

// watch starts the informers that feed the queues.
func (s *Simulator) watch() error {
	bound := informers.NewSharedInformerFactoryWithOptions(s.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	}))
	s.pods = bound.Core().V1().Pods().Informer()
	if err := s.pods.AddIndexers(cache.Indexers{byNode: func(object any) ([]string, error) {
		return []string{object.(*corev1.Pod).Spec.NodeName}, nil
	}}); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(s.client, 0)
	s.nodes = factory.Core().V1().Nodes().Lister()
	s.claims = factory.Core().V1().PersistentVolumeClaims().Lister()
	s.classes = factory.Storage().V1().StorageClasses().Lister()
	for _, w := range []struct {
		informer cache.SharedIndexInformer
		handle   func(object any)
		deleted  func(object any)
	}{
		{informer: s.pods, handle: func(object any) { s.enqueue(object.(*corev1.Pod)) }},
		{informer: factory.Core().V1().Nodes().Informer(), handle: func(any) {}, deleted: s.onNodeDeleted},
		{informer: factory.Core().V1().PersistentVolumeClaims().Informer(), handle: func(object any) {
			claim := object.(*corev1.PersistentVolumeClaim)
			s.storage.Add(storageWork{namespace: claim.Namespace, claim: claim.Name})
		}},
		{informer: factory.Storage().V1().VolumeAttachments().Informer(), handle: func(object any) {
			s.storage.Add(storageWork{attachment: object.(*storagev1.VolumeAttachment).Name})
		}},
		{informer: factory.Storage().V1().StorageClasses().Informer(), handle: func(any) {}},
	} {
		if _, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    w.handle,
			UpdateFunc: func(_, object any) { w.handle(object) },
			DeleteFunc: w.deleted,
		}); err != nil {
			return err
		}
	}
	for _, f := range []informers.SharedInformerFactory{bound, factory} {
		f.Start(s.ctx.Done())
		s.wg.Go(func() {
			<-s.ctx.Done()
			f.Shutdown()
		})
		for kind, synced := range f.WaitForCacheSync(s.ctx.Done()) {
			if !synced {
				return fmt.Errorf("watching %s: %w", kind, context.Cause(s.ctx))
			}
		}
	}
	s.wg.Go(func() {
		<-s.ctx.Done()
		s.queue.ShutDown()
		s.storage.ShutDown()
	})
	return nil
}

// onNodeDeleted removes the pods of a deleted node if the node was simulated. Kubernetes' own garbage collection would take almost a
// minute.
func (s *Simulator) onNodeDeleted(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	node, ok := object.(*corev1.Node)
	if !ok || !s.nodeDeleted(node.Name) {
		return
	}
	for _, pod := range s.podsOf(node.Name) {
		s.wg.Go(func() {
			s.insist(s.ctx, "removing pod "+pod.Namespace+"/"+pod.Name+" of a deleted node", func() error { return s.removePod(s.ctx, pod) })
		})
	}
}

// podsOf returns the pods bound to a node. They are shared and must not be changed.
func (s *Simulator) podsOf(node string) []*corev1.Pod {
	objects, err := s.pods.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		s.log("finding the pods of node "+node, err)
	}
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		pods = append(pods, object.(*corev1.Pod))
	}
	return pods
}

// enqueue queues a pod.
func (s *Simulator) enqueue(pod *corev1.Pod) {
	s.queue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
}

// requeue queues the pods of a node again. Events of the pods may have been ignored because the instance was not known or behaved
// differently, and there may be no further event.
func (s *Simulator) requeue(node string) {
	for _, pod := range s.podsOf(node) {
		s.enqueue(pod)
	}
}

// work processes the keys of a queue until it is shut down.
func work[T comparable](ctx context.Context, queue workqueue.TypedRateLimitingInterface[T], sync func(context.Context, T) (time.Duration, error), log func(string, error)) {
	for {
		key, quit := queue.Get()
		if quit {
			return
		}
		again, err := sync(ctx, key)
		switch {
		case err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err):
			log(fmt.Sprintf("working on %v", key), err)
			queue.AddRateLimited(key)
		case again > 0:
			queue.Forget(key)
			queue.AddAfter(key, again)
		default:
			queue.Forget(key)
		}
		queue.Done(key)
	}
}
