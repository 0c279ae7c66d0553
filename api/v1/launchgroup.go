package v1

import (
	"encoding/json"
)

// LaunchGroup says that a claim is launched together with others or not at all, because their pods are useful only together. It is the
// value of LaunchGroupAnnotationKey, so that another process can continue the launch.
type LaunchGroup struct {
	// Name of the group, the same on all of its claims. It consists of the name of the first gang and the time of the plan.
	Name string `json:"name"`
	// Claims is the number of claims in the group.
	Claims int `json:"claims"`
	// Kept means that other pods, which have waited long, also need the claim's node. Such a claim does not wait for the other claims of
	// the group, and is not abandoned together with them. If it fails, the other claims are abandoned.
	Kept bool `json:"kept,omitempty"`
}

// String returns the value of the annotation.
func (g LaunchGroup) String() string {
	text, _ := json.Marshal(g) // encoding strings, numbers and booleans never fails
	return string(text)
}

// LaunchGroupOf parses the claim's annotation. It returns false if the annotation is missing or invalid.
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
