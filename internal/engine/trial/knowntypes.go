package trial

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// knownTypes remember which types new nodes may be of by what decides it: planners describe nodes with pods of the same kinds again and again.
type knownTypes struct {
	ByText map[string]AllowedTypes
	Text   []byte // scratch
	// ByRow says, by pool, whether nodes of different types differ to rules: 1 for yes, -1 for no, 0 where nobody has asked.
	ByRow []int8
}

// AllowedTypes are rows and slots of a pool, and what a claim for them says.
type AllowedTypes struct {
	Rows, Slots bitset.Set
	Claim       requirements.Set
}
