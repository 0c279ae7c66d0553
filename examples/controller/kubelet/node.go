package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
)

// leaseDuration is the duration that kubelets write into their leases.
const leaseDuration = 40 * time.Second

// retryEvery is the wait before a failed request is repeated.
const retryEvery = 250 * time.Millisecond

// attachAnnotation says that the controller manager attaches volumes, as for every kubelet by default.
const attachAnnotation = "volumes.kubernetes.io/controller-managed-attach-detach"

// register runs a kubelet until its node is ready.
func (s *Simulator) register(ctx context.Context, node *corev1.Node, behaviour Behaviour) {
	if behaviour.NeverRegisters || !sleep(ctx, behaviour.RegisterAfter) {
		return
	}
	node.ResourceVersion, node.UID, node.CreationTimestamp = "", "", metav1.Time{}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[attachAnnotation] = "true"
	reduce(node.Status.Capacity, behaviour.Less)
	reduce(node.Status.Allocatable, behaviour.Less)
	node.Status.Conditions = conditions(corev1.ConditionFalse, "KubeletNotReady")
	s.noteRegistered(node.Name)
	var created *corev1.Node
	if !s.insist(ctx, "registering node "+node.Name, func() (err error) {
		created, err = s.join(ctx, node)
		return err
	}) {
		return
	}
	if !s.insist(ctx, "renewing the lease of node "+node.Name, func() error { return s.renew(ctx, node.Name) }) ||
		!s.insist(ctx, "publishing the drivers of node "+node.Name, func() error { return s.publishDrivers(ctx, created, behaviour) }) ||
		!sleep(ctx, behaviour.ReadyAfter) {
		return
	}
	if s.insist(ctx, "making node "+node.Name+" ready", func() error { return s.makeReady(ctx, node.Name) }) {
		s.noteReady(node.Name)
	}
}

// makeReady sets a node's condition Ready to true. A deleted node is no error.
func (s *Simulator) makeReady(ctx context.Context, node string) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions(corev1.ConditionTrue, "KubeletReady")}})
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return unlessGone(err)
}

// restore sets Ready to true again after the node lifecycle controller set it to Unknown, which happens if a busy computer delays
// the renewal of leases.
func (s *Simulator) restore(ctx context.Context, name string) error {
	node, err := s.nodes.Get(name)
	if err != nil || !s.wasReady(name) {
		return unlessGone(err)
	}
	if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	}) {
		return nil
	}
	return s.makeReady(ctx, name)
}

// join creates the Node. The Node may exist already, because the response to an earlier attempt was lost or the kubelet was restarted. If
// another instance's Node has that name, join returns an error until that Node is gone.
func (s *Simulator) join(ctx context.Context, node *corev1.Node) (*corev1.Node, error) {
	created, err := s.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return created, err
	}
	there, err := s.client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if there.Spec.ProviderID != node.Spec.ProviderID {
		return nil, fmt.Errorf("it still belongs to the instance %q", there.Spec.ProviderID)
	}
	return there, nil
}

// unlessGone returns nil if err is NotFound, and otherwise err.
func unlessGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// noteRegistered records that the Node exists, or will exist soon.
func (s *Simulator) noteRegistered(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.instances[name]; m != nil {
		m.registered = true
	}
}

// noteReady records that the node has become ready.
func (s *Simulator) noteReady(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.instances[name]; m != nil {
		m.ready = true
	}
}

func (s *Simulator) wasReady(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.instances[name]
	return m != nil && m.ready
}

// conditions returns the conditions of a healthy node, but with the given status and reason of Ready.
func conditions(ready corev1.ConditionStatus, reason string) []corev1.NodeCondition {
	now := metav1.Now()
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID"),
		condition(corev1.NodeReady, ready, reason),
	}
}

// reduce subtracts the amounts in its second argument from those in its first argument; no amount falls below zero.
func reduce(have, less corev1.ResourceList) {
	for name, quantity := range less {
		left, ok := have[name]
		if !ok {
			continue
		}
		left.Sub(quantity)
		if left.Sign() < 0 {
			left.Set(0)
		}
		have[name] = left
	}
}

// publishDrivers writes the node's CSINode. If an earlier node of that name has left a CSINode, it deletes that and returns an error,
// so that the caller tries again. Otherwise garbage collection would delete it later, and the node would have no CSINode.
func (s *Simulator) publishDrivers(ctx context.Context, node *corev1.Node, behaviour Behaviour) error {
	drivers := behaviour.Drivers
	if drivers == nil {
		drivers = []storagev1.CSINodeDriver{{Name: StorageDriver, NodeID: node.Name, TopologyKeys: []string{corev1.LabelTopologyZone}}}
	}
	nodes := s.client.StorageV1().CSINodes()
	_, err := nodes.Create(ctx, &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID,
		}}},
		Spec: storagev1.CSINodeSpec{Drivers: append([]storagev1.CSINodeDriver{}, drivers...)},
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there, err := nodes.Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(there.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == node.UID }) {
		return nil
	}
	err = unlessGone(nodes.Delete(ctx, node.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &there.UID}}))
	return errors.Join(errors.New("it belongs to an earlier node"), err)
}

// heartbeats renews the leases of all running registered instances, and keeps their nodes ready.
func (s *Simulator) heartbeats() {
	tick := time.NewTicker(option.Or(s.options.Heartbeat, DefaultHeartbeat))
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		for _, name := range s.registered() {
			if err := s.renew(s.ctx, name); err != nil {
				s.log("renewing the lease of node "+name, err)
				continue
			}
			if err := s.restore(s.ctx, name); err != nil {
				s.log("making node "+name+" ready again", err)
			}
		}
	}
}

func (s *Simulator) registered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name, m := range s.instances {
		if m.running && m.registered {
			names = append(names, name)
		}
	}
	return names
}

// renew writes a node's lease, which the node lifecycle controller checks.
func (s *Simulator) renew(ctx context.Context, node string) error {
	leases := s.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now, seconds := metav1.NowMicro(), int32(leaseDuration.Seconds())
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"renewTime": now}})
	if err != nil {
		return err
	}
	_, err = leases.Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: node},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &node, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
	}
	return err
}

// insist repeats a function until it succeeds; it returns false if the instance is powered off. NotFound is also repeated: in a new
// cluster, a namespace may not exist yet.
func (s *Simulator) insist(ctx context.Context, what string, try func() error) bool {
	for {
		err := try()
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.log(what, fmt.Errorf("trying again: %w", err))
		if !sleep(ctx, retryEvery) {
			return false
		}
	}
}

// sleep waits; it returns false if the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
