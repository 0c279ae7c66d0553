package unavailable_test

import (
	"fmt"
	"time"

	"github.com/drawknife/drawknife/aws/internal/unavailable"
)

func Example() {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	memory := unavailable.New(unavailable.Options{Jitter: -1, Now: func() time.Time { return now }})
	effects := memory.Observe(unavailable.Failure{
		Code: "InsufficientInstanceCapacity", CapacityType: "spot", InstanceType: "m5.large", Zone: "us-east-1a",
	})
	reason, closed := memory.Snapshot().Closed(effects[0].Keys[0], nil)
	fmt.Println(closed, reason)

	now = now.Add(3 * time.Minute)
	_, closed = memory.Snapshot().Closed(effects[0].Keys[0], nil)
	fmt.Println(closed)
	// Output:
	// true out of stock
	// false
}
