package main

import (
	"cmp"
	"log/slog"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/market"
	"github.com/drawknife/drawknife/examples/controller/onaws"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/nodefacts"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

// newSharing returns the Sharing with which clusters of the account share their use of commitments. It returns nil if planning does not
// count commitments, or if the settings name no store for the reports.
func newSharing(mgr ctrl.Manager, s settings.Settings, log *slog.Logger) *market.Sharing {
	if s.Process.Provider != settings.ProviderAWS || !s.AWS.Commitments && s.Planning.CommitmentsFile == "" {
		return nil
	}
	sharing := &market.Sharing{Cluster: s.AWS.ClusterName, Logger: log}
	switch {
	case s.AWS.CommitmentReports != "":
		sharing.Store = market.Directory(s.AWS.CommitmentReports)
	case s.Process.HistoryConfigMap != "":
		sharing.Store = market.ConfigMap{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Namespace: s.Process.SystemNamespace, Name: s.Process.HistoryConfigMap}
	default:
		return nil
	}
	return sharing
}

// planned is what the provider and the planner share. sharing contains the use of commitments by the clusters of the account; it is nil if
// the use is not known. costs are the costs that plans use; they determine the order of launches.
type planned struct {
	sharing *market.Sharing
	costs   provisioning.LaunchCosts
}

// addMarket gives the reconcilers the cost model and the facts that are learned from nodes, and stores what is learned.
func addMarket(mgr ctrl.Manager, s settings.Settings, provider cloudprovider.CloudProvider, sharing *market.Sharing, wanted *reconcilers.Options, log *slog.Logger) error {
	onAWS, _ := provider.(*onaws.Provider)
	options := market.CostsOptions{Cluster: cmp.Or(s.AWS.ClusterName, "default"), Fees: wanted.CostModel, Logger: log}
	var err error
	if options.Metrics, err = market.NewMetrics(ctrlmetrics.Registry); err != nil {
		return err
	}
	var parts []market.Part
	if s.Planning.SpotRisk {
		if options.SpotRisk, err = spotrisk.New(spotrisk.DefaultOptions()); err != nil {
			return err
		}
		parts = append(parts, market.SpotHistory(options.SpotRisk))
	}
	switch {
	case s.Planning.CommitmentsFile != "":
		options.Commitments = (&market.File{Path: s.Planning.CommitmentsFile, Logger: log}).Account
	case onAWS != nil && s.AWS.Commitments:
		options.Commitments = onAWS.Commitments
	}
	if sharing != nil {
		options.Reports = sharing.Reports
	}
	if s.Planning.LearnFromNodes {
		if options.Facts, err = nodefacts.New(nodefacts.DefaultOptions()); err != nil {
			return err
		}
		wanted.NodeFacts = options.Facts
		facts := options.Facts
		parts = append(parts, market.Part{Name: "node-facts", Export: facts.Export, Import: func(text []byte) error { return facts.Import(text, time.Now()) }})
	}
	costs, err := market.NewCosts(options)
	if err != nil {
		return err
	}
	if options.SpotRisk != nil || options.Commitments != nil || options.Facts != nil {
		wanted.CostModel, wanted.Market = costs.Model, costs
	}
	if sharing != nil {
		sharing.Uses = costs.Uses
		if err := mgr.Add(sharing); err != nil {
			return err
		}
	}
	if n := s.AWS.SpotScoreConfigurations; onAWS != nil && options.SpotRisk != nil && n > 0 {
		scores := &market.Scores{Ask: onAWS.SpotPlacementScores, Peers: costs.Peers, Market: options.SpotRisk, Configurations: n, Metrics: options.Metrics, Logger: log}
		if err := mgr.Add(scores); err != nil {
			return err
		}
	}
	return keepHistory(mgr, s, parts, provider.Describe(), wanted, log)
}

// keepHistory stores the parts and the stock estimate in the ConfigMap for history, if the settings name one.
func keepHistory(mgr ctrl.Manager, s settings.Settings, parts []market.Part, capabilities cloudprovider.Capabilities, wanted *reconcilers.Options, log *slog.Logger) error {
	if s.Process.HistoryConfigMap == "" {
		return nil
	}
	estimate := provisioning.DefaultStockEstimateOptions()
	estimate.Hardware = capabilities.HardwareLabels
	stock, err := provisioning.NewStockEstimate(estimate)
	if err != nil {
		return err
	}
	wanted.Stock = stock
	parts = append(parts, market.Part{Name: "stock", Export: stock.Export, Import: func(text []byte) error { return stock.Import(text, time.Now()) }})
	return mgr.Add(&market.Keeper{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Namespace: s.Process.SystemNamespace, Name: s.Process.HistoryConfigMap, Parts: parts, Logger: log,
	})
}
