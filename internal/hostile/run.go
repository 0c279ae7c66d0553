//go:build linux || darwin

package hostile

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// The bounds of one run.
const (
	maxProcessor = 10 * time.Second
	maxMemory    = 1 << 30
	// freeBytes is the size from which on memory may grow with the input, to largeFactor times its size.
	freeBytes   = 64 << 20
	largeFactor = 4
	// endlessBytes is what is read of an input without an end at most.
	endlessBytes = 1 << 30
)

const (
	child = "DRAWKNIFE_HOSTILE_CHILD"
	// between stands between the arguments there: names of files have anything else in them.
	between = "\x1f"
)

// Run has a command read each input, from a file whose name takes the place of "FILE" in each of the command lines, in a process
// of its own. It may refuse the input; it may not panic, take more than its share of processor time and memory, or print what
// steers a terminal. command is the name of the test that calls Child. With all, the large inputs are run too, and all lines with each;
// without, the first line alone.
func Run(t *testing.T, command string, all bool, lines ...string) {
	inputs, err := Inputs()
	if err != nil {
		t.Fatal(err)
	}
	if !all {
		lines = lines[:1]
	}
	for _, input := range inputs {
		if input.Large && !all {
			continue
		}
		t.Run(input.Name, func(t *testing.T) { input.feed(t, command, lines) })
	}
}

// RunOne is Run for the input of that name alone, for a line that only one command has.
func RunOne(t *testing.T, name, command, line string) {
	inputs, err := Inputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		if input.Name == name {
			input.feed(t, command, []string{line})
			return
		}
	}
	t.Fatalf("no input is called %q", name)
}

// feed runs the command once for each line, with the input instead of "FILE".
func (input Input) feed(t *testing.T, command string, lines []string) {
	file, size := input.Path, int64(endlessBytes)
	if file == "" {
		file = filepath.Join(t.TempDir(), input.Name+".yaml")
		size = write(t, input, file)
	}
	for i, line := range lines {
		t.Run(strconv.Itoa(i), func(t *testing.T) { run(t, command, arguments(line, file), size) })
	}
}

// RunNames is Run with files of hostile names: such that can't be read, such that are not there, and the folder with all of them in
// place of "FOLDER". Without all, a few names are tried.
func RunNames(t *testing.T, command string, all bool, lines ...string) {
	folder := t.TempDir()
	names := []string{
		"\x1b[31mred\x1b]0;owned\a.yaml", "\u202egnp\u2066.yaml", "c1\u009b31m.yaml", "raw\x9b31m\xff.yaml", "a\rb\r0.yaml", "two\nlines.yaml",
		"-o.yaml", "%s%n%[1]d%!.yaml", "$(reboot) `x` ;.yaml", "[](){}*?.yaml", strings.Repeat("n", 250) + ".yaml", strings.Repeat("\x1b", 250) + ".yaml",
	}
	if !all {
		names = names[:2]
	}
	for _, name := range names {
		file := filepath.Join(folder, name)
		// A file system may refuse a name; such a file is not tested.
		if err := os.WriteFile(file, []byte("a: [\n"), 0o600); err != nil {
			t.Logf("%q: %v", name, err)
		}
	}
	for i, line := range lines {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			if strings.Contains(line, "FOLDER") {
				run(t, command, arguments(strings.ReplaceAll(line, "FOLDER", "FILE"), folder), 0)
				return
			}
			for _, name := range names {
				run(t, command, arguments(line, filepath.Join(folder, name)), 0)
				if !strings.Contains(line, "FILE/") { // which is not there either
					run(t, command, arguments(line, filepath.Join(folder, "no", name)), 0)
				}
			}
		})
	}
}

// arguments are the words of a line, with the name of the file instead of "FILE".
func arguments(line, file string) []string {
	words := strings.Fields(line)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "FILE", file)
	}
	return words
}

// Child returns the arguments of the command if this is a process that Run has started: it must run the command and exit with its
// status.
func Child() (args []string, ok bool) {
	text, ok := os.LookupEnv(child)
	return strings.Split(text, between), ok
}

func write(t *testing.T, input Input, file string) int64 {
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := input.Write(f); err != nil {
		t.Fatal(err)
	}
	var info fs.FileInfo
	if info, err = f.Stat(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// run runs the command and holds it to the bounds for an input of that size.
func run(t *testing.T, command string, args []string, size int64) {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+command+"$")
	process.Env = append(os.Environ(), child+"="+strings.Join(args, between))
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
		t.Errorf("%q: ended with %v: %.2000s", args, state, &output)
	}
	used := state.UserTime() + state.SystemTime()
	if used > maxProcessor {
		t.Errorf("%q: took %s of processor time, more than %s", args, used, maxProcessor)
	}
	allowed := int64(maxMemory)
	if size > freeBytes {
		allowed = max(allowed, largeFactor*size)
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		if resident := int64(usage.Maxrss) << 10; resident > allowed {
			t.Errorf("%q: took %d MiB of memory, more than %d", args, resident>>20, allowed>>20)
		}
		if used > time.Second || usage.Maxrss > 512<<10 {
			t.Logf("%q: %s, %d MiB", args, used, usage.Maxrss>>10)
		}
	}
	for _, steering := range []string{"\x1b", "\a", "\u009b", "\u202e", "\u2066", "\r0"} {
		if strings.Contains(output.String(), steering) {
			t.Errorf("%q: prints %q: %.500q", args, steering, &output)
		}
	}
	if !utf8.Valid(output.Bytes()) {
		t.Errorf("%q: prints what is no UTF-8: %.500q", args, &output)
	}
}
