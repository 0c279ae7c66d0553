package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// apart explains why a pod has no place although the pod alone could have one: other pods that share its claims have no place. It returns
// "" if this is not the cause.
func (x *explainer) apart() string {
	d := x.m.Devices
	if d == nil || d.Claims == nil || d.Claims.Groups[x.c.Sample] == nil {
		return ""
	}
	id, leads := d.Follows(x.c.Sample)
	if !leads || !x.t.Parted.Has(id) {
		return ""
	}
	var others []string
	for class, c := range x.m.Classes {
		if of, leads := d.Follows(c.Sample); of == id && !leads && x.t.S.Waiting[class] > 0 {
			others = append(others, planning.KeyOf(c.Sample).String())
		}
	}
	slices.Sort(others)
	name, _, _ := strings.Cut(id, " on ")
	return fmt.Sprintf("it shares the devices of claim %s with %s: all of them have to run on one node, and there is none for all", name, inAll(others))
}

// inAll returns a text with the first pods' names and the number of the other pods.
func inAll(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
