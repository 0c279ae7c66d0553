package scenario

import (
	"compress/gzip"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling"
)

//go:embed saved
var savedFiles embed.FS

// saved is a snapshot that is kept because it once had a bad plan.
type saved struct{ name, about, file string }

func savedCases() []saved {
	return []saved{
		{"gap-6zones", "2,217 pods of a cluster on family m5 in six zones, three DaemonSets, zone spreads and hostname anti-affinity", "gap-6zones.json.gz"},
		{"gap-norules", "the same pods without their rules", "gap-norules.json.gz"},
		{"one-pod-zone-spread", "one pod of 1 CPU with a zone spread, 20 types, prices that differ by zone", "one-pod-zone-spread.yaml.gz"},
	}
}

// Saved returns the names of the saved snapshots.
func Saved() []string {
	var names []string
	for _, c := range savedCases() {
		names = append(names, c.name)
	}
	return names
}

func readSaved(name string) (*Scenario, error) {
	at := slices.IndexFunc(savedCases(), func(c saved) bool { return c.name == name })
	if at < 0 {
		return nil, fmt.Errorf("no saved case %q: choose one of %s", name, strings.Join(Saved(), ", "))
	}
	c := savedCases()[at]
	file, err := savedFiles.Open("saved/" + c.file)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the file was only read, so closing it can't lose data
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file, err)
	}
	s, err := scheduling.DecodeSnapshot(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file, err)
	}
	return &Scenario{c.name, c.about, 0, s}, nil
}
