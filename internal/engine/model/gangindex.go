package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// GangIndex has the snapshot's gangs in the form that the model uses.
type GangIndex struct {
	// List is indexed like Snapshot.Gangs. Order lists the gangs with the highest priority first.
	List  []Gang
	Order []int32
	// Of is indexed like Model.Pods. It has the pod's gang, or -1. ByKey maps the pod's name to its gang.
	Of    []int32
	ByKey map[planning.PodKey]int32
	// Families are sets of gangs. The gangs of one family are placed all together or not at all. They are in the sequence of Order.
	Families []gangs.Family
	// Ways contains the pending states of each gang: see GangAsPods, GangWithheld and GangOptions.
	Ways []state.Gang
}

// Gang is a gang of the snapshot in the form that planning uses.
type Gang struct {
	Source *planning.Gang
	// Family is the number of the gang's family, or -1.
	Family int32
	// Pods are the pending members, as indexes in Model.Pods. The first Needed of these members must be placed together.
	Pods   []int32
	Needed int
	// Bound is the number of members on nodes. The field There is the number of all members in the snapshot.
	Bound, There int
	Priority     int32
	// Levels are the options, indexed by the number of kept preferences: the first entry has the options that keep none.
	Levels [][]GangOption
	// Loose is an option for the gang without its required topology. It is nil if the gang requires no topology. It is tried only for
	// explanations.
	Loose *GangOption
	// Known is the number of domains of the labels that the gang requires, including domains that the gang can't use. Closed says why the
	// gang can use none of these domains. Closed is nil if the gang can use one of them.
	Known  int
	Closed *GangClosed
	// Moves are the domains to which the gang could be moved. It is nil if the gang requires no domain, or if members are pending.
	Moves []GangMove
}

// GangClosed says why a gang can use no domain.
type GangClosed struct {
	// Keys are the required labels. Unstated are the required labels that no node and no instance type has.
	Keys, Unstated []string
	// RunIn lists the domains in which members run, if there are several. If a node lacks the label, the value of its domain is empty.
	RunIn []planning.GangDomain
	// Pod is the index in Model.Pods of the first pending member that can use none of the domains that all members before it can use. It is
	// -1 if there is no such member.
	Pod int32
}

// GangOption is a domain that the gang could be in.
type GangOption struct {
	Domains []planning.GangDomain
	// Way is the pending state with only the needed pods; Way+1 is the state with all pods.
	Way int32
	// Classes and likes are indexed like Gang.Pods. likes has the numbers that equal pods share: see gangPods. setClasses computes Classes
	// from likes.
	likes, Classes []int32
}

// findFamilies divides the gangs into families. The gangs of one family are placed all together or not at all.
func (x *GangIndex) findFamilies() {
	sources := make([]*planning.Gang, len(x.List))
	for i := range x.List {
		sources[i] = x.List[i].Source
	}
	families, of := gangs.Families(sources, x.Order)
	for i := range x.List {
		x.List[i].Family = of[i]
	}
	x.Families = families
}

// rank raises the gang's priority to the pod's priority, if that is higher.
func (g *Gang) rank(pod *corev1.Pod) {
	priority := int32(0)
	if pod.Spec.Priority != nil {
		priority = *pod.Spec.Priority
	}
	g.Priority = max(g.Priority, priority)
}

// Options yields all options of the gang.
func (g *Gang) Options(yield func(*GangOption) bool) {
	for _, level := range g.Levels {
		for i := range level {
			if !yield(&level[i]) {
				return
			}
		}
	}
	if g.Loose != nil {
		yield(g.Loose)
	}
}

// setClasses sets the classes in the options and moves. classOf returns the class for a number that equal pods share. It must be called
// only once.
func (x *GangIndex) setClasses(classOf func(like int32) int32, podClass []int32) {
	for number := range x.List {
		g, ways := &x.List[number], x.Ways[number].Ways
		for i := range g.Moves {
			g.Moves[i].setClasses(classOf)
		}
		base := make([]int32, len(g.Pods))
		for i, pod := range g.Pods {
			base[i] = podClass[pod]
		}
		ways[GangAsPods] = shares(base)
		for o := range g.Options {
			o.Classes = make([]int32, len(o.likes))
			for p, like := range o.likes {
				o.Classes[p] = classOf(like)
			}
			o.likes = nil
			ways[o.Way], ways[o.Way+1] = shares(o.Classes[:min(g.Needed, len(o.Classes))]), shares(o.Classes)
		}
	}
}

// shares returns the number of pods in each class.
func shares(classes []int32) []state.Share {
	var out []state.Share
	for _, class := range classes {
		at := slices.IndexFunc(out, func(s state.Share) bool { return s.Class == class })
		if at < 0 {
			at = len(out)
			out = append(out, state.Share{Class: class})
		}
		out[at].Count++
	}
	return out
}

// membersOf finds the gang of each member.
func membersOf(list []planning.Gang) map[planning.PodKey]int32 {
	out := map[planning.PodKey]int32{}
	for i := range list {
		for _, key := range list[i].Members {
			out[key] = int32(i)
		}
	}
	return out
}
