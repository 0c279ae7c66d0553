package catalog

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/drawknife/drawknife/api/option"
)

// Write writes a catalogue file, which Load reads: one type per line, so that two versions can be compared. Equal catalogues give equal
// files.
func Write(w io.Writer, c *Catalog) error {
	switch {
	case w == nil:
		return option.Missing("Write", "the writer")
	case c == nil:
		return option.Missing("Write", "the catalogue")
	}
	head, err := json.Marshal(struct {
		Schema     string                `json:"schema"`
		Region     string                `json:"region"`
		Zones      []Zone                `json:"zones"`
		Sources    map[string]string     `json:"sources"`
		PriceFacts map[string]PriceFacts `json:"priceFacts,omitempty"`
	}{Schema, c.Region, c.Zones, c.Sources, c.PriceFacts})
	if err != nil {
		return fmt.Errorf("writing the catalogue: %w", err)
	}
	b := bufio.NewWriter(w)
	b.Write(head[:len(head)-1]) // the writer keeps its first error and returns it from Flush
	b.WriteString(",\"types\":[")
	for i := range c.Types {
		text, err := json.Marshal(&c.Types[i])
		if err != nil {
			return fmt.Errorf("writing the catalogue: instance type %q: %w", c.Types[i].Name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(text)
	}
	b.WriteString("\n]}\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the catalogue: %w", err)
	}
	return nil
}
