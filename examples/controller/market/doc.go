// Package market lets a controller plan by what it has seen of spot markets and by what the account has paid for.
//
//	costs, err := market.NewCosts(market.CostsOptions{Cluster: "demo", SpotRisk: spotMarket, Commitments: provider.Commitments})
//	keeper := &market.Keeper{Client: …, Namespace: "kube-system", Name: "drawknife-history", Parts: []market.Part{market.SpotHistory(spotMarket)}}
//	err = mgr.Add(keeper) // what was seen outlives the process
//	err = reconcilers.Add(mgr, reconcilers.Options{Provider: provider, CostModel: costs.Model, Market: costs})
//
// [Costs] is the cost model of each snapshot: terms of spot risk (package scheduling/spotrisk) and of commitments (packages
// cloudprovider/commitments and scheduling/discounts). It observes prices and nodes in the snapshots that it is asked for, and learns of
// launches and interruptions as a reconcilers.MarketObserver. [Keeper] keeps what was learned in a ConfigMap, [Sharing] reports to other
// clusters of the account what commitments this one uses, and [Scores] asks for spot placement scores.
package market
