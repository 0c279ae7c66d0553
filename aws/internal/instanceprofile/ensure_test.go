package instanceprofile

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

func wanted(current string) Wanted {
	return Wanted{NodeClass: "std", UID: "u-1", Role: "nodes", Current: current, Tags: map[string]string{"team": "blue", "eks:eks-cluster-name": "mine"}}
}

func ensure(t *testing.T, m *Manager, w Wanted) string {
	t.Helper()
	name, err := m.Ensure(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// AWN-140, AWN-141, AWN-364, AWI-210, API-423: name, path and tags of a profile that is made.
func TestMade(t *testing.T) {
	m, a := newManager(t)
	name := ensure(t, m, wanted(""))
	if !regexp.MustCompile(`^demo_[0-9]{1,20}$`).MatchString(name) {
		t.Errorf("name is %q", name)
	}
	want := map[string]*Profile{name: {
		Name: name, Path: "/karpenter/us-east-1/demo/u-1/", Roles: []string{"nodes"},
		Tags: map[string]string{
			"team": "blue", "kubernetes.io/cluster/demo": "owned", "eks:eks-cluster-name": "demo",
			"karpenter.k8s.aws/ec2nodeclass": "std", "topology.kubernetes.io/region": "us-east-1",
		},
	}}
	if diff := cmp.Diff(want, a.profiles); diff != "" {
		t.Error(diff)
	}
}

// AWN-140, AWN-146, AWN-364: an attempt whose result was lost is found again, also by another process; other classes and roles
// have other profiles.
func TestNamesAreTheSameEachTime(t *testing.T) {
	m, a := newManager(t)
	name := ensure(t, m, wanted(""))
	restarted, _ := newManager(t)
	restarted.options.IAM = m.options.IAM
	for range 2 {
		if again := ensure(t, restarted, wanted("")); again != name {
			t.Errorf("%q, then %q", name, again)
		}
	}
	if len(a.profiles) != 1 || a.count("Create") != 1 {
		t.Errorf("profiles %v, calls %v", a.profiles, a.calls)
	}
	names := map[string]bool{name: true, m.Name("u-2", "nodes"): true, m.Name("u-1", "other"): true}
	if len(names) != 3 {
		t.Errorf("names are %v", names)
	}
}

// AWN-142, AWN-364: the current profile is read once a quarter of an hour; one with another role, or that is gone, is replaced and
// stays.
func TestCurrent(t *testing.T) {
	m, a := newManager(t)
	name := ensure(t, m, wanted(""))
	a.calls = nil
	for range 3 {
		ensure(t, m, wanted(name))
		a.now = a.now.Add(4 * time.Minute)
	}
	if len(a.calls) != 0 {
		t.Errorf("calls within %s: %v", Remember, a.calls)
	}
	a.now = a.now.Add(4 * time.Minute)
	ensure(t, m, wanted(name))
	if diff := cmp.Diff([]string{"Get"}, a.calls); diff != "" {
		t.Error(diff)
	}

	w := wanted(name)
	w.Role = "other"
	second := ensure(t, m, w)
	if second == name || a.profiles[name] == nil || a.profiles[name].Roles[0] != "nodes" || a.profiles[second].Roles[0] != "other" {
		t.Errorf("after a change of role: %q, %v", second, a.profiles)
	}

	delete(a.profiles, second)
	a.now = a.now.Add(Remember)
	w.Current = second
	if third := ensure(t, m, w); a.profiles[third] == nil {
		t.Errorf("the profile that is gone was not made again: %v", a.profiles)
	}

	// A profile that another release named stays in use.
	a.profiles["demo_1"] = &Profile{Name: "demo_1", Path: "/karpenter/us-east-1/demo/u-1/", Roles: []string{"nodes"}}
	if got := ensure(t, m, wanted("demo_1")); got != "demo_1" {
		t.Errorf("%q takes the place of demo_1", got)
	}
}

// AWN-143: a role's path counts neither for the comparison nor for the call.
func TestRoleWithPath(t *testing.T) {
	m, a := newManager(t)
	w := wanted("")
	w.Role = "team/nodes"
	w.Current = ensure(t, m, w)
	a.now = a.now.Add(Remember)
	if again := ensure(t, m, w); again != w.Current || a.count("Create") != 1 || a.profiles[again].Roles[0] != "nodes" {
		t.Errorf("%q, then %q; calls %v", w.Current, again, a.calls)
	}
}

// AWN-144, AWN-364: a wrong role is taken out; a profile that can't get its role is deleted again.
func TestSteps(t *testing.T) {
	m, a := newManager(t)
	name := m.Name("u-1", "nodes")
	a.profiles[name] = &Profile{Name: name, Roles: []string{"other"}}
	ensure(t, m, wanted(name))
	if a.profiles[name].Roles[0] != "nodes" {
		t.Errorf("roles are %v", a.profiles[name].Roles)
	}

	m, a = newManager(t)
	a.fail["AddRole"] = apiError("AccessDenied", "User: x is not authorized to perform: iam:AddRoleToInstanceProfile on resource: y")
	_, err := m.Ensure(t.Context(), wanted(""))
	if !cloudprovider.IsUnauthorized(err) || sdk.Action(err) != "iam:AddRoleToInstanceProfile" || len(a.profiles) != 0 {
		t.Errorf("%v; left: %v", err, a.profiles)
	}
	if !strings.Contains(err.Error(), `node class "std"`) {
		t.Errorf("the error does not name the class: %v", err)
	}
	ensure(t, m, wanted(""))
}

// AWN-145, AWN-364, AWI-211: a role that is not there is asked for once a minute, and leaves no profiles behind.
func TestRoleNotFound(t *testing.T) {
	m, a := newManager(t)
	w := wanted("")
	w.Role = "path/late"
	for range 3 {
		_, err := m.Ensure(t.Context(), w)
		var missing *RoleNotFoundError
		if !errors.As(err, &missing) || missing.Role != "path/late" || !cloudprovider.IsPermanent(err) {
			t.Errorf("%v", err)
		}
	}
	if a.count("AddRole") != 1 || a.count("Create") != 1 || len(a.profiles) != 0 {
		t.Errorf("calls %v; left: %v", a.calls, a.profiles)
	}
	a.roles, a.now = append(a.roles, "late"), a.now.Add(time.Minute)
	ensure(t, m, w)

	// A missing profile is no missing role, whatever its name.
	gone := apiError("NoSuchEntity", "Instance Profile roleplay_1 cannot be found.")
	if isRoleNotFound(gone, "roleplay_1") || !isRoleNotFound(apiError("NoSuchEntity", "The role with name x cannot be found."), "roleplay_1") {
		t.Error("missing roles and missing profiles are mixed up")
	}
}

// AWN-266, AWN-335: tags are put right in place, once; that it fails keeps no instance from being launched.
func TestTagsFollow(t *testing.T) {
	m, a := newManager(t)
	name := ensure(t, m, wanted(""))
	w := wanted(name)
	w.Tags = map[string]string{"team": "red"}
	for range 2 {
		ensure(t, m, w)
	}
	if a.profiles[name].Tags["team"] != "red" || a.count("Tag") != 1 {
		t.Errorf("tags %v, calls %v", a.profiles[name].Tags, a.calls)
	}
	w.Tags = map[string]string{"team": "green"}
	a.fail["Tag"] = apiError("AccessDenied", "no")
	ensure(t, m, w)
}

// AWN-364: what is no role, what IAM refuses, and a cluster whose profiles could have no name.
func TestErrors(t *testing.T) {
	m, a := newManager(t)
	if _, err := m.Ensure(t.Context(), Wanted{NodeClass: "std", UID: "u-1", Role: "path/"}); !cloudprovider.IsPermanent(err) {
		t.Errorf("without a role: %v", err)
	}
	a.fail["Get"] = apiError("Throttling", "Rate exceeded")
	if _, err := m.Ensure(t.Context(), wanted("x")); !cloudprovider.IsThrottled(err) || a.count("Create") != 0 {
		t.Errorf("%v", err)
	}
	for _, o := range []Options{{}, {IAM: m.options.IAM, Region: "r"}, {IAM: m.options.IAM, Region: "r", ClusterName: strings.Repeat("a", 108)}, {IAM: m.options.IAM, ClusterName: "a"}} {
		if _, err := New(o); !cloudprovider.IsPermanent(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
