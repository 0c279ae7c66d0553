package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// An archive has the same bytes each time, the program in it can be executed, and its checksum is in SHA256SUMS.
func TestArchives(t *testing.T) {
	source := t.TempDir()
	files := []string{filepath.Join(source, "drawknife"), filepath.Join(source, "LICENSE")}
	for _, name := range files {
		if err := os.WriteFile(name, []byte("content of "+filepath.Base(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	for _, system := range []target{{"linux", "arm64"}, {"windows", "amd64"}} {
		r := &release{output: t.TempDir()}
		first, err := writeArchive(r.output, "drawknife_v1", system, files, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(files[0], time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		again, err := writeArchive(t.TempDir(), "drawknife_v1", system, files, at)
		if err != nil || first != again {
			t.Errorf("%s: %+v and %+v, %v", system, first, again, err)
		}
		got := contents(t, filepath.Join(r.output, first.name))
		want := []string{"drawknife -rwxr-xr-x 2026-01-02T03:04:06Z content of drawknife", "LICENSE -rw-r--r-- 2026-01-02T03:04:06Z content of LICENSE"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", system, diff)
		}
		if err := r.writeSums([]archive{first}); err != nil {
			t.Fatal(err)
		}
		sums, err := os.ReadFile(filepath.Join(r.output, "SHA256SUMS"))
		if err != nil || string(sums) != first.sum+"  "+first.name+"\n" {
			t.Errorf("%q, %v", sums, err)
		}
	}
	if _, err := writeArchive(t.TempDir(), "x", target{"linux", "amd64"}, []string{filepath.Join(source, "none")}, at); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// contents returns "name mode time content" for each file of an archive.
func contents(t *testing.T, name string) []string {
	t.Helper()
	var list []string
	add := func(name string, mode os.FileMode, at time.Time, r io.Reader) {
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, name+" "+mode.String()+" "+at.UTC().Format(time.RFC3339)+" "+string(text))
	}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.OpenReader(name)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, f.Mode(), f.Modified, r)
		}
		return list
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		add(h.Name, h.FileInfo().Mode(), h.ModTime, r)
	}
}

// The manifests name each archive with its address and checksum; Homebrew's has none for Windows.
func TestManifests(t *testing.T) {
	r := &release{version: "v1.2.3", output: t.TempDir()}
	var archives []archive
	for i, system := range targets() {
		name := "drawknife_v1.2.3_" + system.os + "_" + system.arch + ".tar.gz"
		archives = append(archives, archive{target: system, name: name, sum: strings.Repeat(string(rune('a'+i)), 64)})
	}
	for name, text := range map[string]string{"drawknife.yaml": krewManifest, "drawknife.rb": homebrewFormula} {
		if err := r.writeManifest(name, text, archives); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(r.output, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestUsage(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                                    `--version "": must be a version such as v0.1.0`,
		"--version 1.0.0":                     `--version "1.0.0": must be a version`,
		"--version v1.0.0 --target plan9/arm": "not one of [linux/amd64",
		"--version v1.0.0 extra":              "arguments are not accepted",
		"--version v1.0.0 --output " + full:   "the folder is not empty",
	} {
		if err := run(context.Background(), strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
