package commands_test

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/drawknife/drawknife/commands"
)

// A program makes a run of a command, parses its flags, and lets it do its work.
func Example() {
	greet := commands.Command{
		Name: "greet", Summary: "Greet somebody", Arguments: "NAME",
		Begin: func() commands.Run {
			flags := flag.NewFlagSet("greet", flag.ContinueOnError)
			word := flags.String("word", "Hello", "the `WORD` to greet with")
			return commands.Run{Flags: flags, Do: func(_ context.Context, arguments []string, streams commands.Streams) int {
				fmt.Fprintf(streams.Out, "%s, %s!\n", *word, arguments[0])
				return 0
			}}
		},
	}

	run := greet.Begin()
	if err := run.Flags.Parse([]string{"-word", "Welcome", "nodes"}); err != nil {
		fmt.Println(err)
		return
	}
	status := run.Do(context.Background(), run.Flags.Args(), commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	fmt.Println("status", status)
	// Output:
	// Welcome, nodes!
	// status 0
}
