package fees

import (
	"maps"
	"slices"
	"sync"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Models returns a function that makes the fees' cost model for a snapshot, for a controller that makes many snapshots. Snapshots with
// the same catalogs get the same model, so that planners can reuse what they computed with it. The function is safe for concurrent use,
// and nil if no fee is chosen.
func (c Choices) Models() func(*planning.Snapshot) *planning.CostModel {
	if len(c) == 0 {
		return nil
	}
	var mu sync.Mutex
	var last *planning.CostModel
	var catalogs map[string][]*cloudprovider.InstanceType
	return func(s *planning.Snapshot) *planning.CostModel {
		if s == nil {
			s = &planning.Snapshot{}
		}
		mu.Lock()
		defer mu.Unlock()
		if last != nil && maps.EqualFunc(catalogs, s.Catalogs, slices.Equal[[]*cloudprovider.InstanceType]) {
			return last
		}
		model, err := c.AddTo(nil, s)
		if err != nil {
			return &planning.CostModel{Terms: []planning.CostTerm{{Name: err.Error()}}} // with this term, Compile returns an error that contains the text
		}
		last, catalogs = model, maps.Clone(s.Catalogs)
		return last
	}
}
