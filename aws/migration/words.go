package migration

import (
	"errors"
	"io"
	"strings"
)

// isEnd reports whether the error of an archive reader means the end of the text, including an end in the middle of a part.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// shellWords divides a command line into words in the same way as a POSIX shell or PowerShell, for the kinds of quotes that occur in user
// data. A backslash before a line break continues the line. Any other line break after the first word ends the command.
func shellWords(text string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	open := false
	end := func() {
		if open {
			out = append(out, word.String())
			word.Reset()
			open = false
		}
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\\\r\n", " "), "\\\n", " ")
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == '\n' && (open || len(out) > 0):
			end()
			return out
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			end()
		default:
			word.WriteRune(c)
			open = true
		}
	}
	end()
	return out
}
