package planning

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Gang is a group of pods that are useful only together: a plan places at least Minimum of them, or none. Package scheduling/manifests
// makes gangs from PodGroups, Workloads and similar objects. In a Snapshot that your own code makes, list the gangs yourself.
//
//	planning.Gang{
//		Namespace: "research", Name: "train", Minimum: 8,
//		Templates: []planning.GangTemplate{{Name: "worker", Count: 8, Template: worker}},
//		Topology:  []planning.GangTopology{{Key: corev1.LabelTopologyZone}},
//	}
type Gang struct {
	// Namespace of its pods; Namespace and Name together are unique in a snapshot.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Source is the object that the gang was made from, such as "PodGroup research/train", for people.
	Source string `json:"source,omitempty"`
	// Members are pods of the snapshot, pending or bound to nodes, in the order in which they count towards Minimum. A pod is a member of
	// at most one gang. A member that is not in the snapshot does not exist yet, and is not placed.
	Members []PodKey `json:"members,omitempty"`
	// Templates represent members that have not been created yet. They come after Members.
	Templates []GangTemplate `json:"templates,omitempty"`
	// Minimum is how many members must be placed together, including members that are already bound; 0 means all. Members beyond the
	// minimum are placed like other pods, within Topology.
	Minimum int `json:"minimum,omitempty"`
	// Priority decides which gang, or which other pod, gets scarce resources first. Nil means the highest priority of the members.
	Priority *int32 `json:"priority,omitempty"`
	// Topology keeps the members together: for each entry all of them are on nodes with one value of a label. Entries are sorted from the
	// widest domain to the narrowest; if not all preferred entries can be kept, the last entries are given up first.
	Topology []GangTopology `json:"topology,omitempty"`
	// Parent is the name of the group of gangs that the gang is a part of, unique in its namespace. The gangs of one parent are placed all
	// together or not at all. It is empty for a gang without a parent.
	Parent string `json:"parent,omitempty"`
	// Shared is how many of the first entries of Topology the gangs of the parent have in common: for each of these entries, all gangs
	// are in the same domain. The entries after them concern only this gang. Without a Parent, Shared has no effect.
	Shared int `json:"shared,omitempty"`
	// Spare says that the parent is complete without the gang. The gang is then placed after the parent's other gangs, in the domains that
	// they share, if there is room.
	Spare bool `json:"spare,omitempty"`
	// Ancestors are the groups of groups that the gang's parent is a part of, from the innermost to the outermost; nil if the parent is a
	// part of none. The gangs of all groups of an ancestor are placed all together or not at all. All gangs of one parent have the same
	// ancestors. Without a Parent, it is nil.
	Ancestors []GangAncestor `json:"ancestors,omitempty"`
	// DisruptionMode says whether running members may be moved without the other members. Empty means GangDisruptedTogether.
	DisruptionMode GangDisruptionMode `json:"disruptionMode,omitempty"`
	// Deadline is the time from which on the gang is not placed any more; the zero time means no deadline.
	Deadline time.Time `json:"deadline,omitzero"`
	// RunSeconds is how many seconds the members run after they are placed. They are not placed in a reservation that ends earlier
	// (cloudprovider.Offering.ReservationEnds). 0 means that the time is not known; then activeDeadlineSeconds of each member is used, if
	// set.
	RunSeconds int64 `json:"runSeconds,omitempty"`
}

// GangAncestor is a group of groups of gangs.
type GangAncestor struct {
	// Name is unique in the namespace of the gang, among parents and ancestors.
	Name string `json:"name"`
	// Shared is how many of the first entries of Gang.Topology the gangs of the ancestor have in common: for each of these entries, all
	// gangs are in the same domain. It is at most as large as Shared of the group below it. 0 means that the gangs may be in different
	// domains.
	Shared int `json:"shared,omitempty"`
	// Spare says that the ancestor is complete without the group below it. That group is then placed after the ancestor's other groups, as
	// a whole or not at all, in the domains that they share, if there is room.
	Spare bool `json:"spare,omitempty"`
	// DisruptedTogether says that the members of all gangs of the ancestor are moved all together or not at all. The gangs have the mode
	// GangDisruptedWithParent.
	DisruptedTogether bool `json:"disruptedTogether,omitempty"`
}

// GangTemplate is a number of equal members of a gang that have not been created yet. Their pods are named "NAME-0", "NAME-1" and so on.
type GangTemplate struct {
	// Name is the prefix of the pods' names; empty means the gang's name.
	Name string `json:"name,omitempty"`
	// Count of pods, at least 1.
	Count int `json:"count"`
	// Template of the pods.
	Template corev1.PodTemplateSpec `json:"template"`
}

// GangTopology keeps all members of a gang in one domain: on nodes with the same value of a label.
type GangTopology struct {
	// Key of the label, for instance topology.kubernetes.io/zone. Nodes and instance types without the label are in no domain. For
	// kubernetes.io/hostname only nodes of the snapshot are domains.
	Key string `json:"key"`
	// Policy says whether a gang that does not fit in one domain may be placed across several. Empty means GangTopologyRequired.
	Policy GangTopologyPolicy `json:"policy,omitempty"`
}

// GangTopologyPolicy says how strictly a gang is kept in one domain.
type GangTopologyPolicy string

const (
	// GangTopologyRequired: the gang is only placed if one domain can hold it.
	GangTopologyRequired GangTopologyPolicy = "Required"
	// GangTopologyPreferred: the gang is placed in one domain if that costs no more than Query.PreferencePremium allows.
	GangTopologyPreferred GangTopologyPolicy = "Preferred"
)

// GangDisruptionMode says which members are moved together when nodes are disrupted.
type GangDisruptionMode string

const (
	// GangDisruptedTogether: all members are moved together or not at all.
	GangDisruptedTogether GangDisruptionMode = "All"
	// GangDisruptedWithParent: the members of all gangs of the parent with this mode are moved all together or not at all.
	GangDisruptedWithParent GangDisruptionMode = "AllOfParent"
	// GangDisruptedSingly: members are moved like other pods.
	GangDisruptedSingly GangDisruptionMode = "Single"
)

// GangKey names a gang.
type GangKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns "namespace/name".
func (k GangKey) String() string { return k.Namespace + "/" + k.Name }

// Key returns the key of the gang.
func (g *Gang) Key() GangKey { return GangKey{g.Namespace, g.Name} }

// Whole returns the key of the outermost group (the parent or an ancestor) whose gangs are placed all together or not at all with the gang.
// It returns false if the gang is placed separately: it has no parent, or its parent is complete without it.
func (g *Gang) Whole() (GangKey, bool) {
	if g.Parent == "" || g.Spare {
		return GangKey{}, false
	}
	name := g.Parent
	for i := 0; i < len(g.Ancestors) && !g.Ancestors[i].Spare; i++ {
		name = g.Ancestors[i].Name
	}
	return GangKey{g.Namespace, name}, true
}

// MovedWith returns the key of the outermost group (the parent or an ancestor) whose gangs are moved all together or not at all with the
// gang. It returns false if the gang is moved separately.
func (g *Gang) MovedWith() (GangKey, bool) {
	if g.Parent == "" || g.DisruptionMode != GangDisruptedWithParent {
		return GangKey{}, false
	}
	name := g.Parent
	for i := range g.Ancestors {
		if g.Ancestors[i].DisruptedTogether {
			name = g.Ancestors[i].Name
		}
	}
	return GangKey{g.Namespace, name}, true
}

// Size returns the number of members of the gang: existing ones and those of its templates.
func (g *Gang) Size() int {
	n := len(g.Members)
	for i := range g.Templates {
		n += g.Templates[i].Count
	}
	return n
}

// Needs returns how many members must be placed together: Minimum, or all members if Minimum is 0.
func (g *Gang) Needs() int {
	if g.Minimum > 0 {
		return g.Minimum
	}
	return g.Size()
}
