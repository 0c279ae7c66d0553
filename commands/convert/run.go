package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/requirements"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/internal/version"
)

// Exit statuses, part of the contract in the package comment and in --help.
const (
	// exitConverted means that the manifests were printed.
	exitConverted = 0
	// exitInput: the input or usage is wrong; under --strict, also an unknown field is wrong input. No manifest was printed.
	exitInput = 1
	// exitLost: an object was left out, or an object would have lost data under --strict.
	exitLost = 2
	// exitWouldChange: --diff has found files that --in-place would change.
	exitWouldChange = 3
	// exitOutput means that the result could not be written.
	exitOutput = 5
)

// run is the program convert: it reads args (without the program's name) and returns the exit status. Its output contains no control
// sequences for terminals.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out, messages := printable.NewWriter(stdout), printable.NewWriter(stderr)
	code := command(args, stdin, out, messages)
	if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitConverted {
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
		return exitConverted
	}
	if err != nil {
		fmt.Fprintf(stderr, "convert: %s\nRun convert --help for its flags and inputs.\n", err)
		return exitInput
	}
	if o.version {
		if _, err := io.WriteString(stdout, version.Line("convert")); err != nil {
			return exitOutput
		}
		return exitConverted
	}
	return o.command(stdin, stdout, stderr)
}

// command runs the conversion, prints an error if it fails, and returns the exit status.
func (o options) command(stdin io.Reader, stdout, stderr io.Writer) int {
	code, err := o.run(stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %s\n", o.program, err)
	}
	return code
}

func (o options) run(stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	inputs, err := readInputs(o, stdin)
	switch {
	case err != nil:
		return exitInput, err
	case o.allowVariables:
		return o.withVariables(inputs, stdout, stderr)
	}
	return o.convertInputs(inputs, stdout, stderr)
}

// convertInputs converts the inputs, prints warnings, writes the result, and returns the exit status.
func (o options) convertInputs(inputs []input, stdout, stderr io.Writer) (int, error) {
	var sources []convert.Source
	for _, in := range inputs {
		sources = append(sources, in.Source)
	}
	o.convert.ValidatePool, o.convert.ValidateRequirements = validatePool(), validateRequirements()
	documents, err := convert.Decode(convert.DecodeOptions{Strict: o.strict, KeepGoing: o.skipUnreadable}, sources...)
	if err != nil {
		return exitInput, errors.New("the input can't be read, nothing is converted (--skip-unreadable converts the rest):\n" + err.Error() + o.aboutBraces(inputs))
	}
	if documents, err = o.settle(documents, stderr); err != nil {
		return exitInput, err
	}
	rewriter := newRewriter(documents)
	rewriter.variables = o.variables
	result := convert.Rewrite(documents, o.convert)
	for _, w := range result.Warnings {
		if o.keepsOthers() && (w.Code == conversion.CodeSkipped || w.Code == conversion.CodeNoObject) {
			continue // documents of other kinds stay in their files, and are only counted
		}
		fmt.Fprintln(stderr, w)
	}
	if err := o.checkVariables(o.variables, rewriter, result); err != nil {
		return exitLost, err
	}
	failed := result.Warnings.Err() != nil && !o.convert.Force
	lost := result.Warnings.Lossy()
	switch {
	case o.strict && result.Warnings.Has(conversion.CodeUnknownField):
		return exitInput, errors.New("--strict: the input has fields that their kinds do not have: nothing is printed or written")
	case o.strict && len(lost) > 0:
		return exitLost, fmt.Errorf("--strict: parts of the input would be lost (%s): nothing is printed or written", codesOf(lost))
	case len(result.Objects) == 0 && failed:
		return exitLost, errors.New("no object could be converted" + o.aboutPlaceholders(result.Warnings))
	case o.keepsOthers():
		return o.rewriteFiles(rewriter, inputs, result, failed, stdout, stderr)
	case len(result.Objects) == 0 && o.allowEmpty:
		return exitConverted, nil
	case len(result.Objects) == 0:
		return exitInput, errors.New("no objects to convert: the input has none of the kinds that " + o.program + " --help lists")
	}
	if o.outputDir != "" {
		var files []rewrittenFile
		if files, err = rewriter.rewrite(inputs, result.Objects); err == nil {
			err = writeFiles(o.outputDir, files)
		}
	} else {
		err = o.print(result.Objects, stdout)
	}
	if err != nil {
		return exitOutput, fmt.Errorf("writing: %w", err)
	}
	if failed {
		return exitLost, errors.New("some objects can't be converted, see the errors above; the others are printed" + o.aboutPlaceholders(result.Warnings))
	}
	return exitConverted, nil
}

// keepsOthers reports whether documents of other kinds stay unchanged, because files are changed in place or compared.
func (o options) keepsOthers() bool { return o.inPlace || o.diff }

// rewriteFiles carries out --in-place or --diff. It prints the changes, and how many documents of other kinds stayed unchanged.
func (o options) rewriteFiles(r *rewriter, inputs []input, result convert.Result, failed bool, stdout, stderr io.Writer) (int, error) {
	files, err := r.rewrite(inputs, result.Objects)
	if err != nil {
		return exitInput, fmt.Errorf("%w; no file was changed", err)
	}
	changed, err := o.apply(files, stdout)
	if err != nil {
		return exitOutput, fmt.Errorf("writing: %w", err)
	}
	verb := "changed"
	if o.diff {
		verb = "would change"
	}
	fmt.Fprintf(stderr, "%s: %d of %d files %s; %d documents of other kinds stay as they are\n", o.program, changed, len(files), verb, r.others)
	switch {
	case failed:
		return exitLost, errors.New("some objects can't be converted, see the errors above: they stay as they are" + o.aboutPlaceholders(result.Warnings))
	case o.diff && changed > 0:
		return exitWouldChange, nil
	}
	return exitConverted, nil
}

// placeholder matches a placeholder for a value that another tool inserts later: ${NAME}, $(NAME) or {{NAME}}.
var placeholder = regexp.MustCompile(`\$[{(][A-Za-z_][A-Za-z0-9_]*[})]|\{\{ *[A-Za-z_][A-Za-z0-9_-]* *\}\}`)

// aboutBraces returns advice for input that can't be read, if it has placeholders such as {{NAME}}, and "" otherwise.
func (o options) aboutBraces(inputs []input) string {
	for _, in := range inputs {
		for _, found := range placeholder.FindAll(in.Data, -1) {
			if found[0] == '{' && isVariable(found) && !o.allowVariables {
				return fmt.Sprintf("\n--allow-variables accepts placeholders such as %s", found)
			}
		}
	}
	return ""
}

// aboutPlaceholders returns advice if an error among the warnings quotes a placeholder, and "" otherwise.
func (o options) aboutPlaceholders(warnings conversion.Warnings) string {
	for _, w := range warnings {
		if found := placeholder.FindString(w.Message); w.Severity == conversion.SeverityError && found != "" {
			return fmt.Sprintf(". Placeholders such as %s are no values of the API: fill them in before (with envsubst, say), or let them through with --allow-variables", found)
		}
	}
	return ""
}

// validatePool returns a function that finds errors in a pool that the API accepts but a controller on AWS refuses: mainly label keys that
// AWS's vocabulary restricts or allows.
func validatePool() func(*api.NodePool) field.ErrorList {
	lookup := instancetype.Vocabulary().Compile()
	return func(pool *api.NodePool) field.ErrorList { return requirements.ValidateNodePool(pool, lookup) }
}

// validateRequirements returns a function that finds such errors in the requirements of NodeClaims and NodeOverlays.
func validateRequirements() func([]api.NodeSelectorRequirementWithMinValues, *field.Path) field.ErrorList {
	lookup := instancetype.Vocabulary().Compile()
	return func(entries []api.NodeSelectorRequirementWithMinValues, path *field.Path) field.ErrorList {
		return requirements.ValidateRequirements(entries, lookup, path)
	}
}

func (o options) print(objects []convert.Converted, stdout io.Writer) error {
	switch o.output {
	case outputJSON:
		return convert.WriteJSON(stdout, objects)
	case outputName:
		for _, c := range objects {
			kind := c.Object.GetObjectKind().GroupVersionKind()
			name := strings.ToLower(kind.Kind)
			if kind.Group != "" {
				name += "." + kind.Group
			}
			if _, err := fmt.Fprintln(stdout, name+"/"+c.Object.GetName()); err != nil {
				return err
			}
		}
		return nil
	default:
		var text bytes.Buffer
		if err := convert.WriteYAML(&text, objects); err != nil {
			return err
		}
		if printable.Text(text.String()) != text.String() {
			// The text has control characters, which are escaped in all output. Escapes would change values in YAML, but not in JSON, and
			// JSON is also YAML.
			return convert.WriteJSON(stdout, objects)
		}
		_, err := text.WriteTo(stdout)
		return err
	}
}

// codesOf lists the codes of warnings, without duplicates.
func codesOf(warnings conversion.Warnings) string {
	var codes []string
	for _, w := range warnings {
		if !slices.Contains(codes, string(w.Code)) {
			codes = append(codes, string(w.Code))
		}
	}
	return strings.Join(codes, ", ")
}
