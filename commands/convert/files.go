package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFiles writes each file with converted objects to the same relative path in dir. Other files are not written. No file is overwritten:
// an existing file may have been changed by hand.
func writeFiles(dir string, files []rewrittenFile) error {
	// Report existing files as errors before the first file is written.
	taken := map[string]string{}
	for i := range files {
		f := &files[i]
		if f.objects == 0 {
			continue
		}
		path := filepath.Join(dir, f.below)
		if other, ok := taken[path]; ok {
			return fmt.Errorf("%s: both %s and %s would be written to it; convert them into different folders", path, other, f.Name)
		}
		taken[path] = f.Name
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s already exists and is not overwritten: name another folder", path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for i := range files {
		if files[i].objects == 0 {
			continue
		}
		if err := writeFile(filepath.Join(dir, files[i].below), files[i].after); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
