package simulate

import (
	"fmt"
	"io"

	"github.com/drawknife/drawknife/scheduling"
)

// gang is the result of the plan for one gang.
type gang struct {
	Name string `json:"name"`
	// Members, Minimum, Bound and Placed are numbers of pods, as in scheduling.GangPlacement.
	Members int `json:"members"`
	Minimum int `json:"minimum"`
	Bound   int `json:"bound"`
	Placed  int `json:"placed"`
	// Domains are the labels that the nodes of all members share, by key; left out if no domain is required.
	Domains map[string]string `json:"domains,omitempty"`
	// Code and Message explain why the gang has no place; they are left out if it has one.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

func newGangs(list []scheduling.GangPlacement) []gang {
	var out []gang
	for i := range list {
		p := &list[i]
		g := gang{Name: p.Gang.String(), Members: p.Members, Minimum: p.Minimum, Bound: p.Bound, Placed: p.Placed}
		for _, d := range p.Domains {
			if g.Domains == nil {
				g.Domains = map[string]string{}
			}
			g.Domains[d.Key] = d.Value
		}
		if p.Reason != nil {
			g.Code, g.Message = string(p.Reason.Code), p.Reason.String()
		}
		out = append(out, g)
	}
	return out
}

// shownGangs is the maximum number of listed gangs, unless the user requests all.
const shownGangs = 20

// writeGangs prints where each gang is placed, or why it has no place. Gangs without a place come first.
func (r textReport) writeGangs(w io.Writer) {
	var list []*scheduling.GangPlacement
	for _, placed := range []bool{false, true} {
		for i := range r.plan.Gangs {
			if p := &r.plan.Gangs[i]; (p.Reason == nil) == placed {
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, counted(len(list), "gang")+", placed whole or not at all"))
	shown := list
	if !r.verbose && len(shown) > shownGangs {
		shown = shown[:shownGangs]
	}
	for _, p := range shown {
		r.writeWrapped(w, "  ", p.String())
	}
	if n := len(list) - len(shown); n > 0 {
		fmt.Fprintf(w, "  %s and %s (--verbose lists them)\n", r.ellipsis(), number(n)+" more")
	}
}
