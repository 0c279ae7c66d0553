package iam

import (
	"context"
	"errors"
	"os"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/interrupt"
	"github.com/drawknife/drawknife/internal/printable"
)

// Main runs the program iam with the arguments and output of the process, until it ends or the process is asked to end. It returns the exit
// status.
func Main() int {
	return interrupt.Run("iam", os.Stderr, func(done *interrupt.Done) int {
		return run(os.Args[1:], done.Printing(os.Stdout), os.Stderr, done.Wrote)
	})
}

// Command returns iam as a command of a larger program.
func Command() commands.Command {
	return commands.Command{
		Name: "iam", Summary: "Write the policies, roles, queue and rules that a cluster needs in an AWS account",
		Help: `iam writes what a cluster needs in an AWS account, as files for the AWS command line or for another tool: IAM policies and trust
policies, the mapping that lets instances join, the queue of interruption events and the rules that fill it. It calls nothing in
AWS, and changes nothing there.`,
		Examples: `drawknife iam --cluster-name demo --region eu-central-1 --account-id 111122223333 --node-roles demo-nodes --queue demo
drawknife iam ... --out setup
drawknife iam ... -o terraform > drawknife.tf`,
		Exit: []commands.ExitStatus{
			{Code: exitDone, Meaning: "the documents were written"},
			{Code: exitInput, Meaning: "bad usage; the message names all invalid settings, and nothing is written"},
			{Code: exitOutput, Meaning: "a file or the output could not be written"},
			{Code: interrupt.Status, Meaning: "interrupted; standard error says which files are complete"},
		},
		Begin: begin,
	}
}

func begin() commands.Run {
	l := newCommandLine("drawknife iam")
	return commands.Run{Flags: l.flags, Do: func(ctx context.Context, arguments []string, streams commands.Streams) int {
		return interrupt.Until(ctx, l.program, streams.Err, func(done *interrupt.Done) int {
			out, messages := printable.NewWriter(done.Printing(streams.Out)), printable.NewWriter(streams.Err)
			code := statusOf(l.program, l.generate(arguments, out, done.Wrote), messages)
			if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitDone {
				return exitOutput
			}
			return code
		})
	}}
}
