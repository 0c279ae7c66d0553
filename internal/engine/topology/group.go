package topology

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Kind is the kind of a rule.
type Kind uint8

const (
	// Spread means that the pod's own domain may have at most MaxSkew more members than the emptiest domain.
	Spread Kind = iota
	// Affinity means that the pod's own domain must have a member.
	Affinity
	// Anti means that the pod's own domain must have no member. A domain with a pod that states the rule (an owner) must not get a member.
	Anti
	// Exclusive means that a node can have only one member. Host ports are exclusive groups.
	Exclusive
	// Together means that all members must be in the same domain as the first member that has a domain. Pods that share a volume which is
	// not created yet are such a group, because the zone of the first pod determines the volume's zone.
	Together
	// Gone means that no pod states the rule any more. Only an index that is kept for updates has such groups.
	Gone
)

// Group is one distinct rule. Pods that state equal rules share the group.
type Group struct {
	Kind Kind
	// Key is the canonical topology label. At is the key's index in the result keys of PlaceKeys, or Hostname if the group's domains are
	// single nodes.
	Key string
	At  int
	// Hard means that the rule must be kept. A soft rule, with a weight from 1 to 100, is a preference: it is kept if that costs little.
	Hard   bool
	Weight int32
	// MaxSkew and MinDomains are the maxSkew and minDomains of a spread constraint. MinDomains is at least 1.
	MaxSkew, MinDomains int32
	// namespaces (sorted) and selectors determine the members: pods in these namespaces that match all selectors.
	namespaces []string
	selectors  []labels.Selector
	// Claim is the volume whose pods are the group's members. It is set for groups of the kind Together.
	Claim volumes.ID
	// Disk is the disk whose pods are the group's members. It is set for groups of the kind Anti that keep the pods of one disk on
	// different nodes.
	Disk string
	// Shared identifies pods that share claims of devices. The leader of these pods is the group's only member. It is set for groups of the
	// kind Affinity.
	Shared string
	// Filter says which nodes a spread counts.
	Filter Filter
	// Labels are the node labels on which the rule depends: the group's key and the labels in the filter, without node names.
	Labels []string
}

// Hostname is the value of Group.At for groups whose domains are single nodes.
const Hostname = -1

// Filter is the part of a spread constraint that selects nodes. The zero value selects all nodes.
type Filter struct {
	// Terms are the alternatives of the owner's node selector and required affinity; nil means all nodes.
	Terms []match.Needs
	// tolerations are the owner's tolerations. They are checked if Taints is true.
	Taints      bool
	tolerations []corev1.Toleration
	// keys is the sorted list of topology labels that a node must have. If the owner has several hard constraints, the list has the keys of
	// all of them, because kube-scheduler ignores nodes that lack any of these keys.
	keys []string
	text string
}

// Groups are the topology groups of a class. Owns has the numbers of the groups whose rules the class's pods state. In has the numbers of
// the groups that count the class's pods. Both lists are in ascending order.
type Groups struct {
	Owns, In []int32
}

// Empty reports whether no rule concerns the pods.
func (o *Groups) Empty() bool { return len(o.Owns) == 0 && len(o.In) == 0 }

func (g *Group) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d|%s|%t|%d|%d|%d|%s|", g.Kind, g.Key, g.Hard, g.Weight, g.MaxSkew, g.MinDomains, strings.Join(g.namespaces, ","))
	for _, s := range g.selectors {
		b.WriteString(s.String())
		b.WriteByte('|')
	}
	b.WriteString(g.Claim.Driver + "/" + g.Claim.Handle + g.Disk + g.Shared)
	b.WriteString(g.Filter.text)
	return b.String()
}

// Selects reports whether the pod is a member by the group's namespaces and selectors.
func (g *Group) Selects(pod *corev1.Pod) bool {
	if _, ok := slices.BinarySearch(g.namespaces, pod.Namespace); !ok {
		return false
	}
	for _, s := range g.selectors {
		if !s.Matches(labels.Set(pod.Labels)) {
			return false
		}
	}
	return true
}

// PlaceKeys sets At of each group to the number of the group's key. It returns the keys in the order of their numbers, and the sorted
// labels of all groups (pinned).
func PlaceKeys(groups []Group) (keys, pinned []string) {
	for i := range groups {
		g := &groups[i]
		if g.Key == corev1.LabelHostname || g.Kind == Exclusive {
			g.At = Hostname
			continue
		}
		at := slices.Index(keys, g.Key)
		if at < 0 {
			at = len(keys)
			keys = append(keys, g.Key)
		}
		g.At = at
	}
	pinned = slices.Clone(keys)
	for i := range groups {
		g := &groups[i]
		if g.At != Hostname {
			g.Labels = append(g.Labels, g.Key)
		}
		g.Labels = append(g.Labels, g.Filter.keys...)
		for _, term := range g.Filter.Terms {
			for _, r := range term {
				if r.Key() != match.NodeName {
					g.Labels = append(g.Labels, r.Key())
				}
			}
		}
		slices.Sort(g.Labels)
		g.Labels = slices.Compact(g.Labels)
		pinned = append(pinned, g.Labels...)
	}
	slices.Sort(pinned)
	return keys, slices.Compact(pinned)
}

// Who returns a text that describes which pods the group counts.
func (g *Group) Who() string {
	var parts []string
	for _, s := range g.selectors {
		text := s.String()
		switch {
		case s.Empty():
			continue
		case text == "":
			return "no pod"
		case !slices.Contains(parts, text):
			parts = append(parts, text)
		}
	}
	out := "all pods"
	if len(parts) > 0 {
		out = "pods that match " + strings.Join(parts, ",")
	}
	switch len(g.namespaces) {
	case 0:
		return "no pod"
	case 1:
		return out + " in namespace " + g.namespaces[0]
	}
	return out + " in namespaces " + strings.Join(g.namespaces, ", ")
}
