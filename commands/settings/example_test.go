package settings_test

import (
	"context"
	"fmt"
	"os"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/settings"
)

// A setting by the name of its flag, and what the controller makes of it.
func Example() {
	run := settings.Command().Begin()
	if err := run.Flags.Parse([]string{"--set", "cluster-name=blue"}); err != nil {
		fmt.Println(err)
		return
	}
	streams := commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stdout}
	status := run.Do(context.Background(), nil, streams)
	fmt.Println("status", status)
	// Output:
	// SETTING       VALUE  FROM
	// cluster-name  blue   --cluster-name
	// status 0
}
