package kubelet

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Annotations that set how a simulated pod behaves. Their values are durations such as "1.5s".
const (
	// CompletesAfter is how long the pod runs before it succeeds. A pod without this annotation runs forever.
	CompletesAfter = "e2e.drawknife.test/completes-after"
	// StopsAfter is how long the pod takes to stop when it is deleted, at most its grace period. A pod without this annotation stops at
	// once.
	StopsAfter = "e2e.drawknife.test/stops-after"
)

// podAddress is the address of every pod; nothing listens there.
const podAddress = "10.1.0.1"

// syncPod does what the kubelet does next for a pod, and returns when to check the pod again.
func (s *Simulator) syncPod(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	object, exists, err := s.pods.GetIndexer().GetByKey(key.String())
	if err != nil || !exists {
		return 0, err
	}
	pod := object.(*corev1.Pod)
	behaviour, runs := s.runs(pod.Spec.NodeName)
	if !runs {
		return 0, nil
	}
	now := time.Now()
	switch {
	case pod.DeletionTimestamp != nil:
		if behaviour.HoldsPods {
			return 0, nil
		}
		if left := stopsAt(pod).Sub(now); left > 0 {
			return left, nil
		}
		s.stopProgram(pod)
		return 0, s.removePod(ctx, pod)
	case pod.Status.Phase == corev1.PodPending:
		return 0, s.patchStatus(ctx, pod, runningStatus(pod, metav1.NewTime(now)))
	case pod.Status.Phase == corev1.PodRunning:
		if began := pod.Status.StartTime; began != nil && saidUnready(pod) {
			return 0, s.patchStatus(ctx, pod, runningStatus(pod, *began)) // the change of the pod triggers the next check
		}
		if s.options.Run != nil {
			code, ended := s.ended(pod)
			if !ended {
				return 0, nil // its end triggers the next check
			}
			return 0, s.patchStatus(ctx, pod, endedStatus(pod, code, metav1.NewTime(now)))
		}
		after, err := time.ParseDuration(pod.Annotations[CompletesAfter])
		if err != nil || pod.Status.StartTime == nil {
			return 0, nil
		}
		if left := pod.Status.StartTime.Add(after).Sub(now); left > 0 {
			return left, nil
		}
		return 0, s.patchStatus(ctx, pod, endedStatus(pod, 0, metav1.NewTime(now)))
	}
	return 0, nil
}

// saidUnready reports whether another client marked a running pod as not ready. The node lifecycle controller does this to all pods of a
// node without recent heartbeats.
func saidUnready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
}

// stopsAt returns when the containers of a terminating pod stop: by themselves, or at the end of the grace period.
func stopsAt(pod *corev1.Pod) time.Time {
	grace := time.Duration(0)
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	takes, err := time.ParseDuration(pod.Annotations[StopsAfter])
	if err != nil {
		takes = 0
	}
	return pod.DeletionTimestamp.Add(min(takes, grace) - grace)
}

// removePod deletes a stopped pod from the API. It returns no error if the pod is gone, or if another pod has its name now.
func (s *Simulator) removePod(ctx context.Context, pod *corev1.Pod) error {
	pods := s.client.CoreV1().Pods(pod.Namespace)
	err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	if apierrors.IsConflict(err) {
		there, readErr := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if readErr != nil {
			return unlessGone(readErr)
		}
		if there.UID != pod.UID {
			return nil
		}
	}
	return unlessGone(err)
}

func runningStatus(pod *corev1.Pod, now metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &now, PodIP: podAddress, PodIPs: []corev1.PodIP{{IP: podAddress}},
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return status
}

// endedStatus is the status of a pod whose containers have ended with this exit code.
func endedStatus(pod *corev1.Pod, code int, now metav1.Time) corev1.PodStatus {
	phase, podReason, reason := corev1.PodSucceeded, "PodCompleted", "Completed"
	if code != 0 {
		phase, podReason, reason = corev1.PodFailed, "PodFailed", "Error"
	}
	status := corev1.PodStatus{Phase: phase}
	for _, kind := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionFalse, Reason: podReason, LastTransitionTime: now,
		})
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), Reason: reason, FinishedAt: now}},
		})
	}
	return status
}

func (s *Simulator) patchStatus(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID}, // delete only this pod, not another pod with the same name
		"status":   status,
	})
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
