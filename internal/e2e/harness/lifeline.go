package harness

import (
	"context"
	"errors"
	"net"
	"sync"

	"k8s.io/client-go/rest"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ErrKilled is the error of every call of a controller whose lifeline was cut.
var ErrKilled = errors.New("the process was killed")

// Lifeline is everything by which a controller reaches the world: connections to the API server and calls of the cloud. After it was cut,
// a controller that runs in the test's process can do no more than a killed process, from a moment that the test chooses
// exactly. Requests that were being sent may have arrived or not. It is safe for concurrent use. Make one with Cluster.Lifeline.
type Lifeline struct {
	cloud cloudprovider.CloudProvider

	mu          sync.Mutex
	cut         bool
	connections map[net.Conn]struct{}
	onCreate    func(stage CreateStage, claim *v1.NodeClaim)
}

// CreateStage is a moment of a launch.
type CreateStage string

// Moments of a launch, in their order.
const (
	// BeforeLaunch: the controller has called Create, the cloud has not heard of it.
	BeforeLaunch CreateStage = "before the launch"
	// AfterLaunch: there is an instance, the controller has not heard of it.
	AfterLaunch CreateStage = "after the launch"
)

// Lifeline returns a new lifeline to the test's cloud and control plane.
func (c *Cluster) Lifeline() *Lifeline {
	l := &Lifeline{cloud: c.Cloud, connections: map[net.Conn]struct{}{}}
	c.t.Cleanup(l.Cut)
	return l
}

// OnCreate is called at both stages of every launch from now on; if it cuts the lifeline, the lifeline ends at exactly this moment.
func (l *Lifeline) OnCreate(hook func(stage CreateStage, claim *v1.NodeClaim)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onCreate = hook
}

// Cut ends it forever.
func (l *Lifeline) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for connection := range l.connections {
		_ = connection.Close()
	}
	clear(l.connections)
}

// IsCut reports whether it is cut.
func (l *Lifeline) IsCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Config returns the configuration for clients whose connections end with the lifeline.
func (l *Lifeline) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Dial = l.dial
	return config
}

func (l *Lifeline) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.IsCut() {
		return nil, ErrKilled
	}
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = connection.Close()
		return nil, ErrKilled
	}
	l.connections[connection] = struct{}{}
	return &lifelineConn{Conn: connection, line: l}, nil
}

// lifelineConn is forgotten when it is closed.
type lifelineConn struct {
	net.Conn
	line *Lifeline
}

// Close closes the connection.
func (c *lifelineConn) Close() error {
	c.line.mu.Lock()
	delete(c.line.connections, c.Conn)
	c.line.mu.Unlock()
	return c.Conn.Close()
}

// Provider returns the cloud as the controller sees it.
func (l *Lifeline) Provider() cloudprovider.CloudProvider { return lifelineCloud{l.cloud, l} }

// lifelineCloud is a cloud whose calls fail once the lifeline is cut.
type lifelineCloud struct {
	cloudprovider.CloudProvider
	line *Lifeline
}

// Unwrap gives access to the optional interfaces, which only read.
func (c lifelineCloud) Unwrap() cloudprovider.CloudProvider { return c.CloudProvider }

func (c lifelineCloud) stage(stage CreateStage, claim *v1.NodeClaim) error {
	c.line.mu.Lock()
	hook := c.line.onCreate
	c.line.mu.Unlock()
	if hook != nil && !c.line.IsCut() {
		hook(stage, claim)
	}
	if c.line.IsCut() {
		return ErrKilled
	}
	return nil
}

// Create launches an instance.
func (c lifelineCloud) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	if err := c.stage(BeforeLaunch, claim); err != nil {
		return nil, err
	}
	created, err := c.CloudProvider.Create(ctx, claim)
	if cut := c.stage(AfterLaunch, claim); cut != nil {
		return nil, cut
	}
	return created, err
}

// Delete terminates an instance.
func (c lifelineCloud) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	if c.line.IsCut() {
		return ErrKilled
	}
	return c.CloudProvider.Delete(ctx, claim)
}

// Get describes an instance.
func (c lifelineCloud) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	if c.line.IsCut() {
		return nil, ErrKilled
	}
	return c.CloudProvider.Get(ctx, providerID)
}

// List describes all instances.
func (c lifelineCloud) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	if c.line.IsCut() {
		return nil, ErrKilled
	}
	return c.CloudProvider.List(ctx)
}

// InstanceTypes returns what the cloud sells.
func (c lifelineCloud) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if c.line.IsCut() {
		return nil, ErrKilled
	}
	return c.CloudProvider.InstanceTypes(ctx, pool)
}
