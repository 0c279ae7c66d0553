package sweep_test

import (
	"fmt"
	"strings"

	"github.com/drawknife/drawknife/commands/sweep"
)

// Divide the cells of a grid into two shards.
func ExampleShard() {
	grid, err := sweep.ParseGrid([]byte(`
apiVersion: drawknife.dev/v1
kind: Sweep
command: plan
axes:
- name: cluster
  values:
  - {name: blue, arguments: [blue.json]}
  - {name: green, arguments: [green.json]}
- name: reserved
  values:
  - {name: fallback}
  - {name: strict, arguments: [--reserved=strict]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	cells := grid.Cells()
	for index := range 2 {
		for _, cell := range sweep.Shard(cells, index, 2) {
			fmt.Printf("shard %d: cell %d (%s): %s %s\n", index, cell.Index, strings.Join(cell.Values, ", "), grid.Command, strings.Join(cell.Arguments, " "))
		}
	}
	// Output:
	// shard 0: cell 0 (blue, fallback): plan blue.json
	// shard 0: cell 2 (green, fallback): plan green.json
	// shard 1: cell 1 (blue, strict): plan blue.json --reserved=strict
	// shard 1: cell 3 (green, strict): plan green.json --reserved=strict
}
