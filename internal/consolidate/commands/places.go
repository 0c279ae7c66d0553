package commands

import "github.com/drawknife/drawknife/disruption/decision"

// Places returns the number of pods that the command places on existing or new nodes.
func Places(c *decision.Command) int {
	n := 0
	for i := range c.Receivers {
		n += len(c.Receivers[i].Pods)
	}
	for i := range c.Replacements {
		if c.Replacements[i].Node != nil {
			n += len(c.Replacements[i].Node.Pods)
		}
	}
	return n
}

// AllPlaces returns the number of pods that the commands place on existing or new nodes.
func AllPlaces(list []*decision.Command) int {
	n := 0
	for _, cmd := range list {
		n += Places(cmd)
	}
	return n
}
