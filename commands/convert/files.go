package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/drawknife/drawknife/aws/convert"
)

// writeFiles writes the result of each file to a file of the same path in dir, in the same format. Files without a result are not
// written. No file is overwritten: an existing file may contain objects that are left out here, and they would be lost.
func writeFiles(dir string, inputs []input, objects []convert.Converted) error {
	of := map[string][]convert.Converted{}
	for _, o := range objects {
		of[o.Position.Source] = append(of[o.Position.Source], o)
	}
	// Existing files are reported before the first file is written.
	taken := map[string]string{}
	for _, in := range inputs {
		if len(of[in.Name]) == 0 {
			continue
		}
		path := filepath.Join(dir, in.below)
		if other, ok := taken[path]; ok && other != in.Name {
			return fmt.Errorf("%s: both %s and %s would be written to it; convert them one after the other", path, other, in.Name)
		}
		taken[path] = in.Name
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s already exists and is not overwritten: name another folder", path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, in := range inputs {
		if of[in.Name] == nil {
			continue
		}
		if err := writeFile(filepath.Join(dir, in.below), of[in.Name]); err != nil {
			return err
		}
		delete(of, in.Name) // an input that is named twice is written once
	}
	return nil
}

func writeFile(path string, objects []convert.Converted) error {
	var text bytes.Buffer
	write := convert.WriteYAML
	if filepath.Ext(path) == ".json" {
		write = convert.WriteJSON
	}
	if err := write(&text, objects); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = text.WriteTo(file)
	return errors.Join(err, file.Close())
}
