package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/aws/convert"
)

// readInputs reads files, folders and standard input in the order they are named; what is in a folder, by name. Nothing
// but the content of a folder is passed over for its name.
func readInputs(o options, stdin io.Reader) ([]convert.Source, error) {
	var sources []convert.Source
	left := int64(convert.MaxBytes)
	add := func(name string, r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, left+1))
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if left -= int64(len(data)); left < 0 {
			return fmt.Errorf("reading %s: the input is larger than %d bytes; split it", name, convert.MaxBytes)
		}
		sources = append(sources, convert.Source{Name: name, Data: data})
		return nil
	}
	for i, input := range o.inputs {
		if input == "-" {
			if slices.Contains(o.inputs[:i], "-") {
				return nil, errors.New("standard input is named twice, and can be read once")
			}
			if err := add("-", stdin); err != nil {
				return nil, err
			}
			continue
		}
		names, err := filesOf(input, o.recursive)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if err := addFile(name, add); err != nil {
				return nil, err
			}
		}
	}
	return sources, nil
}

func addFile(name string, add func(string, io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	return add(name, file)
}

// filesOf is a file itself, or the manifests of a folder, sorted. Links to folders are not followed.
func filesOf(input string, recursive bool) ([]string, error) {
	if strings.Contains(input, "://") {
		return nil, fmt.Errorf("%s: addresses are not read; fetch it, and give the file or - for standard input", input)
	}
	info, err := os.Stat(input)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{input}, nil
	}
	var names []string
	err = filepath.WalkDir(input, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != input && !recursive:
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			names = append(names, path)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s: has no .yaml, .yml or .json files", input)
		if !recursive {
			err = fmt.Errorf("%w; -R searches its folders", err)
		}
	}
	return names, err
}
