package settings

import (
	"cmp"
	"flag"
	"slices"
	"strings"
)

// Flags are the flags of all settings on a flag.FlagSet.
type Flags struct {
	given []given
}

// given is a flag that the user gave, with the text of its value.
type given struct {
	setting *setting
	old     *oldName
	unused  *unused
	name    string
	text    string
}

// NewFlags registers on fs a flag for each setting, and a flag for each old name. The usage text shows the value that applies if the flag
// is not given: it is the value in the first of the given layers that has the setting. Invalid values don't make fs.Parse fail: Layer
// returns them in Problems, together with all other problems. Booleans need a value, "--install-crds true" or "--install-crds=true"; see
// Arguments.
func NewFlags(fs *flag.FlagSet, below ...Layer) *Flags {
	f := &Flags{}
	effective := laidOn(below)
	for _, s := range definitions() {
		if s.fileOnly {
			continue
		}
		fs.Var(&flagValue{flags: f, given: given{setting: s, name: s.name}, shown: effective.text(s)}, s.name, s.usage)
		for _, o := range s.old {
			fs.Var(&flagValue{flags: f, given: given{setting: s, old: &o, name: o.name}}, o.name, "old name: use --"+s.name)
		}
	}
	for _, u := range unusedSettings() {
		fs.Var(&flagValue{flags: f, given: given{unused: &u, name: u.name}}, u.name, "accepted for compatibility with Karpenter; has no effect")
	}
	return f
}

// Layer returns the values of the flags after the FlagSet was parsed. If a flag is given twice, the last value is used.
func (f *Flags) Layer() Layer {
	l := newLayer(SourceFlag)
	last := make(map[string]given)
	for _, g := range f.given {
		last[g.name] = g
	}
	names := make([]given, 0, len(last))
	for _, g := range last {
		names = append(names, g)
	}
	slices.SortFunc(names, func(a, b given) int { return cmp.Compare(a.name, b.name) })
	for _, g := range names {
		written := "--" + g.name
		switch {
		case g.unused != nil:
			l.report(g.unused.problem(SourceFlag, written))
		case g.old != nil:
			l.report(deprecated(SourceFlag, written, g.old.replacement("--"+g.setting.name, g.text)))
			l.setAs(g.setting, entry{written: written, text: g.text}, g.old.opposite)
		default:
			l.set(g.setting, entry{written: written, text: g.text})
		}
	}
	return l.finish()
}

// Arguments completes boolean flags without a value: "--install-crds --provider fake" becomes "--install-crds=true --provider
// fake". Everything after "--" and unknown flags stay unchanged.
func Arguments(args []string) []string {
	booleans := make(map[string]bool)
	for _, s := range definitions() {
		booleans[s.name] = s.boolean
		for _, o := range s.old {
			booleans[o.name] = o.boolean
		}
	}
	out := slices.Clone(args)
	for i := 0; i < len(out); i++ {
		arg := out[i]
		if arg == "--" {
			break
		}
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		if name == arg || !booleans[name] {
			continue
		}
		if i+1 == len(out) || strings.HasPrefix(out[i+1], "-") {
			out[i] = arg + "=true"
		} else {
			i++
		}
	}
	return out
}

// flagValue is a flag.Value that stores the given texts.
type flagValue struct {
	flags *Flags
	given given
	shown string
}

// String returns the value that applies if the flag is not given, for the usage text.
func (v *flagValue) String() string {
	if v == nil {
		return ""
	}
	return v.shown
}

// Set stores the text; Layer reports errors in it.
func (v *flagValue) Set(text string) error {
	g := v.given
	g.text = text
	v.flags.given = append(v.flags.given, g)
	return nil
}
