// Package prices provides the prices of EC2 instances, with their source and age.
//
//	quarterHour := 15 * time.Minute
//	board, err := prices.NewBoard(prices.Options{
//		Region: "eu-west-1",
//		Static: prices.Static(catalog, "eu-west-1"), // in force until something better is read
//		Feeds: []prices.Feed{
//			{Name: "on-demand", Source: prices.OnDemand{API: pricingAPI, Region: "eu-west-1"}},
//			{Name: "spot", Source: prices.Spot{API: ec2API}, Every: &quarterHour},
//		},
//	})
//	if err != nil { … }
//	next, err := board.Refresh(ctx) // reads what is due; call it again at next
//	quote, ok := board.Book().Spot("m5.large", "eu-west-1a")
//
// A [Source] reads a [List]. [OnDemand] and [Spot] ask AWS, [File] reads a prices file, [Static] returns the dated tables that are built
// into the library, and [Adjust] changes the prices of another source: discounts, premiums, negotiated prices. A [Board] combines the lists
// of several feeds, and publishes them as an immutable [Book]. Later feeds override earlier feeds. Callers never wait for AWS, and a failed
// refresh keeps the current prices.
//
// Each [Quote] has its source, the time of the last change, and the time when it was last confirmed. A price that its feed no longer
// contains is kept for some time, with a note in its source, and then dropped.
//
// Amounts are US dollars an hour. In the China regions, AWS has prices in CNY: set an exchange rate in Options.USDPer. Without a rate,
// prices stay in CNY. Prices in CNY can be compared only with each other, and their source names the currency.
//
// # Deliberate differences
//
//   - Spot prices are best read every [DefaultSpotEvery] and on-demand prices every [DefaultEvery]; each feed
//     has its own period.
//   - Prices of bare-metal types are requested with shared and with dedicated tenancy; a dedicated price is used only if no shared price
//     exists. A region without bare metal is not an error.
//   - If there are several prices for one type, the highest is used, so that the result does not depend on their order.
//   - Prices that disappear from their feed expire instead of staying forever.
//   - No lock is held while prices are read.
//   - The static table has prices of every region except China, for which there is no free source: these regions get the prices of
//     us-east-1, and their source says so.
//
// Stability: beta.
package prices
