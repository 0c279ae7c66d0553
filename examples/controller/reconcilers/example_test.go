package reconcilers_test

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/provisioning"
)

// A controller of one's own gets node autoscaling in a few lines, and its manager can run other things too.
func ExampleAdd() {
	run := func(ctx context.Context, config *rest.Config, provider cloudprovider.CloudProvider) error {
		manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: reconcilers.Scheme(), LeaderElection: true, LeaderElectionID: "my-autoscaler"})
		if err != nil {
			return err
		}
		if err := reconcilers.Add(manager, reconcilers.Options{
			Provider:    provider,
			Logger:      slog.Default(),
			RateLimiter: provisioning.RateLimiterOptions{NodesPerMinute: 100},
		}); err != nil {
			return err
		}
		return manager.Start(ctx)
	}
	_ = run // it needs a cluster
}

// An approver of one's own is asked before nodes are disrupted. This one lets nodes of production go during the day alone: at
// night they need not be proposed again for half an hour. Pods leave once others are ready in their stead.
func ExampleAdd_approver() {
	office := disruption.ApproverFunc(func(_ context.Context, cmd *disruption.Command) (disruption.Approval, error) {
		hour := cmd.Planned.UTC().Hour()
		for i := range cmd.Members {
			if cmd.Members[i].Pool.Name == "production" && (hour < 8 || hour >= 18) {
				return disruption.Approval{Decision: disruption.Refused, For: new(30 * time.Minute), By: "office hours", Reason: "it is night"}, nil
			}
		}
		return disruption.Approval{Decision: disruption.Approved, By: "office hours"}, nil
	})
	options := reconcilers.Options{
		Evictor: provisioning.SurgeFirst{},
		Disruption: reconcilers.DisruptionOptions{
			Approver: office,
			Approval: disruption.ApprovalPolicy{Wait: new(time.Minute), Silence: disruption.Refused},
		},
	}
	_ = options // with a provider, it is what reconcilers.Add takes
}
