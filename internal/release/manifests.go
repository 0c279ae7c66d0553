package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// krewManifest is the template of the manifest for krew, and homebrewFormula that of the formula for Homebrew.
var (
	//go:embed krew.yaml.tmpl
	krewManifest string
	//go:embed homebrew.rb.tmpl
	homebrewFormula string
)

// downloads is where the files of a release are published.
const downloads = "https://github.com/drawknife/drawknife/releases/download"

// published is an archive as manifests name it.
type published struct {
	OS, Arch, URL, Sum, Program string
}

// writeManifest fills in a template with the archives.
func (r *release) writeManifest(name, text string, archives []archive) error {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return err
	}
	data := struct {
		Version, Number string
		Archives        []published
	}{Version: r.version, Number: strings.TrimPrefix(r.version, "v")}
	for _, a := range archives {
		data.Archives = append(data.Archives, published{a.target.os, a.target.arch, downloads + "/" + r.version + "/" + a.name, a.sum, a.target.program()})
	}
	if name == "drawknife.rb" { // Homebrew has no Windows
		data.Archives = slices.DeleteFunc(data.Archives, func(p published) bool { return p.OS == "windows" })
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.output, name), out.Bytes(), 0o666)
}
