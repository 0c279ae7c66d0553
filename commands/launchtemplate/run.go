package launchtemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/internal/version"
)

// Exit statuses, part of the contract in the package comment and in --help.
const (
	// exitPrinted means that the templates were printed.
	exitPrinted = 0
	// exitInput means that the input or the usage is wrong.
	exitInput = 1
	// exitImpossible means that the input is valid, but no template can be made from it.
	exitImpossible = 2
	// exitOutput means that the templates could not be written.
	exitOutput = 5
)

// run is the program launchtemplate: it reads args (without the program's name) and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out, messages := printable.NewWriter(stdout), printable.NewWriter(stderr) // the output has no control sequences for terminals
	code := command(args, stdin, out, messages)
	if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitPrinted {
		return exitOutput
	}
	return code
}

func command(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	if errors.Is(err, errHelp) {
		if _, err := io.WriteString(stdout, helpText); err != nil {
			return exitOutput
		}
		return exitPrinted
	}
	if err != nil {
		fmt.Fprintf(stderr, "launchtemplate: %s\nRun launchtemplate --help for its flags and inputs.\n", err)
		return exitInput
	}
	if o.version {
		if _, err := io.WriteString(stdout, version.Line("launchtemplate")); err != nil {
			return exitOutput
		}
		return exitPrinted
	}
	return o.command(stdin, stdout, stderr)
}

// command prints the templates or an error, and returns the exit status.
func (o options) command(stdin io.Reader, stdout, stderr io.Writer) int {
	code, err := o.run(stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %s\n", o.program, err)
	}
	return code
}

func (o options) run(stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	all, err := readInputs(o.inputs, stdin)
	if err != nil {
		return exitInput, err
	}
	class, err := choose("EC2NodeClass", "class", o.class, all.classes)
	if err != nil {
		return exitInput, err
	}
	var pool *v1.NodePool
	if len(all.pools) > 0 || o.pool != "" {
		if pool, err = choose("NodePool", "pool", o.pool, all.pools); err != nil {
			return exitInput, err
		}
		if ref := pool.Spec.Template.Spec.NodeClassRef.Name; ref != class.Name {
			fmt.Fprintf(stderr, "note: NodePool %s refers to the node class %s, not to %s\n", pool.Name, ref, class.Name)
		}
	}
	if all.others > 0 {
		fmt.Fprintf(stderr, "note: %d objects of other kinds are passed over\n", all.others)
	}
	request, notes, err := o.request(class, pool)
	if err != nil {
		return exitInput, err
	}
	result, err := launchtemplate.Build(request)
	if err != nil {
		return exitImpossible, err
	}
	return o.print(result, notes, stdout, stderr)
}

func (o options) print(result launchtemplate.Result, notes []string, stdout, stderr io.Writer) (int, error) {
	if o.output == outputUserData {
		notes = nil // the notes are about placeholders in the request, which user data does not contain
	}
	for _, u := range result.Unserved {
		notes = append(notes, fmt.Sprintf("%s gets no template: %s", u.InstanceType, u.Reason))
	}
	for _, note := range notes {
		fmt.Fprintf(stderr, "note: %s\n", note)
	}
	for _, warning := range result.Templates[0].UserData.Warnings {
		fmt.Fprintf(stderr, "warning: %s\n", warning)
	}
	var text []byte
	var err error
	switch o.output {
	case outputUserData:
		if len(result.Templates) > 1 {
			return exitInput, fmt.Errorf("there are %d templates, each with user data of its own; choose with --instance-types:%s",
				len(result.Templates), choices(result.Templates))
		}
		text = []byte(result.Templates[0].UserData.Text)
	case outputJSON:
		text, err = asJSON(result.Templates)
	default:
		text, err = asYAML(result.Templates)
	}
	if err == nil {
		_, err = stdout.Write(text)
	}
	if err != nil {
		return exitOutput, fmt.Errorf("writing: %w", err)
	}
	return exitPrinted, nil
}

// choices returns a list with the first instance type of each template.
func choices(templates []launchtemplate.Template) string {
	var text string
	for _, t := range templates {
		text += fmt.Sprintf("\n  %s for %d pods (%d instance types)", t.InstanceTypes[0], t.MaxPods, len(t.InstanceTypes))
	}
	return text
}

// asJSON returns one template as an object, or several templates as a list.
func asJSON(templates []launchtemplate.Template) ([]byte, error) {
	var value any = templates
	if len(templates) == 1 {
		value = templates[0]
	}
	text, err := json.MarshalIndent(value, "", "  ")
	return append(text, '\n'), err
}

// asYAML returns a document for each template, which begins with a comment about its instance types.
func asYAML(templates []launchtemplate.Template) ([]byte, error) {
	var all []byte
	for i, t := range templates {
		text, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		document, err := yaml.JSONToYAML(text)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, "---\n"...)
		}
		all = append(all, "# "+served(t)+"\n"...)
		all = append(all, document...)
	}
	return all, nil
}

// served returns a line with the instance types of a template.
func served(t launchtemplate.Template) string {
	const most = 5
	line := "for"
	for i, name := range t.InstanceTypes {
		if i == most && len(t.InstanceTypes) > most+1 {
			return line + fmt.Sprintf(" and %d others", len(t.InstanceTypes)-most)
		}
		line += " " + name
	}
	return line
}
