package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// bind binds a pod to a node if the node has the devices that the pod claims. Otherwise the pod waits for the next pass.
func (e *engine) bind(p *pod, m *instance) error {
	if p == nil {
		return nil
	}
	key := keyOf(p.object)
	object := p.object.DeepCopy()
	object.Spec.NodeName, object.Status.Phase = m.name, corev1.PodRunning
	claims, has, err := e.devices.allocate(object, m.claim)
	if err != nil {
		return err
	}
	if !has {
		e.record.withoutDevices++
		return nil
	}
	p.object = object
	p.on, m.pods[key] = m, p
	delete(e.waiting, key)
	if !p.bound {
		p.bound = true
		e.record.waited(e.now.Sub(p.since))
	}
	e.record.boundTo(p)
	return e.state.Apply(append(claims, cluster.Upsert(p.object))...)
}

// launch launches a node for a claim. If the cloud has no capacity, launch returns nil, and the pods are planned again.
func (e *engine) launch(claim *v1.NodeClaim) (*instance, error) {
	e.launched++
	claim.Name = fmt.Sprintf("%s%05d", strings.TrimSuffix(claim.GenerateName, "-")+"-", e.launched)
	claim.GenerateName, claim.UID, claim.CreationTimestamp = "", types.UID(claim.Name), metav1.NewTime(e.now)
	created, err := e.cloud.Create(e.ctx, claim)
	if cloudprovider.LaunchAbandoned(err) {
		e.batch.Trigger("stock-out", e.now)
		e.look()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for key, value := range created.Labels {
		claim.Labels[key] = value
	}
	claim.Status = created.Status
	claim.Conditions().SetTrue(v1.ConditionLaunched, e.now)
	m := &instance{name: claim.Name, claim: claim, pods: map[string]*pod{}, spot: claim.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeSpot}
	if i, ok := e.cloud.Instance(created.Status.ProviderID); ok {
		m.price = i.Price
	}
	if m.estimated = e.Estimated(claim.Labels[corev1.LabelInstanceTypeStable], claim.Labels[v1.CapacityTypeLabelKey]); m.estimated {
		e.record.estimated++
	}
	m.terms = termsOf(e.Snapshot, claim, m.price)
	e.record.prices.launched(&m.terms)
	e.instances[m.name] = m
	e.record.launches++
	if err := e.state.Apply(cluster.Upsert(claim)); err != nil {
		return nil, err
	}
	e.agenda.enter(e.now.Add(e.Boot), func() error { return e.join(m) })
	if m.spot && e.Interruptions > 0 {
		const month = 730 * float64(time.Hour)
		if life := e.chance.ExpFloat64() * month / e.Interruptions; life < float64(e.end.Sub(e.now)) {
			e.agenda.enter(e.now.Add(time.Duration(life)), func() error { return e.interrupt(m) })
		}
	}
	return m, nil
}

// join makes a launched node ready.
func (e *engine) join(m *instance) error {
	if e.instances[m.name] == nil || m.leaving {
		return nil
	}
	claim := m.claim.DeepCopy()
	claim.Status.NodeName = m.name
	claim.Conditions().SetTrue(v1.ConditionRegistered, e.now)
	claim.Conditions().SetTrue(v1.ConditionInitialized, e.now)
	m.claim = claim
	node := nodeOf(claim, e.now)
	m.ready = true
	if err := e.state.Apply(append(e.devices.publish(e.Snapshot, node), cluster.Upsert(claim), cluster.Upsert(node))...); err != nil {
		return err
	}
	for _, key := range m.planned {
		if err := e.bind(e.waiting[key], m); err != nil {
			return err
		}
	}
	if m.readied != nil {
		if err := m.readied(); err != nil {
			return err
		}
	}
	return e.plan() // other pending pods may fit on the node now
}

// nodeOf returns the Node of a claim, registered and ready.
func nodeOf(claim *v1.NodeClaim, now time.Time) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: claim.Status.NodeName, UID: claim.UID, CreationTimestamp: metav1.NewTime(now), Labels: map[string]string{}}}
	for key, value := range claim.Labels {
		n.Labels[key] = value
	}
	n.Labels[corev1.LabelHostname] = n.Name
	n.Labels[v1.NodeRegisteredLabelKey], n.Labels[v1.NodeInitializedLabelKey] = "true", "true"
	n.Spec.ProviderID, n.Spec.Taints = claim.Status.ProviderID, slices.Clone(claim.Spec.Taints)
	n.Status.Capacity, n.Status.Allocatable = claim.Status.Capacity, claim.Status.Allocatable
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}
