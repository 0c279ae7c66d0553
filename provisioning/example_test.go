package provisioning_test

import (
	"fmt"
	"time"

	"github.com/drawknife/drawknife/provisioning"
)

// Pods that come close together are planned together.
func ExampleBatch() {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	batch, err := provisioning.NewBatch(provisioning.BatchOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch.Trigger("web-1", now)
	batch.Trigger("web-2", now.Add(500*time.Millisecond))
	for _, after := range []time.Duration{time.Second, 1500 * time.Millisecond} {
		due, again := batch.Next(now.Add(after))
		fmt.Println(after, due, again)
	}
	fmt.Println(batch.Begin(now.Add(1500 * time.Millisecond)))
	// Output:
	// 1s false 500ms
	// 1.5s true 0s
	// [web-1 web-2]
}

// A governor holds back what would change too much at once, and says until when.
func ExampleGovernor() {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	governor, err := provisioning.NewGovernor(provisioning.GovernorOptions{CostIncrease: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(governor.Admit("first", 4, now))
	fmt.Println(governor.Admit("second", 4, now.Add(time.Minute)))
	// Output:
	// <nil>
	// launch held back: it would raise the hourly cost by 8.00 USD in all and CostIncrease is 5.00; next at 2026-05-04T12:10:00Z
}
