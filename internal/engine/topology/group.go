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

// Kind of a rule.
type Kind uint8

const (
	// Spread: the pod's own domain may have at most MaxSkew more members than the emptiest one.
	Spread Kind = iota
	// Affinity: the pod's own domain must have a member.
	Affinity
	// Anti: the pod's own domain must have no member, and no domain of an owner may take a member.
	Anti
	// Exclusive: a node has room for one member. Host ports are exclusive groups.
	Exclusive
	// Together: after one member has a domain, the others must be in the same domain. Pods that share a volume that is still to be created
	// are such a group: the zone of the first one decides.
	Together
	// Gone: no pod states the rule any more. Only an index kept for updates has such groups.
	Gone
)

// Group is one distinct rule: pods that state the same one share it.
type Group struct {
	Kind Kind
	// Key is the topology label, canonical; At is its index in Keys of PlaceKeys, or Hostname.
	Key string
	At  int
	// Hard rules must be kept; soft ones are kept if they cost little, weighted from 1 to 100.
	Hard   bool
	Weight int32
	// MaxSkew and minDomains of a spread; minDomains is at least 1.
	MaxSkew, MinDomains int32
	// namespaces, sorted, and selectors determine the members: pods of those namespaces that match all selectors.
	namespaces []string
	selectors  []labels.Selector
	// Claim is the volume whose pods are the members, of groups of Together.
	Claim volumes.ID
	// Disk is the disk whose pods are the members, of groups of Anti that keep the pods of one disk apart.
	Disk string
	// Shared is the claim of devices that pods share whose leader is the member, for groups of Affinity.
	Shared string
	// Filter says which nodes a spread includes.
	Filter Filter
	// Labels are the labels of nodes that matter to the rule, without their names: its key, and those of the filter.
	Labels []string
}

// Hostname is the Group.At of groups whose domains are single nodes.
const Hostname = -1

// Filter is the part of a spread constraint that selects nodes. The zero value includes all.
type Filter struct {
	// Terms are alternatives of the owner's node selector and required affinity; nil for all nodes.
	Terms []match.Needs
	// tolerations of the owner are checked if taints is true.
	Taints      bool
	tolerations []corev1.Toleration
	// keys are topology labels that a node must have, sorted. They are the keys of all hard constraints of the owner if there are further
	// ones, because kube-scheduler ignores nodes that lack any of them.
	keys []string
	text string
}

// Groups are the groups of a class: the groups whose rules its pods state, Owns, and the groups that count its pods, In. Both are
// ascending.
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

// Selects reports whether the pod is a member, by namespaces and selectors.
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

// PlaceKeys numbers the keys of the groups. It returns the keys in that order, and the labels of all groups, sorted.
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

// Who describes which pods the group counts.
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
