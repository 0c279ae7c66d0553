package settings

import (
	"cmp"
	"maps"
	"slices"
)

// Layer is what one source sets. The zero value sets nothing.
type Layer struct {
	// Source of the values.
	Source Source
	// Problems found while reading it, in the order of names. Values with an error are not in the layer.
	Problems []*Problem
	// Ignored are the paths of chart values that were understood and say nothing about the controller's behaviour: how its
	// pods are run. Sorted.
	Ignored []string

	entries map[string]entry
}

// entry is a value as it was written.
type entry struct {
	// written is the name, text the value in the form of the setting's own name.
	written, text string
	// over is true for a component's own value, which wins over the one for all.
	over bool
	// old is true in ConfigMaps, which no release since 0.33 reads: what each key is called today says nothing more.
	old bool
}

func newLayer(source Source) *Layer { return &Layer{Source: source, entries: make(map[string]entry)} }

func (l *Layer) report(p *Problem) { l.Problems = append(l.Problems, p) }

// set adds a value, unless it can't be, or is there already: then with another effect it is a conflict.
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

// setAs is set for names that say the setting or its opposite.
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

// effect is a value in the form that values with the same effect share.
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

// Value is a setting as Effective lists it.
type Value struct {
	// Name of the setting: its flag without the dashes.
	Name string
	// Text is its value as the flag would be given it; certificates and long values are shortened.
	Text string
	// Source of the value.
	Source Source
	// WrittenAs is the name the user gave it there; empty for a default.
	WrittenAs string
}

// Loaded is what became of all sources.
type Loaded struct {
	// Settings in effect.
	Settings Settings
	// Warnings are the problems that are no errors.
	Warnings []*Problem
	// Ignored are the paths of chart values that say how pods are run; see Layer.
	Ignored []string

	effective []Value
}

// Effective lists every setting with its value and source, in the order of the usage text. The slice is the caller's.
func (l *Loaded) Effective() []Value { return slices.Clone(l.effective) }

// Combine puts layers on top of each other: for each setting the first that has it wins, and the default is last. It
// fails with an *Error that has all problems of all layers and of the whole. With an error Loaded is nil.
func Combine(layers ...Layer) (*Loaded, error) { return combine(Default(), layers) }

// combine puts layers on top of defaults.
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

// laidOn is what layers make of the defaults, the first on top; nothing is checked.
func laidOn(layers []Layer) Settings {
	effective := Default()
	for _, layer := range slices.Backward(layers) {
		for _, s := range definitions() {
			if e, there := layer.entries[s.name]; there {
				_ = s.parse(&effective, e.text) // a layer has only what can be parsed
			}
		}
	}
	return effective
}

// text is a setting's value for people. It makes no Legacy where there is none.
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
