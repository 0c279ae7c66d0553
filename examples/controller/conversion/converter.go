package conversion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/internal/quantities"
)

// Converter converts objects from one API version to another. The zero value is ready to use, but knows no pools. It is safe for concurrent
// use if OwnerExpireAfter is.
type Converter struct {
	// OwnerExpireAfter returns the expireAfter of the pool with the given name: in v1beta1 only the pool has this field, in v1 also the
	// claim. The result is unset if there is no such pool. Nil means that no pool is known, and that claims of v1beta1 never expire. If it
	// returns an error, the conversion fails.
	OwnerExpireAfter func(ctx context.Context, pool string) (v1.NillableDuration, error)
}

// Error means that an object could not be converted.
type Error struct {
	// Object is "Kind/name", or the part of it that could be read.
	Object string
	// From and To are API versions: "karpenter.sh/v1beta1".
	From, To string
	// Err is the reason.
	Err error
}

// Error names the object, both versions and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%s can't be converted from %s to %s: %v", e.Object, e.From, e.To, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotConverted means that a kind or version has no conversion.
var ErrNotConverted = errors.New("only NodePools, NodeClaims and EC2NodeClasses are converted, between v1beta1 and v1")

// object is an object as JSON.
type object = map[string]any

// pair is a kind with its two API versions.
type pair struct {
	// up converts the JSON text of a v1beta1 object to a v1 object, and down converts the JSON text of a v1 object to a v1beta1 object.
	up, down func([]byte) (any, error)
	// later and earlier return an error for fields that the types of v1 and v1beta1 don't have.
	later, earlier func([]byte) error
	// laterType and earlierType are the Go types of the two versions.
	laterType, earlierType reflect.Type
}

func pairs() map[schema.GroupKind]pair {
	// A stored object must stay readable even if it is not valid in the other version.
	options := convert.Options{Force: true}
	return map[schema.GroupKind]pair{
		{Group: v1.Group, Kind: v1.KindNodePool}: {
			later: strictly[v1.NodePool], earlier: strictly[v1beta1.NodePool],
			laterType: reflect.TypeFor[v1.NodePool](), earlierType: reflect.TypeFor[v1beta1.NodePool](),
			up: step(func(o *v1beta1.NodePool) (*v1.NodePool, conversion.Warnings) {
				return o.ToV1(options.NodePoolOptions())
			}),
			down: step(func(o *v1.NodePool) (*v1beta1.NodePool, conversion.Warnings) {
				return v1beta1.NodePoolFromV1(o, options.NodePoolOptions())
			}),
		},
		{Group: v1.Group, Kind: v1.KindNodeClaim}: {
			later: strictly[v1.NodeClaim], earlier: strictly[v1beta1.NodeClaim],
			laterType: reflect.TypeFor[v1.NodeClaim](), earlierType: reflect.TypeFor[v1beta1.NodeClaim](),
			up: step(func(o *v1beta1.NodeClaim) (*v1.NodeClaim, conversion.Warnings) {
				return o.ToV1(options.NodePoolOptions())
			}),
			down: step(func(o *v1.NodeClaim) (*v1beta1.NodeClaim, conversion.Warnings) {
				return v1beta1.NodeClaimFromV1(o, options.NodePoolOptions())
			}),
		},
		{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass}: {
			later: strictly[awsv1.EC2NodeClass], earlier: strictly[awsv1beta1.EC2NodeClass],
			laterType: reflect.TypeFor[awsv1.EC2NodeClass](), earlierType: reflect.TypeFor[awsv1beta1.EC2NodeClass](),
			up: step(func(o *awsv1beta1.EC2NodeClass) (*awsv1.EC2NodeClass, conversion.Warnings) {
				return o.ToV1(options.NodeClassOptions())
			}),
			down: step(func(o *awsv1.EC2NodeClass) (*awsv1beta1.EC2NodeClass, conversion.Warnings) {
				return awsv1beta1.FromV1(o, options.NodeClassOptions())
			}),
		},
	}
}

func step[From, To any](convert func(*From) (*To, conversion.Warnings)) func([]byte) (any, error) {
	return func(text []byte) (any, error) {
		in := new(From)
		if err := quantities.CheckJSON(text, reflect.TypeFor[From]()); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, in); err != nil {
			return nil, err
		}
		out, warnings := convert(in)
		if out == nil {
			return nil, warnings.Err()
		}
		return out, nil
	}
}

// strictly checks text by decoding it into a T: fields that T does not have are an error.
func strictly[T any](text []byte) error {
	if err := quantities.CheckJSON(text, reflect.TypeFor[T]()); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(new(T))
}

// Convert returns the JSON object in the API version to, such as "karpenter.sh/v1". An object that already has that version is
// returned unchanged. In the metadata, only annotations change. The error is an *Error.
func (c Converter) Convert(ctx context.Context, text []byte, to string) ([]byte, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, &Error{Object: "an object", From: "a version that can't be read", To: to, Err: err}
	}
	if head.APIVersion == to {
		return text, nil
	}
	out, err := c.convert(ctx, text, schema.FromAPIVersionAndKind(head.APIVersion, head.Kind), schema.FromAPIVersionAndKind(to, head.Kind))
	if err != nil {
		return nil, &Error{Object: head.Kind + "/" + head.Metadata.Name, From: head.APIVersion, To: to, Err: err}
	}
	return out, nil
}

func (c Converter) convert(ctx context.Context, text []byte, from, to schema.GroupVersionKind) ([]byte, error) {
	kind, ok := pairs()[from.GroupKind()]
	if !ok || from.Group != to.Group {
		return nil, ErrNotConverted
	}
	of := kind.laterType
	if from.Version == v1beta1.Version {
		of = kind.earlierType
	}
	text, aside := setAside(text, of)
	var raw object
	if err := kjson.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	var out object
	var err error
	switch {
	case from.Version == v1beta1.Version && to.Version == v1.Version:
		out, err = there{forth: kind.up, back: kind.down, check: kind.later, takes: LaterFieldsAnnotationKey, leaves: EarlierFieldsAnnotationKey}.convert(raw)
		if err == nil && from.Kind == v1.KindNodeClaim {
			err = c.expiry(ctx, raw, out)
		}
	case from.Version == v1.Version && to.Version == v1beta1.Version:
		out, err = there{forth: kind.down, back: kind.up, check: kind.earlier, takes: EarlierFieldsAnnotationKey, leaves: LaterFieldsAnnotationKey}.convert(raw)
	default:
		err = ErrNotConverted
	}
	if err != nil {
		return nil, err
	}
	converted, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return aside.putBack(converted), nil
}

// expiry sets expireAfter of the claim hub to the value of the claim's pool, unless the annotation LaterFieldsAnnotationKey of old contains
// an expireAfter.
func (c Converter) expiry(ctx context.Context, old, hub object) error {
	for _, f := range fieldsOf(annotationsOf(old)[LaterFieldsAnnotationKey]) {
		if len(f.Path) == 2 && f.Path[1] == "expireAfter" {
			return nil
		}
	}
	metadata, _ := old["metadata"].(object)
	labels, _ := metadata["labels"].(object)
	pool, _ := labels[v1.NodePoolLabelKey].(string)
	spec, _ := hub["spec"].(object)
	if pool == "" || spec == nil || c.OwnerExpireAfter == nil {
		return nil
	}
	after, err := c.OwnerExpireAfter(ctx, pool)
	if err != nil {
		return fmt.Errorf("cannot read expireAfter of NodePool %s: %w", pool, err)
	}
	if !after.IsZero() {
		spec["expireAfter"] = after.String()
	}
	return nil
}

// remembering returns a converter that calls OwnerExpireAfter only once for each pool. Use it for one review, from one goroutine.
func (c Converter) remembering() Converter {
	ask := c.OwnerExpireAfter
	if ask == nil {
		return c
	}
	known := make(map[string]v1.NillableDuration)
	c.OwnerExpireAfter = func(ctx context.Context, pool string) (v1.NillableDuration, error) {
		if after, ok := known[pool]; ok {
			return after, nil
		}
		after, err := ask(ctx, pool)
		if err == nil {
			known[pool] = after
		}
		return after, err
	}
	return c
}
