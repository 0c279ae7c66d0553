// Package commands defines the commands of the program drawknife, without a framework for flags and help. The commands themselves are in
// the packages below this one. For example, the commands that plan are in commands/simulate. A program chooses commands, and runs them with
// a framework of its choice: examples/drawknife uses cobra, and examples/simulate uses only the flag package.
//
//	for _, c := range simulate.Commands(simulate.Options{}) {
//		run := c.Begin()
//		_ = run.Flags.Parse(arguments)
//		status := run.Do(ctx, run.Flags.Args(), commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//	}
//
// Stability: beta.
package commands

import (
	"context"
	"flag"
	"io"
)

// Command is one command of a program. Commands are values: copying one is cheap, and their functions are safe for concurrent use.
type Command struct {
	// Name is the word by which a user calls the command, such as "plan".
	Name string
	// Summary describes the command in one line, in the imperative, without a full stop.
	Summary string
	// Arguments shows what may follow the name, such as "[FILE|DIR|- ...]"; empty for nothing.
	Arguments string
	// Help explains the command: paragraphs, each line of at most 120 characters. It is empty if the summary is enough.
	Help string
	// Examples are command lines, one per line. They call the program "drawknife".
	Examples string
	// Exit explains each exit status.
	Exit []ExitStatus
	// Begin returns one run of the command, with flags at their defaults. It is nil if the command has Commands.
	Begin func() Run
	// Commands are the commands below this one, such as "run" in "sweep run"; nil if the command is run by itself.
	Commands []Command
}

// ExitStatus is a status that a command may end with.
type ExitStatus struct {
	Code    int
	Meaning string
}

// Run is one run of a command. It may be used by only one goroutine.
type Run struct {
	// Flags are the flags of the command: parse them, or set them one by one with Set, before Do. A flag with a name of one letter is the
	// short form of the flag that has the same Value. Flags without a usage text are alternative names that remain for scripts.
	Flags *flag.FlagSet
	// Do runs the command with the arguments that are not flags, and returns its exit status. It writes messages about errors to the
	// streams. When the context ends, Do ends early, and its message contains the cause of the context.
	Do func(ctx context.Context, arguments []string, streams Streams) int
}

// Streams are the input and the outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}
