package settings

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/internal/interrupt"
	"github.com/drawknife/drawknife/internal/printable"
)

// Exit statuses, part of the contract in --help.
const (
	exitRead    = 0
	exitInput   = 1
	exitInvalid = 2
	exitOutput  = 5
)

// Values of --output.
const (
	outputText = "text"
	outputJSON = "json"
	outputYAML = "yaml"
)

// program is the name of the command in messages.
const program = "drawknife settings"

// Command returns the command "settings".
func Command() commands.Command {
	return commands.Command{
		Name: "settings", Summary: "Show what settings of any generation mean to the controller", Arguments: "FILE ...",
		Help: `settings reads values of Karpenter's chart in the layout of any generation, values of the controller's chart, or ConfigMaps with
settings, and prints the settings that the controller would have: each with its value, and the name that set it. Keys that are
unknown, have moved or have no effect are warnings on standard error. If several files have a setting, the last one counts.`,
		Examples: `drawknife settings values.yaml
drawknife settings values.yaml production.yaml --set cluster-name=blue
kubectl get configmap karpenter-global-settings -n karpenter -o yaml > old.yaml; drawknife settings old.yaml --all`,
		Exit: []commands.ExitStatus{
			{Code: exitRead, Meaning: "the controller would run with these settings"},
			{Code: exitInput, Meaning: "bad usage, or a file cannot be read: nothing is printed"},
			{Code: exitInvalid, Meaning: "the controller would refuse these settings: standard error has all reasons"},
			{Code: exitOutput, Meaning: "the settings could not be written"},
			{Code: interrupt.Status, Meaning: "interrupted"},
		},
		Begin: begin,
	}
}

// options are the command line.
type options struct {
	files  []string
	given  assignments
	all    bool
	output string
}

// assignments is a flag that may be repeated.
type assignments []string

func (a *assignments) String() string { return strings.Join(*a, ",") }
func (a *assignments) Set(text string) error {
	if name, _, ok := strings.Cut(text, "="); !ok || name == "" {
		return errors.New("must be NAME=VALUE")
	}
	*a = append(*a, text)
	return nil
}

func begin() commands.Run {
	o := &options{}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(&o.given, "set", "a setting that overrides the files, by the name of its flag: `NAME=VALUE`; may be repeated")
	flags.BoolVar(&o.all, "all", false, "also list settings that have their defaults")
	flags.StringVar(&o.output, "output", outputText, "`FORMAT` of the answer: text, json or yaml")
	flags.Var(flags.Lookup("output").Value, "o", "")
	return commands.Run{Flags: flags, Do: func(ctx context.Context, arguments []string, streams commands.Streams) int {
		return interrupt.Until(ctx, program, streams.Err, func(done *interrupt.Done) int {
			out, messages := printable.NewWriter(done.Printing(streams.Out)), printable.NewWriter(streams.Err)
			o.files = arguments
			code := o.run(out, messages)
			if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitRead {
				return exitOutput
			}
			return code
		})
	}}
}

// run reads the files and prints the settings.
func (o *options) run(stdout, stderr io.Writer) int {
	if err := o.check(); err != nil {
		fmt.Fprintf(stderr, "%s: %s\nRun %[1]s --help for its flags and inputs.\n", program, err)
		return exitInput
	}
	loaded, err := o.load()
	var refused *settings.Error
	switch {
	case errors.As(err, &refused):
		for _, p := range refused.Problems {
			fmt.Fprintf(stderr, "%s: error: %s\n", program, p)
		}
		return exitInvalid
	case err != nil:
		fmt.Fprintf(stderr, "%s: %s\n", program, err)
		return exitInput
	}
	for _, p := range loaded.Warnings {
		fmt.Fprintf(stderr, "%s: warning: %s\n", program, p)
	}
	if err := o.print(loaded, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: writing: %s\n", program, err)
		return exitOutput
	}
	return exitRead
}

func (o *options) check() error {
	if len(o.files)+len(o.given) == 0 {
		return errors.New("no input: name a file that contains chart values or a ConfigMap, or give --set NAME=VALUE")
	}
	if !slices.Contains([]string{outputText, outputJSON, outputYAML}, o.output) {
		return fmt.Errorf("--output %q: not one of text, json, yaml", o.output)
	}
	return nil
}

// load combines the values of --set and of the files. Values of --set take precedence over the files; if several files have the same
// setting, the value in the last file is used.
func (o *options) load() (*settings.Loaded, error) {
	set := flag.NewFlagSet(program, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	given := settings.NewFlags(set)
	for _, text := range o.given {
		name, value, _ := strings.Cut(text, "=")
		if set.Lookup(name) == nil {
			return nil, fmt.Errorf("--set %q: there is no setting %q; --all lists the names", text, name)
		}
		if err := set.Set(name, value); err != nil {
			return nil, fmt.Errorf("--set %q: %w", text, err)
		}
	}
	layers := []settings.Layer{given.Layer()}
	for _, name := range slices.Backward(o.files) {
		data, err := settings.ReadFile(name)
		if err != nil {
			return nil, err
		}
		layers = append(layers, settings.ParseFile(data))
	}
	return settings.Combine(layers...)
}

// document is the output of -o json. Keys are never renamed or removed.
type document struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Settings   []value   `json:"settings"`
	Warnings   []problem `json:"warnings"`
	// Ignored are the paths of chart values that configure only the controller's pods.
	Ignored []string `json:"ignored"`
}

type value struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Source    string `json:"source"`
	WrittenAs string `json:"writtenAs,omitempty"`
}

type problem struct {
	Code    string `json:"code"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

func (o *options) document(loaded *settings.Loaded) document {
	d := document{APIVersion: "settings.drawknife.dev/v1", Kind: "Settings", Settings: []value{}, Warnings: []problem{}, Ignored: []string{}}
	for _, v := range loaded.Effective() {
		if o.all || v.Source != settings.SourceDefault {
			d.Settings = append(d.Settings, value{v.Name, v.Text, string(v.Source), v.WrittenAs})
		}
	}
	for _, p := range loaded.Warnings {
		d.Warnings = append(d.Warnings, problem{string(p.Code), p.Name, p.Message})
	}
	d.Ignored = append(d.Ignored, loaded.Ignored...)
	return d
}

// print writes the settings in the form of --output.
func (o *options) print(loaded *settings.Loaded, stdout io.Writer) error {
	d := o.document(loaded)
	if o.output == outputText {
		return d.text(stdout)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err == nil && o.output == outputYAML {
		text, err = yaml.JSONToYAML(text)
	} else {
		text = append(text, '\n')
	}
	if err == nil {
		_, err = stdout.Write(text)
	}
	return err
}

// text prints the settings as a table.
func (d document) text(stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM")
	for _, v := range d.Settings {
		from := v.WrittenAs
		if from == "" {
			from = v.Source
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Name, v.Value, from)
	}
	if err := w.Flush(); err != nil || len(d.Ignored) == 0 {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nAbout the controller's pods, not its behaviour: %s\n", strings.Join(d.Ignored, ", "))
	return err
}
