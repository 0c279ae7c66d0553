package v1

import (
	"encoding/json"
)

// LaunchGroup says that a claim is launched together with others or not at all: their pods are of use only together. It is the
// value of LaunchGroupAnnotationKey, so that any process can go on with the launch.
type LaunchGroup struct {
	// Name of the group, the same on all of its claims: the first of the gangs, and when the launch was planned.
	Name string `json:"name"`
	// Claims is how many the group has.
	Claims int `json:"claims"`
	// Kept says that the claim's node is also for pods that have waited long for one on their own: it neither waits for the others nor is
	// given up with them, but they with it.
	Kept bool `json:"kept,omitempty"`
}

// String is the annotation's value.
func (g LaunchGroup) String() string {
	text, _ := json.Marshal(g) // strings, numbers and booleans can be written
	return string(text)
}

// LaunchGroupOf reads the claim's annotation; false if it has none that makes sense.
func LaunchGroupOf(claim *NodeClaim) (LaunchGroup, bool) {
	if claim == nil || claim.Annotations[LaunchGroupAnnotationKey] == "" {
		return LaunchGroup{}, false
	}
	var g LaunchGroup
	if json.Unmarshal([]byte(claim.Annotations[LaunchGroupAnnotationKey]), &g) != nil || g.Name == "" || g.Claims < 2 {
		return LaunchGroup{}, false
	}
	return g, true
}
