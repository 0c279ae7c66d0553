package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxResultBytes is the largest size of a stored result.
const maxResultBytes = 256 << 20

// result is the outcome of a cell, as stored in a file.
type result struct {
	// Digest of the command line and of the files that it names.
	Digest string `json:"digest"`
	// Status is the exit status of the command.
	Status int `json:"status"`
	// Messages are what the command wrote to standard error.
	Messages string `json:"messages,omitempty"`
	// Answer is the JSON that the command printed, without durations; absent if it printed none.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Complete is the last key. A file without it was not written to its end.
	Complete bool `json:"complete"`
}

// results is the folder of the results: one file for each cell.
type results struct{ folder string }

func (r results) name(cell int) string {
	return filepath.Join(r.folder, "cells", fmt.Sprintf("%06d.json", cell))
}

// read returns the stored result of a cell, or nil if there is none with this digest.
func (r results) read(cell int, digest string) (*result, error) {
	file, err := os.Open(r.name(cell))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxResultBytes+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	var stored result
	if len(text) > maxResultBytes || json.Unmarshal(text, &stored) != nil || !stored.Complete || stored.Digest != digest {
		return nil, nil // not complete, or of other inputs: the cell runs again
	}
	return &stored, nil
}

// write stores the result of a cell. The file gets its name when it is complete, so that a process that is killed leaves no part of a
// result, and so that two processes can write the same cell. Some network file systems can't rename: there the file is written in place, and
// read recognises a part of it.
func (r results) write(cell int, of *result) error {
	of.Complete = true
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(of); err != nil {
		return err
	}
	name := r.name(cell)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%s-%d.part", name, hostname(), os.Getpid())
	if err := os.WriteFile(part, text.Bytes(), 0o666); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(part)))
	}
	if err := os.Rename(part, name); err == nil {
		return nil
	}
	return errors.Join(os.WriteFile(name, text.Bytes(), 0o666), ignoreMissing(os.Remove(part)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func hostname() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "host"
}
