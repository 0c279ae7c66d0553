package spelling_test

import (
	"errors"
	"flag"
	"io"
	"testing"

	"github.com/drawknife/drawknife/internal/spelling"
)

func TestFlag(t *testing.T) {
	flags := flag.NewFlagSet("x", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.String("region", "", "")
	flags.Int("max-replicas", 0, "")
	for arg, want := range map[string]string{
		"-reigon":          "there is no flag --reigon; did you mean --region?",
		"--max-replica=3":  "there is no flag --max-replica; did you mean --max-replicas?",
		"--what":           "there is no flag --what",
		"--max-replicas=x": `invalid value "x" for flag -max-replicas: parse error`,
	} {
		if err := spelling.Flag(flags.Parse([]string{arg}), flags); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
	if err := spelling.Flag(flags.Parse([]string{"-h"}), flags); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help: %v", err)
	}
	if err := spelling.Flag(nil, flags); err != nil {
		t.Error(err)
	}
}
