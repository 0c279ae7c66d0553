package topology

import "slices"

// SpreadsOnHosts reports whether pods with these topology groups have a hard spread over single nodes.
func SpreadsOnHosts(groups []Group, o *Groups) bool {
	return o != nil && slices.ContainsFunc(o.Owns, func(g int32) bool {
		return groups[g].At == Hostname && groups[g].Hard && groups[g].Kind == Spread
	})
}

// TiedOnHosts reports whether hard rules about single nodes concern pods with these topology groups.
func TiedOnHosts(groups []Group, o *Groups) bool {
	if o == nil {
		return false
	}
	here := func(g int32) bool { return groups[g].At == Hostname && groups[g].Hard }
	return slices.ContainsFunc(o.Owns, here) || slices.ContainsFunc(o.In, here)
}
