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

// ErrKilled is the error of all calls of a controller after its lifeline was cut.
var ErrKilled = errors.New("the process was killed")

// Lifeline is the only access of a controller to the API server and the cloud. After it is cut, a controller in the test's process can do
// no more than a controller whose process was killed. The test can choose the exact moment. Requests that were being sent at this moment
// may or may not have arrived. It is safe for concurrent use. Make one with Cluster.Lifeline.
type Lifeline struct {
	cloud cloudprovider.CloudProvider

	mu          sync.Mutex
	cut         bool
	connections map[net.Conn]struct{}
	onCreate    func(stage CreateStage, claim *v1.NodeClaim)
}

// CreateStage is a moment during a launch.
type CreateStage string

// The moments of a launch, in this order.
const (
	// BeforeLaunch: the controller has called Create, but the cloud has not received the call.
	BeforeLaunch CreateStage = "before the launch"
	// AfterLaunch: the instance exists, but the controller has not received the answer.
	AfterLaunch CreateStage = "after the launch"
)

// Lifeline returns a new Lifeline to the test's cloud and control plane.
func (c *Cluster) Lifeline() *Lifeline {
	l := &Lifeline{cloud: c.Cloud, connections: map[net.Conn]struct{}{}}
	c.t.Cleanup(l.Cut)
	return l
}

// OnCreate sets a hook, which is called at both stages of every launch from now on. If the hook cuts the lifeline, the controller's access
// ends at exactly this moment.
func (l *Lifeline) OnCreate(hook func(stage CreateStage, claim *v1.NodeClaim)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onCreate = hook
}

// Cut ends all access permanently.
func (l *Lifeline) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for connection := range l.connections {
		_ = connection.Close()
	}
	clear(l.connections)
}

// IsCut reports whether the lifeline is cut.
func (l *Lifeline) IsCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Config returns a client configuration. The connections of such clients break when the lifeline is cut.
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

// lifelineConn is a connection of the lifeline. When it is closed, the lifeline forgets it.
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

// Provider returns the cloud for the controller.
func (l *Lifeline) Provider() cloudprovider.CloudProvider { return lifelineCloud{l.cloud, l} }

// lifelineCloud is a cloud that returns errors for all calls after the lifeline was cut.
type lifelineCloud struct {
	cloudprovider.CloudProvider
	line *Lifeline
}

// Unwrap gives access to the cloud's optional interfaces, because these only read.
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

// InstanceTypes returns the types that the cloud sells.
func (c lifelineCloud) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if c.line.IsCut() {
		return nil, ErrKilled
	}
	return c.CloudProvider.InstanceTypes(ctx, pool)
}
