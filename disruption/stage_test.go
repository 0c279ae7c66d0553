package disruption_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// A stage carries out every kind of effect.
var _ disruption.Handler = &stage{}

// change has f change what is known of the member; one that is gone is left alone.
func (s *stage) change(node string, f func(*disruption.MemberState)) {
	m, ok := s.members[node]
	if !ok {
		return
	}
	if m.Node != nil {
		m.Node = m.Node.DeepCopy()
	}
	if m.Claim != nil {
		m.Claim = m.Claim.DeepCopy()
	}
	f(&m)
	s.members[node] = m
}

func (s *stage) WriteRecord(_ context.Context, e disruption.WriteRecord) error {
	s.change(s.nodeOf(e.Claim), func(m *disruption.MemberState) { annotate(m.Claim, e.Record) })
	return nil
}

func (s *stage) ClearRecord(_ context.Context, e disruption.ClearRecord) error {
	s.change(s.nodeOf(e.Claim), func(m *disruption.MemberState) { delete(m.Claim.Annotations, v1.DisruptionCommandAnnotationKey) })
	for i := range s.repl {
		if s.repl[i].Claim == e.Claim && s.repl[i].Stored != nil {
			s.repl[i].Stored = s.repl[i].Stored.DeepCopy()
			delete(s.repl[i].Stored.Annotations, v1.DisruptionCommandAnnotationKey)
		}
	}
	return nil
}

func (s *stage) TaintNode(_ context.Context, e disruption.TaintNode) error {
	s.change(e.Node, func(m *disruption.MemberState) { v1.MarkerTaint.Mark(m.Node) })
	return nil
}

func (s *stage) UntaintNode(_ context.Context, e disruption.UntaintNode) error {
	s.change(e.Node, func(m *disruption.MemberState) { v1.TakeTaintOff(m.Node) })
	return nil
}

func (s *stage) CordonNode(_ context.Context, e disruption.CordonNode) error {
	s.change(e.Node, func(m *disruption.MemberState) { v1.MarkerCordon.Mark(m.Node) })
	return nil
}

func (s *stage) UncordonNode(_ context.Context, e disruption.UncordonNode) error {
	s.change(e.Node, func(m *disruption.MemberState) { v1.TakeCordonOff(m.Node) })
	return nil
}

func (s *stage) SetReason(_ context.Context, e disruption.SetReason) error {
	s.change(s.nodeOf(e.Claim), func(m *disruption.MemberState) {
		m.Claim.Conditions().Set(v1.ConditionDisruptionReason, metav1.ConditionTrue, string(e.Reason), "x", s.now)
	})
	return nil
}

func (s *stage) ClearReason(_ context.Context, e disruption.ClearReason) error {
	s.change(s.nodeOf(e.Claim), func(m *disruption.MemberState) { m.Claim.Conditions().Clear(v1.ConditionDisruptionReason, s.now) })
	return nil
}

func (s *stage) MarkNode(_ context.Context, e disruption.MarkNode) error {
	s.change(e.Node, func(m *disruption.MemberState) { m.Marked = true })
	return nil
}

func (s *stage) UnmarkNode(_ context.Context, e disruption.UnmarkNode) error {
	s.change(e.Node, func(m *disruption.MemberState) { m.Marked = false })
	return nil
}

func (s *stage) LaunchReplacement(_ context.Context, e disruption.LaunchReplacement) error {
	name := fmt.Sprintf("new-%d", e.Index)
	s.repl[e.Index] = disruption.ReplacementState{Claim: name, Stored: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}, Known: true}
	annotate(s.repl[e.Index].Stored, e.Record)
	return nil
}

func (s *stage) DeleteMember(_ context.Context, e disruption.DeleteMember) error {
	s.deleted[e.Node] = true
	s.change(e.Node, func(m *disruption.MemberState) { m.Claim.DeletionTimestamp = &metav1.Time{Time: s.now} })
	return nil
}

func (s *stage) DeleteReplacement(_ context.Context, e disruption.DeleteReplacement) error {
	for i := range s.repl {
		if s.repl[i].Claim == e.Claim {
			s.repl[i].Stored, s.repl[i].Known = nil, false
		}
	}
	return nil
}

// Nothing comes of these but that they are asked for: what is observed next says what became of them.

func (s *stage) ValidateCommand(context.Context, disruption.ValidateCommand) error { return nil }
func (s *stage) AskApproval(context.Context, disruption.AskApproval) error         { return nil }
func (s *stage) NominateNode(context.Context, disruption.NominateNode) error       { return nil }
func (s *stage) NoteDisruptions(context.Context, disruption.NoteDisruptions) error { return nil }
