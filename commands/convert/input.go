package convert

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

// input is one file or stream.
type input struct {
	convert.Source
	// below is the path of the file relative to the folder that the user named. If the user named the file itself, it is the name of the
	// file.
	below string
}

// readInputs reads files, folders and standard input in the order of the arguments. The files of a folder are sorted by name. In a folder,
// only files with the extension .yaml, .yml or .json are read.
func readInputs(o options, stdin io.Reader) ([]input, error) {
	var inputs []input
	left := int64(convert.MaxBytes)
	add := func(folder, name string, r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, left+1))
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if left -= int64(len(data)); left < 0 {
			return fmt.Errorf("reading %s: the input is larger than %d bytes; split it", name, convert.MaxBytes)
		}
		below := filepath.Base(name)
		if folder != "" {
			if below, err = filepath.Rel(folder, name); err != nil {
				return err
			}
		}
		inputs = append(inputs, input{convert.Source{Name: name, Data: data, Found: folder != ""}, below})
		return nil
	}
	for i, named := range o.inputs {
		if named == "-" {
			if slices.Contains(o.inputs[:i], "-") {
				return nil, errors.New("standard input is named twice, but can be read only once")
			}
			if err := add("", "-", stdin); err != nil {
				return nil, err
			}
			continue
		}
		names, err := filesOf(named, o.recursive)
		if err != nil {
			return nil, err
		}
		folder := named
		if slices.Equal(names, []string{named}) {
			folder = ""
		}
		for _, name := range names {
			if err := addFile(folder, name, add); err != nil {
				return nil, err
			}
		}
	}
	return inputs, nil
}

func addFile(folder, name string, add func(folder, name string, r io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	return add(folder, name, file)
}

// filesOf returns the input if it is a file, or the sorted manifests in the folder. Links to folders are not followed.
func filesOf(input string, recursive bool) ([]string, error) {
	if strings.Contains(input, "://") {
		return nil, fmt.Errorf("%s: URLs are not read; download it, and give the file or - for standard input", input)
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
			err = fmt.Errorf("%w; -R also searches its subfolders", err)
		}
	}
	return names, err
}
