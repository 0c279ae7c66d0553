package generations

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// translating is a client for objects of both generations.
type translating struct {
	client.Client
	reader *reader
	// live reads from the API server without a cache, because a write is based on the stored object.
	live *reader
}

func newClient(base client.Client, live client.Reader, t *translator) *translating {
	return &translating{Client: base, reader: &reader{base: base, translator: t}, live: &reader{base: live, translator: t}}
}

// Get implements client.Reader.
func (c *translating) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.reader.Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (c *translating) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.reader.List(ctx, list, options...)
}

// first is true for an object that was created as v1alpha5.
func first(object client.Object) bool {
	switch o := object.(type) {
	case *v1.NodePool, *v1.NodeClaim:
		return v1.GenerationOf(o) == v1.GenerationV1Alpha5
	case *awsv1.EC2NodeClass:
		return parseClass(o.Name) != className{}
	}
	return false
}

// Create stores a new claim of a Provisioner as a Machine.
func (c *translating) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if !first(object) {
		return c.Client.Create(ctx, object, options...)
	}
	claim, ok := object.(*v1.NodeClaim)
	if !ok {
		return fmt.Errorf("%T %s: objects of v1alpha5 can be created only by users", object, object.GetName())
	}
	p, err := c.live.ownerOf(ctx, claim.Labels)
	if err != nil {
		return err
	}
	if p == nil || !c.live.has.pools() {
		return fmt.Errorf("nodeclaim %s: %w", claim.Name, notFound("provisioners", client.ObjectKey{Name: v1.PoolOf(claim.Labels).Name}))
	}
	m := c.live.machine(claim, nil, p)
	if err := c.Client.Create(ctx, m, options...); err != nil {
		return err
	}
	*claim = *c.live.claim(m, p)
	return nil
}

// Delete deletes the stored object.
func (c *translating) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	if !first(object) {
		return c.Client.Delete(ctx, object, options...)
	}
	switch o := object.(type) {
	case *v1.NodeClaim:
		if !c.reader.has.machines {
			return notFound("nodeclaims", client.ObjectKeyFromObject(o))
		}
		m := &v1alpha5.Machine{}
		m.Name, m.UID = o.Name, o.UID
		return c.Client.Delete(ctx, m, options...)
	case *v1.NodePool:
		if !c.reader.has.provisioners {
			return notFound("nodepools", client.ObjectKeyFromObject(o))
		}
		p := &v1alpha5.Provisioner{}
		p.Name, p.UID = o.Name, o.UID
		return c.Client.Delete(ctx, p, options...)
	}
	return fmt.Errorf("%T %s: node templates can be deleted only by users", object, object.GetName())
}

// Update stores metadata and spec.
func (c *translating) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	if !first(object) {
		return c.Client.Update(ctx, object, options...)
	}
	return c.write(ctx, object, wholly(object), false)
}

// Patch writes the changes of metadata and spec that the patch contains.
func (c *translating) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if !first(object) {
		return c.Client.Patch(ctx, object, patch, options...)
	}
	change, err := mergeOf(object, patch)
	if err != nil {
		return err
	}
	return c.write(ctx, object, change, false)
}

// Status returns a client for the status.
func (c *translating) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource returns a client for a subresource.
func (c *translating) SubResource(name string) client.SubResourceClient {
	return &subResource{SubResourceClient: c.Client.SubResource(name), name: name, client: c}
}

// subResource is a subresource of objects of both API generations.
type subResource struct {
	client.SubResourceClient
	name   string
	client *translating
}

// Update stores the status.
func (s *subResource) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	if !first(object) || s.name != "status" {
		return s.SubResourceClient.Update(ctx, object, options...)
	}
	return s.client.write(ctx, object, wholly(object), true)
}

// Patch writes the changes of the status that the patch contains.
func (s *subResource) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if !first(object) || s.name != "status" {
		return s.SubResourceClient.Patch(ctx, object, patch, options...)
	}
	change, err := mergeOf(object, patch)
	if err != nil {
		return err
	}
	return s.client.write(ctx, object, change, true)
}
