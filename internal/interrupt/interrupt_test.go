package interrupt

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"
)

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*Done)
		want string
	}{
		"nothing":  {func(*Done) {}, "c: interrupted: nothing was written\n"},
		"a file":   {func(d *Done) { d.Wrote("a") }, "c: interrupted: complete are [\"a\"], other files are not written\n"},
		"printing": {func(d *Done) { _, _ = d.Printing(io.Discard).Write([]byte("x")) }, "c: interrupted: what was printed is not complete\n"},
		"both": {func(d *Done) { d.Wrote("a"); _, _ = d.Printing(io.Discard).Write([]byte("x")) },
			"c: interrupted: complete are [\"a\"], other files are not written; what was printed is not complete\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			signals, block := make(chan os.Signal, 1), make(chan struct{})
			defer close(block)
			code := run("c", &stderr, signals, func(d *Done) int {
				c.do(d)
				signals <- os.Interrupt
				<-block
				return 0
			})
			if code != Status || stderr.String() != c.want {
				t.Errorf("%d, %q", code, &stderr)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	block := make(chan struct{})
	defer close(block)
	if code := Until(ctx, "c", &stderr, func(*Done) int { cancel(); <-block; return 0 }); code != Status || stderr.String() != "c: interrupted: nothing was written\n" {
		t.Errorf("%d, %q", code, &stderr)
	}
	if code := Until(t.Context(), "c", io.Discard, func(*Done) int { return 4 }); code != 4 {
		t.Error(code)
	}
	if code := Run("c", io.Discard, func(*Done) int { return 3 }); code != 3 {
		t.Error(code)
	}
}
