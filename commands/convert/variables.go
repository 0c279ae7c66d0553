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

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/aws/convert"
)

// variable matches a variable, which another tool replaces by a value before the manifests are applied: ${NAME}, $(NAME), <NAME> or {{NAME}}.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][^}\s]*\}|\$\([A-Za-z_][A-Za-z0-9_.]*\)|<[A-Z][A-Z0-9_-]*>|\{\{ *[A-Za-z_][A-Za-z0-9_-]* *\}\}`)

// isVariable reports whether text that matches variable is one. Helm's actions without arguments, such as {{ end }}, are no variables.
func isVariable(found []byte) bool {
	return !slices.Contains([]string{"end", "else", "break", "continue"}, strings.Trim(string(found), "{} "))
}

// numeric matches a line with a field that holds a quantity or a number.
var numeric = regexp.MustCompile(`^\s*(- +)?["']?(cpu|memory|ephemeral-storage|pods|nodes|volumeSize|iops|maxPods|podsPerCore|[a-z0-9.-]+/[a-zA-Z0-9._-]+)["']?\s*:`)

// selector matches a field that selects AWS resources, and idField the text of a line before an ID.
var (
	selector = regexp.MustCompile(`\b(subnet|securityGroup|ami|capacityReservation|placementGroup)Selector`)
	idField  = regexp.MustCompile(`\b(id|aws-ids|aws::ids)["']?\s*:\s*["']?([^"'\s]*,\s*)?$`)
)

// idPrefix is the beginning of IDs that a selector contains.
var idPrefix = map[string]string{"subnet": "subnet-", "securityGroup": "sg-", "ami": "ami-", "capacityReservation": "cr-", "placementGroup": "pg-"}

const (
	// standInPrefix and standInSuffix enclose the number of a variable in its stand-in. A stand-in for text must be a valid Kubernetes
	// name.
	standInPrefix, standInSuffix = "dkvar", "z"
	// firstNumber is the first stand-in for a variable in a field that holds a number.
	firstNumber = 20001
)

// The type variables replaces variables with stand-ins: names in text fields, IDs in selectors, and numbers in numeric fields.
type variables struct {
	standIns map[string]string // the key is isNumber ("true" or "false"), the prefix of IDs and the variable's spelling
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
	selects := ""
	for line := range bytes.Lines(data) {
		isNumber := numeric.Match(line)
		if m := selector.FindSubmatch(line); m != nil {
			selects = idPrefix[string(m[1])]
		}
		end := 0
		for _, at := range variable.FindAllIndex(line, -1) {
			found := line[at[0]:at[1]]
			if !isVariable(found) {
				continue
			}
			prefix := ""
			if idField.Match(line[:at[0]]) {
				prefix = selects
			}
			out.Write(line[end:at[0]])
			out.WriteString(v.standIn(string(found), prefix, isNumber))
			end = at[1]
		}
		out.Write(line[end:])
	}
	return out.Bytes()
}

// standIn returns the stand-in for a variable: a text that is not in the input.
func (v *variables) standIn(spelling, prefix string, isNumber bool) string {
	key := strconv.FormatBool(isNumber) + prefix + spelling
	if s := v.standIns[key]; s != "" {
		return s
	}
	for {
		s := prefix + standInPrefix + strconv.Itoa(v.next) + standInSuffix
		if isNumber {
			s = strconv.Itoa(firstNumber + v.next)
		}
		if v.next++; !bytes.Contains(v.all, []byte(s)) && !strings.HasSuffix(s, "0") {
			v.standIns[key], v.spelling[s] = s, spelling
			return s
		}
	}
}

var standIns = regexp.MustCompile(`(?:(?:subnet|sg|ami|cr|pg)-)?` + standInPrefix + `[0-9]+` + standInSuffix + `|[0-9]{5,}`)

// show replaces the stand-ins in the text with their variables.
func (v *variables) show(text string) string {
	if v == nil {
		return text
	}
	return standIns.ReplaceAllStringFunc(text, func(found string) string {
		if spelling, ok := v.spelling[found]; ok {
			return spelling
		}
		// The input may have the prefix of an ID before a variable.
		if prefix, rest, cut := strings.Cut(found, standInPrefix); cut && prefix != "" {
			if spelling, ok := v.spelling[standInPrefix+rest]; ok {
				return prefix + spelling
			}
		}
		return found
	})
}

// lost returns the variables of converted documents that no converted object contains. Warnings that quote an instance profile name its
// variables: the role that replaces the profile is not part of the input.
func (v *variables) lost(before []string, result convert.Result) []string {
	var after strings.Builder
	for _, w := range result.Warnings {
		if w.Code == conversion.CodeRolePlaceholder {
			after.WriteString(w.Message)
		}
	}
	objects := result.Objects
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
func (o options) checkVariables(v *variables, r *rewriter, result convert.Result) error {
	if v == nil || o.convert.Force {
		return nil
	}
	if lost := v.lost(r.before, result); len(lost) > 0 {
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
