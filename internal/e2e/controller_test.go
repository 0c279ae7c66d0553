package e2e_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// stopTimeout is how long a controller may take to end when told so.
const stopTimeout = time.Minute

// controller runs in the test's process, on connections of its own that the test can cut.
type controller struct {
	t    testing.TB
	line *harness.Lifeline
	end  context.CancelFunc
	done chan error
	once sync.Once
}

// startController starts the reconcilers on the test's cluster and cloud. What options leave open but the provider and the
// logger is as a user gets it. It ends with the test.
func startController(t *testing.T, cluster *harness.Cluster, options reconcilers.Options) *controller {
	t.Helper()
	return startServing(t, cluster, options, func(mgr ctrl.Manager, _ *slog.Logger) (ctrl.Manager, error) { return mgr, nil })
}

// startServing is startController with a manager that serves more than the one it is made of.
func startServing(t *testing.T, cluster *harness.Cluster, options reconcilers.Options, serve func(ctrl.Manager, *slog.Logger) (ctrl.Manager, error)) *controller {
	t.Helper()
	c := &controller{t: t, line: cluster.Lifeline(), done: make(chan error, 1)}
	logs := slog.NewTextHandler(harness.LogWriter(t), &slog.HandlerOptions{Level: slog.LevelInfo})
	ctrl.SetLogger(logr.Discard()) // what has no logger of its own; without it controller-runtime complains
	manager, err := ctrl.NewManager(c.line.Config(cluster.Config()), ctrl.Options{
		Scheme:  everyKind(t),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Logger:  logr.FromSlogHandler(quietHandler{logs}),
		// A process has one manager, a test process several one after the other.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	options.Provider = c.line.Provider()
	options.Logger = slog.New(logs)
	if manager, err = serve(manager, options.Logger); err != nil {
		t.Fatal(err)
	}
	if err := reconcilers.Add(manager, options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.end = cancel
	go func() { c.done <- manager.Start(ctx) }()
	t.Cleanup(c.stop)
	return c
}

// stop ends the controller as a signal does, and waits for its end.
func (c *controller) stop() { c.finish() }

// kill takes away everything by which the controller reaches the world, at once, and waits for its end.
func (c *controller) kill() {
	c.line.Cut()
	c.finish()
}

func (c *controller) finish() {
	c.once.Do(func() {
		c.end()
		select {
		case err := <-c.done:
			if err != nil && !c.line.IsCut() {
				c.t.Errorf("the controller ended: %v", err)
			}
		case <-time.After(stopTimeout):
			c.t.Errorf("the controller did not end within %s", stopTimeout)
		}
		c.line.Cut()
	})
}

// quietHandler leaves out what controller-runtime logs of its own start and stop.
type quietHandler struct{ slog.Handler }

// Enabled is for warnings alone.
func (h quietHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}
