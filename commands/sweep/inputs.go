package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxInputFiles is the largest number of files of a folder that a cell reads.
const maxInputFiles = 100_000

// inputs computes digests of command lines with the files that they name, so that a result is used again only if nothing has changed. It is
// for one goroutine.
type inputs struct {
	program string            // version of the program
	files   map[string]string // digests of files and folders, by name
}

func newInputs(program string) *inputs { return &inputs{program: program, files: map[string]string{}} }

// digest returns the digest of a cell: of the program's version, the command line, and the content of each file and folder that an argument
// or the value of a flag names.
func (in *inputs) digest(command string, arguments []string) (string, error) {
	parts := []string{in.program, command}
	for _, a := range arguments {
		content, err := in.content(a)
		if err != nil {
			return "", err
		}
		parts = append(parts, a, content)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// content returns the digest of what an argument names, or "" if it names no file.
func (in *inputs) content(argument string) (string, error) {
	name := argument
	if strings.HasPrefix(argument, "-") {
		_, value, given := strings.Cut(argument, "=")
		if !given {
			return "", nil
		}
		name = value
	}
	if known, ok := in.files[name]; ok {
		return known, nil
	}
	info, err := os.Stat(name)
	if name == "" || err != nil {
		return "", nil // the command says what is wrong if it should be a file
	}
	h := sha256.New()
	if info.IsDir() {
		err = addFolder(h, name)
	} else if info.Mode().IsRegular() {
		err = addFile(h, name)
	}
	if err != nil {
		return "", fmt.Errorf("reading the input %s: %w", name, err)
	}
	in.files[name] = hex.EncodeToString(h.Sum(nil))
	return in.files[name], nil
}

func addFolder(h hash.Hash, root string) error {
	count := 0
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if count++; count > maxInputFiles {
			return fmt.Errorf("the folder has more than %d files", maxInputFiles)
		}
		fmt.Fprintf(h, "%q\n", path)
		return addFile(h, path)
	})
}

func addFile(h hash.Hash, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(h, file)
	fmt.Fprintf(h, "\n%d\n", n)
	return errors.Join(err, file.Close())
}
