package podclass

import (
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Text returns the text that identifies the class of the pattern's pods, valid until the next call, and the data from which it was made.
func Text(x *topology.Index, d Devices, p *likeness.Pattern, w *likeness.Writer) (text []byte, groups topology.Groups, ruleErr error) {
	pod := p.First
	text = w.Write(pod)
	w.GroupsAt = len(text)
	if groups, ruleErr = groupsOf(x, p); p.Refused != nil {
		ruleErr = p.Refused
	}
	if !groups.Empty() {
		text = w.WriteGroups(&groups)
	}
	w.GroupsEnd = len(text)
	if d != nil && likeness.ClaimsDevices(&pod.Spec) {
		text = w.WriteDevices(d.Text(pod))
	}
	if p.Placeholder {
		text = append(text, "placeholder"...)
		w.Buf = text
	}
	if ruleErr != nil {
		text = append(text, ruleErr.Error()...)
		w.Buf = text
	}
	return text, groups, ruleErr
}

// groupsOf returns the topology groups of the pattern's pods. The position of the pods' own rules must be known from
// topology.Index.Remember.
func groupsOf(x *topology.Index, p *likeness.Pattern) (topology.Groups, error) {
	if len(x.Groups) == 0 && p.Rules == topology.NoRules {
		return topology.Groups{}, nil
	}
	owns, err := x.RulesAt(p.Rules, p.Ruled())
	return topology.Groups{Owns: owns, In: x.Membership(p.First)}, err
}
