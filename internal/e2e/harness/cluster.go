package harness

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/plane"
)

// Defaults of Options: the cloud is fast, but the short delays let other events happen.
const (
	DefaultLaunchLatency   = 500 * time.Millisecond
	DefaultShutdownLatency = 500 * time.Millisecond
	DefaultReadyAfter      = 250 * time.Millisecond
)

// Options are the options of a test's cluster.
type Options struct {
	// Types are the instance types that the cloud offers. Nil means fake.GenericTypes(60).
	Types []*cloudprovider.InstanceType
	// Cloud's options. Zero latencies mean the defaults above. Hooks are called in addition to those of this package.
	Cloud fake.Options
	// Behaviour returns the behaviour of the kubelet on an instance that has just booted. Nil means that each node is ready after
	// DefaultReadyAfter. It is called from hooks of the cloud, one call at a time.
	Behaviour func(fake.Instance) kubelet.Behaviour
	// Run runs the programs of pods (kubelet.Options.Run); nil: pods have none.
	Run func(context.Context, *corev1.Pod) int
}

// Cluster is one test's cluster. Make one with Server.Start.
type Cluster struct {
	// Plane is the control plane, which all tests share.
	Plane *plane.ControlPlane
	// Client is a client with the rights of the administrator.
	Client kubernetes.Interface
	// NodePools and NodeClaims are clients for these objects.
	NodePools  *gentype.ClientWithList[*v1.NodePool, *v1.NodePoolList]
	NodeClaims *gentype.ClientWithList[*v1.NodeClaim, *v1.NodeClaimList]
	// Cloud is the cloud whose instances become nodes.
	Cloud *fake.Cloud
	// Kubelets are the kubelets of these instances, and of other instances that a test boots.
	Kubelets *kubelet.Simulator
	// Namespace is the test's own namespace, ready for pods.
	Namespace string

	t     testing.TB
	began time.Time
	nodes corelisters.NodeLister
	pods  corelisters.PodNamespaceLister
	// meant has the nodes on which the planner wanted to place pods, according to events.
	meant placements

	mu sync.Mutex
	// bought are the provider IDs of all instances that the cloud has had so far.
	bought map[string]bool
}

// Start returns a cluster without nodes for a test. The first call starts the control plane. The test is skipped if the
// control plane is not built. Everything is stopped and removed when the test ends.
func (s *Server) Start(t testing.TB, options Options) *Cluster {
	t.Helper()
	c := &Cluster{Plane: s.Plane(t), t: t, began: time.Now()}
	before := goleak.IgnoreCurrent()
	config := c.Config()
	httpClient, err := rest.HTTPClientFor(config)
	c.check(err)
	c.Client, err = kubernetes.NewForConfigAndClient(config, httpClient)
	c.check(err)
	c.check(c.typedClients(config, httpClient))
	c.makeNamespace()

	// ctx is not the test's own context, because that context ends before the test's cleanups.
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var stopInformers func()
	t.Cleanup(func() {
		if t.Failed() {
			c.dump()
		}
		c.clear(cancel)
		wg.Wait()
		if c.Kubelets != nil {
			c.Kubelets.Wait()
		}
		if stopInformers != nil {
			stopInformers()
		}
		if err := leftBehind(append(outliving(), before)...); err != nil {
			t.Errorf("left behind: %v", err)
		}
	})
	stopInformers = c.watch(ctx)
	c.Kubelets, err = kubelet.Start(ctx, c.Client, kubelet.Options{Log: slog.New(slog.NewTextHandler(LogWriter(t), nil)), Run: options.Run})
	c.check(err)
	c.Cloud, err = c.newCloud(options)
	c.check(err)
	wg.Go(func() { settle(ctx, c.Cloud) })
	return c
}

// outliving returns options for goleak that ignore certain goroutines, because they do not belong to the test. One of them waits for a
// component that the test has started again. Another writes the buffer of klog. The others belong to connections that client-go pools for
// all clients.
func outliving() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/drawknife/drawknife/internal/e2e/plane.startProcess.func2"),
		goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*clientConnReadLoop).run"),
		goleak.IgnoreAnyFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"),
	}
}

// endTimeout is how long goroutines may take to end after they were stopped. It is long enough for a busy computer.
const endTimeout = 2 * time.Minute

// leftBehind returns an error that names the goroutines that do not end.
func leftBehind(options ...goleak.Option) error {
	for began := time.Now(); ; {
		err := goleak.Find(options...) // Find gives up after less than a second
		if err == nil || time.Since(began) > endTimeout {
			return err
		}
	}
}

// LogWriter returns a writer that writes lines to the test's log until the test ends.
func LogWriter(t testing.TB) io.Writer { return logWriter{t} }

type logWriter struct{ t testing.TB }

// Write logs a line. It does nothing after the end of the test's context, because the log may be closed then.
func (w logWriter) Write(line []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSuffix(string(line), "\n"))
	}
	return len(line), nil
}

// Config returns the configuration for clients of the test.
func (c *Cluster) Config() *rest.Config { return c.Plane.Config() }

// typedClients makes the clients for the project's kinds.
func (c *Cluster) typedClients(config *rest.Config, httpClient *httpClient) error {
	client, codec, err := projectClient(config, httpClient)
	if err != nil {
		return err
	}
	c.NodePools = gentype.NewClientWithList("nodepools", client, codec, "",
		func() *v1.NodePool { return &v1.NodePool{} }, func() *v1.NodePoolList { return &v1.NodePoolList{} })
	c.NodeClaims = gentype.NewClientWithList("nodeclaims", client, codec, "",
		func() *v1.NodeClaim { return &v1.NodeClaim{} }, func() *v1.NodeClaimList { return &v1.NodeClaimList{} })
	return nil
}

// makeNamespace creates a namespace named for the test, with the service account that pods need.
func (c *Cluster) makeNamespace() {
	c.t.Helper()
	namespace, err := c.Client.CoreV1().Namespaces().Create(c.t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: namespaceName(c.t.Name()) + "-"},
	}, metav1.CreateOptions{})
	c.check(err)
	c.Namespace = namespace.Name
	c.Eventually("the namespace has its service account", 2*time.Minute, func() (bool, string) {
		_, err := c.Client.CoreV1().ServiceAccounts(c.Namespace).Get(c.t.Context(), "default", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

// namespaceName returns a name for the test's namespace, with only the characters that are allowed there.
func namespaceName(test string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, test)
	return strings.Trim(name[:min(len(name), 50)], "-")
}

// watch caches nodes, pods and events, so that reading them needs no requests to the API server.
func (c *Cluster) watch(ctx context.Context) (stop func()) {
	c.t.Helper()
	nodes := informers.NewSharedInformerFactory(c.Client, 0)
	own := informers.NewSharedInformerFactoryWithOptions(c.Client, 0, informers.WithNamespace(c.Namespace))
	c.nodes = nodes.Core().V1().Nodes().Lister()
	c.pods = own.Core().V1().Pods().Lister().Pods(c.Namespace)
	c.check(c.meant.watch(own.Events().V1().Events().Informer()))
	ctx, cancel := context.WithCancel(ctx)
	for _, f := range []informers.SharedInformerFactory{nodes, own} {
		f.Start(ctx.Done())
		for kind, synced := range f.WaitForCacheSync(c.t.Context().Done()) {
			if !synced {
				c.t.Fatalf("watching %s: %v", kind, context.Cause(c.t.Context()))
			}
		}
	}
	return func() {
		cancel()
		nodes.Shutdown()
		own.Shutdown()
	}
}

// newCloud returns a fake cloud whose instances join the cluster.
func (c *Cluster) newCloud(options Options) (*fake.Cloud, error) {
	o := options.Cloud
	if o.LaunchLatency == 0 {
		o.LaunchLatency = DefaultLaunchLatency
	}
	if o.ShutdownLatency == 0 {
		o.ShutdownLatency = DefaultShutdownLatency
	}
	behaviour := options.Behaviour
	if behaviour == nil {
		behaviour = func(fake.Instance) kubelet.Behaviour { return kubelet.Behaviour{ReadyAfter: DefaultReadyAfter} }
	}
	c.bought = map[string]bool{}
	o.OnLaunch = func(i fake.Instance) {
		c.note(i)
		c.Kubelets.Boot(i.Node(), behaviour(i))
		if options.Cloud.OnLaunch != nil {
			options.Cloud.OnLaunch(i)
		}
	}
	o.OnTerminate = func(i fake.Instance) {
		c.note(i)
		c.Kubelets.PowerOff(i.NodeName)
		if options.Cloud.OnTerminate != nil {
			options.Cloud.OnTerminate(i)
		}
	}
	types := options.Types
	if types == nil {
		types = fake.GenericTypes(60)
	}
	return fake.New(types, o)
}

func (c *Cluster) note(i fake.Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bought[i.ProviderID] = true
}

// Bought returns the number of instances so far, including those that are gone. Create may be called more often than that: a controller
// that could not store the answer calls Create again, and gets the same instance.
func (c *Cluster) Bought() int {
	now := c.Cloud.Instances()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range now {
		c.bought[now[i].ProviderID] = true
	}
	return len(c.bought)
}

// settleEvery is the longest delay until the cloud notices that an instance has booted or is gone.
const settleEvery = 50 * time.Millisecond

// settle calls the cloud's method Settle regularly, because the cloud does nothing by itself.
func settle(ctx context.Context, cloud *fake.Cloud) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			cloud.Settle()
		}
	}
}

// check fails the test if err is not nil.
func (c *Cluster) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}
