package aws

import (
	"fmt"
)

// Trouble describes AWS data that is missing or outdated because the last read failed.
type Trouble struct {
	// Of is the kind of data: "instance types", "zonal shifts", or "prices" with the name of the feed.
	Of string
	// Meanwhile says which data is used instead.
	Meanwhile string
	// Err is the error of the last read, with its kind.
	Err error
}

// String returns the trouble as a sentence.
func (t Trouble) String() string {
	return fmt.Sprintf("%s could not be read: %v; %s", t.Of, t.Err, t.Meanwhile)
}

// Troubles returns all current troubles, in a fixed order, or nil if there are none. Show them in conditions and status pages. Their errors
// say what to do; they disappear when AWS answers.
func (p *Provider) Troubles() []Trouble {
	var all []Trouble
	if s := p.discovery.Status(); s.LastErr != nil {
		meanwhile := "those read before are used"
		if s.Seeded {
			meanwhile = "those passed in at the start are used"
		}
		all = append(all, Trouble{Of: "instance types", Meanwhile: meanwhile, Err: s.LastErr})
	}
	p.upkeep.mu.Lock()
	err := p.upkeep.shiftErr
	p.upkeep.mu.Unlock()
	if err != nil {
		all = append(all, Trouble{Of: "zonal shifts", Meanwhile: "only zones with shifts that were known before are avoided, until these end", Err: err})
	}
	for _, s := range p.prices.Status() {
		if s.LastErr != nil {
			all = append(all, Trouble{Of: fmt.Sprintf("prices (%s)", s.Feed), Meanwhile: "those known before, or the built-in ones, are used", Err: s.LastErr})
		}
	}
	return all
}
