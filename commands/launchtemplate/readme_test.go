package launchtemplate

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the outputs in README.md again")

// The README shows what the command prints, for every family: each block of shell that runs it is followed by a block
// with the output.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../../examples/launchtemplate/README.md")
	if err != nil {
		t.Fatal(err)
	}
	const command, here = "go run ./examples/launchtemplate ", "examples/launchtemplate/"
	lines := strings.SplitAfter(string(text), "\n")
	var out strings.Builder
	families := map[string]bool{}
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		line := strings.TrimSuffix(lines[i], "\n")
		args, ok := strings.CutPrefix(line, command)
		if !ok || i == 0 || lines[i-1] != "```sh\n" {
			continue
		}
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(strings.ReplaceAll(args, here, "../../"+here)), nil, &stdout, &stderr); code != exitPrinted {
			t.Fatalf("%s: status %d, %s", line, code, &stderr)
		}
		_, name, _ := strings.Cut(line, "/classes/")
		families[strings.Fields(name)[0]] = true
		// The end of the shell block, an empty line, the opening of the next block, and its content up to its end.
		for range 3 {
			i++
			out.WriteString(lines[i])
		}
		if !strings.HasPrefix(lines[i], "```") {
			t.Fatalf("%s: no output follows", line)
		}
		out.WriteString(strings.TrimSuffix(stdout.String(), "\n") + "\n")
		for lines[i+1] != "```\n" {
			i++
		}
	}
	files, err := os.ReadDir("../../examples/launchtemplate/classes")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !families[file.Name()] && file.Name() != "pool.yaml" {
			t.Errorf("the README does not show classes/%s", file.Name())
		}
	}
	if *update {
		if err := os.WriteFile("../../examples/launchtemplate/README.md", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), out.String()); diff != "" {
		t.Errorf("README.md (-there +printed):\n%s", diff)
	}
}
