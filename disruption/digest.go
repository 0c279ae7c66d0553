package disruption

import (
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Digest identifies what the plan does: it consists of the digests of its commands, wave by wave. Plans that do the same in the same waves
// have equal digests; see Command.Digest. A plan without commands has one, too.
func (p *Plan) Digest() string {
	if p == nil {
		return ""
	}
	byID := make(map[string]*Command, len(p.Commands))
	for _, cmd := range p.Commands {
		byID[idOf(cmd)] = cmd
	}
	var waves [][]*Command
	for i := range p.Waves {
		var wave []*Command
		for _, id := range p.Waves[i].Commands {
			wave = append(wave, byID[id])
		}
		waves = append(waves, wave)
	}
	if len(p.Waves) == 0 {
		waves = append(waves, p.Commands)
	}
	return decision.DigestOf(waves)
}

// MovedOn returns why an approved command must not be started in the present fleet: a member's NodeClaim was replaced by another, or pods
// came to a member that would be evicted without approval. Nil if neither is the case; pods that left do not matter. Check it in addition
// to Planner.Validate, which checks whether the command is still worth it.
func MovedOn(f *Fleet, cmd *Command) *RejectedError {
	if f == nil || cmd == nil {
		return nil
	}
	for i := range cmd.Members {
		m := &cmd.Members[i]
		reject := func(why *Block) *RejectedError {
			return &RejectedError{Command: cmd.ID, Category: RejectedChurn, Node: m.Node, Block: why}
		}
		c := f.Candidate(m.Node)
		if c == nil || c.State.Claim.UID != m.UID {
			return reject(&Block{Code: BlockUnmanaged, Detail: "its NodeClaim is another"})
		}
		for _, pod := range c.Pods {
			if key := survey.KeyOf(pod); !slices.Contains(m.Pods, key) {
				return reject(&Block{Code: BlockUnapproved, Pod: key})
			}
		}
	}
	return nil
}
