package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/version"
)

// versionCommand returns the command that prints the build information of the program.
func versionCommand(streams commands.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the program, and what it was built from", Args: cobra.NoArgs, DisableFlagsInUseLine: true,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(streams.Out, version.Line("drawknife"))
			return err
		},
	}
}
