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
	// Spread: the pod's own domain may have at most MaxSkew more members than the emptiest domain.
	Spread Kind = iota
	// Affinity: the pod's own domain must have a member.
	Affinity
	// Anti: the pod's own domain must have no member, and a domain with a pod that states the rule (an owner) must not get a member.
	Anti
	// Exclusive: a node can have only one member. Host ports are exclusive groups.
	Exclusive
	// Together: as soon as one member has a domain, all other members must be in the same domain. Pods that share a volume that is not
	// created yet are such a group: the zone of the first pod determines the volume's zone.
	Together
	// Gone: no pod states the rule any more. Such groups are only in an index that is kept for updates.
	Gone
)

// Group is one distinct rule. Pods that state equal rules share it.
type Group struct {
	Kind Kind
	// Key is the canonical topology label. At is its index in the keys of PlaceKeys, or Hostname.
	Key string
	At  int
	// Hard means that the rule must be kept. Soft rules, with a weight from 1 to 100, are kept if that costs little.
	Hard   bool
	Weight int32
	// MaxSkew and MinDomains are those of a spread. MinDomains is at least 1.
	MaxSkew, MinDomains int32
	// namespaces (sorted) and selectors determine the members: pods in these namespaces that match all selectors.
	namespaces []string
	selectors  []labels.Selector
	// Claim is the volume whose pods are the members. It is set for groups of the kind Together.
	Claim volumes.ID
	// Disk is the disk whose pods are the members. It is set for groups of the kind Anti that keep the pods of one disk apart.
	Disk string
	// Shared identifies pods that share claims of devices; their leader is the member. It is set for groups of the kind Affinity.
	Shared string
	// Filter says which nodes a spread counts.
	Filter Filter
	// Labels are the node labels on which the rule depends, except for node names: its key, and the labels in the filter.
	Labels []string
}

// Hostname is the value of Group.At for groups whose domains are single nodes.
const Hostname = -1

// Filter is the part of a spread constraint that selects nodes. The zero value selects all nodes.
type Filter struct {
	// Terms are the alternatives of the owner's node selector and required affinity; nil means all nodes.
	Terms []match.Needs
	// tolerations are those of the owner. They are checked if taints is true.
	Taints      bool
	tolerations []corev1.Toleration
	// keys are topology labels that a node must have, sorted. If the owner has several hard constraints, they are the keys of all of them,
	// because kube-scheduler ignores nodes that lack any of these keys.
	keys []string
	text string
}

// Groups are the topology groups of a class. Owns are the groups whose rules its pods state. In are the groups that count its pods. Both
// are ascending.
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

// PlaceKeys sets At of each group to the number of its key. It returns the keys in the order of their numbers, and the labels of all
// groups, sorted.
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
