// Package market makes a controller plan with its observations of spot markets and with the commitments of the account.
//
//	costs, err := market.NewCosts(market.CostsOptions{Cluster: "demo", SpotRisk: spotMarket, Commitments: provider.Commitments})
//	keeper := &market.Keeper{Client: …, Namespace: "kube-system", Name: "drawknife-history", Parts: []market.Part{market.SpotHistory(spotMarket)}}
//	err = mgr.Add(keeper) // what was seen outlives the process
//	err = reconcilers.Add(mgr, reconcilers.Options{Provider: provider, CostModel: costs.Model, Market: costs})
//
// [Costs] is the cost model of each snapshot: terms of spot risk (package scheduling/spotrisk) and of commitments (packages
// cloudprovider/commitments and scheduling/discounts). It observes prices and nodes in the snapshots for which it computes the model, and
// gets launches and interruptions as a reconcilers.MarketObserver. [Keeper] stores the observations in a ConfigMap, [Sharing] reports the
// cluster's use of commitments to other clusters of the account, and [Scores] requests spot placement scores.
package market
