package convert

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packageFile is a file of a package.
type packageFile struct{ name, text string }

// fetchPackage returns the files of a package, sorted by name. It downloads the package with the registry's own client if the folder does
// not have it. The Go command keeps modules in its own cache.
func fetchPackage(folder, pack string) ([]packageFile, error) {
	registry, id, _ := strings.Cut(pack, " ")
	archive, err := "", error(nil)
	switch registry {
	case "go":
		archive, err = downloadModule(folder, id)
	case "npm":
		archive, err = downloadInto(folder, pack, "npm", "pack", "--silent", "--pack-destination", ".", id)
	case "pypi":
		archive, err = downloadInto(folder, pack, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", id)
	default:
		return nil, fmt.Errorf("no registry %q", registry)
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		return nil, err
	}
	var files []packageFile
	add := func(prefix string) func(string, []byte) error {
		return func(name string, data []byte) error {
			files = append(files, packageFile{prefix + name, string(data)})
			return nil
		}
	}
	err = eachFile(archive, data, func(name string, data []byte) error {
		name = strings.TrimPrefix(strings.TrimPrefix(name, id+"/"), "package/")
		// Packages that jsii makes for Python contain the package of npm.
		if strings.HasSuffix(name, ".jsii.tgz") {
			return eachFile(name, data, add(name+"!"))
		}
		return add("")(name, data)
	})
	slices.SortFunc(files, func(a, b packageFile) int { return strings.Compare(a.name, b.name) })
	return files, err
}

// downloadModule returns the archive of a Go module. The module may need a newer Go than this one; its archive is there all the same.
func downloadModule(folder, id string) (string, error) {
	cmd := osexec.Command("go", "mod", "download", "-json", id)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	var got struct{ Zip, Error string }
	if e := json.Unmarshal(out, &got); e != nil {
		return "", errors.Join(err, e)
	}
	if got.Zip == "" {
		return "", errors.New(got.Error)
	}
	return got.Zip, nil
}

// downloadInto runs a command that downloads one file, in a folder of its own, and returns the file.
func downloadInto(folder, pack string, command ...string) (string, error) {
	own := filepath.Join(folder, strings.NewReplacer("/", "+", " ", "+").Replace(pack))
	if err := os.MkdirAll(own, 0o777); err != nil {
		return "", err
	}
	find := func() string {
		for _, pattern := range []string{"*.tgz", "*.whl"} {
			if found, _ := filepath.Glob(filepath.Join(own, pattern)); len(found) == 1 {
				return found[0]
			}
		}
		return ""
	}
	if there := find(); there != "" {
		return there, nil
	}
	cmd := osexec.Command(command[0], command[1:]...)
	cmd.Dir = own
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", command[0], err, out)
	}
	if there := find(); there != "" {
		return there, nil
	}
	return "", fmt.Errorf("%s downloaded nothing", command[0])
}

// eachFile calls do with each file of an archive. Files of more than 1 MiB, other than packages, are left out.
func eachFile(archive string, data []byte, do func(name string, data []byte) error) error {
	const limit = 1 << 20
	wanted := func(name string, size int64) bool { return size <= limit || strings.HasSuffix(name, ".jsii.tgz") }
	if !strings.HasSuffix(archive, ".tgz") {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return err
		}
		for _, f := range r.File {
			if !wanted(f.Name, int64(f.UncompressedSize64)) {
				continue
			}
			file, err := f.Open()
			if err != nil {
				return err
			}
			content, err := io.ReadAll(file)
			if err := errors.Join(err, file.Close()); err != nil {
				return err
			}
			if err := do(f.Name, content); err != nil {
				return err
			}
		}
		return nil
	}
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || !wanted(header.Name, header.Size) {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := do(header.Name, content); err != nil {
			return err
		}
	}
}

var (
	npmLicence  = regexp.MustCompile(`(?m)^ *"license": *"([^"]+)"`)
	pypiLicence = regexp.MustCompile(`(?m)^(?:Classifier: License :: OSI Approved :: |License(?:-Expression)?: )([A-Za-z0-9.-]+)(?: License)?$`)
)

// licenceOf returns the licence that a package states: in package.json, in METADATA of Python, or in its file LICENSE.
func licenceOf(files []packageFile) string {
	stated, file := "", ""
	for _, f := range files {
		var found []string
		switch {
		case f.name == "package.json":
			found = npmLicence.FindStringSubmatch(f.text)
		case strings.HasSuffix(f.name, ".dist-info/METADATA") && strings.Count(f.name, "/") == 1: // not of a library in the package
			found = pypiLicence.FindStringSubmatch(f.text)
		case f.name == "LICENSE" && strings.Contains(f.text, "Apache License"):
			file = "Apache-2.0"
		}
		if found != nil {
			stated = found[1]
		}
	}
	return cmp.Or(stated, file)
}
