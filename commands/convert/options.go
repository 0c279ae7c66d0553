package convert

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/internal/spelling"
)

// helpText is the text that --help prints.
//
//go:embed help.txt
var helpText string

// Values of --output.
const (
	outputYAML = "yaml"
	outputJSON = "json"
	outputName = "name"
)

// options are the parsed and validated settings of the command line.
type options struct {
	// program is the name of the command in messages.
	program string
	// inputs are files, folders or "-"; at least one.
	inputs    []string
	recursive bool
	output    string
	// settings is the file with the settings; empty means none.
	settings string
	strict   bool
	// skipUnreadable skips input that can't be read, and converts the rest.
	skipUnreadable bool
	// outputDir is where files are written; empty for standard output.
	outputDir string
	// inPlace changes the files of the input, and diff prints how they would change.
	inPlace, diff bool
	// allowVariables accepts input with variables; variables are those found in the input.
	allowVariables bool
	variables      *variables
	// allowEmpty accepts input without objects to convert.
	allowEmpty bool
	// version means that the command only prints the build information.
	version bool
	convert convert.Options
}

// errHelp is returned by parseOptions when the user asks for help.
var errHelp = errors.New("help requested")

// paths is a flag that may be repeated.
type paths []string

func (p *paths) String() string { return strings.Join(*p, ",") }

func (p *paths) Set(text string) error {
	if text == "" {
		return errors.New("is empty")
	}
	*p = append(*p, text)
	return nil
}

// commandLine contains the flags while a command line is parsed.
type commandLine struct {
	flags *flag.FlagSet
	read  options
	named paths
	to    string
}

// newCommandLine declares the flags, with the defaults of all options.
func newCommandLine(program string) *commandLine {
	l := &commandLine{flags: flag.NewFlagSet(program, flag.ContinueOnError), read: options{program: program, output: outputYAML}, to: string(convert.V1)}
	l.flags.SetOutput(io.Discard)
	l.flags.Var(&l.named, "filename", "a file, a folder (its .yaml, .yml and .json files), or - for standard input: `PATH`; may be repeated")
	l.also("f", "filename")
	l.boolean(&l.read.recursive, "recursive", "also read sub-folders, at any depth")
	l.also("R", "recursive")
	l.text(&l.read.output, "output", "`FORMAT` of the output: yaml, json or name")
	l.also("o", "output")
	l.text(&l.to, "to", "the generation to write: `VERSION` is v1 or v1beta1")
	l.text(&l.read.convert.NodeRole, "node-role", "role of node classes that are converted from node templates: `NAME` (default: the variable $KARPENTER_NODE_ROLE, which you fill in)")
	l.boolean(&l.read.convert.KeepInstanceProfile, "keep-instance-profile", "keep the instance profile of node templates instead of writing a role")
	l.boolean(&l.read.convert.IgnoreDefaults, "ignore-defaults", "do not write the requirements that a webhook of Karpenter used to add to Provisioners")
	l.text(&l.read.settings, "settings", "`FILE` with the ConfigMap karpenter-global-settings, whose values go to node classes and pools")
	l.boolean(&l.read.convert.Workloads, "workloads", "also convert pods and workloads: keys in selectors, affinities, tolerations and annotations")
	l.boolean(&l.read.convert.ReferenceCompat, "reference-compat", "convert like Karpenter's own tool and webhook where they differ from convert")
	l.text(&l.read.outputDir, "output-dir", "write each file that has something to convert to a file of the same path in `DIR`; existing files are never overwritten")
	l.boolean(&l.read.inPlace, "in-place", "change the files: comments, the order of keys and all other documents stay")
	l.boolean(&l.read.diff, "diff", "change nothing, and print how --in-place would change the files; the exit status is 3 if it would")
	l.boolean(&l.read.allowVariables, "allow-variables", "accept variables, such as ${ROLE}, $(ROLE), <ROLE> and {{ROLE}}, which another tool fills in later")
	l.boolean(&l.read.skipUnreadable, "skip-unreadable", "skip documents that cannot be read, and convert the others; the exit status is then 2")
	l.boolean(&l.read.strict, "strict", "print nothing if anything would be lost, or if an object has a field that its kind does not have")
	l.boolean(&l.read.allowEmpty, "allow-empty", "accept input without anything to convert: print nothing, with status 0")
	l.boolean(&l.read.convert.Force, "force", "print objects even if they have errors")
	return l
}

func (l *commandLine) text(into *string, name, usage string) {
	l.flags.StringVar(into, name, *into, usage)
}
func (l *commandLine) boolean(into *bool, name, usage string) {
	l.flags.BoolVar(into, name, false, usage)
}

// The method also declares name as a short form of another flag.
func (l *commandLine) also(name, of string) { l.flags.Var(l.flags.Lookup(of).Value, name, "") }

// options returns the options after the flags were parsed; rest are the arguments that are not flags.
func (l *commandLine) options(rest []string) (options, error) {
	o := l.read
	o.inputs = append(slices.Clone(l.named), rest...)
	o.convert.Target = convert.Version(l.to)
	return o, o.check(l.to)
}

// parseOptions reads the command line of the program convert. Flags may be before, between and after other arguments.
func parseOptions(args []string) (options, error) {
	l := newCommandLine("convert")
	l.boolean(&l.read.version, "version", "")
	var rest []string
	for left := args; ; {
		if err := l.flags.Parse(left); errors.Is(err, flag.ErrHelp) {
			return options{}, errHelp
		} else if err != nil {
			return options{}, spelling.Flag(err, l.flags)
		}
		if l.flags.NArg() == 0 {
			break
		}
		rest = append(rest, l.flags.Arg(0))
		left = l.flags.Args()[1:]
	}
	if l.read.version {
		return options{version: true}, nil
	}
	return l.options(rest)
}

// check finds invalid values, and flags that contradict each other.
func (o options) check(to string) error {
	for _, choice := range []struct {
		flag, value string
		words       []string
	}{
		{"output", o.output, []string{outputYAML, outputJSON, outputName}},
		{"to", to, []string{string(convert.V1), string(convert.V1Beta1)}},
	} {
		if !slices.Contains(choice.words, choice.value) {
			return fmt.Errorf("--%s %q: not one of %s", choice.flag, choice.value, strings.Join(choice.words, ", "))
		}
	}
	switch {
	case len(o.inputs) == 0:
		return errors.New("must specify -f: a file, a folder, or - for standard input")
	case o.strict && o.skipUnreadable:
		return errors.New("--strict and --skip-unreadable exclude each other: give one of them")
	case o.outputDir != "" && slices.Contains(o.inputs, "-"):
		return errors.New("--output-dir writes one file for each input file: it cannot be used with standard input")
	case o.outputDir != "" && o.output != outputYAML:
		return errors.New("--output-dir and --output exclude each other: each file is written in the format of its input")
	case o.inPlace && o.diff, o.inPlace && o.outputDir != "", o.diff && o.outputDir != "":
		return errors.New("--in-place, --diff and --output-dir exclude each other: give one of them")
	case (o.inPlace || o.diff) && slices.Contains(o.inputs, "-"):
		return errors.New("--in-place and --diff are for files: they cannot be used with standard input")
	case (o.inPlace || o.diff) && o.output != outputYAML:
		return errors.New("--in-place and --diff exclude --output: each file keeps its format")
	case o.strict && o.convert.Force:
		return errors.New("--strict and --force exclude each other: give one of them")
	case o.convert.NodeRole != "" && o.convert.KeepInstanceProfile:
		return errors.New("--node-role and --keep-instance-profile exclude each other: a node class has one of them")
	}
	return nil
}
