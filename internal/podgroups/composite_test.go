package podgroups

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// tree is groups of groups to be read.
type tree struct {
	t       *testing.T
	objects map[Key]*Object
	parts   []Part
}

func (x *tree) read(kind Kind, name, parent string, spec map[string]any) *Object {
	x.t.Helper()
	if parent != "" {
		spec["parentCompositePodGroupName"] = parent
	}
	o, err := Read(kind, map[string]any{"metadata": map[string]any{"namespace": "ns", "name": name}, "spec": spec})
	if err != nil {
		x.t.Fatal(err)
	}
	x.objects[Key{kind, "ns", name}] = o
	return o
}

// composite is a CompositePodGroup that needs so many groups; 0 is for groups that are placed one by one.
func (x *tree) composite(name, parent string, needs int64, topology ...string) *Object {
	spec := map[string]any{"schedulingPolicy": map[string]any{"basic": map[string]any{}}}
	if needs > 0 {
		spec["schedulingPolicy"] = map[string]any{"gang": map[string]any{"minGroupCount": needs}}
	}
	return x.read(CompositePodGroup, name, parent, constrained(spec, topology))
}

// group is a PodGroup that needs so many pods, with so many.
func (x *tree) group(name, parent string, needs int64, pods int, topology ...string) {
	x.t.Helper()
	spec := map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": needs}}}
	key := Key{PodGroup, "ns", name}
	o := x.read(PodGroup, name, parent, constrained(spec, topology))
	var members []Member
	for i := range pods {
		members = append(members, Member{PodKey: planning.PodKey{Namespace: "ns", Name: fmt.Sprintf("%s%d", name, i)}})
	}
	if p, ok := (&Named{Group: key, Object: key}).Part(o, members); ok {
		x.parts = append(x.parts, p)
	}
}

func constrained(spec map[string]any, topology []string) map[string]any {
	var list []any
	for _, key := range topology {
		list = append(list, map[string]any{"key": key})
	}
	spec["schedulingConstraints"] = map[string]any{"topology": list}
	return spec
}

// gangText is the gangs as "name needs members keys".
func gangText(gangs []planning.Gang) string {
	var out []string
	for _, g := range gangs {
		var names, keys []string
		for _, m := range g.Members {
			names = append(names, m.Name)
		}
		for _, t := range g.Topology {
			keys = append(keys, t.Key)
		}
		text := fmt.Sprintf("%s %d %s %s", g.Name, g.Minimum, strings.Join(names, ","), strings.Join(keys, ","))
		if g.Parent != "" {
			text += fmt.Sprintf(" of %s sharing %d", g.Parent, g.Shared)
		}
		if g.Spare {
			text += " spare"
		}
		for _, a := range g.Ancestors {
			text += fmt.Sprintf(" in %s sharing %d", a.Name, a.Shared)
			if a.Spare {
				text += " spare"
			}
		}
		out = append(out, strings.TrimSpace(text))
	}
	return strings.Join(out, "; ")
}

// A CompositePodGroup is one gang of the groups that it needs, in the order in which they are needed; those that have constraints of their own
// are gangs of one parent, within the constraints of all that they are part of.
func TestGroupsOfGroups(t *testing.T) {
	for name, tt := range map[string]struct {
		build         func(x *tree)
		want, missing string
	}{
		"all groups": {func(x *tree) {
			x.composite("c", "", 2, "zone")
			x.group("a", "c", 2, 3)
			x.group("b", "c", 1, 2)
		}, "c 3 a0,a1,b0,a2,b1 zone", ""},
		"some groups": {func(x *tree) {
			x.composite("c", "", 1)
			x.group("a", "c", 2, 2)
			x.group("b", "c", 2, 2)
		}, "c 2 a0,a1,b0,b1", ""},
		"a group that lacks pods, though another has more than it needs": {func(x *tree) {
			x.composite("c", "", 2)
			x.group("a", "c", 3, 1)
			x.group("b", "c", 1, 4)
		}, "c 7 b0,a0,b1,b2,b3", ""}, // two more than there are
		"a group that is not there yet": {func(x *tree) {
			x.composite("c", "", 2)
			x.group("a", "c", 2, 2)
		}, "c 3 a0,a1", ""},
		"complete groups come first": {func(x *tree) {
			x.composite("c", "", 1)
			x.group("a", "c", 3, 1)
			x.group("b", "c", 2, 2)
		}, "c 2 b0,b1,a0", ""},
		"groups of groups of groups": {func(x *tree) {
			x.composite("top", "", 2, "zone")
			x.composite("left", "top", 1)
			x.composite("right", "top", 1)
			x.group("a", "left", 1, 1)
			x.group("b", "right", 2, 2)
		}, "top 3 a0,b0,b1 zone", ""},
		"groups one by one": {func(x *tree) {
			x.composite("c", "", 0)
			x.group("a", "c", 2, 2)
			x.group("b", "c", 1, 1)
		}, "a 2 a0,a1", ""},
		"constraints of groups": {func(x *tree) {
			x.composite("c", "", 2, "zone")
			x.group("a", "c", 2, 2, "rack")
			x.group("b", "c", 2, 2, "zone")
		}, "a 2 a0,a1 zone,rack of c sharing 1; b 2 b0,b1 zone of c sharing 1", ""},
		"more groups with constraints than are needed": {func(x *tree) {
			x.composite("c", "", 1, "zone")
			x.group("a", "c", 3, 2, "rack")
			x.group("b", "c", 2, 2, "rack")
		}, "a 3 a0,a1 zone,rack of c sharing 1 spare; b 2 b0,b1 zone,rack of c sharing 1", ""},
		"a group with constraints that is not there yet": {func(x *tree) {
			x.composite("c", "", 2)
			x.group("a", "c", 1, 2, "rack")
		}, "a 3 a0,a1 rack of c sharing 0", ""},
		"constraints of groups of groups": {func(x *tree) {
			x.composite("top", "", 1, "zone")
			x.composite("left", "top", 1, "block", "zone")
			x.group("a", "left", 1, 1, "rack")
		}, "a 1 a0 zone,block,rack of left sharing 2 in top sharing 1", ""},
		"more groups of groups than are needed": {func(x *tree) {
			x.composite("top", "", 1, "zone")
			x.composite("left", "top", 1, "block")
			x.composite("right", "top", 2, "block")
			x.group("a", "left", 2, 1, "rack")
			x.group("b", "left", 1, 1, "rack")
			x.group("c", "right", 1, 1, "rack")
			x.group("d", "right", 1, 1, "rack")
		}, "a 2 a0 zone,block,rack of left sharing 2 spare in top sharing 1; b 1 b0 zone,block,rack of left sharing 2 in top sharing 1; " +
			"c 1 c0 zone,block,rack of right sharing 2 in top sharing 1 spare; d 1 d0 zone,block,rack of right sharing 2 in top sharing 1 spare", ""},
		"groups of groups, one of which is not there yet": {func(x *tree) {
			x.composite("top", "", 2, "zone")
			x.composite("left", "top", 1, "block")
			x.group("a", "left", 1, 1, "rack")
		}, "a 2 a0 zone,block,rack of left sharing 2 in top sharing 1", ""},
		"a group next to groups of groups": {func(x *tree) {
			x.composite("top", "", 2, "zone")
			x.composite("left", "top", 1, "block")
			x.group("a", "left", 1, 1, "rack")
			x.group("b", "top", 1, 1, "rack")
		}, "a 1 a0 zone,block,rack of left sharing 2 in top sharing 1; b 1 b0 zone,rack of top sharing 1", ""},
		"three levels": {func(x *tree) {
			x.composite("top", "", 1)
			x.composite("middle", "top", 1, "zone")
			x.composite("left", "middle", 1, "block")
			x.group("a", "left", 1, 1, "rack")
		}, "a 1 a0 zone,block,rack of left sharing 2 in middle sharing 1 in top sharing 0", ""},
		"groups with constraints, one by one in one zone": {func(x *tree) {
			x.composite("c", "", 0, "zone")
			x.group("a", "c", 2, 2, "rack")
			x.group("b", "c", 1, 1)
		}, "a 2 a0,a1 zone,rack of c sharing 1 spare; b 1 b0 zone of c sharing 1 spare", ""},
		"not there": {func(x *tree) { x.group("a", "c", 2, 2) }, "a 2 a0,a1", "c"},
		"of each other": {func(x *tree) {
			x.composite("c", "d", 1)
			x.composite("d", "c", 1)
			x.group("a", "c", 2, 2)
		}, "c 2 a0,a1", ""},
	} {
		x := &tree{t: t, objects: map[Key]*Object{}}
		tt.build(x)
		gangs, missing := Gangs(x.parts, func(key Key) *Object { return x.objects[key] })
		names := func(keys []Key) (out string) {
			for _, key := range keys {
				out += key.Name
			}
			return out
		}
		if got := gangText(gangs); got != tt.want || names(missing) != tt.missing {
			t.Errorf("%s: %q, missing %q; want %q, %q", name, got, names(missing), tt.want, tt.missing)
		}
	}
}

// A gang of a CompositePodGroup is moved as a whole if it, or one of its groups, is; else member by member.
func TestGroupsOfGroupsAreMoved(t *testing.T) {
	for _, all := range []bool{false, true} {
		x := &tree{t: t, objects: map[Key]*Object{}}
		spec := map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minGroupCount": int64(1)}}, "priority": int64(7)}
		want := planning.GangDisruptedSingly
		if all {
			spec["disruptionMode"], want = map[string]any{"all": map[string]any{}}, ""
		}
		x.read(CompositePodGroup, "c", "", spec)
		x.group("a", "c", 2, 2)
		gangs, _ := Gangs(x.parts, func(key Key) *Object { return x.objects[key] })
		if len(gangs) != 1 || gangs[0].DisruptionMode != want || gangs[0].Priority == nil || *gangs[0].Priority != 7 {
			t.Errorf("%v: %+v", all, gangs)
		}
	}
}

// Of Volcano's tasks as many pods are needed as minTaskMember says of each, whatever there is of others.
func TestTasks(t *testing.T) {
	object, err := Read(VolcanoPodGroup, map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "g"}, "spec": map[string]any{
		"minMember": int64(3), "minTaskMember": map[string]any{"worker": int64(2), "driver": int64(1)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	key := Key{VolcanoPodGroup, "ns", "g"}
	for pods, want := range map[string]string{
		"worker worker worker driver other": "g 3 p3,p0,p1,p2,p4",
		"worker worker worker worker":       "g 5 p0,p1,p2,p3", // one more than there are
		"worker driver other other":         "g 5 p1,p0,p2,p3",
		"done-worker driver worker":         "g 2 p1,p2",
		"done-driver worker":                "g 2 p1", // another worker is missing
	} {
		var members []Member
		for i, task := range strings.Fields(pods) {
			task, succeeded := strings.CutPrefix(task, "done-")
			members = append(members, Member{PodKey: planning.PodKey{Namespace: "ns", Name: fmt.Sprintf("p%d", i)}, Task: task, Succeeded: succeeded})
		}
		part, ok := (&Named{Group: key, Object: key}).Part(object, members)
		if gangs, _ := Gangs([]Part{part}, nil); !ok || gangText(gangs) != want {
			t.Errorf("%s: %q, want %q", pods, gangText(gangs), want)
		}
	}
}
