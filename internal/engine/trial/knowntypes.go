package trial

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// knownTypes caches the possible types of new nodes by everything that determines them, because planners often describe nodes with pods of
// the same classes.
type knownTypes struct {
	ByText map[string]AllowedTypes
	Text   []byte // scratch
	// ByRow says, for each pool, whether rules distinguish nodes of different types: 1 means yes, -1 means no, 0 means unknown.
	ByRow []int8
}

// AllowedTypes has rows and slots of a pool, and the requirements of a NodeClaim for them.
type AllowedTypes struct {
	Rows, Slots bitset.Set
	Claim       requirements.Set
}
