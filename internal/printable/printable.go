// Package printable prevents text of any origin from controlling the terminal that it is printed on: it can't change colours or titles,
// move the cursor or reverse lines.
package printable

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// steers reports whether a terminal or an editor acts on the character instead of showing it.
func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0: // control characters, C0 and C1
		return true
	case r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069: // the direction of text
		return true
	case r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f: // line and paragraph separators, and invisible characters
		return true
	}
	return false
}

// Text returns the text with every control character replaced by its escape sequence in JSON, for example \u001b. It does not change line
// ends and tabs.
func Text(text string) string {
	if strings.IndexFunc(text, steers) < 0 && utf8.ValidString(text) {
		return text
	}
	var out bytes.Buffer
	w := Writer{w: &out}
	_, _ = w.Write([]byte(text)) // a write to a buffer never fails
	_ = w.Flush()
	return out.String()
}

// Writer escapes control characters, as Text does, in the text that it writes. It is not safe for concurrent use.
type Writer struct {
	w io.Writer
	// mark is a random text that follows the escape character in the sequences that Paint returns.
	mark string
	// held is the end of the text that has been passed to Write, if it may be an incomplete character or sequence. It is written by a later
	// call of Write or Flush.
	held []byte
}

// NewWriter returns a writer to w. Flush it at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, mark: rand.Text()} }

// Paint returns the escape sequence for a rendition of the terminal, such as "1" for bold. This writer writes the sequence as a terminal
// needs it. Untrusted text can't contain the sequence, because it has a random mark that differs for each writer.
func (w *Writer) Paint(rendition string) string { return "\x1b" + w.mark + "[" + rendition + "m" }

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.w }

// longestRendition is the length of "38;5;255".
const longestRendition = 8

// Write writes the text, with control characters escaped.
func (w *Writer) Write(text []byte) (int, error) {
	data := append(w.held, text...)
	w.held = nil
	out := make([]byte, 0, len(data)+16)
	for len(data) > 0 {
		if c := data[0]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			out = append(out, c)
			data = data[1:]
			continue
		}
		n, ok := w.next(&out, data)
		if !ok {
			w.held = bytes.Clone(data)
			break
		}
		data = data[n:]
	}
	if _, err := w.w.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush writes the text that Write has held back.
func (w *Writer) Flush() error {
	var out []byte
	for _, b := range w.held {
		out = escape(out, rune(b))
	}
	w.held = nil
	if len(out) == 0 {
		return nil
	}
	_, err := w.w.Write(out)
	return err
}

// next writes the character or the escape sequence at the beginning of data, and returns its length. It returns false if data contains only
// a part of the character or sequence.
func (w *Writer) next(out *[]byte, data []byte) (int, bool) {
	switch {
	case data[0] == 0x1b:
		own := len(w.mark) > 0 && bytes.HasPrefix(data[1:], []byte(w.mark[:min(len(w.mark), len(data)-1)]))
		if !own {
			break
		}
		end := bytes.IndexByte(data, 'm')
		if most := 1 + len(w.mark) + 1 + longestRendition + 1; end < 0 && len(data) < most {
			return 0, false
		}
		if end > 0 {
			*out = append(append(*out, 0x1b), data[1+len(w.mark):end+1]...)
			return end + 1, true
		}
	case data[0] == '\r':
		if len(data) == 1 {
			return 0, false
		}
		if data[1] == '\n' { // a carriage return and line feed, the line end of Windows
			*out = append(*out, '\r')
			return 1, true
		}
	case data[0] >= 0x80 && !utf8.FullRune(data):
		return 0, false
	}
	r, n := utf8.DecodeRune(data)
	switch {
	case r == utf8.RuneError && n <= 1:
		*out = escape(*out, utf8.RuneError)
	case steers(r):
		*out = escape(*out, r)
	default:
		*out = append(*out, data[:n]...)
	}
	return n, true
}

func escape(out []byte, r rune) []byte {
	if r == '\r' || r < 0x10000 {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	r -= 0x10000
	return fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
}
