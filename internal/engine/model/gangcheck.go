package model

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/drawknife/drawknife/scheduling/planning"
)

const (
	// mostGangPods is the maximum number of pods that the templates of all gangs of a snapshot may represent.
	mostGangPods = 100_000
	// mostGangLevels is the largest number of topology constraints of a gang.
	mostGangLevels = 8
)

// checkGangs refuses a gang that contradicts itself or another gang.
func checkGangs(s *planning.Snapshot) error {
	keys, memberOf := make(map[planning.GangKey]bool, len(s.Gangs)), map[planning.PodKey]int{}
	made := 0
	for i := range s.Gangs {
		g := &s.Gangs[i]
		path := fmt.Sprintf("gangs[%d]", i)
		if keys[g.Key()] {
			return &planning.SnapshotError{Path: path, Rule: "is a second gang " + g.Key().String(), Cure: "namespace and name are unique over all gangs"}
		}
		keys[g.Key()] = true
		if err := checkGang(g, path); err != nil {
			return err
		}
		for j, key := range g.Members {
			if of, known := memberOf[key]; known {
				return &planning.SnapshotError{
					Path: fmt.Sprintf("%s.members[%d]", path, j), Rule: fmt.Sprintf("is pod %s, which is a member of gang %s already", key, s.Gangs[of].Key()),
					Cure: "list each pod once, in one gang",
				}
			}
			memberOf[key] = i
		}
		for j := range g.Templates {
			if made += g.Templates[j].Count; made > mostGangPods {
				return &planning.SnapshotError{
					Path: fmt.Sprintf("%s.templates[%d].count", path, j), Rule: fmt.Sprintf("makes more than %d pods of all gangs' templates", mostGangPods),
					Cure: "plan fewer of them at a time",
				}
			}
		}
	}
	return checkFamilies(s)
}

// checkFamilies refuses gangs of one parent or ancestor if their topology constraints differ although the gangs state that they share these
// constraints.
func checkFamilies(s *planning.Snapshot) error {
	first := map[planning.GangKey]groupPlace{}
	for i := range s.Gangs {
		g := &s.Gangs[i]
		if g.Parent == "" && len(g.Ancestors) == 0 {
			continue
		}
		if err := checkGroups(g, i); err != nil {
			return err
		}
		groups := groupsOf(g)
		for level := range groups {
			key := planning.GangKey{Namespace: g.Namespace, Name: groups[level].Name}
			was, known := first[key]
			if !known {
				first[key] = groupPlace{g, level}
			} else if err := was.check(g, groups, level, groupPath(i, level)); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupsOf returns the gang's parent and ancestors.
func groupsOf(g *planning.Gang) []planning.GangAncestor {
	return append([]planning.GangAncestor{{Name: g.Parent, Shared: g.Shared, Spare: g.Spare}}, g.Ancestors...)
}

// groupPath returns the path of the field in which the gang states the group.
func groupPath(gang, level int) string {
	if level == 0 {
		return fmt.Sprintf("gangs[%d]", gang)
	}
	return fmt.Sprintf("gangs[%d].ancestors[%d]", gang, level-1)
}

// checkGroups refuses a gang whose parent and ancestors contradict each other.
func checkGroups(g *planning.Gang, number int) error {
	if g.Parent == "" {
		return &planning.SnapshotError{Path: groupPath(number, 1), Rule: "is an ancestor of a gang without a parent", Cure: "name the parent, or leave the ancestors out"}
	}
	if len(g.Ancestors) > mostGangLevels {
		return &planning.SnapshotError{Path: fmt.Sprintf("gangs[%d].ancestors", number), Rule: fmt.Sprintf("has more than %d entries", mostGangLevels), Cure: "keep those that share domains"}
	}
	groups, most := groupsOf(g), len(g.Topology)
	for level, group := range groups {
		path := groupPath(number, level)
		if group.Name == "" || slices.ContainsFunc(groups[:level], func(below planning.GangAncestor) bool { return below.Name == group.Name }) {
			return &planning.SnapshotError{Path: path + ".name", Rule: fmt.Sprintf("is %q, which is no name, or that of a group below it", group.Name), Cure: "give each group a name of its own"}
		}
		switch {
		case group.Shared < 0 || level == 0 && group.Shared > most:
			return &planning.SnapshotError{Path: path + ".shared", Rule: fmt.Sprintf("is %d, and topology has %d entries", group.Shared, most), Cure: "count the first entries that all gangs of the parent have"}
		case group.Shared > most:
			return &planning.SnapshotError{Path: path + ".shared", Rule: fmt.Sprintf("is %d, and the group below it shares %d", group.Shared, most), Cure: "count the first entries that the gangs of all groups have"}
		}
		most = group.Shared
	}
	for _, t := range g.Topology[:g.Shared] {
		if t.Policy == planning.GangTopologyPreferred {
			return &planning.SnapshotError{Path: groupPath(number, 0) + ".shared", Rule: "counts " + t.Key + ", which is only preferred", Cure: "let gangs of a parent share what they require"}
		}
	}
	return nil
}

// groupPlace is where a group was stated first: the gang and the level. At level 0 the group is the gang's parent, at higher levels its
// ancestor.
type groupPlace struct {
	gang  *planning.Gang
	level int
}

// check refuses the gang g if it describes the group differently than the gang that stated the group first.
func (p groupPlace) check(g *planning.Gang, groups []planning.GangAncestor, level int, path string) error {
	were, shared := groupsOf(p.gang), groups[level].Shared
	if were[p.level].Shared != shared || !slices.EqualFunc(p.gang.Topology[:shared], g.Topology[:shared], func(a, b planning.GangTopology) bool { return a.Key == b.Key }) {
		return &planning.SnapshotError{
			Path: path + ".shared", Rule: fmt.Sprintf("is not the same as that of gang %s, which is of the same parent", p.gang.Key()),
			Cure: "give all gangs of a parent the same first entries of topology, and the same number of them",
		}
	}
	if !slices.Equal(were[p.level+1:], groups[level+1:]) || level > 0 && p.level > 0 && were[p.level].DisruptedTogether != groups[level].DisruptedTogether {
		return &planning.SnapshotError{
			Path: path, Rule: fmt.Sprintf("is part of other groups than gang %s says of %s", p.gang.Key(), groups[level].Name),
			Cure: "give all gangs of a parent the same ancestors",
		}
	}
	return nil
}

// checkGang refuses a gang that contradicts itself.
func checkGang(g *planning.Gang, path string) error {
	switch {
	case g.Namespace == "" || g.Name == "":
		return &planning.SnapshotError{Path: path, Rule: "has no namespace or no name", Cure: "give both: pods of templates are made in the namespace, and named after the gang"}
	case len(g.Members)+len(g.Templates) == 0:
		return &planning.SnapshotError{Path: path, Rule: "has neither members nor templates", Cure: "list its pods, or leave the gang out"}
	case g.Minimum < 0:
		return &planning.SnapshotError{Path: path + ".minimum", Rule: fmt.Sprintf("is %d", g.Minimum), Cure: "give how many members need a place together, or 0 for all"}
	case g.RunSeconds < 0:
		return &planning.SnapshotError{Path: path + ".runSeconds", Rule: fmt.Sprintf("is %d", g.RunSeconds), Cure: "give for how many seconds the members run, or 0 if that is not known"}
	case len(g.Topology) > mostGangLevels:
		return &planning.SnapshotError{Path: path + ".topology", Rule: fmt.Sprintf("has more than %d entries", mostGangLevels), Cure: "keep those that matter"}
	}
	switch g.DisruptionMode {
	case "", planning.GangDisruptedTogether, planning.GangDisruptedWithParent, planning.GangDisruptedSingly:
	default:
		return &planning.SnapshotError{Path: path + ".disruptionMode", Rule: fmt.Sprintf("is %q", g.DisruptionMode), Cure: fmt.Sprintf("say %s or %s", planning.GangDisruptedTogether, planning.GangDisruptedSingly)}
	}
	for i, t := range g.Templates {
		if t.Count < 1 {
			return &planning.SnapshotError{Path: fmt.Sprintf("%s.templates[%d].count", path, i), Rule: fmt.Sprintf("is %d", t.Count), Cure: "give 1 or more, or leave the template out"}
		}
	}
	levels := map[string]bool{}
	for i, t := range g.Topology {
		at := fmt.Sprintf("%s.topology[%d]", path, i)
		if problems := validation.IsQualifiedName(t.Key); len(problems) > 0 {
			return &planning.SnapshotError{Path: at + ".key", Rule: fmt.Sprintf("is %q, which is no label key: %s", t.Key, strings.Join(problems, "; ")), Cure: "name a label of nodes, " + corev1.LabelTopologyZone + " for instance"}
		}
		if levels[t.Key] {
			return &planning.SnapshotError{Path: at + ".key", Rule: "repeats " + t.Key, Cure: "state each label once"}
		}
		levels[t.Key] = true
		switch t.Policy {
		case "", planning.GangTopologyRequired, planning.GangTopologyPreferred:
		default:
			return &planning.SnapshotError{Path: at + ".policy", Rule: fmt.Sprintf("is %q", t.Policy), Cure: fmt.Sprintf("say %s or %s", planning.GangTopologyRequired, planning.GangTopologyPreferred)}
		}
	}
	return nil
}

// WithGangPods returns a copy of the snapshot with the pods of its gangs' templates, as members of the gangs. It returns the snapshot
// itself if there are no templates.
func WithGangPods(s *planning.Snapshot) (*planning.Snapshot, error) {
	if len(s.Gangs) == 0 {
		return s, nil
	}
	if err := checkGangs(s); err != nil {
		return nil, err
	}
	made := 0
	for i := range s.Gangs {
		for j := range s.Gangs[i].Templates {
			made += s.Gangs[i].Templates[j].Count
		}
	}
	if made == 0 {
		return s, nil
	}
	out := *s
	out.Pods = append(make([]*corev1.Pod, 0, len(s.Pods)+made), s.Pods...)
	out.Gangs = append([]planning.Gang(nil), s.Gangs...)
	taken := podKeys(s)
	for i := range out.Gangs {
		g := &out.Gangs[i]
		g.Members = append([]planning.PodKey(nil), g.Members...)
		for j := range g.Templates {
			for n := range g.Templates[j].Count {
				pod := gangPod(g, &g.Templates[j], n)
				key := planning.KeyOf(pod)
				if taken[key] {
					return nil, &planning.SnapshotError{
						Path: fmt.Sprintf("gangs[%d].templates[%d]", i, j), Rule: fmt.Sprintf("makes pod %s, which is there already", key),
						Cure: "name the template otherwise, or count fewer pods where some have been made",
					}
				}
				taken[key] = true
				out.Pods, g.Members = append(out.Pods, pod), append(g.Members, key)
			}
		}
		g.Templates = nil
	}
	return &out, nil
}

// gangPod returns a pod made from the template, with the given number in its name.
func gangPod(g *planning.Gang, t *planning.GangTemplate, number int) *corev1.Pod {
	name := t.Name
	if name == "" {
		name = g.Name
	}
	pod := &corev1.Pod{ObjectMeta: t.Template.ObjectMeta, Spec: t.Template.Spec}
	pod.Namespace, pod.Name, pod.GenerateName, pod.UID = g.Namespace, fmt.Sprintf("%s-%d", name, number), "", ""
	return pod
}

// podKeys returns the names of all pods of the snapshot.
func podKeys(s *planning.Snapshot) map[planning.PodKey]bool {
	out := make(map[planning.PodKey]bool, CountPods(s))
	add := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			if pod != nil {
				out[planning.KeyOf(pod)] = true
			}
		}
	}
	add(s.Pods)
	add(s.Placeholders)
	for i := range s.Nodes {
		add(s.Nodes[i].Pods)
	}
	return out
}
