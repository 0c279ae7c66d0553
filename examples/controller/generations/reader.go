package generations

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
)

// reader reads objects of both generations. Get distinguishes the generations by the key's namespace; lists contain objects of both.
type reader struct {
	base client.Reader
	*translator
}

// notFound returns the API's error for an object that does not exist. It is also used for an object that can't be converted to v1.
func notFound(kind string, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: v1.Group, Resource: kind}, key.String())
}

// Get implements client.Reader.
func (r *reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	first := key.Namespace == string(v1.GenerationV1Alpha5)
	switch o := object.(type) {
	case *v1.NodePool:
		if first {
			return r.getPool(ctx, key, o)
		}
	case *v1.NodeClaim:
		if first {
			return r.getClaim(ctx, key, o)
		}
	case *awsv1.EC2NodeClass:
		if name := parseClass(key.Name); name != (className{}) {
			return r.getClass(ctx, name, o)
		}
	}
	return r.base.Get(ctx, key, object, options...)
}

func (r *reader) getPool(ctx context.Context, key client.ObjectKey, into *v1.NodePool) error {
	if !r.has.pools() {
		return notFound("nodepools", key)
	}
	p := &v1alpha5.Provisioner{}
	if err := r.base.Get(ctx, client.ObjectKey{Name: key.Name}, p); err != nil {
		return err
	}
	pool, _ := r.pool(p)
	if pool == nil {
		return notFound("nodepools", key)
	}
	*into = *pool
	return nil
}

func (r *reader) getClaim(ctx context.Context, key client.ObjectKey, into *v1.NodeClaim) error {
	if !r.has.machines {
		return notFound("nodeclaims", key)
	}
	m := &v1alpha5.Machine{}
	if err := r.base.Get(ctx, client.ObjectKey{Name: key.Name}, m); err != nil {
		return err
	}
	p, err := r.ownerOf(ctx, m.Labels)
	if err != nil {
		return err
	}
	*into = *r.claim(m, p)
	return nil
}

// ownerOf returns the Provisioner of a Machine with these labels, or nil if there is none.
func (r *reader) ownerOf(ctx context.Context, labels map[string]string) (*v1alpha5.Provisioner, error) {
	key := v1.PoolOf(labels)
	if key.Generation != v1.GenerationV1Alpha5 || !r.has.provisioners {
		return nil, nil
	}
	p := &v1alpha5.Provisioner{}
	if err := r.base.Get(ctx, client.ObjectKey{Name: key.Name}, p); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	return p, nil
}

func (r *reader) getClass(ctx context.Context, name className, into *awsv1.EC2NodeClass) error {
	var template *awsv1alpha1.AWSNodeTemplate
	var p *v1alpha5.Provisioner
	if name.template != "" {
		if !r.has.templates {
			return notFound("ec2nodeclasses", client.ObjectKey{Name: name.String()})
		}
		template = &awsv1alpha1.AWSNodeTemplate{}
		if err := r.base.Get(ctx, client.ObjectKey{Name: name.template}, template); err != nil {
			return err
		}
	}
	if name.provisioner != "" {
		if !r.has.provisioners {
			return notFound("ec2nodeclasses", client.ObjectKey{Name: name.String()})
		}
		p = &v1alpha5.Provisioner{}
		if err := r.base.Get(ctx, client.ObjectKey{Name: name.provisioner}, p); err != nil {
			return err
		}
	}
	class, _ := r.class(template, p)
	if class == nil {
		return notFound("ec2nodeclasses", client.ObjectKey{Name: name.String()})
	}
	*into = *class
	return nil
}

// List implements client.Reader. Selectors also apply to the v1 form of v1alpha5 objects: see indexer.
func (r *reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := r.base.List(ctx, list, options...); err != nil {
		return err
	}
	switch l := list.(type) {
	case *v1.NodePoolList:
		return r.addPools(ctx, l, options)
	case *v1.NodeClaimList:
		return r.addClaims(ctx, l, options)
	case *awsv1.EC2NodeClassList:
		return r.addClasses(ctx, l, options)
	}
	return nil
}

func (r *reader) addPools(ctx context.Context, list *v1.NodePoolList, options []client.ListOption) error {
	if !r.has.pools() {
		return nil
	}
	var stored v1alpha5.ProvisionerList
	if err := r.base.List(ctx, &stored, options...); err != nil {
		return err
	}
	for i := range stored.Items {
		if pool, _ := r.pool(&stored.Items[i]); pool != nil {
			list.Items = append(list.Items, *pool)
		}
	}
	return nil
}

func (r *reader) addClaims(ctx context.Context, list *v1.NodeClaimList, options []client.ListOption) error {
	if !r.has.machines {
		return nil
	}
	var stored v1alpha5.MachineList
	if err := r.base.List(ctx, &stored, options...); err != nil {
		return err
	}
	owners := map[v1.PoolKey]*v1alpha5.Provisioner{}
	for i := range stored.Items {
		m := &stored.Items[i]
		key := v1.PoolOf(m.Labels)
		if _, known := owners[key]; !known {
			p, err := r.ownerOf(ctx, m.Labels)
			if err != nil {
				return err
			}
			owners[key] = p
		}
		list.Items = append(list.Items, *r.claim(m, owners[key]))
	}
	return nil
}

func (r *reader) addClasses(ctx context.Context, list *awsv1.EC2NodeClassList, options []client.ListOption) error {
	var templates awsv1alpha1.AWSNodeTemplateList
	if r.has.templates {
		if err := r.base.List(ctx, &templates, options...); err != nil {
			return err
		}
	}
	byName := map[string]*awsv1alpha1.AWSNodeTemplate{}
	add := func(template *awsv1alpha1.AWSNodeTemplate, p *v1alpha5.Provisioner) {
		if class, _ := r.class(template, p); class != nil {
			list.Items = append(list.Items, *class)
		}
	}
	for i := range templates.Items {
		byName[templates.Items[i].Name] = &templates.Items[i]
		add(&templates.Items[i], nil)
	}
	if !r.has.provisioners {
		return nil
	}
	var provisioners v1alpha5.ProvisionerList
	if err := r.base.List(ctx, &provisioners); err != nil {
		return err
	}
	for i := range provisioners.Items {
		p := &provisioners.Items[i]
		switch name := classOfProvisioner(p, r.classKubelet(p) != nil); {
		case name.provisioner == "":
		case name.template == "":
			add(nil, p)
		case byName[name.template] != nil:
			add(byName[name.template], p)
		}
	}
	return nil
}
