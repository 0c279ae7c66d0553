package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archive is an archive that was written.
type archive struct {
	target target
	// name is the file's name without its folder. sum is its SHA-256 checksum in hexadecimal.
	name, sum string
	size      int64
}

// writeArchive writes files to an archive: a ZIP file for Windows, and otherwise a compressed tar file. The first file is the program, which
// can be executed. Times, owners and modes are the same wherever the archive is made.
func writeArchive(folder, base string, t target, files []string, at time.Time) (archive, error) {
	a := archive{target: t, name: base + ".tar.gz"}
	write := writeTar
	if t.os == "windows" {
		a.name, write = base+".zip", writeZip
	}
	file, err := os.Create(filepath.Join(folder, a.name))
	if err != nil {
		return a, err
	}
	sum := sha256.New()
	if err := errors.Join(write(io.MultiWriter(file, sum), files, at), file.Close()); err != nil {
		return a, fmt.Errorf("%s: %w", a.name, err)
	}
	a.sum = hex.EncodeToString(sum.Sum(nil))
	info, err := os.Stat(file.Name())
	if err == nil {
		a.size = info.Size()
	}
	return a, err
}

// mode returns the permissions of a file of the archive.
func mode(index int) int64 {
	if index == 0 {
		return 0o755
	}
	return 0o644
}

func writeTar(w io.Writer, files []string, at time.Time) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for i, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.Base(name), Size: int64(len(content)), Mode: mode(i), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func writeZip(w io.Writer, files []string, at time.Time) error {
	z := zip.NewWriter(w)
	for i, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: filepath.Base(name), Method: zip.Deflate, Modified: at}
		header.SetMode(os.FileMode(mode(i)))
		entry, err := z.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(content)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// writeSums writes SHA256SUMS, with the checksums of all files of the folder.
func (r *release) writeSums(archives []archive) error {
	var lines []string
	for _, a := range archives {
		lines = append(lines, a.sum+"  "+a.name+"\n")
	}
	lists, err := filepath.Glob(filepath.Join(r.output, "*.cdx.json"))
	if err != nil {
		return err
	}
	for _, name := range lists {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+filepath.Base(name)+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(r.output, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o666)
}
