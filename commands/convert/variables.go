package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/aws/convert"
)

// variable matches a variable, which another tool replaces by a value before the manifests are applied: ${NAME}, $(NAME) or <NAME>.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][^}\s]*\}|\$\([A-Za-z_][A-Za-z0-9_.]*\)|<[A-Z][A-Z0-9_-]*>`)

// numeric matches a line with a field that holds a quantity or a number.
var numeric = regexp.MustCompile(`^\s*(- +)?["']?(cpu|memory|ephemeral-storage|pods|nodes|volumeSize|iops|maxPods|podsPerCore|[a-z0-9.-]+/[a-zA-Z0-9._-]+)["']?\s*:`)

const (
	// standInPrefix and standInSuffix enclose the number of a variable in its stand-in. A stand-in for text must be a valid Kubernetes
	// name.
	standInPrefix, standInSuffix = "dkvar", "z"
	// firstNumber is the first stand-in for a variable in a field that holds a number.
	firstNumber = 20001
)

// The type variables replaces variables with stand-ins: names in text fields, and numbers in numeric fields.
type variables struct {
	standIns map[string]string // the key is isNumber ("true" or "false") followed by the variable's spelling
	spelling map[string]string // by stand-in
	next     int
	all      []byte
}

// hideVariables replaces the variables of all inputs with stand-ins.
func hideVariables(inputs []input) *variables {
	v := &variables{standIns: map[string]string{}, spelling: map[string]string{}}
	for _, in := range inputs {
		v.all = append(v.all, in.Data...)
	}
	for i := range inputs {
		inputs[i].Data = v.hide(inputs[i].Data)
	}
	v.all = nil
	return v
}

func (v *variables) hide(data []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		isNumber := numeric.Match(line)
		out.Write(variable.ReplaceAllFunc(line, func(found []byte) []byte { return []byte(v.standIn(string(found), isNumber)) }))
	}
	return out.Bytes()
}

// standIn returns the stand-in for a variable: a text that is not in the input.
func (v *variables) standIn(spelling string, isNumber bool) string {
	key := strconv.FormatBool(isNumber) + spelling
	if s := v.standIns[key]; s != "" {
		return s
	}
	for {
		s := standInPrefix + strconv.Itoa(v.next) + standInSuffix
		if isNumber {
			s = strconv.Itoa(firstNumber + v.next)
		}
		if v.next++; !bytes.Contains(v.all, []byte(s)) && !strings.HasSuffix(s, "0") {
			v.standIns[key], v.spelling[s] = s, spelling
			return s
		}
	}
}

var standIns = regexp.MustCompile(standInPrefix + `[0-9]+` + standInSuffix + `|[0-9]{5,}`)

// show replaces the stand-ins in the text with their variables.
func (v *variables) show(text string) string {
	if v == nil {
		return text
	}
	return standIns.ReplaceAllStringFunc(text, func(found string) string {
		if spelling, ok := v.spelling[found]; ok {
			return spelling
		}
		return found
	})
}

// lost returns the variables of converted documents that no converted object contains.
func (v *variables) lost(before []string, objects []convert.Converted) []string {
	var after strings.Builder
	converted := map[int]bool{}
	for _, o := range objects {
		converted[o.Document] = true
		if text, err := json.Marshal(o.Object); err == nil {
			after.Write(text)
		}
	}
	var list []string
	for standIn, spelling := range v.spelling {
		had := false
		for i, text := range before {
			had = had || converted[i] && strings.Contains(text, standIn)
		}
		if had && !strings.Contains(after.String(), standIn) {
			list = append(list, spelling)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// checkVariables refuses a conversion that needs the value of a variable, or drops the variable.
func (o options) checkVariables(v *variables, r *rewriter, objects []convert.Converted) error {
	if v == nil || o.convert.Force {
		return nil
	}
	if lost := v.lost(r.before, objects); len(lost) > 0 {
		return fmt.Errorf("--allow-variables: the result does not have %s, because the conversion needs the value or drops the field: nothing is written; fill in the value first (for example with envsubst), or drop it with --force", strings.Join(lost, ", "))
	}
	return nil
}

// withVariables replaces variables with stand-ins, converts, and puts the variables back.
func (o options) withVariables(inputs []input, stdout, stderr io.Writer) (int, error) {
	var out, messages bytes.Buffer
	o.variables = hideVariables(inputs)
	code, err := o.convertInputs(inputs, &out, &messages)
	if err != nil {
		err = errors.New(o.variables.show(err.Error()))
	}
	if _, e := io.WriteString(stderr, o.variables.show(messages.String())); e != nil && err == nil {
		return exitOutput, e
	}
	if _, e := io.WriteString(stdout, o.variables.show(out.String())); e != nil && err == nil {
		return exitOutput, e
	}
	return code, err
}
