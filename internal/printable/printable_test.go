package printable_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/drawknife/drawknife/internal/printable"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, été, 日本\tx\n": "plain text, été, 日本\tx\n",
		"\x1b]0;pwned\a":           `\u001b]0;pwned\u0007`,
		"\x1b[31mred":              `\u001b[31mred`,
		"a\rb\r\nc\r":              "a\\u000db\r\nc\\u000d",
		"\u009b31m \u0085":         `\u009b31m \u0085`,
		"\u202egnp.exe\u2066":      `\u202egnp.exe\u2066`,
		"\xff\x9b\xe2\x80":         `\ufffd\ufffd\u00e2\u0080`,
		"\U000e0041":               `\udb40\udc41`,
		"\x7f\x00\x08":             `\u007f\u0000\u0008`,
	} {
		if got := printable.Text(in); got != want {
			t.Errorf("%q is printed as %q, want %q", in, got, want)
		}
	}
}

// However text is cut into writes, the same comes out, and the program's own colours with it; nobody else's.
func TestWriter(t *testing.T) {
	for cut := 1; cut < 60; cut++ {
		var out bytes.Buffer
		w := printable.NewWriter(&out)
		text := "été " + w.Paint("1") + "bold" + w.Paint("0") + " \x1b[1mnot\x1b[0m \u202e\xff\r\n" + strings.TrimSuffix(w.Paint("1"), "m")
		for rest := []byte(text); len(rest) > 0; {
			n := min(cut, len(rest))
			if written, err := w.Write(rest[:n]); written != n || err != nil {
				t.Fatal(written, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		want := "été \x1b[1mbold\x1b[0m \\u001b[1mnot\\u001b[0m \\u202e\\ufffd\r\n"
		if got := out.String(); !strings.HasPrefix(got, want) || strings.Contains(got[len(want):], "\x1b") {
			t.Errorf("cut into %d: %q\nwant %q", cut, got, want)
		}
	}
}

// FuzzText: what comes out steers nothing, and printing it again changes nothing; of JSON the meaning stays.
func FuzzText(f *testing.F) {
	f.Add("\x1b]0;x\a")
	f.Add("{\"a\": \"\u202e\"}")
	f.Fuzz(func(t *testing.T, text string) {
		out := printable.Text(text)
		if !utf8.ValidString(out) || printable.Text(out) != out || strings.ContainsAny(strings.ReplaceAll(out, "\r\n", ""), "\x1b\a\r\u202e\u009b") {
			t.Errorf("%q is printed as %q", text, out)
		}
		var before, after any
		if utf8.ValidString(text) && json.Unmarshal([]byte(text), &before) == nil && strings.TrimSpace(text) == text {
			a, _ := json.Marshal(before)
			if err := json.Unmarshal([]byte(out), &after); err != nil {
				return // a byte order mark or a lone carriage return between values
			}
			if b, _ := json.Marshal(after); string(a) != string(b) {
				t.Errorf("%q means %s, and then %s", text, a, b)
			}
		}
	})
}
