//go:build linux || darwin

// Package hostile contains inputs that are made to crash programs or to make them use too much memory or time. It runs commands with these
// inputs. It is for tests.
package hostile

import (
	"embed"
	"fmt"
	"io"
	"path"
	"strings"
)

// files are the small inputs.
//
//go:embed testdata
var files embed.FS

// Input is one hostile input for a command.
type Input struct {
	// Name is the input's name for people.
	Name string
	// Large means that the input is generated only if a test asks for large inputs.
	Large bool
	// Write writes the input. It is nil if the input is the existing file with the name Path, which never ends.
	Write func(io.Writer) error
	Path  string
}

// Inputs returns the files of testdata/ and the generated large inputs.
func Inputs() ([]Input, error) {
	entries, err := files.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var all []Input
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("testdata", e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, Input{Name: e.Name(), Write: func(w io.Writer) error { _, err := w.Write(text); return err }})
	}
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c}]\n"
	return append(all,
		repeated("digits", false, pod+"  overhead: {cpu: \"", "1", 100_000, "\"}\n"),
		repeated("deep-yaml", false, "a: ", "[", 100_000, "\n"),
		repeated("deep-json", false, `{"a":`, `[`, 100_000, "\n"),
		repeated("lists", false, "", `{"apiVersion":"v1","kind":"List","items":[`, 4_000, `"`+strings.Repeat("x", 300_000)+`"`+strings.Repeat("]}", 4_000)+"\n"),
		repeated("terms", true, pod+"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n",
			"{matchExpressions: [{key: example.com/a, operator: In, values: [b]}]},\n", 20_000, "]}}}\n"),
		numbered("expressions", pod+"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [\n",
			"{key: example.com/a%d, operator: In, values: [b]},\n", 20_000, "]}]}}}\n"),
		numbered("selectors", pod+"  nodeSelector:\n", "    example.com/a%d: b\n", 20_000, ""),
		repeated("scalar", true, pod+"  hostname: ", "x", 200<<20, "\n"),
		repeated("scalar-json", true, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"a":"`, "x", 200<<20, `"}}}`+"\n"),
		repeated("replicas", true, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 300000, template: {spec: {containers: [{name: c}]}}}\n", "", 0, ""),
		repeated("objects", true, "", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 100_000, ""),
		Input{Name: "endless", Large: true, Path: "/dev/zero"},
	), nil
}

// repeated returns an input with the text before, then the text part many times, and then the text after.
func repeated(name string, large bool, before, part string, times int, after string) Input {
	return Input{Name: name, Large: large, Write: func(w io.Writer) error {
		const chunk = 1 << 16
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		for left := times; left > 0; {
			n := min(left, max(1, chunk/len(part)))
			if _, err := io.WriteString(w, strings.Repeat(part, n)); err != nil {
				return err
			}
			left -= n
		}
		_, err := io.WriteString(w, after)
		return err
	}}
}

// numbered returns a large input: the text of the parameter before, then many copies of the text of the parameter part, then the text of
// the parameter after. In each copy, %d is replaced by another number.
func numbered(name, before, part string, times int, after string) Input {
	return Input{Name: name, Large: true, Write: func(w io.Writer) error {
		var text strings.Builder
		text.WriteString(before)
		for i := range times {
			fmt.Fprintf(&text, part, i)
		}
		text.WriteString(after)
		_, err := io.WriteString(w, text.String())
		return err
	}}
}
