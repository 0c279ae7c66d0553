package commitments_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

// A Savings Plan of $1 an hour that two clusters and an instance outside of them use: each cluster knows what it may count on.
func Example() {
	account, err := commitments.Decode(strings.NewReader(`
schema: drawknife-commitments/1
commitments:
- id: sp/1a2b
  kind: ComputeSavingsPlan
  source: contract of 2026-01
  amount: 1
  unit: USD/h
  byType: {m5.large: 0.07, m5.xlarge: 0.14}
  foreign: 0.14
`))
	if err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	used := account.Use([]commitments.Running{{InstanceType: "m5.xlarge", Zone: "eu-central-1a", Count: 3}})
	others := []commitments.ClusterUse{{Cluster: "shop", At: now, Uses: commitments.Uses{"sp/1a2b": 0.21}}}
	for _, share := range account.Available("web", used, others, now) {
		fmt.Printf("%s: uses %.2f, may count on %.2f of %.2f %s\n", share.ID, used[share.ID], share.Available, share.Amount, share.Unit)
	}
	// Output:
	// sp/1a2b: uses 0.42, may count on 0.65 of 1.00 USD/h
}
