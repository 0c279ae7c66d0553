package main

import (
	"flag"
	"reflect"

	"github.com/spf13/pflag"
)

// addFlags gives cobra the flags of a run. A flag of one letter becomes the short form of the flag with the same value, and flags without
// a usage text are hidden.
func addFlags(to *pflag.FlagSet, from *flag.FlagSet) {
	var short []*flag.Flag
	from.VisitAll(func(f *flag.Flag) {
		if len(f.Name) == 1 {
			short = append(short, f)
		}
	})
	from.VisitAll(func(f *flag.Flag) {
		if len(f.Name) == 1 {
			return
		}
		kind, usage := flag.UnquoteUsage(f)
		added := to.VarPF(&value{from, f, kind}, f.Name, shortOf(f, short), usage)
		added.DefValue = f.DefValue
		added.Hidden = usage == ""
		if boolean(f) {
			added.NoOptDefVal = "true"
		}
	})
}

// shortOf returns the short form of a flag, or "" if there is none.
func shortOf(f *flag.Flag, short []*flag.Flag) string {
	for _, s := range short {
		if reflect.TypeOf(s.Value).Comparable() && s.Value == f.Value {
			return s.Name
		}
	}
	return ""
}

// value sets a flag through the FlagSet that declares it, because the FlagSet must know which flags were given.
type value struct {
	set  *flag.FlagSet
	flag *flag.Flag
	kind string
}

func (v *value) String() string        { return v.flag.Value.String() }
func (v *value) Set(text string) error { return v.set.Set(v.flag.Name, text) }
func (v *value) Type() string {
	if boolean(v.flag) {
		return "bool"
	}
	return v.kind
}

// boolean says whether a flag may stand without a value.
func boolean(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
