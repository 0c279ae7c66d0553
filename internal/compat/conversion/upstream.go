package main

import (
	"context"
	"encoding/json"

	awsv1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	awsv1beta1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"knative.dev/pkg/apis"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	karpv1beta1 "sigs.k8s.io/karpenter/pkg/apis/v1beta1"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
)

// poolReader replaces the API server from which Karpenter's webhook reads the NodePool of a NodeClaim. It returns the same pool for every
// name.
type poolReader struct {
	client.Client
	expireAfter string
}

func (r poolReader) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	pool := obj.(*karpv1.NodePool)
	return json.Unmarshal([]byte(`"`+r.expireAfter+`"`), &pool.Spec.Template.Spec.ExpireAfter)
}

func upstreamContext(expireAfter string) context.Context {
	ctx := injection.WithNodeClasses(context.Background(), []schema.GroupVersionKind{{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}})
	return injection.WithClient(ctx, poolReader{expireAfter: expireAfter})
}

// convertible has the two Go types of a kind: the v1beta1 type and the v1 type (the hub).
type convertible struct {
	old, hub func() apis.Convertible
}

func upstreamKinds() map[string]convertible {
	return map[string]convertible{
		"NodePool":     {func() apis.Convertible { return &karpv1beta1.NodePool{} }, func() apis.Convertible { return &karpv1.NodePool{} }},
		"NodeClaim":    {func() apis.Convertible { return &karpv1beta1.NodeClaim{} }, func() apis.Convertible { return &karpv1.NodeClaim{} }},
		"EC2NodeClass": {func() apis.Convertible { return &awsv1beta1.EC2NodeClass{} }, func() apis.Convertible { return &awsv1.EC2NodeClass{} }},
	}
}

// upstreamToHub converts v1beta1 to v1 as Karpenter did.
func upstreamToHub(kind string, object []byte, expireAfter string) ([]byte, error) {
	k := upstreamKinds()[kind]
	old, hub := k.old(), k.hub()
	if err := json.Unmarshal(object, old); err != nil {
		return nil, err
	}
	if err := hub.ConvertFrom(upstreamContext(expireAfter), old); err != nil {
		return nil, err
	}
	return json.Marshal(hub)
}

// upstreamFromHub converts v1 to v1beta1 as Karpenter did.
func upstreamFromHub(kind string, object []byte) ([]byte, error) {
	k := upstreamKinds()[kind]
	old, hub := k.old(), k.hub()
	if err := json.Unmarshal(object, hub); err != nil {
		return nil, err
	}
	if err := hub.ConvertTo(upstreamContext("720h"), old); err != nil {
		return nil, err
	}
	return json.Marshal(old)
}
