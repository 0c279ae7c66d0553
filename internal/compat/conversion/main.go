package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

type question struct {
	Kind        string          `json:"kind"`
	ToHub       bool            `json:"toHub"`
	ExpireAfter string          `json:"expireAfter"` // expireAfter of the NodeClaim's pool
	Object      json.RawMessage `json:"object"`
}

type answer struct {
	Object json.RawMessage `json:"object,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func main() {
	if err := answerAll(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answerAll(in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q question
		if err := decoder.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading questions: %w", err)
		}
		if err := encoder.Encode(answerTo(q)); err != nil {
			return fmt.Errorf("writing answers: %w", err)
		}
	}
}

// answerTo converts the object of a question. If the release panics, it returns an error.
func answerTo(q question) (a answer) {
	defer func() {
		if why := recover(); why != nil {
			a = answer{Error: fmt.Sprint("panic: ", why)}
		}
	}()
	var object []byte
	var err error
	if q.ToHub {
		object, err = upstreamToHub(q.Kind, q.Object, q.ExpireAfter)
	} else {
		object, err = upstreamFromHub(q.Kind, q.Object)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Object: object}
}
