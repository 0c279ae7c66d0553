package main

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

// helpText is what --help prints.
//
//go:embed help.txt
var helpText string

// Values of --output.
const (
	outputYAML = "yaml"
	outputJSON = "json"
	outputName = "name"
)

// options are the command line, read and checked.
type options struct {
	// inputs are files, folders or "-"; at least one.
	inputs    []string
	recursive bool
	output    string
	// settings is the file with the settings; empty means none.
	settings string
	strict   bool
	// skipUnreadable converts what can be read.
	skipUnreadable bool
	// outputDir is where files are written; empty for standard output.
	outputDir string
	// allowEmpty takes input without anything to convert.
	allowEmpty bool
	// version prints the build information, and nothing else happens.
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

// parseOptions reads a command line. Flags may stand before, between and after other arguments.
func parseOptions(args []string) (options, error) {
	var o options
	var named paths
	var rest []string
	var to string
	flags := flag.NewFlagSet("convert", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, name := range []string{"f", "filename"} {
		flags.Var(&named, name, "")
	}
	for _, name := range []string{"R", "recursive"} {
		flags.BoolVar(&o.recursive, name, false, "")
	}
	for _, name := range []string{"o", "output"} {
		flags.StringVar(&o.output, name, outputYAML, "")
	}
	flags.StringVar(&to, "to", string(convert.V1), "")
	flags.StringVar(&o.convert.NodeRole, "node-role", "", "")
	flags.BoolVar(&o.convert.KeepInstanceProfile, "keep-instance-profile", false, "")
	flags.BoolVar(&o.convert.IgnoreDefaults, "ignore-defaults", false, "")
	flags.StringVar(&o.settings, "settings", "", "")
	flags.BoolVar(&o.convert.Workloads, "workloads", false, "")
	flags.BoolVar(&o.convert.ReferenceCompat, "reference-compat", false, "")
	flags.BoolVar(&o.convert.Force, "force", false, "")
	flags.BoolVar(&o.strict, "strict", false, "")
	flags.BoolVar(&o.allowEmpty, "allow-empty", false, "")
	flags.BoolVar(&o.skipUnreadable, "skip-unreadable", false, "")
	flags.StringVar(&o.outputDir, "output-dir", "", "")
	flags.BoolVar(&o.version, "version", false, "")
	for left := args; ; {
		if err := flags.Parse(left); errors.Is(err, flag.ErrHelp) {
			return options{}, errHelp
		} else if err != nil {
			return options{}, spelling.Flag(err, flags)
		}
		if flags.NArg() == 0 {
			break
		}
		rest = append(rest, flags.Arg(0))
		left = flags.Args()[1:]
	}
	if o.version {
		return options{version: true}, nil
	}
	o.inputs = append(named, rest...)
	o.convert.Target = convert.Version(to)
	return o, o.check(to)
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
	case o.strict && o.convert.Force:
		return errors.New("--strict and --force exclude each other: give one of them")
	case o.convert.NodeRole != "" && o.convert.KeepInstanceProfile:
		return errors.New("--node-role and --keep-instance-profile exclude each other: a node class has one of them")
	}
	return nil
}
