package spotrisk_test

import (
	"fmt"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

// Two spot markets at nearly the same price: one is interrupted much more often. Where an interruption loses eight hours of work, that decides.
func Example() {
	market, err := spotrisk.New(spotrisk.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	calm := spotType("m7g.2xlarge", 0.1005, &cloudprovider.InterruptionRate{Low: 0, High: 0.05})
	busy := spotType("c6gd.2xlarge", 0.1, &cloudprovider.InterruptionRate{Low: 0.2, High: 1})
	loss := spotrisk.DefaultLoss()
	loss.LostWork, loss.PerNode = 8*time.Hour, 0.5
	for _, t := range []*cloudprovider.InstanceType{calm, busy} {
		c := market.Cost(t, &t.Offerings[1], loss, now)
		fmt.Printf("%s: $%.4f/h and interruptions $%.4f/h\n", t.Name, c.ExpectedPrice, c.Interruptions)
	}
	fmt.Println(len(market.Terms(spotrisk.TermsInput{Time: now, Types: []*cloudprovider.InstanceType{calm, busy}, Loss: loss})), "term of the cost model")
	// Output:
	// m7g.2xlarge: $0.1005/h and interruptions $0.0000/h
	// c6gd.2xlarge: $0.1000/h and interruptions $0.0007/h
	// 1 term of the cost model
}
