package settings

import (
	"cmp"
	"maps"
	"slices"
)

// Layer contains the values of one source. The zero value is empty.
type Layer struct {
	// Source is the source of the values.
	Source Source
	// Problems are the problems found while reading the source, sorted by name. Invalid values are not in the layer.
	Problems []*Problem
	// Ignored are the paths of known chart values that affect only the controller's pods, not its behaviour. Sorted.
	Ignored []string

	entries map[string]entry
}

// entry is a value of a source.
type entry struct {
	// written is the name of the setting in the source; text is the value in the form that the current name has.
	written, text string
	// over is true for a value of a single component, which overrides the value that is common to all components.
	over bool
	// old is true for values in ConfigMaps, which no release of Karpenter since 0.33 reads: warnings about them do not mention current
	// names.
	old bool
}

func newLayer(source Source) *Layer { return &Layer{Source: source, entries: make(map[string]entry)} }

func (l *Layer) report(p *Problem) { l.Problems = append(l.Problems, p) }

// set adds a value, unless it is invalid or the setting already has a value. A value whose field over is true replaces a value whose field
// over is false. If the setting already has a different value whose field over is the same, set reports a conflict.
func (l *Layer) set(s *setting, e entry) {
	effect, err := s.effect(e.text)
	if err != nil {
		l.report(invalid(l.Source, e.written, e.text, s.kind, err.Error()))
		return
	}
	before, there := l.entries[s.name]
	if there && before.over == e.over {
		if was, err := s.effect(before.text); err != nil || was != effect {
			l.report(conflict(l.Source, s.name, before.written, e.written))
		}
		return
	}
	if there && before.over {
		return
	}
	l.entries[s.name] = e
}

// setAs is like set, for a name that has the same meaning as the setting or, if opposite is true, the opposite meaning.
func (l *Layer) setAs(s *setting, e entry, opposite bool) {
	if opposite {
		on, err := parseBool(e.text)
		if err != nil {
			l.report(invalid(l.Source, e.written, e.text, s.kind, err.Error()))
			return
		}
		e.text = bools().format(!on)
	}
	l.set(s, e)
}

// effect returns the normalised value: values with the same effect have equal texts.
func (s *setting) effect(text string) (string, error) {
	scratch := Default()
	if err := s.parse(&scratch, text); err != nil {
		return "", err
	}
	return s.show(&scratch), nil
}

func (l *Layer) finish() Layer {
	slices.SortStableFunc(l.Problems, func(a, b *Problem) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(l.Ignored)
	l.Ignored = slices.Compact(l.Ignored)
	return *l
}

// Value is a setting in the result of Effective.
type Value struct {
	// Name is the name of the setting: its flag without the dashes.
	Name string
	// Text is the setting's value as an argument of the flag; certificates and long values are shortened.
	Text string
	// Source is the source of the value.
	Source Source
	// WrittenAs is the name of the setting in the source; empty for a default.
	WrittenAs string
}

// Loaded is the combination of all sources.
type Loaded struct {
	// Settings in effect.
	Settings Settings
	// Warnings are the problems that are not errors.
	Warnings []*Problem
	// Ignored are the paths of chart values about the controller's pods; see Layer.
	Ignored []string

	effective []Value
}

// Effective lists every setting with its value and source, in the order of the usage text. The caller owns the slice.
func (l *Loaded) Effective() []Value { return slices.Clone(l.effective) }

// Combine merges layers. For each setting, the first layer that has a value for it takes precedence; if no layer has one, the default is
// used. If there are errors, it returns an *Error with all problems of all layers and of their combination. Loaded is then nil.
func Combine(layers ...Layer) (*Loaded, error) { return combine(Default(), layers) }

// combine merges layers and defaults.
func combine(defaults Settings, layers []Layer) (*Loaded, error) {
	loaded := &Loaded{Settings: defaults}
	var problems []*Problem
	from, old := make(map[string]Value), make(map[string]bool)
	for _, layer := range layers {
		problems = append(problems, layer.Problems...)
		loaded.Ignored = append(loaded.Ignored, layer.Ignored...)
		for name, e := range layer.entries {
			if _, there := from[name]; !there {
				from[name] = Value{Name: name, Text: e.text, Source: layer.Source, WrittenAs: e.written}
				old[name] = e.old
			}
		}
	}
	all := definitions()
	for _, s := range all {
		if v, there := from[s.name]; there {
			if err := s.parse(&loaded.Settings, v.Text); err != nil {
				problems = append(problems, invalid(v.Source, v.WrittenAs, v.Text, s.kind, err.Error()))
			}
		}
	}
	problems = append(problems, loaded.Settings.settle(all, from, old)...)
	for _, s := range all {
		v, there := from[s.name]
		if !there {
			v = Value{Name: s.name, Source: SourceDefault}
		}
		v.Text = loaded.Settings.text(s)
		loaded.effective = append(loaded.effective, v)
	}
	warnings, err := split(problems)
	if err != nil {
		return nil, err
	}
	loaded.Warnings = warnings
	slices.Sort(loaded.Ignored)
	loaded.Ignored = slices.Compact(loaded.Ignored)
	return loaded, nil
}

// laidOn returns the defaults with the values of the layers, without validation; the first layer takes precedence.
func laidOn(layers []Layer) Settings {
	effective := Default()
	for _, layer := range slices.Backward(layers) {
		for _, s := range definitions() {
			if e, there := layer.entries[s.name]; there {
				_ = s.parse(&effective, e.text) // values in a layer are valid, so there is no error
			}
		}
	}
	return effective
}

// text formats a setting's value for messages. show gets a copy of AWS.Legacy, so that it can't change the original.
func (s Settings) text(of *setting) string {
	if s.AWS.Legacy != nil {
		l := *s.AWS.Legacy
		l.Tags = maps.Clone(l.Tags)
		s.AWS.Legacy = &l
	}
	text := of.show(&s)
	if of.shortened && len(text) > 12 {
		return text[:12] + "…"
	}
	return shorten(text)
}
