package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/settings"
)

// newProvider returns the configured cloud provider.
func newProvider(ctx context.Context, mgr ctrl.Manager, s settings.Settings, extra extraFlags, shared *planned, log *slog.Logger) (cloudprovider.CloudProvider, error) {
	switch s.Process.Provider {
	case settings.ProviderFake:
		if !s.Process.AllowSimulatedNodes {
			return nil, errors.New("--provider fake creates simulated Node objects in the cluster: give --allow-simulated-nodes if you want that")
		}
		return newSimulation(ctx, mgr, simulationOptions{
			catalog: extra.catalog, alpha: s.Planning.ServeAlpha, still: s.Process.Adopt == settings.AdoptDryRun, launchCost: shared.costs.Of,
		}, log)
	case settings.ProviderAWS:
		return newAWS(ctx, mgr, s, shared, log)
	}
	return nil, fmt.Errorf("--provider %q is unknown: it must be aws or fake", s.Process.Provider)
}
