package main

import (
	"context"
	"errors"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/events"
)

// provider is a cloud that can only list its instance types. It can't launch or delete nodes.
type provider struct {
	types map[string][]*cloudprovider.InstanceType // by NodePool
	class *nodeClass
}

var errNoCloud = errors.New("planning launches and deletes no node")

func (p *provider) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	return nil, errNoCloud
}
func (p *provider) Delete(context.Context, *v1.NodeClaim) error        { return errNoCloud }
func (p *provider) Get(context.Context, string) (*v1.NodeClaim, error) { return nil, errNoCloud }
func (p *provider) List(context.Context) ([]*v1.NodeClaim, error)      { return nil, errNoCloud }
func (p *provider) RepairPolicies() []cloudprovider.RepairPolicy       { return nil }
func (p *provider) Name() string                                       { return "workload" }
func (p *provider) GetSupportedNodeClasses() []status.Object           { return []status.Object{p.class} }
func (p *provider) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}

// Reboot is a method since Karpenter 1.15.
func (p *provider) Reboot(context.Context, *v1.NodeClaim, string) error { return errNoCloud }

func (p *provider) GetInstanceTypes(_ context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p.types[pool.Name], nil
}

// nodeClass is an object of the kind that the pools of the workload name. Planning uses only its kind.
type nodeClass struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

// newNodeClass registers the kind with the library.
func newNodeClass(ref *v1.NodeClassReference) *nodeClass {
	kind := schema.GroupVersionKind{Group: ref.Group, Version: "v1", Kind: ref.Kind}
	if !scheme.Scheme.Recognizes(kind) {
		scheme.Scheme.AddKnownTypeWithName(kind, &nodeClass{})
	}
	return &nodeClass{}
}

func (n *nodeClass) DeepCopyObject() runtime.Object {
	out := &nodeClass{TypeMeta: n.TypeMeta}
	n.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

func (n *nodeClass) GetConditions() []status.Condition { return nil }
func (n *nodeClass) SetConditions([]status.Condition)  {}
func (n *nodeClass) StatusConditions(options ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(n, options...)
}

// noEvents is an event recorder that discards all events.
type noEvents struct{}

func (noEvents) Publish(...events.Event) {}
