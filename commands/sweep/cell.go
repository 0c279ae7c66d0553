package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/interrupt"
)

// Bounds of what a cell may print.
const (
	maxAnswerBytes  = 128 << 20
	maxMessageBytes = 16 << 10
)

// passing reports whether an exit status of a command says nothing about its input: the run was interrupted, ran out of time, or a cloud did
// not answer. Such a cell has no result, and runs again.
func passing(status int) bool {
	return status == 3 || status == exitCloud || status == exitOutput || status == interrupt.Status
}

// runCell runs the command once. It returns no result if the same cell may succeed at another time; the error then says why.
func runCell(ctx context.Context, command commands.Command, cell Cell) (*result, error) {
	answer, messages := limited{most: maxAnswerBytes}, limited{most: maxMessageBytes}
	run := command.Begin()
	arguments, err := parse(run.Flags, cell.Arguments)
	if err == nil {
		err = run.Flags.Set("output", "json") // not an argument, because arguments after "--" are no flags
	}
	if err != nil {
		return &result{Status: exitInput, Messages: err.Error() + "\n"}, nil
	}
	status := run.Do(ctx, arguments, commands.Streams{In: strings.NewReader(""), Out: &answer, Err: &messages})
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if passing(status) {
		return nil, fmt.Errorf("%s ended with exit status %d: %s", command.Name, status, messages.text())
	}
	r := &result{Status: status, Messages: messages.text()}
	if answer.dropped {
		r.Messages += fmt.Sprintf("the answer is larger than %d bytes\n", maxAnswerBytes)
		return r, nil
	}
	r.Answer, err = timeless(answer.kept.Bytes())
	switch {
	case err != nil:
		r.Messages += "the answer is not JSON: " + err.Error() + "\n"
	case r.Answer == nil && r.Messages == "":
		r.Messages = "nothing was printed\n"
	}
	return r, nil
}

// parse parses flags that stand before, between and after other arguments, and returns the other arguments.
func parse(flags *flag.FlagSet, arguments []string) ([]string, error) {
	flags.SetOutput(io.Discard)
	var rest []string
	for {
		if err := flags.Parse(arguments); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return rest, nil
		}
		if consumed := len(arguments) - flags.NArg(); consumed > 0 && arguments[consumed-1] == "--" {
			return append(rest, flags.Args()...), nil
		}
		rest = append(rest, flags.Arg(0))
		arguments = flags.Args()[1:]
	}
}

// timeless returns the JSON object without durations, with sorted keys, and nil for no text.
func timeless(text []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var answer map[string]any
	if err := decoder.Decode(&answer); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the object")
	}
	forget(answer)
	return json.Marshal(answer)
}

// forget removes durations from the object, and from objects in it: they differ between two runs of the same command.
func forget(object map[string]any) {
	for _, key := range []string{"solveMillis", "compileMillis", "planMillis"} {
		delete(object, key)
	}
	for _, value := range object {
		if below, ok := value.(map[string]any); ok {
			forget(below)
		}
	}
}

// limited keeps the first bytes that are written to it.
type limited struct {
	kept    bytes.Buffer
	most    int
	dropped bool
}

func (l *limited) Write(text []byte) (int, error) {
	room := min(l.most-l.kept.Len(), len(text))
	l.dropped = l.dropped || room < len(text)
	l.kept.Write(text[:room])
	return len(text), nil
}

func (l *limited) text() string { return strings.ToValidUTF8(l.kept.String(), "�") }
