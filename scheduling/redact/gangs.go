package redact

import "github.com/drawknife/drawknife/scheduling"

// stripGang returns the gang without the name of the object that it was made from, and with stripped pod templates.
func stripGang(in *scheduling.Gang) scheduling.Gang {
	out := *in
	out.Source, out.Templates = "", nil
	for i := range in.Templates {
		t := &in.Templates[i]
		out.Templates = append(out.Templates, scheduling.GangTemplate{Name: t.Name, Count: t.Count, Template: template(&t.Template)})
	}
	return out
}
