package v1

import "strings"

// MaxRequestedDRADrivers is the largest number of drivers that a claim can name. A node has few drivers, and the list must fit into an
// annotation.
const MaxRequestedDRADrivers = 32

// RequestedDRADrivers returns the device drivers that a claim was planned with, from its annotation. It is nil for a claim without drivers.
func RequestedDRADrivers(claim *NodeClaim) []string {
	if claim == nil || claim.Annotations[RequestedDRADriversAnnotationKey] == "" {
		return nil
	}
	names := strings.Split(claim.Annotations[RequestedDRADriversAnnotationKey], ",")
	return names[:min(len(names), MaxRequestedDRADrivers)]
}
