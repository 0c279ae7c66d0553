package generations

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// change is a wanted change of a v1 object: a JSON merge patch or the whole object. version is the resource version that the change is
// based on, or empty for any version.
type change struct {
	patch   map[string]any
	version string
	// whole means that fields missing from the patch are removed.
	whole bool
}

// mergeOf converts a patch to a change. Only merge patches are supported.
func mergeOf(object client.Object, patch client.Patch) (change, error) {
	if patch.Type() != types.MergePatchType {
		return change{}, fmt.Errorf("%T %s: a patch of type %s can't be converted to v1alpha5: send a merge patch", object, object.GetName(), patch.Type())
	}
	data, err := patch.Data(object)
	if err != nil {
		return change{}, err
	}
	var out change
	if err := json.Unmarshal(data, &out.patch); err != nil {
		return change{}, fmt.Errorf("%T %s: the patch is not a JSON object: %w", object, object.GetName(), err)
	}
	if metadata, ok := out.patch["metadata"].(map[string]any); ok {
		out.version, _ = metadata["resourceVersion"].(string)
	}
	return out, nil
}

// The result of wholly is the change that replaces the whole object.
func wholly(object client.Object) change {
	fields, _ := asMap(object) // all objects of this project can be converted to JSON
	return change{fields, object.GetResourceVersion(), true}
}

func asMap(object any) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}

// merged returns a document with a merge patch applied (RFC 7386). Neither is changed.
func merged(document, patch map[string]any) map[string]any {
	out := maps.Clone(document)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(out, key)
		case map[string]any:
			inner, _ := out[key].(map[string]any)
			out[key] = merged(inner, v)
		default:
			out[key] = value
		}
	}
	return out
}

// apply sets want to the object base with the change applied. If status is true, only the status changes, and otherwise only metadata and
// spec.
func (c change) apply(base, want client.Object, status bool) error {
	fields, err := asMap(base)
	if err != nil {
		return err
	}
	next := merged(fields, c.patch)
	if c.whole {
		next = maps.Clone(c.patch)
	}
	for _, kept := range []string{"metadata", "spec", "status"} {
		if (kept == "status") == status {
			continue
		}
		if next[kept] = fields[kept]; fields[kept] == nil {
			delete(next, kept)
		}
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, want)
}

// write stores a change of a v1alpha5 object, and sets object to the stored result.
func (c *translating) write(ctx context.Context, object client.Object, wanted change, status bool) error {
	switch o := object.(type) {
	case *v1.NodePool:
		return c.writePool(ctx, o, wanted, status)
	case *v1.NodeClaim:
		return c.writeClaim(ctx, o, wanted, status)
	case *awsv1.EC2NodeClass:
		return c.writeClass(ctx, o, wanted, status)
	}
	return fmt.Errorf("%T %s has no counterpart in v1alpha5", object, object.GetName())
}

// check returns a conflict error if the change is based on another resource version than the stored version.
func (c change) check(kind string, stored client.Object) error {
	if c.version == "" || c.version == stored.GetResourceVersion() {
		return nil
	}
	return apierrors.NewConflict(schema.GroupResource{Group: v1.Group, Resource: kind}, stored.GetName(),
		fmt.Errorf("version %s is stored, but the change is based on version %s", stored.GetResourceVersion(), c.version))
}

func (c *translating) writePool(ctx context.Context, object *v1.NodePool, wanted change, status bool) error {
	stored := &v1alpha5.Provisioner{}
	if err := c.live.base.Get(ctx, client.ObjectKey{Name: object.Name}, stored); err != nil {
		return err
	}
	if err := wanted.check("provisioners", stored); err != nil {
		return err
	}
	base, _ := c.live.pool(stored)
	if base == nil {
		return notFound("nodepools", client.ObjectKeyFromObject(object))
	}
	want := &v1.NodePool{}
	if err := wanted.apply(base, want, status); err != nil {
		return err
	}
	if err := c.send(ctx, stored, c.live.provisioner(base, stored), c.live.provisioner(want, stored), status); err != nil {
		return err
	}
	if status {
		c.live.noteStatus(want)
	}
	if pool, _ := c.live.pool(stored); pool != nil {
		*object = *pool
	}
	return nil
}

func (c *translating) writeClaim(ctx context.Context, object *v1.NodeClaim, wanted change, status bool) error {
	stored := &v1alpha5.Machine{}
	if err := c.live.base.Get(ctx, client.ObjectKey{Name: object.Name}, stored); err != nil {
		return err
	}
	if err := wanted.check("machines", stored); err != nil {
		return err
	}
	p, err := c.live.ownerOf(ctx, stored.Labels)
	if err != nil {
		return err
	}
	base, want := c.live.claim(stored, p), &v1.NodeClaim{}
	if err := wanted.apply(base, want, status); err != nil {
		return err
	}
	before, after := c.live.machine(base, stored, p), c.live.machine(want, stored, p)
	if status && before.Annotations[StateAnnotation] != after.Annotations[StateAnnotation] {
		// First write the status values for which Machine has no field, as an annotation: without the rest of the status, they have no
		// effect.
		noted := before.DeepCopy()
		noted.Annotations = after.Annotations
		if err := c.send(ctx, stored, before, noted, false); err != nil {
			return err
		}
	}
	if err := c.send(ctx, stored, before, after, status); err != nil {
		return err
	}
	*object = *c.live.claim(stored, p)
	return nil
}

// writeClass stores the change of a node class in memory.
func (c *translating) writeClass(ctx context.Context, object *awsv1.EC2NodeClass, wanted change, status bool) error {
	base, want := &awsv1.EC2NodeClass{}, &awsv1.EC2NodeClass{}
	if err := c.live.getClass(ctx, parseClass(object.Name), base); err != nil {
		return err
	}
	if err := wanted.check("awsnodetemplates", base); err != nil {
		return err
	}
	if err := wanted.apply(base, want, status); err != nil {
		return err
	}
	c.live.noteClass(want)
	*object = *want
	return nil
}

// send patches the stored object with the difference between before and after, and sets stored to the result. If nothing differs, no
// request is sent.
func (c *translating) send(ctx context.Context, stored, before, after client.Object, status bool) error {
	for _, o := range []client.Object{before, after} {
		o.SetResourceVersion(stored.GetResourceVersion())
	}
	data, err := client.MergeFrom(before).Data(after)
	if err != nil || bytes.Equal(data, []byte("{}")) {
		return err
	}
	data, err = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data(after)
	if err != nil {
		return err
	}
	patch := client.RawPatch(types.MergePatchType, data)
	if status {
		return c.Client.Status().Patch(ctx, stored, patch)
	}
	return c.Client.Patch(ctx, stored, patch)
}
