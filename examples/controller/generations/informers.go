package generations

import (
	"context"
	"errors"
	"slices"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
)

// informers is a cache that contains objects of both generations.
type informers struct {
	cache.Cache
	*reader
}

// Get implements client.Reader.
func (i *informers) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return i.reader.Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (i *informers) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return i.reader.List(ctx, list, options...)
}

// IndexField adds an index for objects of both generations.
func (i *informers) IndexField(ctx context.Context, object client.Object, field string, value client.IndexerFunc) error {
	return (&indexer{base: i.Cache, translator: i.translator}).IndexField(ctx, object, field, value)
}

// source is a stored kind with the conversion of its objects. gone is called for deleted objects; nil means that nothing is called.
type source struct {
	kind   client.Object
	become func(stored client.Object) []client.Object
	gone   func(stored client.Object)
}

// GetInformer returns an informer of objects of both generations. Its handlers are called until ctx ends.
func (i *informers) GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	base, err := i.Cache.GetInformer(ctx, object, options...)
	if err != nil {
		return nil, err
	}
	out := &both{Informer: base}
	for _, s := range i.sources(ctx, object) {
		informer, err := i.Cache.GetInformer(ctx, s.kind, options...)
		if err != nil {
			return nil, err
		}
		out.first = append(out.first, told{informer, func(h toolscache.ResourceEventHandler) toolscache.ResourceEventHandler { return translated{h, s} }})
	}
	if _, claims := object.(*v1.NodeClaim); claims && i.has.pools() {
		informer, err := i.Cache.GetInformer(ctx, &v1alpha5.Provisioner{}, options...)
		if err != nil {
			return nil, err
		}
		out.first = append(out.first, told{informer, func(h toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
			return toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) { i.expiryChanged(ctx, h, before, after) }}
		}})
	}
	return out, nil
}

// sources returns the stored kinds that become objects of a kind.
func (i *informers) sources(ctx context.Context, object client.Object) []source {
	switch object.(type) {
	case *v1.NodePool:
		if !i.has.pools() {
			return nil
		}
		return []source{{&v1alpha5.Provisioner{}, i.poolsOf, func(o client.Object) { i.forgetPool(o.(*v1alpha5.Provisioner)) }}}
	case *v1.NodeClaim:
		if !i.has.machines {
			return nil
		}
		return []source{{&v1alpha5.Machine{}, func(o client.Object) []client.Object { return i.claimsOf(ctx, o) }, nil}}
	case *awsv1.EC2NodeClass:
		var out []source
		if i.has.templates {
			out = append(out, source{&awsv1alpha1.AWSNodeTemplate{}, func(o client.Object) []client.Object { return i.classesOfTemplate(ctx, o) }, func(o client.Object) {
				i.forgetClass(className{template: o.GetName()}.String())
			}})
		}
		if i.has.provisioners {
			out = append(out, source{&v1alpha5.Provisioner{}, func(o client.Object) []client.Object { return i.classesOfProvisioner(ctx, o) }, func(o client.Object) {
				i.forgetClass(classOfProvisioner(o.(*v1alpha5.Provisioner), true).String())
			}})
		}
		return out
	}
	return nil
}

func (i *informers) poolsOf(stored client.Object) []client.Object {
	if pool, _ := i.pool(stored.(*v1alpha5.Provisioner)); pool != nil {
		return []client.Object{pool}
	}
	return nil
}

func (i *informers) claimsOf(ctx context.Context, stored client.Object) []client.Object {
	m := stored.(*v1alpha5.Machine)
	p, err := i.ownerOf(ctx, m.Labels)
	if err != nil {
		return nil // the process ends, or the cache has not started; after the start, all events come again
	}
	return []client.Object{i.claim(m, p)}
}

func (i *informers) classesOfTemplate(ctx context.Context, stored client.Object) []client.Object {
	template := stored.(*awsv1alpha1.AWSNodeTemplate)
	var out []client.Object
	if class, _ := i.class(template, nil); class != nil {
		out = append(out, class)
	}
	if !i.has.provisioners {
		return out
	}
	var list v1alpha5.ProvisionerList
	if err := i.Cache.List(ctx, &list); err != nil {
		return out
	}
	for n := range list.Items {
		p := &list.Items[n]
		if classOfProvisioner(p, i.classKubelet(p) != nil) != (className{template.Name, p.Name}) {
			continue
		}
		if class, _ := i.class(template, p); class != nil {
			out = append(out, class)
		}
	}
	return out
}

func (i *informers) classesOfProvisioner(ctx context.Context, stored client.Object) []client.Object {
	p := stored.(*v1alpha5.Provisioner)
	name := classOfProvisioner(p, i.classKubelet(p) != nil)
	if name.provisioner == "" {
		return nil
	}
	class := &awsv1.EC2NodeClass{}
	if name.template == "" {
		if inline, _ := i.class(nil, p); inline != nil {
			return []client.Object{inline}
		}
		return nil
	}
	if !i.has.templates || i.getClass(ctx, name, class) != nil {
		return nil // the node template does not exist yet; when it is created, its event triggers this again
	}
	return []client.Object{class}
}

// expiryChanged reports an update of all Machines of a Provisioner whose expireAfter has changed: Machines don't have that field.
func (i *informers) expiryChanged(ctx context.Context, handler toolscache.ResourceEventHandler, before, after any) {
	was, ok := before.(*v1alpha5.Provisioner)
	is, also := after.(*v1alpha5.Provisioner)
	if !ok || !also || expireAfter(was).String() == expireAfter(is).String() {
		return
	}
	var list v1alpha5.MachineList
	if err := i.Cache.List(ctx, &list, client.MatchingLabels{v1alpha5.ProvisionerNameLabelKey: is.Name}); err != nil {
		return
	}
	for n := range list.Items {
		handler.OnUpdate(i.claim(&list.Items[n], was), i.claim(&list.Items[n], is))
	}
}

// translated passes events of stored objects to a handler as events of v1 objects.
type translated struct {
	toolscache.ResourceEventHandler
	source source
}

// OnAdd reports the converted object.
func (t translated) OnAdd(stored any, initially bool) {
	if o, ok := stored.(client.Object); ok {
		for _, became := range t.source.become(o) {
			t.ResourceEventHandler.OnAdd(became, initially)
		}
	}
}

// OnUpdate compares the converted objects before and after the update, and reports which of them appear, change or disappear.
func (t translated) OnUpdate(before, after any) {
	old, ok := before.(client.Object)
	object, also := after.(client.Object)
	if !ok || !also {
		return
	}
	was, is := t.source.become(old), t.source.become(object)
	find := func(list []client.Object, o client.Object) int {
		return slices.IndexFunc(list, func(other client.Object) bool {
			return client.ObjectKeyFromObject(other) == client.ObjectKeyFromObject(o)
		})
	}
	for _, o := range was {
		if find(is, o) < 0 {
			t.ResourceEventHandler.OnDelete(o)
		}
	}
	for _, o := range is {
		if at := find(was, o); at >= 0 {
			t.ResourceEventHandler.OnUpdate(was[at], o)
		} else {
			t.ResourceEventHandler.OnAdd(o, false)
		}
	}
}

// OnDelete reports that the converted object is gone.
func (t translated) OnDelete(stored any) {
	if missed, ok := stored.(toolscache.DeletedFinalStateUnknown); ok {
		stored = missed.Obj // the watch was interrupted: Obj is the last known state of the object
	}
	o, ok := stored.(client.Object)
	if !ok {
		return
	}
	for _, was := range t.source.become(o) {
		t.ResourceEventHandler.OnDelete(was)
	}
	if t.source.gone != nil {
		t.source.gone(o)
	}
}

// told is an informer of a stored kind that is converted to a v1 kind. The field as converts handlers of v1 objects to handlers of the
// stored kind.
type told struct {
	cache.Informer
	as func(toolscache.ResourceEventHandler) toolscache.ResourceEventHandler
}

// both is the informer of a v1 kind, together with the informers of all stored kinds that are converted to it.
type both struct {
	cache.Informer
	first []told
}

// AddEventHandler calls the handler for objects of both generations.
func (b *both) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return b.add(func(i cache.Informer, h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
		return i.AddEventHandler(h)
	}, handler)
}

// AddEventHandlerWithResyncPeriod is AddEventHandler with a resync period.
func (b *both) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return b.add(func(i cache.Informer, h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
		return i.AddEventHandlerWithResyncPeriod(h, period)
	}, handler)
}

// AddEventHandlerWithOptions is AddEventHandler with options.
func (b *both) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return b.add(func(i cache.Informer, h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
		return i.AddEventHandlerWithOptions(h, options)
	}, handler)
}

func (b *both) add(to func(cache.Informer, toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error), handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	registration, err := to(b.Informer, handler)
	if err != nil {
		return nil, err
	}
	out := registrations{registration}
	for _, t := range b.first {
		registration, err := to(t.Informer, t.as(handler))
		if err != nil {
			return nil, errors.Join(err, b.RemoveEventHandler(&out))
		}
		out = append(out, registration)
	}
	return &out, nil
}

// RemoveEventHandler removes a handler that AddEventHandler has added.
func (b *both) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	list, ok := handle.(*registrations)
	if !ok {
		return nil // a registration of another informer is ignored
	}
	var errs []error
	for n, registration := range *list {
		informer := b.Informer
		if n > 0 {
			informer = b.first[n-1].Informer
		}
		errs = append(errs, informer.RemoveEventHandler(registration))
	}
	return errors.Join(errs...)
}

// HasSynced reports whether all informers have synced.
func (b *both) HasSynced() bool {
	return b.Informer.HasSynced() && !slices.ContainsFunc(b.first, func(t told) bool { return !t.HasSynced() })
}

// registrations are the registrations of one handler with all informers.
type registrations []toolscache.ResourceEventHandlerRegistration

// HasSynced reports whether the handler has received all existing objects.
func (r *registrations) HasSynced() bool {
	return !slices.ContainsFunc(*r, func(one toolscache.ResourceEventHandlerRegistration) bool { return !one.HasSynced() })
}

// HasSyncedChecker returns a checker that is done once HasSynced is true.
func (r *registrations) HasSyncedChecker() toolscache.DoneChecker { return allDone(*r) }

// allDone is a checker that waits for one registration after the other.
type allDone []toolscache.ResourceEventHandlerRegistration

// Name returns the name of the first registration's checker.
func (a allDone) Name() string { return a[0].HasSyncedChecker().Name() }

// Done returns a channel that is closed when all registrations are done. Callers wait for one registration at a time: see
// toolscache.WaitFor.
func (a allDone) Done() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		for _, one := range a {
			<-one.HasSyncedChecker().Done()
		}
		close(done)
	}()
	return done
}

// indexer makes the cache index v1alpha5 objects by the fields of their v1 form.
type indexer struct {
	base client.FieldIndexer
	*translator
}

// IndexField implements client.FieldIndexer. An index value may depend on the object only, not on its Provisioner.
func (i *indexer) IndexField(ctx context.Context, object client.Object, field string, value client.IndexerFunc) error {
	if err := i.base.IndexField(ctx, object, field, value); err != nil {
		return err
	}
	if _, claims := object.(*v1.NodeClaim); claims && i.has.machines {
		return i.base.IndexField(ctx, &v1alpha5.Machine{}, field, func(o client.Object) []string {
			return value(i.claim(o.(*v1alpha5.Machine), nil))
		})
	}
	if _, pools := object.(*v1.NodePool); pools && i.has.pools() {
		return i.base.IndexField(ctx, &v1alpha5.Provisioner{}, field, func(o client.Object) []string {
			if pool, _ := i.pool(o.(*v1alpha5.Provisioner)); pool != nil {
				return value(pool)
			}
			return nil
		})
	}
	return nil
}
