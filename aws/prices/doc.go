// Package prices knows what EC2 instances cost, where each price comes from and how old it is.
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
// A [Source] reads a [List]: [OnDemand] and [Spot] ask AWS, [File] reads a prices file, [Static] is the dated tables
// built into the library, [Adjust] changes what another source says: discounts, premiums, negotiated prices. A [Board] keeps
// the lists of several feeds, later ones over earlier ones, and publishes them as a [Book], which never changes: readers
// never wait for AWS, and a refresh that fails leaves the prices that are there.
//
// Each [Quote] has its source, the time of the last change, and the time when it was last confirmed. A price that its feed no
// longer names is kept for a while, marked as such, and then dropped.
//
// Amounts are US dollars an hour. In the China regions AWS has prices in CNY: give Options.USDPer a rate, or they
// stay in CNY, comparable among themselves, and their provenance says so.
//
// # Deliberate differences
//
//   - Spot prices are best read every [DefaultSpotEvery] and on-demand prices every [DefaultEvery]; each feed
//     has its own period.
//   - Bare-metal types are asked for with shared tenancy first, dedicated quotes only fill the gaps.
//     A region without bare metal is no failure.
//   - Of several prices for one type the highest counts, not the last one met, so that the answer does not
//     depend on its order.
//   - Prices that vanish age and go instead of staying forever.
//   - No lock is held while prices are read.
//   - The static table has prices of every region but those of China, for which there is no free source: they
//     have those of us-east-1, and their provenance says so.
//
// Stability: beta.
package prices
