package reconcilers_test

import (
	"context"
	"log/slog"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/provisioning"
)

// A controller of one's own gets node autoscaling in a few lines, and whatever else its manager runs beside it.
func ExampleAdd() {
	run := func(ctx context.Context, config *rest.Config, provider cloudprovider.CloudProvider) error {
		manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: reconcilers.Scheme(), LeaderElection: true, LeaderElectionID: "my-autoscaler"})
		if err != nil {
			return err
		}
		if err := reconcilers.Add(manager, reconcilers.Options{
			Provider: provider,
			Logger:   slog.Default(),
			Governor: provisioning.GovernorOptions{NodesPerMinute: 100},
		}); err != nil {
			return err
		}
		return manager.Start(ctx)
	}
	_ = run // it needs a cluster
}
