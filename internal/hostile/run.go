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

// These constants are the limits of one run of a command. maxMemory is in bytes.
const (
	maxProcessor = 10 * time.Second // the processor time on a computer of usual speed; see bound
	maxMemory    = 1 << 30
	// If an input is larger than freeBytes, the command may use up to largeFactor times the size of the input as memory.
	freeBytes   = 64 << 20
	largeFactor = 4
	// endlessBytes is the number of bytes of an endless input that a command may read.
	endlessBytes = 1 << 30
)

const (
	child = "DRAWKNIFE_HOSTILE_CHILD"
	// between separates the arguments in the environment variable child, because names of files may contain any character that is usually a
	// separator.
	between = "\x1f"
)

// Run runs a command with each input in a separate process. The name of the input's file replaces "FILE" in each of the command lines. The
// command may refuse the input. It must not panic, use too much processor time or memory, or print control characters of a terminal.
// command is the name of the test that calls Child. If all is true, Run also uses the large inputs, and runs all command lines with each
// input. If all is false, it runs only the first command line.
func Run(t *testing.T, command string, all bool, lines ...string) {
	inputs, err := Inputs()
	if err != nil {
		t.Fatal(err)
	}
	if !all {
		lines = lines[:1]
	}
	processor := bound(t)
	for _, input := range inputs {
		if input.Large && !all {
			continue
		}
		t.Run(input.Name, func(t *testing.T) { input.feed(t, command, processor, lines) })
	}
}

// RunOne does the same as Run, but only for the input of this name and with the given command line.
func RunOne(t *testing.T, name, command, line string) {
	inputs, err := Inputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		if input.Name == name {
			input.feed(t, command, bound(t), []string{line})
			return
		}
	}
	t.Fatalf("no input is called %q", name)
}

// feed runs the command once for each line, with the path of the input in place of "FILE".
func (input Input) feed(t *testing.T, command string, processor time.Duration, lines []string) {
	file, size := input.Path, int64(endlessBytes)
	if file == "" {
		file = filepath.Join(t.TempDir(), input.Name+".yaml")
		size = write(t, input, file)
	}
	for i, line := range lines {
		t.Run(strconv.Itoa(i), func(t *testing.T) { run(t, command, arguments(line, file), size, processor) })
	}
}

// RunNames is like Run, but with files that have hostile names: files that can't be read, and files that don't exist. A folder with all of
// these files replaces "FOLDER" in the command lines. If all is false, RunNames tries only a few names.
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
		// If the file system refuses a name, this name is not tested.
		if err := os.WriteFile(file, []byte("a: [\n"), 0o600); err != nil {
			t.Logf("%q: %v", name, err)
		}
	}
	processor := bound(t)
	for i, line := range lines {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			if strings.Contains(line, "FOLDER") {
				run(t, command, arguments(strings.ReplaceAll(line, "FOLDER", "FILE"), folder), 0, processor)
				return
			}
			for _, name := range names {
				run(t, command, arguments(line, filepath.Join(folder, name)), 0, processor)
				if !strings.Contains(line, "FILE/") { // with "FILE/", the command line would name a missing file in a missing folder
					run(t, command, arguments(line, filepath.Join(folder, "no", name)), 0, processor)
				}
			}
		})
	}
}

// arguments returns the words of a line, with the name of the file in place of "FILE".
func arguments(line, file string) []string {
	words := strings.Fields(line)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "FILE", file)
	}
	return words
}

// Child returns the arguments of the command, and true if Run has started this process. Such a process must run the command and exit with
// the command's status.
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

// run runs the command with an input of the given size in bytes, and checks the limits. processor is the limit of processor time.
func run(t *testing.T, command string, args []string, size int64, processor time.Duration) {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+command+"$")
	process.Env = append(os.Environ(), child+"="+strings.Join(args, between))
	var output bytes.Buffer
	process.Stdout, process.Stderr = &output, &output
	// The timeout ends a command that does not end by itself.
	timer := time.AfterFunc(5*time.Minute, func() { _ = process.Process.Kill() })
	defer timer.Stop()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // ignore the exit status, because the command may refuse the input
	state := process.ProcessState
	if code := state.ExitCode(); code < 0 || strings.Contains(output.String(), "goroutine ") {
		t.Errorf("%q: ended with %v: %.2000s", args, state, &output)
	}
	used := state.UserTime() + state.SystemTime()
	if used > processor {
		t.Errorf("%q: took %s of processor time, more than %s", args, used, processor)
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
