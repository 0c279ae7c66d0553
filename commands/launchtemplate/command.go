package launchtemplate

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/interrupt"
	"github.com/drawknife/drawknife/internal/printable"
)

// Main runs the program launchtemplate with the arguments, input and output of the process, until it ends or the process is asked to end.
// It returns the exit status.
func Main() int {
	return interrupt.Run("launchtemplate", os.Stderr, func(done *interrupt.Done) int {
		return run(os.Args[1:], os.Stdin, done.Printing(os.Stdout), os.Stderr)
	})
}

// Command returns launchtemplate as a command of a larger program, with the name "template".
func Command() commands.Command {
	return commands.Command{
		Name: "template", Summary: "Print the EC2 launch template and the user data of an EC2NodeClass", Arguments: "FILE|- ...",
		Help: `template prints the launch template and the user data that the nodes of an EC2NodeClass boot with. Inputs are Kubernetes objects as
YAML or JSON. One EC2NodeClass is needed; a NodePool gives labels, taints and the instance types. What was found in the account is
taken from the class's status. Without a status, ids in the class's terms and the flags count; what is still not known is written
as UNRESOLVED. Several templates may be needed for several instance types: they are printed one after the other.`,
		Examples: `drawknife template class.yaml
drawknife template class.yaml pool.yaml --capacity-type spot
drawknife template -o userdata class.yaml | diff before.txt -`,
		Exit: []commands.ExitStatus{
			{Code: exitPrinted, Meaning: "the templates were printed"},
			{Code: exitInput, Meaning: "bad input or usage: a flag, a file, or an object that validation refuses"},
			{Code: exitImpossible, Meaning: "no template can be made: the user data breaks its format or is too long, or no image boots"},
			{Code: exitOutput, Meaning: "the templates could not be written"},
			{Code: interrupt.Status, Meaning: "interrupted; standard error says whether anything was printed"},
		},
		Begin: begin,
	}
}

func begin() commands.Run {
	l := newCommandLine("drawknife template")
	return commands.Run{Flags: l.flags, Do: func(ctx context.Context, arguments []string, streams commands.Streams) int {
		return interrupt.Until(ctx, l.read.program, streams.Err, func(done *interrupt.Done) int {
			out, messages := printable.NewWriter(done.Printing(streams.Out)), printable.NewWriter(streams.Err)
			o, err := l.options(arguments)
			code := exitInput
			if err != nil {
				fmt.Fprintf(messages, "%s: %s\nRun %[1]s --help for its flags and inputs.\n", l.read.program, err)
			} else {
				code = o.command(streams.In, out, messages)
			}
			if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitPrinted {
				return exitOutput
			}
			return code
		})
	}}
}
