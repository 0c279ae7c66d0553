// Command drawsentences prints random sentences of the repository, for a reader with fresh eyes to grade as clear, doubtful or unclear. At
// least 95 of 100 should be clear, and none unclear. Mend the doubtful and unclear sentences, and draw again with another seed:
//
//	go run ./internal/rules/drawsentences --seed 7 --count 300
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/drawknife/drawknife/internal/rules"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of the random numbers; each seed draws other sentences")
	count := flag.Int("count", 300, "number of sentences to draw")
	root := flag.String("root", ".", "folder of the repository")
	flag.Parse()
	if err := draw(os.DirFS(*root), *count, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "drawsentences:", err)
		os.Exit(1)
	}
}

func draw(fsys fs.FS, count int, seed uint64) error {
	documents, err := pages(fsys)
	if err != nil {
		return err
	}
	all, err := moduleSentences(fsys, ".", documents)
	if err != nil {
		return err
	}
	for _, nested := range []string{"examples/controller", "internal/bench", "scheduling/dra"} {
		more, err := moduleSentences(fsys, nested, nil)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	for i, s := range rules.DrawSentences(all, count, seed) {
		fmt.Printf("%d\t%s\t%s\t%s\n", i+1, s.Kind, s.Where, strings.Join(strings.Fields(s.Text), " "))
	}
	return nil
}

// moduleSentences returns the sentences of the Go files in dir, and of the documents.
func moduleSentences(fsys fs.FS, dir string, documents map[string]string) ([]rules.Sentence, error) {
	module, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, err
	}
	tree, err := rules.ParseTree(module)
	if err != nil {
		return nil, err
	}
	all := rules.Sentences(tree, documents)
	for i := range all {
		all[i].Where = path.Join(dir, all[i].Where)
	}
	return all, nil
}

// pages returns the documents that people read: those at the root, in docs and in docs/conformance, without the statements of the
// specification.
func pages(fsys fs.FS) (map[string]string, error) {
	all := make(map[string]string)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/conformance/*.md"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, err
			}
			all[path.Clean(name)] = string(text)
		}
	}
	return all, nil
}
