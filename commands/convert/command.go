package convert

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/interrupt"
	"github.com/drawknife/drawknife/internal/printable"
)

// Main runs the program convert with the arguments, input and output of the process, until it ends or the process is asked to end. It
// returns the exit status.
func Main() int {
	return interrupt.Run("convert", os.Stderr, func(done *interrupt.Done) int {
		return run(os.Args[1:], os.Stdin, done.Printing(os.Stdout), os.Stderr)
	})
}

// Command returns convert as a command of a larger program.
func Command() commands.Command {
	return commands.Command{
		Name: "convert", Summary: "Convert manifests of older generations of Karpenter's API", Arguments: "FILE|DIR|- ...",
		Help: `convert reads Provisioner, AWSNodeTemplate (v1alpha5, v1alpha1), NodePool, EC2NodeClass and NodeClaim (v1beta1, v1), and prints
them as v1, or as v1beta1, in the order of the input. Warnings, with code and field path, go to standard error. All inputs are
converted together: a kubelet block moves from a pool to its node class if both are among them. --in-place, --output-dir and --diff
keep the files as they are apart from the conversion: comments, the order of keys, and documents of other kinds. It needs no
cluster, no AWS account and no network.`,
		Examples: `drawknife convert provisioner.yaml > nodepool.yaml
drawknife convert nodetemplate.yaml --node-role KarpenterNodeRole-demo > nodeclass.yaml
drawknife convert -R karpenter/ --strict
drawknife convert -R gitops/ --diff
drawknife convert -R gitops/ --in-place`,
		Exit: []commands.ExitStatus{
			{Code: exitConverted, Meaning: "converted, perhaps with warnings"},
			{Code: exitInput, Meaning: "bad input or usage, or, with --strict, an unknown field or setting: nothing is printed"},
			{Code: exitLost, Meaning: "an object cannot be converted, or read: the others are printed; with --strict nothing is printed"},
			{Code: exitWouldChange, Meaning: "with --diff: files would change"},
			{Code: exitOutput, Meaning: "the output could not be written"},
			{Code: interrupt.Status, Meaning: "interrupted; standard error says whether anything was printed"},
		},
		Begin: begin,
	}
}

func begin() commands.Run {
	l := newCommandLine("drawknife convert")
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
			if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitConverted {
				return exitOutput
			}
			return code
		})
	}}
}
