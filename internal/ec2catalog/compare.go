package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/aws/catalog"
)

// shown is the number of types that are named for each field.
const shown = 5

// compare prints the differences between was and is for each field. It returns the number of types that differ. Zones are compared by name.
func compare(w io.Writer, was, is *catalog.Catalog) (int, error) {
	old, err := fields(was)
	if err != nil {
		return 0, err
	}
	now, err := fields(is)
	if err != nil {
		return 0, err
	}
	differing := make(map[string]bool)
	byField := make(map[string][]string)
	add := func(field, name, what string) {
		differing[name] = true
		byField[field] = append(byField[field], what)
	}
	union := maps.Clone(old)
	maps.Copy(union, now)
	for _, name := range slices.Sorted(maps.Keys(union)) {
		a, b := old[name], now[name]
		switch {
		case b == nil:
			add("type gone", name, name)
		case a == nil:
			add("type new", name, name)
		default:
			all := maps.Clone(a)
			maps.Copy(all, b)
			for field := range all {
				if !bytes.Equal(a[field], b[field]) {
					add(field, name, fmt.Sprintf("%s %s -> %s", name, text(a[field]), text(b[field])))
				}
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d types before, %d now, %d differ\n", len(old), len(now), len(differing))
	for _, field := range slices.Sorted(maps.Keys(byField)) {
		list := byField[field]
		fmt.Fprintf(&out, "%s: %d\n", field, len(list))
		for _, what := range list[:min(len(list), shown)] {
			fmt.Fprintf(&out, "\t%s\n", what)
		}
		if len(list) > shown {
			fmt.Fprintf(&out, "\tand %d more\n", len(list)-shown)
		}
	}
	_, err = w.Write(out.Bytes())
	return len(differing), err
}

// fields returns the facts of each type as JSON, by type and by the field names of the catalogue file.
func fields(c *catalog.Catalog) (map[string]map[string]json.RawMessage, error) {
	types := make(map[string]map[string]json.RawMessage, len(c.Types))
	for i := range c.Types {
		t := &c.Types[i]
		record, err := json.Marshal(t)
		if err != nil {
			return nil, fmt.Errorf("instance type %q: %w", t.Name, err)
		}
		facts := make(map[string]json.RawMessage)
		if err := json.Unmarshal(record, &facts); err != nil {
			return nil, fmt.Errorf("instance type %q: %w", t.Name, err)
		}
		zones := make([]string, len(t.Zones))
		for j, zone := range t.Zones {
			zones[j] = c.Zones[zone].Name
		}
		slices.Sort(zones)
		if facts["zones"], err = json.Marshal(zones); err != nil {
			return nil, err
		}
		types[t.Name] = facts
	}
	return types, nil
}

func text(v json.RawMessage) string {
	if v == nil {
		return "none"
	}
	return string(v)
}
