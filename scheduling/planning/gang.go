package planning

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Gang is pods that are useful only together: a plan places at least Minimum of them, or none. Readers make gangs of PodGroups,
// Workloads and the like (package scheduling/manifests); a Snapshot built by hand lists them.
//
//	planning.Gang{
//		Namespace: "research", Name: "train", Minimum: 8,
//		Templates: []planning.GangTemplate{{Name: "worker", Count: 8, Template: worker}},
//		Topology:  []planning.GangTopology{{Key: corev1.LabelTopologyZone}},
//	}
type Gang struct {
	// Namespace of its pods, and Name: together they are unique in a snapshot.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Source is the object that the gang was made from, such as "PodGroup research/train", for people.
	Source string `json:"source,omitempty"`
	// Members are pods of the snapshot, waiting or bound to nodes, in the order in which they count towards Minimum. A pod is a member
	// of one gang at most. A member that the snapshot does not have is not there yet, and has no place.
	Members []PodKey `json:"members,omitempty"`
	// Templates stand for members that nobody has made yet. They come after Members.
	Templates []GangTemplate `json:"templates,omitempty"`
	// Minimum is how many members need a place together, those that are bound included; 0 stands for all. Members beyond the minimum
	// are placed like any pod, within Topology.
	Minimum int `json:"minimum,omitempty"`
	// Priority decides which of several gangs, and of the other pods, gets what is scarce. Nil is the highest priority of the members.
	Priority *int32 `json:"priority,omitempty"`
	// Topology keeps the members together: for each entry all of them are on nodes with one value of a label. Entries come from
	// the widest domain to the narrowest, and where not all wishes can be kept, the last are given up first.
	Topology []GangTopology `json:"topology,omitempty"`
	// DisruptionMode says whether members that run may be moved without the others. Empty is GangDisruptedTogether.
	DisruptionMode GangDisruptionMode `json:"disruptionMode,omitempty"`
	// Deadline is the time from which the gang is not placed any more; zero for never.
	Deadline time.Time `json:"deadline,omitzero"`
}

// GangTemplate is members of a gang that are alike and that nobody has made yet. Their pods are named "NAME-0" and on.
type GangTemplate struct {
	// Name begins the names of the pods; empty stands for the gang's name.
	Name string `json:"name,omitempty"`
	// Count of pods, at least 1.
	Count int `json:"count"`
	// Template of the pods.
	Template corev1.PodTemplateSpec `json:"template"`
}

// GangTopology keeps all members of a gang in one domain: on nodes that have the same value of a label.
type GangTopology struct {
	// Key of the label, topology.kubernetes.io/zone for instance. Nodes and instance types that don't state it are in no domain. For
	// kubernetes.io/hostname only nodes of the snapshot are domains.
	Key string `json:"key"`
	// Policy says whether a gang that has no place in one domain is placed across several. Empty is GangTopologyRequired.
	Policy GangTopologyPolicy `json:"policy,omitempty"`
}

// GangTopologyPolicy says how strictly a gang is kept in one domain.
type GangTopologyPolicy string

const (
	// GangTopologyRequired: the gang has no place unless one domain holds it.
	GangTopologyRequired GangTopologyPolicy = "Required"
	// GangTopologyPreferred: one domain is taken if that costs no more than Query.PreferencePremium allows.
	GangTopologyPreferred GangTopologyPolicy = "Preferred"
)

// GangDisruptionMode says which members go together when nodes are disrupted.
type GangDisruptionMode string

const (
	// GangDisruptedTogether: no member is moved unless all are.
	GangDisruptedTogether GangDisruptionMode = "All"
	// GangDisruptedSingly: members are moved like any pods.
	GangDisruptedSingly GangDisruptionMode = "Single"
)

// GangKey names a gang.
type GangKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is "namespace/name".
func (k GangKey) String() string { return k.Namespace + "/" + k.Name }

// Key names the gang.
func (g *Gang) Key() GangKey { return GangKey{g.Namespace, g.Name} }

// Size is how many members the gang has: those that are there, and those of its templates.
func (g *Gang) Size() int {
	n := len(g.Members)
	for i := range g.Templates {
		n += g.Templates[i].Count
	}
	return n
}

// Needs is how many members need a place together: Minimum, or all of them.
func (g *Gang) Needs() int {
	if g.Minimum > 0 {
		return g.Minimum
	}
	return g.Size()
}
