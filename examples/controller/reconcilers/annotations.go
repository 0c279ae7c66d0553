package reconcilers

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// annotationWatcher publishes events on pods whose do-not-disrupt annotation is invalid and ignored. The leader publishes these events: for
// all existing pods when it starts, and later for changed pods.
type annotationWatcher struct {
	client   client.Reader
	recorder *recorder
	log      *slog.Logger
	now      func() time.Time
	leads    atomic.Bool
}

// NeedLeaderElection returns true: only one process publishes events.
func (w *annotationWatcher) NeedLeaderElection() bool { return true }

// Start publishes events for existing pods, and then for changed pods until ctx ends.
func (w *annotationWatcher) Start(ctx context.Context) error {
	w.leads.Store(true)
	defer w.leads.Store(false)
	var list corev1.PodList
	if err := w.client.List(ctx, &list); err != nil {
		w.log.Warn("cannot list pods, checking annotations only of pods that change", "error", err)
	}
	for i := range list.Items {
		w.look(&list.Items[i])
	}
	<-ctx.Done()
	return nil
}

func (w *annotationWatcher) seen(before, after client.Object) {
	pod, ok := after.(*corev1.Pod)
	if !ok || !w.leads.Load() {
		return
	}
	if old, _ := before.(*corev1.Pod); old != nil && old.Annotations[v1.DoNotDisruptAnnotationKey] == pod.Annotations[v1.DoNotDisruptAnnotationKey] {
		return
	}
	w.look(pod)
}

func (w *annotationWatcher) look(pod *corev1.Pod) {
	var faulty *pods.AnnotationError
	if err := pods.ProtectionOf(pod, w.now()).Err; errors.As(err, &faulty) {
		w.recorder.publish([]provisioning.Event{{
			Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Warning: true,
			Reason: provisioning.EventInvalidDoNotDisrupt, Message: faulty.Error(),
		}})
	}
}
