// Package plane runs a real Kubernetes control plane for tests. etcd, kube-apiserver, kube-controller-manager and kube-scheduler are child
// processes on ports of the loopback interface. All use the binary of internal/e2e/controlplane.
//
//	binary, err := plane.Binary(ctx) // errors.Is(err, plane.ErrNotBuilt): skip the test, or call plane.Build
//	c, err := plane.Start(ctx, plane.Options{Binary: binary})
//	defer c.Stop()
//	client, err := kubernetes.NewForConfig(c.Config())
//
// There are no nodes. Package kubelet simulates them. No component outlives the process that called Start, however that process ends,
// because each component reads a pipe from it.
package plane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/drawknife/drawknife/internal/ports"
)

// Defaults of Options.
const (
	DefaultNodeMonitorGracePeriod = 40 * time.Second
	DefaultStartTimeout           = 2 * time.Minute
)

// startAttempts is the number of attempts to start: another process may use a free port a moment after it was found.
const startAttempts = 3

// Components of the control plane. The names are also the names of their logs.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// Components returns all components, in the order in which they start.
func Components() []string { return []string{Etcd, APIServer, ControllerManager, Scheduler} }

// Options are the options of a control plane.
type Options struct {
	// Binary is the path of the binary with all components. See the functions Binary and Build. Required.
	Binary string
	// Dir is the folder for data, logs and kubeconfigs. It is kept after Stop. It is created if it does not exist. Its path must be short.
	// An empty Dir means a temporary folder, which Stop removes.
	Dir string
	// NodeMonitorGracePeriod is how long a node may have no heartbeat until it counts as unreachable. Zero means
	// DefaultNodeMonitorGracePeriod.
	NodeMonitorGracePeriod time.Duration
	// StartTimeout is how long the start may take. Zero means DefaultStartTimeout.
	StartTimeout time.Duration
	// Verbosity is the level of the components' logs, from 0 to 10.
	Verbosity int
	// FeatureGates are set for kube-apiserver, kube-controller-manager and kube-scheduler, for instance "GenericWorkload=true".
	FeatureGates []string
	// RuntimeConfig enables API versions that are off by default, for instance "scheduling.k8s.io/v1beta1=true".
	RuntimeConfig []string
}

// ControlPlane is a running control plane. It is safe for concurrent use. Make one with Start.
type ControlPlane struct {
	options     Options
	dir         string
	lock        *os.File
	port        int
	credentials credentials
	config      *rest.Config
	client      *http.Client
	died        chan error

	mu sync.Mutex
	// processes are the running processes by component. The API server's process may be missing for some time.
	processes map[string]*process
	stopped   bool
}

// Start starts a control plane, and returns when pods can be created in the default namespace. ctx affects only the start. If ctx ends
// during the start, all components are stopped.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.Binary == "" {
		return nil, errors.New("starting a control plane: Options.Binary is empty: use plane.Binary or plane.Build")
	}
	if options.NodeMonitorGracePeriod == 0 {
		options.NodeMonitorGracePeriod = DefaultNodeMonitorGracePeriod
	}
	if options.StartTimeout == 0 {
		options.StartTimeout = DefaultStartTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, options.StartTimeout)
	defer cancel()
	var errs []error
	for range startAttempts {
		c, err := startOnce(ctx, options)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("starting a control plane: %w", errors.Join(errs...))
}

func startOnce(ctx context.Context, options Options) (*ControlPlane, error) {
	c := &ControlPlane{options: options, dir: options.Dir, died: make(chan error, 1), processes: map[string]*process{}}
	var err error
	if c.dir == "" {
		c.dir, c.lock, err = newFolder(os.TempDir())
	} else if c.dir, err = filepath.Abs(c.dir); err == nil {
		err = os.MkdirAll(c.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		err = fmt.Errorf("%w\n%s", err, c.tails(startLogLines))
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// start makes one attempt to start.
func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.run(Etcd, c.etcdFlags()); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil { // the API server waits for etcd to be ready
		return err
	}
	if err := c.run(ControllerManager, c.controllerManagerFlags()); err != nil {
		return err
	}
	if err := c.run(Scheduler, c.schedulerFlags()); err != nil {
		return err
	}
	// The controller manager is ready when it has created this account, and without the account no pod can be created.
	return c.await(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
}

// prepare finds a free port and writes all files.
func (c *ControlPlane) prepare() error {
	free, err := ports.Free(1)
	if err != nil {
		return err
	}
	c.port = free[0]
	server := "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
	if c.credentials, err = writeCredentials(c.dir, server); err != nil {
		return err
	}
	if err := c.writeSchedulerConfiguration(); err != nil {
		return err
	}
	c.config = &rest.Config{
		Host: server,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.credentials.ca, CertData: c.credentials.admin.certificate, KeyData: c.credentials.admin.key,
		},
		QPS: 500, Burst: 1000,
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.credentials.ca)
	pair, err := tls.X509KeyPair(c.credentials.admin.certificate, c.credentials.admin.key)
	if err != nil {
		return err
	}
	c.client = &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
			DisableKeepAlives: true,
		},
	}
	return nil
}

// run starts a component.
func (c *ControlPlane) run(name string, flags []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return fmt.Errorf("starting %s: the control plane is stopped", name)
	}
	if c.processes[name] != nil {
		return fmt.Errorf("starting %s: it runs", name)
	}
	p, err := startProcess(c.options.Binary, c.dir, c.logPath(name), name, flags, c.gone)
	if err != nil {
		return err
	}
	c.processes[name] = p
	return nil
}

// gone records that a component has ended although no one stopped it.
func (c *ControlPlane) gone(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.processes[p.name] != p {
		return
	}
	delete(c.processes, p.name)
	select {
	case c.died <- fmt.Errorf("%s ended by itself: %w; see %s", p.name, p.ended, c.logPath(p.name)):
	default: // one such error is enough
	}
}

// take removes a component from the map of running components, and returns its process. It returns nil if the component does not run.
func (c *ControlPlane) take(name string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.processes[name]
	delete(c.processes, name)
	return p
}

// Died returns a channel that receives an error if a component has ended although no one stopped it. After that, the control plane can't be
// used any more.
func (c *ControlPlane) Died() <-chan error { return c.died }

// Config returns a configuration for clients with the rights of the administrator. It allows bursts of requests. The caller owns it.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig returns the path of the administrator's kubeconfig. If Options.Dir was empty, Stop removes the file.
func (c *ControlPlane) Kubeconfig() string { return c.path(adminKubeconfig) }

// PIDs returns the process IDs of the running processes, by component.
func (c *ControlPlane) PIDs() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	pids := make(map[string]int, len(c.processes))
	for name, p := range c.processes {
		pids[name] = p.command.Process.Pid
	}
	return pids
}

// KillAPIServer kills only the API server, without a shutdown, like a crash. The connections of all other components and of all clients
// break. They try to connect again until StartAPIServer is called.
func (c *ControlPlane) KillAPIServer() {
	if p := c.take(APIServer); p != nil {
		p.kill()
	}
}

// StartAPIServer starts the API server with the same address as before, and returns when it is ready.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if err := c.run(APIServer, c.apiServerFlags()); err != nil {
		return err
	}
	return c.await(ctx, "/readyz")
}

// await reads a path of the API server again and again until this succeeds.
func (c *ControlPlane) await(ctx context.Context, path string) error {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	var last string
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.config.Host+path, nil)
		if err != nil {
			return err
		}
		response, err := c.client.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			last = response.Status
		} else {
			last = err.Error()
		}
		select {
		case err := <-c.died:
			return err
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last answer: %s", path, ctx.Err(), last)
		case <-poll.C:
		}
	}
}

// Stop ends all processes and returns when they are gone. A temporary folder is removed. Stop may be called several times.
func (c *ControlPlane) Stop() error {
	c.mu.Lock()
	c.stopped = true
	processes := c.processes
	c.processes = map[string]*process{}
	c.mu.Unlock()
	var errs []error
	// First, the clients of the API server are stopped, both at the same time.
	for _, names := range [][]string{{Scheduler, ControllerManager}, {APIServer}, {Etcd}} {
		var ending []*process
		for _, name := range names {
			if p := processes[name]; p != nil {
				p.terminate()
				ending = append(ending, p)
			}
		}
		for _, p := range ending {
			errs = append(errs, p.wait())
		}
	}
	if c.lock != nil {
		errs = append(errs, os.RemoveAll(c.dir))
		_ = c.lock.Close()
	}
	return errors.Join(errs...)
}
