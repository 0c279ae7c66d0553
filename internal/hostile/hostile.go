//go:build linux || darwin

// Package hostile has inputs that are meant to hurt whoever reads them, and runs a command over them. It is for tests.
package hostile

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"
)

// files are the inputs that are small.
//
//go:embed testdata
var files embed.FS

// Input is one of them.
type Input struct {
	// Name for people.
	Name string
	// Large inputs are made only where they are asked for.
	Large bool
	// Write writes the input.
	Write func(io.Writer) error
}

// Inputs are the files of testdata/ and the large ones, which are generated.
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
		repeated("terms", true, pod+"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n",
			"{matchExpressions: [{key: example.com/a, operator: In, values: [b]}]},\n", 20_000, "]}}}\n"),
		numbered("expressions", pod+"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [\n",
			"{key: example.com/a%d, operator: In, values: [b]},\n", 20_000, "]}]}}}\n"),
		numbered("selectors", pod+"  nodeSelector:\n", "    example.com/a%d: b\n", 20_000, ""),
		repeated("scalar", true, pod+"  hostname: ", "x", 200<<20, "\n"),
		repeated("scalar-json", true, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"a":"`, "x", 200<<20, `"}}}`+"\n"),
		repeated("replicas", true, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 300000, template: {spec: {containers: [{name: c}]}}}\n", "", 0, ""),
		repeated("objects", true, "", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 100_000, ""),
	), nil
}

// repeated is a text with one part many times in its middle.
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

// numbered is a large text with one part many times in its middle, each time with another number in place of %d.
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

// The bounds of one run.
const (
	maxProcessor = 10 * time.Second
	maxMemory    = 1 << 30
	// freeBytes is the size from which on memory may grow with the input, to largeFactor times its size.
	freeBytes   = 64 << 20
	largeFactor = 4
)

const child = "DRAWKNIFE_HOSTILE_CHILD"

// Run has a command read each input, from a file whose name takes the place of "FILE" in args, in a process of its own. It may
// refuse the input; it may not panic, take more than its share of processor time and memory, or print what steers a terminal.
// command is the name of the test that calls Child. With all, the large inputs are run too.
func Run(t *testing.T, command string, all bool, args ...string) {
	inputs, err := Inputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		if input.Large && !all {
			continue
		}
		t.Run(input.Name, func(t *testing.T) { run(t, input, command, args) })
	}
}

// Child returns the arguments of the command if this is a process that Run has started: it must run the command and exit with its
// status.
func Child() (args []string, ok bool) {
	text, ok := os.LookupEnv(child)
	return strings.Split(text, "\n"), ok
}

func run(t *testing.T, input Input, command string, args []string) {
	file := path.Join(t.TempDir(), input.Name+".yaml")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := input.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Split(strings.ReplaceAll(strings.Join(args, "\n"), "FILE", file), "\n")
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+command+"$")
	process.Env = append(os.Environ(), child+"="+strings.Join(named, "\n"))
	var output bytes.Buffer
	process.Stdout, process.Stderr = &output, &output
	// Whatever runs away is ended long before a person would.
	timer := time.AfterFunc(5*time.Minute, func() { _ = process.Process.Kill() })
	defer timer.Stop()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // a refusal is as good
	state := process.ProcessState
	if code := state.ExitCode(); code < 0 || strings.Contains(output.String(), "goroutine ") {
		t.Errorf("ended with %v: %.2000s", state, &output)
	}
	if used := state.UserTime() + state.SystemTime(); used > maxProcessor {
		t.Errorf("took %s of processor time, more than %s", used, maxProcessor)
	}
	allowed := int64(maxMemory)
	if info.Size() > freeBytes {
		allowed = max(allowed, largeFactor*info.Size())
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		if resident := int64(usage.Maxrss) << 10; resident > allowed {
			t.Errorf("took %d MiB of memory, more than %d", resident>>20, allowed>>20)
		}
		t.Logf("%s, %d MiB", state.UserTime()+state.SystemTime(), usage.Maxrss>>10)
	}
	for _, steering := range []string{"\x1b", "\a", "\u009b", "\u202e", "\u2066", "\r0"} {
		if strings.Contains(output.String(), steering) {
			t.Errorf("prints %q: %.500q", steering, &output)
		}
	}
}
