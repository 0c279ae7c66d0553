package prices_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"github.com/drawknife/drawknife/aws/prices"
)

// Prices of a contract, for a cluster that can't reach the price list.
func Example() {
	contract := prices.File(func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(`{"schema": "drawknife-ec2-prices/1", "region": "eu-west-1", "source": "contract",
			"asOf": "2026-07-01", "zones": [{"name": "eu-west-1a"}], "types": {"m5.large": {"onDemand": 0.09}}}`)), nil
	})
	hour := time.Hour
	board, err := prices.NewBoard(prices.Options{
		Region: "eu-west-1",
		Feeds:  []prices.Feed{{Name: "contract", Source: contract, Every: &hour}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := board.Refresh(context.Background()); err != nil {
		log.Fatal(err)
	}
	quote, _ := board.Book().OnDemand("m5.large")
	fmt.Printf("$%.3f/h (%s)\n", quote.USD, quote.Source)
	// Output: $0.090/h (contract, 2026-07-01)
}
