package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/drawknife/drawknife/api/conversion"
	dkv1 "github.com/drawknife/drawknife/api/v1"
	dkv1beta1 "github.com/drawknife/drawknife/api/v1beta1"
	dkawsv1 "github.com/drawknife/drawknife/aws/api/v1"
	dkawsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// oursToHub converts v1beta1 to v1, as this project does. If compat is true, the result can be compared with that of Karpenter's webhook.
func oursToHub(kind string, object []byte, expireAfter string, compat bool) ([]byte, error) {
	options := dkv1beta1.ConvertOptions{NodeClass: schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}, ReferenceCompat: compat, Force: true}
	if err := json.Unmarshal([]byte(`"`+expireAfter+`"`), &options.OwnerExpireAfter); err != nil {
		return nil, err
	}
	switch kind {
	case "NodePool":
		return through(object, func(o *dkv1beta1.NodePool) (*dkv1.NodePool, conversion.Warnings) { return o.ToV1(options) })
	case "NodeClaim":
		return through(object, func(o *dkv1beta1.NodeClaim) (*dkv1.NodeClaim, conversion.Warnings) { return o.ToV1(options) })
	default:
		return through(object, func(o *dkawsv1beta1.EC2NodeClass) (*dkawsv1.EC2NodeClass, conversion.Warnings) {
			return o.ToV1(dkawsv1beta1.ConvertOptions{ReferenceCompat: compat, Force: true})
		})
	}
}

// oursFromHub converts v1 to v1beta1.
func oursFromHub(kind string, object []byte, compat bool) ([]byte, error) {
	options := dkv1beta1.ConvertOptions{NodeClass: schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}, ReferenceCompat: compat, Force: true}
	switch kind {
	case "NodePool":
		return through(object, func(o *dkv1.NodePool) (*dkv1beta1.NodePool, conversion.Warnings) {
			return dkv1beta1.NodePoolFromV1(o, options)
		})
	case "NodeClaim":
		return through(object, func(o *dkv1.NodeClaim) (*dkv1beta1.NodeClaim, conversion.Warnings) {
			return dkv1beta1.NodeClaimFromV1(o, options)
		})
	default:
		return through(object, func(o *dkawsv1.EC2NodeClass) (*dkawsv1beta1.EC2NodeClass, conversion.Warnings) {
			return dkawsv1beta1.FromV1(o, dkawsv1beta1.ConvertOptions{ReferenceCompat: compat, Force: true})
		})
	}
}

func through[From, To any](object []byte, convert func(*From) (*To, conversion.Warnings)) ([]byte, error) {
	in := new(From)
	if err := json.Unmarshal(object, in); err != nil {
		return nil, err
	}
	out, warnings := convert(in)
	if out == nil {
		return nil, fmt.Errorf("not converted: %w", warnings.Err())
	}
	return json.Marshal(out)
}
