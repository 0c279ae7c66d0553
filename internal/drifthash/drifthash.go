// Package drifthash makes the hashes by which an object is compared with the nodes that were launched from it.
//
//	hash := drifthash.Of(projection)
//
// The value is a projection that the owner of an object makes for this purpose: plain structs, pointers, strings,
// numbers, maps and slices. The names of its types and fields are part of the hash and must not change.
package drifthash

import (
	"strconv"

	"github.com/mitchellh/hashstructure/v2"
)

// Of returns the hash as a decimal number. The hash does not depend on the order of lists, or on fields with zero values. A pointer to a
// zero value is not a zero value. The hash is the same in every process. For a value that can't be hashed (functions, channels), Of returns
// "", which callers treat as unknown and never as a change.
func Of(value any) string {
	hash, err := hashstructure.Hash(value, hashstructure.FormatV2, &hashstructure.HashOptions{
		SlicesAsSets:    true,
		IgnoreZeroValue: true,
		ZeroNil:         true,
	})
	if err != nil {
		return ""
	}
	return strconv.FormatUint(hash, 10)
}
