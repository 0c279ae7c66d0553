package spelling

import (
	"flag"
	"fmt"
	"strings"
)

// Flag is an error of flags.Parse. If the error is about an undefined flag, the result contains the names of flags that the user may have
// meant. Every other error, and nil, is returned unchanged.
func Flag(err error, flags *flag.FlagSet) error {
	if err == nil {
		return nil
	}
	name, undefined := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !undefined {
		return err
	}
	var known []string
	flags.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	near := Nearest(name, known)
	if len(near) == 0 {
		return fmt.Errorf("there is no flag --%s", name)
	}
	return fmt.Errorf("there is no flag --%s; did you mean --%s?", name, strings.Join(near, " or --"))
}
