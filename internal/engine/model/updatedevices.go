package model

// What claims need and nodes have of devices is found by compiling. An Update takes it over as long as the objects that say so, the nodes
// that have devices, and the pods that ask for them are as they were, and no node has become so old that its drivers should have published.

// devicesStand reports whether all nodes that have devices are as they were.
func (u *update) devicesStand() bool {
	x := u.was.Devices
	if x == nil {
		return true
	}
	for _, c := range u.changed {
		n := &u.snapshot.Nodes[c.at]
		if c.was >= 0 {
			if old := u.was.Nodes[c.was].Source; old.Object == n.Object && old.Claim == n.Claim {
				continue
			}
			if x.Has(u.was.Nodes[c.was].Source) {
				return false
			}
		}
		if x.Has(n) {
			return false
		}
	}
	for _, was := range u.gone {
		if x.Has(u.was.Nodes[was].Source) {
			return false
		}
	}
	return true
}
