package manifests

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests/internal/doctree"
)

// Source is one input: the whole content of a file or stream.
type Source struct {
	// Name is the name of the source in messages: a file's path as the user wrote it, or "-" for standard input.
	Name string
	// Data is the content: YAML or JSON, one document or many. Load reads the source and keeps no reference to it.
	Data []byte
}

// Read makes a Source of everything that r contains. The error is or wraps a *option.ArgumentError for a nil reader, a
// *scheduling.SizeError for more than DefaultMaxBytes, or the reader's error.
func Read(name string, r io.Reader) (Source, error) {
	if r == nil {
		return Source{}, fmt.Errorf("reading %s: %w", name, option.Missing("Read", "the reader"))
	}
	return readWithin(name, r, DefaultMaxBytes)
}

func readWithin(name string, r io.Reader, limit int64) (Source, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return Source{}, fmt.Errorf("reading %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return Source{}, fmt.Errorf("reading %s: %w; split it, or leave out what planning does not need", name, &scheduling.SizeError{Limit: limit})
	}
	return Source{Name: name, Data: data}, nil
}

// Files reads files and folders into Sources, sorted by path. A named file is read whatever its name is; a folder is searched recursively
// for *.yaml, *.yml and *.json, except for names that start with a dot. A file reached twice is read once. All files together may have at
// most DefaultMaxBytes. It stops at the first file it can't read.
func Files(paths ...string) ([]Source, error) {
	return filesWithin(paths, DefaultMaxBytes)
}

func filesWithin(paths []string, limit int64) ([]Source, error) {
	names, err := expandPaths(paths)
	if err != nil {
		return nil, err
	}
	sources := make([]Source, 0, len(names))
	for _, name := range names {
		source, err := readFile(name, limit)
		if err != nil {
			return nil, err
		}
		limit -= int64(len(source.Data))
		sources = append(sources, source)
	}
	return sources, nil
}

func readFile(name string, limit int64) (Source, error) {
	file, err := os.Open(name)
	if err != nil {
		return Source{}, fmt.Errorf("reading manifests: %w", err)
	}
	defer file.Close() // the file was only read, so an error of Close does not matter
	return readWithin(name, file, limit)
}

// expandPaths returns the files that the given paths name, and the manifests below the folders that the paths name. The result is sorted
// and has no duplicates.
func expandPaths(paths []string) ([]string, error) {
	var names []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		if !info.IsDir() {
			names = append(names, filepath.Clean(path))
			continue
		}
		found, err := findManifests(path)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func findManifests(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && path != root
		if entry.IsDir() {
			if hidden {
				return filepath.SkipDir
			}
			return nil
		}
		if hidden || !isManifest(path) {
			return nil
		}
		// A link to a file is read like the file. A link to a folder is not followed, because such links can form a loop.
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			names = append(names, filepath.Clean(path))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("searching %s for manifests: %w", root, err)
	}
	return names, nil
}

func isManifest(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// origin is the position where an object was found. Line numbers are computed only for messages, so that loading a hundred thousand objects
// does not count a hundred million line ends.
type origin struct {
	source, document, item int
	// at is the text that contains the object: the object itself, one item of a list, or the whole document.
	at doctree.Span
	// json says that the text is JSON, and not YAML.
	json bool
	// steps says where the object is in the text.
	steps originSteps
}

// originSteps describes how the object is nested in its text.
type originSteps uint8

const (
	_ originSteps = iota // the text is the object itself
	// stepElement: the text is a list whose only element is the object.
	stepElement
	// stepItem: the text is a List, and the object is its item number origin.item.
	stepItem
)

// parsedOrigin is a text that was parsed into a tree.
type parsedOrigin struct {
	source int
	at     doctree.Span
	root   *yaml.Node
}

// position converts an origin and a field path to a Position, which has the name of the source and the line number.
func (l *loader) position(o origin, path string) Position {
	p := Position{Source: l.sources[o.source].Name, Document: o.document, Item: o.item}
	root, offset := l.tree(o)
	if root == nil {
		p.Line = l.lineAt(o.source, o.at.Start)
		return p
	}
	p.Line = offset + doctree.LineOf(root, path)
	return p
}

// tree parses the object at the position o again. Callers must add offset to the line numbers in the tree. The result root is nil if the
// text can't be parsed.
func (l *loader) tree(o origin) (root *yaml.Node, offset int) {
	offset = l.lineAt(o.source, o.at.Start) - 1
	if l.parsed.root == nil || l.parsed.source != o.source || l.parsed.at != o.at {
		data := l.sources[o.source].Data
		if o.json {
			root = doctree.JSONTree(data, o.at, 1, l.limits.Depth)
		} else if docs, err := doctree.ParseYAML(data[o.at.Start:o.at.End]); err == nil && len(docs) > 0 {
			root = docs[0]
		}
		l.parsed = parsedOrigin{o.source, o.at, root}
	}
	root = l.parsed.root
	switch {
	case root == nil:
	case o.steps == stepElement && len(root.Content) > 0:
		root = root.Content[0]
	case o.steps == stepItem:
		if items := child(root, "items"); items != nil && o.item <= len(items.Content) {
			root = items.Content[o.item-1]
		}
	}
	return root, offset
}

func (l *loader) lineAt(source, offset int) int {
	data := l.sources[source].Data
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte{'\n'})
}

// child returns the value of the field with this name in a mapping, or nil if the mapping lacks the field.
func child(n *yaml.Node, name string) *yaml.Node {
	n = doctree.ResolveAlias(n)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return doctree.ResolveAlias(n.Content[i+1])
		}
	}
	return nil
}
