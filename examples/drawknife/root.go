package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/capacityblocks"
	"github.com/drawknife/drawknife/commands/convert"
	"github.com/drawknife/drawknife/commands/iam"
	"github.com/drawknife/drawknife/commands/launchtemplate"
	"github.com/drawknife/drawknife/commands/settings"
	"github.com/drawknife/drawknife/commands/simulate"
	"github.com/drawknife/drawknife/commands/sweep"
	"github.com/drawknife/drawknife/commands/top"
	"github.com/drawknife/drawknife/commands/verifymigration"
)

// usageStatus is the exit status of a command line that can't be read. The commands use the same status for bad usage.
const usageStatus = 1

// pluginName is the file name by which kubectl finds its plugin "drawknife".
const pluginName = "kubectl-drawknife"

// programName returns the name of the program in help and messages. For kubectl's plugin, this is what the user types.
func programName(path string) string {
	if strings.TrimSuffix(filepath.Base(path), ".exe") == pluginName {
		return "kubectl drawknife"
	}
	return "drawknife"
}

// statusError ends the program with an exit status. The command has already printed the reason.
type statusError struct{ status int }

func (e *statusError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// group is a part of the list of commands.
type group struct {
	name     string
	commands []commands.Command
}

// groups returns all commands, in the order of the help.
func groups(options simulate.Options) []group {
	questions := simulate.Commands(options)
	return []group{
		{"Questions on a cluster", append(questions, sweep.New(sweep.Options{Commands: questions}), top.Command())},
		{"Setting up and moving", []commands.Command{
			convert.Command(), iam.Command(), settings.Command(), launchtemplate.Command(), verifymigration.Command(), capacityblocks.New(capacityblocks.Options{}),
		}},
	}
}

// newRoot returns the program with all its commands.
func newRoot(program string, streams commands.Streams, options simulate.Options) *cobra.Command {
	root := &cobra.Command{
		Use:   "drawknife",
		Short: "Answer questions on the nodes of a Kubernetes cluster",
		Long: `drawknife answers questions on the nodes of a Kubernetes cluster: which nodes pending pods need and what they cost, which
nodes could go, what another set of NodePools would change. It reads manifests, or a running cluster with kubectl, and it
changes nothing there. Other commands convert manifests, and write what a cluster needs.`,
		SilenceUsage: true, SilenceErrors: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: program},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	for _, g := range groups(options) {
		root.AddGroup(&cobra.Group{ID: g.name, Title: g.name + ":"})
		for _, c := range g.commands {
			added := newCommand(c, streams)
			added.GroupID = g.name
			root.AddCommand(added)
		}
	}
	root.AddCommand(versionCommand(streams))
	return root
}

// newCommand returns a command of cobra for c, with the commands below it.
func newCommand(c commands.Command, streams commands.Streams) *cobra.Command {
	command := &cobra.Command{
		Use: strings.TrimSpace(c.Name + " " + c.Arguments), Short: c.Summary, Long: longHelp(c), Example: indented(c.Examples),
		DisableFlagsInUseLine: true,
	}
	for _, below := range c.Commands {
		command.AddCommand(newCommand(below, streams))
	}
	if c.Begin == nil {
		return command
	}
	run := c.Begin()
	command.RunE = func(command *cobra.Command, args []string) error {
		if status := run.Do(command.Context(), args, streams); status != 0 {
			return &statusError{status}
		}
		return nil
	}
	addFlags(command.Flags(), run.Flags)
	command.Flags().SortFlags = false
	return command
}

// longHelp returns the text of --help before the flags: what the command does, and its exit statuses.
func longHelp(c commands.Command) string {
	var b strings.Builder
	if b.WriteString(c.Help); c.Help == "" {
		b.WriteString(c.Summary + ".")
	}
	if len(c.Exit) > 0 {
		b.WriteString("\n\nExit status:")
	}
	for _, s := range c.Exit {
		fmt.Fprintf(&b, "\n  %-4d %s", s.Code, s.Meaning)
	}
	return b.String()
}

// indented puts two spaces before each line.
func indented(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
