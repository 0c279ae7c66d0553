package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/fake"
)

// newProvider makes the cloud that machines come from.
func newProvider(ctx context.Context, mgr ctrl.Manager, s settings.Settings, extra extraFlags, log *slog.Logger) (cloudprovider.CloudProvider, error) {
	switch s.Process.Provider {
	case settings.ProviderFake:
		if !s.Process.AllowSimulatedNodes {
			return nil, errors.New("--provider fake puts Node objects into the cluster that are only simulated: say --allow-simulated-nodes if that is meant")
		}
		return newSimulation(ctx, mgr, extra.catalog, log)
	case settings.ProviderAWS:
		return newAWS(ctx, mgr, s, log)
	}
	return nil, fmt.Errorf("--provider %q is none that is known: it is aws or fake", s.Process.Provider)
}

// Times that simulated machines take.
const (
	simulatedLaunch   = 5 * time.Second
	simulatedBoot     = 2 * time.Second
	simulatedShutdown = 5 * time.Second
	simulationTick    = 200 * time.Millisecond
)

// newSimulation is a fake cloud whose machines join the cluster as nodes of which nothing is real but the objects.
func newSimulation(ctx context.Context, mgr ctrl.Manager, catalog string, log *slog.Logger) (cloudprovider.CloudProvider, error) {
	types, err := simulatedTypes(catalog)
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(mgr.GetConfig())
	if err != nil {
		return nil, err
	}
	kubelets, err := kubelet.Start(ctx, clients, kubelet.Options{Log: log})
	if err != nil {
		return nil, err
	}
	cloud, err := fake.New(types, fake.Options{
		LaunchLatency: simulatedLaunch, ShutdownLatency: simulatedShutdown,
		OnLaunch:    func(i fake.Instance) { kubelets.Boot(i.Node(), kubelet.Behaviour{ReadyAfter: simulatedBoot}) },
		OnTerminate: func(i fake.Instance) { kubelets.PowerOff(i.NodeName) },
	})
	if err != nil {
		return nil, err
	}
	var claims v1.NodeClaimList
	if err := mgr.GetAPIReader().List(ctx, &claims); err != nil {
		return nil, fmt.Errorf("reading the nodeclaims of earlier simulated machines: %w", err)
	}
	for i := range claims.Items {
		if err := cloud.Restore(&claims.Items[i]); err != nil {
			return nil, err
		}
	}
	for _, i := range cloud.Instances() {
		kubelets.Boot(i.Node(), kubelet.Behaviour{})
	}
	return cloud, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		ticker := time.NewTicker(simulationTick)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				cloud.Settle()
			}
		}
	}))
}
