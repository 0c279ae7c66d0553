package trial

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// knownTypes remembers the possible types of new nodes by what determines them: planners describe nodes with pods of the same classes many
// times.
type knownTypes struct {
	ByText map[string]AllowedTypes
	Text   []byte // scratch
	// ByRow says, by pool, whether rules distinguish nodes of different types: 1 for yes, -1 for no, 0 if unknown.
	ByRow []int8
}

// AllowedTypes are rows and slots of a pool, and the requirements of a claim for them.
type AllowedTypes struct {
	Rows, Slots bitset.Set
	Claim       requirements.Set
}
