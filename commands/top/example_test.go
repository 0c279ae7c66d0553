package top_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/top"
)

// One view of a controller. This one is a server that always sends the same report.
func Example() {
	controller := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"apiVersion": "drawknife.dev/v1", "kind": "ClusterReport", "time": "2026-01-01T12:00:00Z", "leader": true,
			"totals": {"hourlyCost": 0.1632, "byCapacityType": {"on-demand": 0.1632}, "nodes": 1, "pods": 9,
				"allocatable": {"cpu": 4, "memory": 16e9}, "requested": {"cpu": 3, "memory": 8e9}},
			"saved": {"perHour": 0.1, "commands": 2, "since": "2026-01-01T09:00:00Z"},
			"nodes": [{"name": "node-1", "nodePool": "default", "instanceType": "m7g.xlarge", "zone": "us-east-1a", "capacityType": "on-demand", "state": "ready",
				"since": "2025-12-30T12:00:00Z", "price": 0.1632, "pods": 9, "allocatable": {"cpu": 4, "memory": 16e9}, "requested": {"cpu": 3, "memory": 8e9}}]}`)
	}))
	defer controller.Close()

	run := top.Command().Begin()
	if err := run.Flags.Parse([]string{"--url", controller.URL, "--once"}); err != nil {
		fmt.Println(err)
		return
	}
	status := run.Do(context.Background(), nil, commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stdout})
	fmt.Println("status", status)
	// Output:
	// drawknife top  2026-01-01 12:00:00 UTC
	// $0.1632/h: on-demand $0.1632
	// 1 node, 9 pods, 0 pending; requested: 75% of CPU, 50% of memory
	// $0.1000/h saved by 2 completed commands in 3h0m
	//
	// Nodes: 1
	//   NODE    NODEPOOL  TYPE        ZONE        CAPACITY   STATE  AGE     $/H  PODS  CPU              MEMORY
	//   node-1  default   m7g.xlarge  us-east-1a  on-demand  ready   2d  0.1632     9  ########..  75%  #####.....  50%
	// status 0
}
