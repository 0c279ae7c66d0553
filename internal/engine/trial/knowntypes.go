package trial

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// knownTypes caches the possible instance types of new nodes. Planners often describe several nodes with pods of the same classes. The key
// of the cache contains everything that determines the types.
type knownTypes struct {
	ByText map[string]AllowedTypes
	Text   []byte // scratch
	// ByRow says, for each pool, whether rules between pods distinguish nodes of different instance types: 1 means yes, -1 means no, 0
	// means unknown.
	ByRow []int8
}

// AllowedTypes has the allowed rows (instance types) and slots (zones and capacity types) of a pool, and the requirements of a NodeClaim
// that allow these.
type AllowedTypes struct {
	Rows, Slots bitset.Set
	Claim       requirements.Set
}
