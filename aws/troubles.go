package aws

import (
	"fmt"
)

// Trouble is something of AWS that the provider does not know as it should, because the last question failed.
type Trouble struct {
	// Of is what is not known: "instance types", "zonal shifts", or "prices" with the name of the feed.
	Of string
	// Meanwhile is what serves instead.
	Meanwhile string
	// Err is why, of its kind.
	Err error
}

// String is the trouble as a sentence.
func (t Trouble) String() string {
	return fmt.Sprintf("%s could not be read: %v; %s", t.Of, t.Err, t.Meanwhile)
}

// Troubles are all there are at the moment, in a fixed order; nil when there are none. They are for conditions and status
// pages: nothing has to be done about them but what their errors say, and they go once AWS answers.
func (p *Provider) Troubles() []Trouble {
	var all []Trouble
	if s := p.discovery.Status(); s.LastErr != nil {
		meanwhile := "those read before serve"
		if s.Seeded {
			meanwhile = "those handed in at the start serve"
		}
		all = append(all, Trouble{Of: "instance types", Meanwhile: meanwhile, Err: s.LastErr})
	}
	p.upkeep.mu.Lock()
	err := p.upkeep.shiftErr
	p.upkeep.mu.Unlock()
	if err != nil {
		all = append(all, Trouble{Of: "zonal shifts", Meanwhile: "only those known before, until they end, are kept out of", Err: err})
	}
	for _, s := range p.prices.Status() {
		if s.LastErr != nil {
			all = append(all, Trouble{Of: fmt.Sprintf("prices (%s)", s.Feed), Meanwhile: "those known before, or built in, serve", Err: s.LastErr})
		}
	}
	return all
}
