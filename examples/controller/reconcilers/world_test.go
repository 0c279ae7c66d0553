package reconcilers

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	crrecorder "sigs.k8s.io/controller-runtime/pkg/recorder"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/generations"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

// world is an API server and a cloud in memory, and the reconcilers on them, each called by hand. It lives in a synctest
// bubble: time is what the test sleeps.
type world struct {
	t      *testing.T
	client client.WithWatch
	// view is client as reconcilers have it, but for what the chart does not let them do.
	view client.Client
	// first says that the cluster has kinds of the first generation.
	first bool
	cloud *fake.Cloud
	// types are what the cloud sells; nil is some generic ones.
	types []*cloudprovider.InstanceType
	*wiring
	// faults are asked before each write, one at a time; what they answer other than nil is what the writer gets. While others
	// write at the same time, what it reads is changed with faulting held.
	faulting sync.Mutex
	faults   func(verb string, object client.Object) error
	// known are the objects that the feed has told of, by kind and name.
	known map[string]client.Object

	mu   sync.Mutex
	uids int
	told []string
}

// newWorld is a world with a NodePool "default" that is ready.
func newWorld(t *testing.T, change func(*Options)) *world {
	t.Helper()
	return newWorldOf(t, nil, change)
}

// newWorldOf is newWorld with a cloud that sells the types.
func newWorldOf(t *testing.T, types []*cloudprovider.InstanceType, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, types: types, known: map[string]client.Object{}}
	w.begin(change, fake.GenericCapabilities())
	w.create(build.Pool("default"))
	w.pool("default")
	w.planner.triggers.standby = false // plan is called by tests, in whose process nobody else leads
	return w
}

// begin makes API server, cloud and reconcilers.
func (w *world) begin(change func(*Options), capabilities cloudprovider.Capabilities) {
	t := w.t
	t.Helper()
	scheme := Scheme()
	if w.first {
		if err := generations.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
	}
	builder := clientfake.NewClientBuilder().WithScheme(scheme).
		// The tracker that notes who manages which field works out a map of all kinds at every patch, and nobody here asks for that.
		WithObjectTracker(clienttesting.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())).
		WithStatusSubresource(&v1.NodeClaim{}, &v1.NodePool{}, &v1.NodeOverlay{}, &autoscalingv1.ProvisioningRequest{}).
		WithInterceptorFuncs(w.apiServer())
	if err := addIndexes(t.Context(), builderIndexer{builder}); err != nil {
		t.Fatal(err)
	}
	if w.first {
		builder = builder.WithStatusSubresource(&v1alpha5.Provisioner{}, &v1alpha5.Machine{}).
			WithIndex(&v1alpha5.Machine{}, claimByProviderID, func(o client.Object) []string { return []string{o.(*v1alpha5.Machine).Status.ProviderID} })
	}
	w.client = builder.Build()
	if w.types == nil {
		w.types = fake.GenericTypes(8)
	}
	cloud, err := fake.New(w.types, fake.Options{
		Capabilities:  &capabilities,
		LaunchLatency: 3 * time.Second, ShutdownLatency: 4 * time.Second,
		OnLaunch: func(i fake.Instance) { w.create(i.Node()) },
		OnTerminate: func(i fake.Instance) { // its kubelet is heard of no more
			node := &corev1.Node{}
			if err := w.client.Get(t.Context(), types.NamespacedName{Name: i.NodeName}, node); err == nil {
				node.Status.Conditions = nil
				_ = w.client.Status().Update(t.Context(), node) // it may be gone by now
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.cloud = cloud
	w.start(change)
}

// start makes the reconcilers, as a process that has just begun does.
func (w *world) start(change func(*Options)) {
	w.t.Helper()
	o := Options{Provider: w.cloud, Logger: slog.New(slog.NewTextHandler(w.t.Output(), nil))}
	if change != nil {
		change(&o)
	}
	if err := o.complete(); err != nil {
		w.t.Fatal(err)
	}
	var conditions []string
	if o.Evictor != nil {
		conditions = append(conditions, surgeRules)
	}
	if w.first {
		conditions = append(conditions, alphaRules)
	}
	if o.Features.Devices {
		conditions = append(conditions, deviceRules)
	}
	if o.Disruption.ApprovalNamespace != "" {
		conditions = append(conditions, approvalRules)
	}
	if o.Disruption.FormerApprovalNamespace != "" {
		conditions = append(conditions, formerRules)
	}
	var mgr ctrl.Manager = &manualManager{client: permittedClient(w.t, w.client, conditions...), reader: permittedReader(w.t, w.client, conditions...), recorder: w}
	var err error
	w.view = w.client
	if w.first {
		if mgr, err = generations.View(mgr, generations.Options{}); err != nil {
			w.t.Fatal(err)
		}
		w.view = mgr.GetClient()
	}
	if w.wiring, err = newWiring(mgr, &o); err != nil {
		w.t.Fatal(err)
	}
	clear(w.known)
	w.watch()
	for _, kind := range w.feed.kinds {
		w.feed.state.Expect(kind.kind)
	}
	if err := w.feed.state.Missing(); err != nil {
		w.t.Fatal(err)
	}
}

// apiServer is what a real API server does in addition to the fake client: names of objects of their own, and preconditions.
func (w *world) apiServer() interceptor.Funcs {
	judge := readSchemas(w.t)
	written := func(c client.Client, o client.Object, err error) error {
		if err != nil {
			return err
		}
		if err := judge.judge(c, o); err != nil {
			w.t.Error(err) // written by a patch: a real API server would have refused it
			return err
		}
		return nil
	}
	refuse := func(verb string, o client.Object) error {
		w.faulting.Lock()
		defer w.faulting.Unlock()
		if w.faults == nil {
			return nil
		}
		return w.faults(verb, o)
	}
	deleteOne := func(ctx context.Context, c client.Client, o client.Object, options ...client.DeleteOption) error {
		var wanted client.DeleteOptions
		wanted.ApplyOptions(options)
		there := o.DeepCopyObject().(client.Object)
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), there); err != nil {
			return err
		}
		if p := wanted.Preconditions; p != nil && p.UID != nil && *p.UID != there.GetUID() {
			return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), fmt.Errorf("the UID is %s", there.GetUID()))
		}
		if there.GetDeletionTimestamp() != nil {
			return nil // as it is, finalizers are waited for
		}
		return c.Delete(ctx, o, options...)
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if err := refuse("create", o); err != nil {
				return err
			}
			w.mu.Lock()
			w.uids++
			if o.GetUID() == "" {
				o.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
			}
			w.mu.Unlock()
			o.SetCreationTimestamp(metav1.Now())
			o.SetGeneration(1)
			if err := judge.judge(c, o); err != nil {
				return err
			}
			if err := c.Create(ctx, o, options...); err != nil {
				return err
			}
			return refuse("created", o)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if err := refuse("delete", o); err != nil {
				return err
			}
			return deleteOne(ctx, c, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			if err := refuse("patch", o); err != nil {
				return err
			}
			return written(c, o, c.Patch(ctx, o, p, options...))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			if err := refuse(sub, o); err != nil {
				return err
			}
			return written(c, o, c.SubResource(sub).Patch(ctx, o, p, options...))
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o client.Object, body client.Object, options ...client.SubResourceCreateOption) error {
			if err := refuse(sub, o); err != nil {
				return err
			}
			return c.SubResource(sub).Create(ctx, o, body, options...)
		},
	}
}

// builderIndexer gives a fake client the indexes that a manager's cache has.
type builderIndexer struct{ *clientfake.ClientBuilder }

func (b builderIndexer) IndexField(_ context.Context, o client.Object, field string, value client.IndexerFunc) error {
	b.WithIndex(o, field, value)
	return nil
}

// manualManager is of a manager what newWiring asks it for.
type manualManager struct {
	ctrl.Manager
	client   client.Client
	reader   client.Reader
	recorder events.EventRecorder
}

func (m *manualManager) GetClient() client.Client    { return m.client }
func (m *manualManager) GetAPIReader() client.Reader { return m.reader }
func (m *manualManager) GetCache() cache.Cache       { return nil }

// GetRESTMapper knows all kinds of the scheme as cluster-scoped: whether they are there is all that is asked.
func (m *manualManager) GetRESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range m.client.Scheme().AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeRoot)
	}
	return mapper
}

func (m *manualManager) GetEventRecorder(string) crrecorder.EventRecorder {
	return &plainRecorder{EventRecorder: m.recorder}
}

// plainRecorder publishes events without annotations; nobody here asks for others.
type plainRecorder struct {
	events.EventRecorder
	events.AnnotatedEventRecorder
}

// Eventf notes "Reason Kind/name: message".
func (w *world) Eventf(about, _ runtime.Object, _, reason, _, note string, args ...any) {
	ref := about.(*corev1.ObjectReference)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf("%s %s/%s: %s", reason, ref.Kind, ref.Name, fmt.Sprintf(note, args...)))
}

// events are those told that begin with the text.
func (w *world) events(begin string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.told), func(e string) bool { return !strings.HasPrefix(e, begin) })
}

// watch informs the feed of what has changed since the last call.
func (w *world) watch() {
	w.t.Helper()
	now := map[string]client.Object{}
	for _, kind := range w.feed.kinds {
		gvk, err := w.client.GroupVersionKindFor(kind.object)
		if err != nil {
			w.t.Fatal(err)
		}
		list, err := w.client.Scheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.view.List(w.t.Context(), list.(client.ObjectList)); err != nil {
			w.t.Fatal(err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, item := range items {
			o := item.(client.Object)
			now[gvk.Kind+" "+o.GetNamespace()+"/"+o.GetName()] = o
		}
	}
	for key, before := range w.known {
		if after := now[key]; after == nil || after.GetUID() != before.GetUID() {
			delete(w.known, key)
			w.feed.notify(before, nil)
		}
	}
	for key, after := range now {
		before := w.known[key]
		if before != nil && before.GetResourceVersion() == after.GetResourceVersion() {
			continue
		}
		w.known[key] = after
		if before == nil {
			w.feed.notify(nil, after)
		} else {
			w.feed.notify(before, after)
		}
	}
}

// round has every reconciler look at everything once.
func (w *world) round() {
	w.t.Helper()
	for _, c := range w.allClaims() {
		if _, err := w.claims.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c)}); err != nil {
			w.t.Logf("nodeclaim %s: %v", c.Name, err)
		}
	}
	nodes, err := allNodes(w.t.Context(), w.client)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range nodes {
		if _, err := w.nodes.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: n.Name}}); err != nil {
			w.t.Logf("node %s: %v", n.Name, err)
		}
	}
	w.watch()
}

// live lets rounds go by, one a second.
func (w *world) live(seconds int) {
	w.t.Helper()
	for range seconds {
		w.cloud.Settle()
		w.watch()
		w.round()
		time.Sleep(time.Second)
	}
}

// pool has the pool reconciler look at a pool, and returns the pool.
func (w *world) pool(name string) *v1.NodePool {
	w.t.Helper()
	w.watch()
	if _, err := w.pools.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: qualified(name)}); err != nil {
		w.t.Fatal(err)
	}
	w.watch()
	return get(w, &v1.NodePool{}, name)
}

// plan runs a planning pass.
func (w *world) plan() {
	w.t.Helper()
	w.watch()
	if err := w.planner.pass(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.watch()
}

func (w *world) allClaims() []*v1.NodeClaim {
	w.t.Helper()
	var list v1.NodeClaimList
	if err := w.view.List(w.t.Context(), &list); err != nil {
		w.t.Fatal(err)
	}
	return pointers(list.Items)
}

func (w *world) allNodes() []*corev1.Node {
	w.t.Helper()
	list, err := allNodes(w.t.Context(), w.client)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.client.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) delete(o client.Object) {
	w.t.Helper()
	if err := w.client.Delete(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// get reads an object; nil if there is none.
func get[T client.Object](w *world, into T, name string) T {
	w.t.Helper()
	key := qualified(name)
	if reflect.TypeFor[T]() == reflect.TypeFor[*corev1.Pod]() {
		key.Namespace = "default"
	}
	if err := w.view.Get(w.t.Context(), key, into); err != nil {
		if apierrors.IsNotFound(err) {
			var none T
			return none
		}
		w.t.Fatal(err)
	}
	return into
}

// node is a node that is up and initialised, with its claim, made from a pod that asks for it and is bound to it.
func (w *world) node(pods ...*corev1.Pod) (*corev1.Node, *v1.NodeClaim) {
	w.t.Helper()
	for _, p := range pods {
		w.create(p)
	}
	w.plan()
	w.live(8)
	claims, nodes := w.allClaims(), w.allNodes()
	if len(claims) != 1 || len(nodes) != 1 || !claims[0].Conditions().IsTrue(v1.ConditionInitialized) {
		w.t.Fatalf("%d claims and %d nodes after a pass, want one that is initialised: %v", len(claims), len(nodes), claims)
	}
	for _, p := range pods {
		bound := get(w, &corev1.Pod{}, p.Name)
		bound.Spec.NodeName = nodes[0].Name
		if err := w.client.Update(w.t.Context(), bound); err != nil {
			w.t.Fatal(err)
		}
		bound.Status = corev1.PodStatus{Phase: corev1.PodRunning}
		if err := w.client.Status().Update(w.t.Context(), bound); err != nil {
			w.t.Fatal(err)
		}
	}
	w.watch()
	return nodes[0], claims[0]
}

// newPod is a pod that waits for a place.
func newPod(name string) *corev1.Pod {
	return build.Pod(name, build.CPU("100m"), build.Memory("64Mi"), build.OwnedBy("apps/v1", "ReplicaSet", "web"), build.Unschedulable())
}

func requestFor(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}
}
