package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/adoption"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/examples/settings"
)

// adoptionGuard keeps this controller and Karpenter from acting at the same time.
type adoptionGuard struct {
	guard  *adoption.Guard
	client client.Client
	adopt  settings.Adoption
	log    *slog.Logger
	// end stops the process; the argument is the reason.
	end context.CancelCauseFunc
}

// newAdoptionGuard allows this process to act only after the cluster was taken over, and only while Karpenter does not run. It calls end
// when Karpenter starts again.
func newAdoptionGuard(config *rest.Config, options *ctrl.Options, p settings.Process, end context.CancelCauseFunc, log *slog.Logger) (*adoptionGuard, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(coordinationv1.AddToScheme(scheme), corev1.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	own := types.NamespacedName{Namespace: p.LeaderElectionNamespace, Name: p.LeaderElectionName}
	if p.KarpenterLease == settings.LeaseIgnored {
		log.Info("ignoring Karpenter's lease: make sure that the running Karpenter manages no NodePools")
	}
	out := &adoptionGuard{guard: &adoption.Guard{Reader: c, Lease: p.KarpenterLease, Own: own, Ignored: p.KarpenterLease == settings.LeaseIgnored, Logger: log}, client: c, adopt: p.Adopt, log: log, end: end}
	if p.Adopt == settings.AdoptDryRun {
		// All components that change the cluster wait for a leader election that never succeeds.
		options.LeaderElection, options.LeaderElectionResourceLockInterface = true, &adoption.Lock{Interface: nobody{}, Guard: out.guard}
		return out, nil
	}
	if !p.LeaderElection {
		return out, nil
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, own.Namespace, own.Name, clients.CoreV1(), clients.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
	if err != nil {
		return nil, err
	}
	options.LeaderElectionResourceLockInterface = &adoption.Lock{Interface: lock, Guard: out.guard, First: out.first, Lost: func(held *adoption.HeldError) { out.end(held) }}
	return out, nil
}

// The method first is called before this controller acts for the first time. It adopts the objects in the cluster if the settings request
// this. Otherwise, if never is true (no process has ever held the lease), it returns an error for a cluster with objects that are not
// adopted.
func (t *adoptionGuard) first(ctx context.Context, never bool) error {
	var err error
	switch {
	case t.adopt == settings.AdoptYes:
		var written int
		if written, err = adoption.Apply(ctx, t.client); err == nil {
			t.log.Info("adopted NodePools and NodeClaims", "written", written)
		}
	case never:
		err = adoption.Foreign(ctx, t.client, reconcilers.Created)
	}
	if err != nil && ctx.Err() == nil {
		t.log.Warn("waiting as standby", "reason", err)
	}
	return err
}

// guardEvery is how often a controller without leader election checks whether Karpenter runs.
const guardEvery = 10 * time.Second

// add registers the readiness check. Without a leader election lease, add also starts a check that ends the process when Karpenter starts
// again.
func (t *adoptionGuard) add(ctx context.Context, mgr ctrl.Manager, p settings.Process) error {
	if err := mgr.AddReadyzCheck("karpenter", t.guard.Ready); err != nil {
		return err
	}
	if p.LeaderElection || t.adopt == settings.AdoptDryRun {
		return nil
	}
	if err := t.guard.Check(ctx); err != nil {
		return err
	}
	if err := t.first(ctx, false); err != nil {
		return err
	}
	return mgr.Add(watchman(func(ctx context.Context) error {
		ticker := time.NewTicker(guardEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				if err := t.guard.Check(ctx); err != nil && ctx.Err() == nil {
					return err
				}
			}
		}
	}))
}

// start runs the manager until ctx ends. If ctx ends because Karpenter has started again, start returns a *HeldError.
func (t *adoptionGuard) start(ctx context.Context, mgr ctrl.Manager) error {
	err := mgr.Start(ctx)
	var held *adoption.HeldError
	if err == nil && errors.As(context.Cause(ctx), &held) {
		return held
	}
	return err
}

// watchman is a function that the manager runs whether or not this process is the leader.
type watchman func(context.Context) error

// Start runs it.
func (w watchman) Start(ctx context.Context) error { return w(ctx) }

// NeedLeaderElection is false.
func (w watchman) NeedLeaderElection() bool { return false }

// nobody is a leader election lock that is never acquired.
type nobody struct{}

var errDryRun = errors.New("a dry run never becomes the leader")

// Get waits until ctx ends.
func (nobody) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	<-ctx.Done()
	return nil, nil, errDryRun
}

// Create returns an error.
func (nobody) Create(context.Context, resourcelock.LeaderElectionRecord) error { return errDryRun }

// Update returns an error.
func (nobody) Update(context.Context, resourcelock.LeaderElectionRecord) error { return errDryRun }

// RecordEvent does nothing.
func (nobody) RecordEvent(string) {}

// Identity returns a constant text, because no process holds this lock.
func (nobody) Identity() string { return "dry-run" }

// Describe describes the lock.
func (nobody) Describe() string { return "dry run" }

// errFindings means that a dry run found an object that would be replaced, terminated or refused.
var errFindings = errors.New("adopting the cluster would change objects or instances: see the table")

// dryRun prints the changes that a takeover of the cluster would make, and returns.
func (t *adoptionGuard) dryRun(ctx context.Context, mgr ctrl.Manager, provider cloudprovider.CloudProvider, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var result error
	err := mgr.Add(watchman(func(ctx context.Context) error {
		defer stop()
		result = t.show(ctx, provider, out)
		return nil
	}))
	if err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil && result == nil {
		return err
	}
	return result
}

func (t *adoptionGuard) show(ctx context.Context, provider cloudprovider.CloudProvider, out io.Writer) error {
	var held *adoption.HeldError
	if err := t.guard.Check(ctx); errors.As(err, &held) {
		fmt.Fprintf(out, "Karpenter acts: %s holds the lease %s. Taking over waits until it is scaled to 0.\n\n", held.Holder, held.Lease)
	} else if err != nil {
		return err
	}
	seen, err := adoption.Observe(ctx, t.client, provider)
	if err != nil {
		return err
	}
	if seen.InstancesErr != nil {
		fmt.Fprintf(out, "Instances can't be listed, so that nothing is said of them: %v\n\n", seen.InstancesErr)
	}
	findings := adoption.Plan(seen, time.Now())
	judged, err := adoption.CheckDefinitions(ctx, t.client)
	if err != nil {
		return err
	}
	findings = append(findings, judged...)
	if err := adoption.WriteTable(out, findings); err != nil {
		return err
	}
	if !adoption.Harmless(findings) {
		return errFindings
	}
	return nil
}
