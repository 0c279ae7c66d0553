package reconcilers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// feed passes the changes that the manager's informers see to a cluster.State. It also runs on standbys, so that a new leader does not have
// to read the whole cluster first.
type feed struct {
	informers cache.Informers
	state     *cluster.State
	kinds     []watched
	// classes are objects of kinds that planning does not read. For their changes, only seen is called.
	classes []client.Object
	log     *slog.Logger
	now     func() time.Time
	// seen is called for every change, with the object before and after the change. before is nil for a new object, and after is nil for a
	// deleted object.
	seen func(before, after client.Object)
	// later watches kinds that the API server does not serve yet; nil if all kinds are served.
	later *laterGroups
}

// watched is a kind that the feed watches.
type watched struct {
	kind   cluster.Kind
	object client.Object
}

// watchedKinds returns the kinds that planning reads. Services, ReplicaSets, StatefulSets and ReplicationControllers are needed only for
// default spread constraints, and a cluster has many of them, so they are watched only if DefaultTopologySpread is set.
func watchedKinds(o *Options) []watched {
	kinds := []watched{
		{cluster.KindNode, &corev1.Node{}}, {cluster.KindNodeClaim, &v1.NodeClaim{}}, {cluster.KindNodePool, &v1.NodePool{}},
		{cluster.KindPod, &corev1.Pod{}}, {cluster.KindDaemonSet, &appsv1.DaemonSet{}}, {cluster.KindNamespace, &corev1.Namespace{}},
		{cluster.KindPersistentVolume, &corev1.PersistentVolume{}}, {cluster.KindPersistentVolumeClaim, &corev1.PersistentVolumeClaim{}},
		{cluster.KindStorageClass, &storagev1.StorageClass{}}, {cluster.KindCSINode, &storagev1.CSINode{}},
		{cluster.KindVolumeAttachment, &storagev1.VolumeAttachment{}},
		{cluster.KindPodDisruptionBudget, &policyv1.PodDisruptionBudget{}},
	}
	if o.Features.NodeOverlay {
		kinds = append(kinds, watched{cluster.KindNodeOverlay, &v1.NodeOverlay{}})
	}
	if o.Features.Devices {
		kinds = append(kinds, watched{cluster.KindDeviceClass, &resourcev1.DeviceClass{}}, watched{cluster.KindResourceClaim, &resourcev1.ResourceClaim{}},
			watched{cluster.KindResourceClaimTemplate, &resourcev1.ResourceClaimTemplate{}}, watched{cluster.KindResourceSlice, &resourcev1.ResourceSlice{}})
	}
	if len(o.DefaultTopologySpread) > 0 {
		kinds = append(kinds, watched{cluster.KindService, &corev1.Service{}}, watched{cluster.KindReplicaSet, &appsv1.ReplicaSet{}},
			watched{cluster.KindStatefulSet, &appsv1.StatefulSet{}}, watched{cluster.KindReplicationController, &corev1.ReplicationController{}})
	}
	return append(kinds, o.groups...)
}

func namesOf(kinds []watched) []cluster.Kind {
	var names []cluster.Kind
	for _, w := range kinds {
		names = append(names, w.kind)
	}
	return names
}

// NeedLeaderElection is false.
func (f *feed) NeedLeaderElection() bool { return false }

// Start passes on changes until ctx ends.
func (f *feed) Start(ctx context.Context) error {
	registrations := make([]toolscache.ResourceEventHandlerRegistration, len(f.kinds))
	for i, w := range f.kinds {
		informer, err := f.informers.GetInformer(ctx, w.object)
		if err != nil {
			return fmt.Errorf("watching %s: %w", w.kind, err)
		}
		if registrations[i], err = informer.AddEventHandler(f.handler()); err != nil {
			return fmt.Errorf("watching %s: %w", w.kind, err)
		}
		defer func() { _ = informer.RemoveEventHandler(registrations[i]) }() // RemoveEventHandler only fails if the handler is not registered
	}
	for _, class := range f.classes {
		informer, err := f.informers.GetInformer(ctx, class)
		if err != nil {
			return fmt.Errorf("watching %T: %w", class, err)
		}
		registration, err := informer.AddEventHandler(handlerOf(f.notifySeen))
		if err != nil {
			return fmt.Errorf("watching %T: %w", class, err)
		}
		defer func() { _ = informer.RemoveEventHandler(registration) }() // RemoveEventHandler only fails if the handler is not registered
	}
	for i, w := range f.kinds {
		// When the handler has synced, it has received all objects of the API server.
		if !toolscache.WaitForCacheSync(ctx.Done(), registrations[i].HasSynced) {
			return nil
		}
		f.state.Expect(w.kind)
	}
	if err := f.state.Missing(); err != nil {
		return err
	}
	f.log.Info("synced cluster state")
	f.later.run(ctx)
	<-ctx.Done()
	return nil
}

// handler returns a handler for informers of the kinds that planning reads.
func (f *feed) handler() toolscache.ResourceEventHandler { return handlerOf(f.notify) }

// handlerOf returns a handler that calls notify for changes, with the object before and after the change.
func handlerOf(notify func(before, after any)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(after any) { notify(nil, after) },
		UpdateFunc: notify,
		DeleteFunc: func(before any) {
			if missed, ok := before.(toolscache.DeletedFinalStateUnknown); ok {
				before = missed.Obj // the watch was interrupted: Obj is the last known state of the object
			}
			notify(before, nil)
		},
	}
}

// notifySeen reports an object that planning does not read.
func (f *feed) notifySeen(before, after any) {
	old, _ := before.(client.Object)
	object, _ := after.(client.Object)
	if old != nil || object != nil {
		f.seen(old, object)
	}
}

func (f *feed) notify(before, after any) {
	old, _ := before.(client.Object)
	object, _ := after.(client.Object)
	var event cluster.Event
	switch {
	case object != nil:
		event = cluster.Upsert(object)
	case old != nil:
		event = cluster.Delete(old)
	default:
		return
	}
	if err := f.state.Apply(event.At(f.now())); err != nil {
		f.log.Error("cannot apply change of object to the cluster state", "kind", fmt.Sprintf("%T", event.Object),
			"object", event.Object.GetNamespace()+"/"+event.Object.GetName(), "deleted", event.Deleted, "error", err)
		return
	}
	f.seen(old, object)
}
