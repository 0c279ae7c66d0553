package nodeclaims_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

const familyKey = "example.com/family"

// testPool has labels, taints, a node class and what else a claim takes over.
func testPool(edit ...func(*v1.NodePool)) *scheduling.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "pool-uid"}}
	t := &p.Spec.Template
	t.Labels = map[string]string{"team": "a"}
	t.Annotations = map[string]string{"note": "x"}
	t.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}}
	t.Spec.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}}
	t.Spec.NodeClassRef = v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	for _, e := range edit {
		e(p)
	}
	return &scheduling.NodePool{Key: v1.NewPoolKey("web"), Object: p, Catalog: "all"}
}

// testTypes are n types, one family for every two, more and more expensive; zone-a sells them all.
func testTypes(n int) []*cloudprovider.InstanceType {
	var list []*cloudprovider.InstanceType
	for i := range n {
		name := fmt.Sprintf("t%02d", i)
		list = append(list, build.InstanceType(name, build.With(requirements.In(familyKey, fmt.Sprintf("f%d", i/2))), build.Spot("zone-a", float64(i+1))))
	}
	return list
}

func testNode(types []*cloudprovider.InstanceType, reqs ...requirements.Requirement) *scheduling.NewNode {
	node := &scheduling.NewNode{
		Name: "web-1", Pool: v1.NewPoolKey("web"),
		Requirements: requirements.NewSet(append([]requirements.Requirement{
			requirements.In(v1.NodePoolLabelKey, "web"), requirements.In("team", "a"),
			requirements.In(corev1.LabelTopologyZone, "zone-a"), requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot),
		}, reqs...)...),
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")},
	}
	for _, t := range types {
		node.InstanceTypes = append(node.InstanceTypes, scheduling.InstanceTypeOption{
			Name: t.Name, Zone: "zone-a", CapacityType: v1.CapacityTypeSpot, Price: t.Offerings[0].Price,
		})
	}
	return node
}

func entry(t *testing.T, claim *v1.NodeClaim, key string) v1.NodeSelectorRequirementWithMinValues {
	t.Helper()
	for _, e := range claim.Spec.Requirements {
		if e.Key == key {
			return e
		}
	}
	t.Fatalf("no requirement on %s", key)
	return v1.NodeSelectorRequirementWithMinValues{}
}

// PRV-041: what a claim has of its pool and its plan.
func TestClaim(t *testing.T) {
	pool, types := testPool(), testTypes(2)
	node := testNode(types,
		requirements.In("disk", "ssd", "hdd"), requirements.Exists("open"), requirements.DoesNotExist("absent"),
		requirements.In(corev1.LabelHostname, "placeholder"), requirements.In(v1.NodeRegisteredLabelKey, "true"),
	)
	claim, err := nodeclaims.New(node, pool, nodeclaims.Options{InstanceTypes: types, Annotations: map[string]string{v1.PriceOverlayAppliedAnnotationKey: "true"}})
	if err != nil {
		t.Fatal(err)
	}
	if claim.GenerateName != "web-" || claim.Name != "" {
		t.Errorf("name %q, generated from %q", claim.Name, claim.GenerateName)
	}
	block := true
	wantOwner := []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: "web", UID: "pool-uid", BlockOwnerDeletion: &block}}
	if diff := cmp.Diff(wantOwner, claim.OwnerReferences); diff != "" {
		t.Errorf("owner (-want +got):\n%s", diff)
	}
	wantLabels := map[string]string{
		"team": "a", "disk": "hdd", "open": "0", v1.NodePoolLabelKey: "web", "karpenter.k8s.aws/ec2nodeclass": "default",
	}
	if diff := cmp.Diff(wantLabels, claim.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	wantAnnotations := map[string]string{
		"note": "x", v1.NodePoolHashAnnotationKey: pool.Object.Hash(), v1.NodePoolHashVersionAnnotationKey: "v3",
		v1.PriceOverlayAppliedAnnotationKey: "true",
	}
	if diff := cmp.Diff(wantAnnotations, claim.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	spec := &pool.Object.Spec.Template.Spec
	if diff := cmp.Diff(spec.Taints, claim.Spec.Taints) + cmp.Diff(spec.StartupTaints, claim.Spec.StartupTaints) + cmp.Diff(spec.NodeClassRef, claim.Spec.NodeClassRef); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(node.Requests, claim.Spec.Resources.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if errs := claim.Validate(); len(errs) > 0 {
		t.Errorf("the API refuses it: %v", errs)
	}
}

// PRV-042: which requirements a claim has.
func TestClaimRequirements(t *testing.T) {
	types := testTypes(3)
	node := testNode(types, requirements.In(corev1.LabelHostname, "placeholder"), requirements.In(v1.NodeInitializedLabelKey, "true"))
	claim, err := nodeclaims.New(node, testPool(), nodeclaims.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	var keys []string
	for _, e := range claim.Spec.Requirements {
		keys = append(keys, e.Key)
		got[e.Key] = string(e.Operator) + " " + strings.Join(e.Values, ",")
	}
	want := map[string]string{
		corev1.LabelInstanceTypeStable: "In t00,t01,t02", corev1.LabelTopologyZone: "In zone-a", v1.CapacityTypeLabelKey: "In spot",
		v1.NodePoolLabelKey: "In web", "team": "In a", "karpenter.k8s.aws/ec2nodeclass": "In default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.IsSorted(keys) {
		t.Errorf("keys out of order: %v", keys)
	}

	var many []requirements.Requirement
	for i := range nodeclaims.MaxRequirements {
		many = append(many, requirements.In(fmt.Sprintf("example.com/k%d", i), "x"))
	}
	var tooMany *nodeclaims.TooManyRequirementsError
	if _, err := nodeclaims.New(testNode(types, many...), testPool(), nodeclaims.Options{}); !errors.As(err, &tooMany) || tooMany.Count != 106 {
		t.Errorf("PRV-042: %v, want too many requirements", err)
	}
}

func asking(key string, n int) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		r := v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpExists, MinValues: &n}
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, r)
	}
}

// SCH-042, SCH-043, SCH-173, PRV-042: the cheapest types that a claim may name, and minValues among them.
func TestTruncation(t *testing.T) {
	types := testTypes(8) // families f0 to f3, two types each
	for name, c := range map[string]struct {
		pool    *scheduling.NodePool
		options nodeclaims.Options
		relaxed bool
		want    string
		ask     int // minValues of the family in the claim
		err     string
	}{
		"SCH-173: the cheapest":                         {pool: testPool(), options: nodeclaims.Options{MaxInstanceTypes: most(3)}, want: "t00,t01,t02"},
		"SCH-173: all that fit":                         {pool: testPool(), options: nodeclaims.Options{}, want: "t00,t01,t02,t03,t04,t05,t06,t07"},
		"SCH-042: varied as they are":                   {pool: testPool(asking(familyKey, 2)), options: nodeclaims.Options{MaxInstanceTypes: most(4)}, want: "t00,t01,t02,t03", ask: 2},
		"SCH-042: the dearest give way":                 {pool: testPool(asking(familyKey, 3)), options: nodeclaims.Options{MaxInstanceTypes: most(4)}, want: "t00,t01,t02,t04", ask: 3},
		"SCH-042: each brings a value":                  {pool: testPool(asking(familyKey, 4)), options: nodeclaims.Options{MaxInstanceTypes: most(4)}, want: "t00,t02,t04,t06", ask: 4},
		"SCH-042: the largest of two entries":           {pool: testPool(asking(familyKey, 1), asking(familyKey, 4)), options: nodeclaims.Options{MaxInstanceTypes: most(4)}, want: "t00,t02,t04,t06", ask: 4},
		"SCH-042: too few, strict":                      {pool: testPool(asking(familyKey, 4)), options: nodeclaims.Options{MaxInstanceTypes: most(3)}, err: "nodeclaim of planned node web-1: nodepool web asks for minValues 4 of example.com/family, of which 3 are found among the 3 instance types a claim may name: lower minValues, or let the claim name more types"},
		"SCH-041: too few, best effort":                 {pool: testPool(asking(familyKey, 4)), options: nodeclaims.Options{MaxInstanceTypes: most(3), MinValues: scheduling.MinValuesBestEffort}, want: "t00,t02,t04", ask: 3, relaxed: true},
		"SCH-043: types that are not known don't count": {pool: testPool(asking(familyKey, 1)), options: nodeclaims.Options{MaxInstanceTypes: most(3), InstanceTypes: []*cloudprovider.InstanceType{}}, err: "nodeclaim of planned node web-1: nodepool web asks for minValues 1 of example.com/family, of which 0 are found among the 3 instance types a claim may name: lower minValues, or let the claim name more types"},
	} {
		if c.options.InstanceTypes == nil {
			c.options.InstanceTypes = types
		}
		node := testNode(types, requirements.Exists(familyKey))
		claim, err := nodeclaims.New(node, c.pool, c.options)
		if c.err != "" {
			var variety *nodeclaims.VarietyError
			if !errors.As(err, &variety) || err.Error() != c.err {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(entry(t, claim, corev1.LabelInstanceTypeStable).Values, ","); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := entry(t, claim, familyKey).MinValues; (got == nil) != (c.ask == 0) || got != nil && *got != c.ask {
			t.Errorf("%s: minValues %v, want %d", name, got, c.ask)
		}
		if got := claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] == "true"; got != c.relaxed {
			t.Errorf("%s: relaxed %t, want %t", name, got, c.relaxed)
		}
	}
}

// SCH-041, SCH-044: what the plan relaxed shows on that claim alone.
func TestRelaxedByThePlan(t *testing.T) {
	types := testTypes(2)
	pool := testPool(asking(familyKey, 5), asking(corev1.LabelInstanceTypeStable, 9))
	node := testNode(types, requirements.Exists(familyKey))
	node.MinValuesRelaxed = true
	claim, err := nodeclaims.New(node, pool, nodeclaims.Options{InstanceTypes: types})
	if err != nil {
		t.Fatal(err)
	}
	if *entry(t, claim, familyKey).MinValues != 1 || *entry(t, claim, corev1.LabelInstanceTypeStable).MinValues != 2 {
		t.Errorf("minValues are those that were asked for: %v", claim.Spec.Requirements)
	}
	if claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] != "true" {
		t.Error("the claim does not say that it was relaxed")
	}
	other, err := nodeclaims.New(testNode(types), testPool(), nodeclaims.Options{})
	if err != nil || other.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] != "" {
		t.Errorf("SCH-044: another claim says so too: %v", err)
	}
}

// PRV-041: whose grace period counts.
func TestGracePeriod(t *testing.T) {
	types := testTypes(1)
	hour, minute := v1.Duration{Duration: time.Hour}, v1.Duration{Duration: time.Minute}
	for name, c := range map[string]struct {
		pool, provider, want *v1.Duration
	}{"neither": {}, "the provider's": {nil, &hour, &hour}, "the pool's": {&minute, &hour, &minute}} {
		pool := testPool(func(p *v1.NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = c.pool })
		claim, err := nodeclaims.New(testNode(types), pool, nodeclaims.Options{TerminationGracePeriod: c.provider})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, claim.Spec.TerminationGracePeriod); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// PRV-044: claims of static pools have the template's requirements alone.
func TestStatic(t *testing.T) {
	claim, err := nodeclaims.NewStatic(testPool(asking(familyKey, 2)), nodeclaims.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(claim.Spec.Requirements) != 1 || claim.Spec.Requirements[0].Key != familyKey || len(claim.Spec.Resources.Requests) != 0 {
		t.Errorf("%+v", claim.Spec)
	}
	if claim.Labels[v1.NodePoolLabelKey] != "web" || claim.Labels["team"] != "a" || claim.Annotations[v1.NodePoolHashAnnotationKey] == "" {
		t.Errorf("%+v", claim.ObjectMeta)
	}
}

// API-220, API-408: the claim of a pool that was created as v1alpha5 bears that generation's label and is owned by its
// PRV-044: a claim of a static pool without requirements has the field, which an API server insists on.
func TestStaticWithoutRequirements(t *testing.T) {
	for _, requirements := range [][]v1.NodeSelectorRequirementWithMinValues{nil, {}} {
		pool := &scheduling.NodePool{Object: &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "static"}}}
		pool.Object.Spec.Template.Spec.Requirements = requirements
		claim, err := nodeclaims.NewStatic(pool, nodeclaims.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(claim)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"requirements":[]`) {
			t.Errorf("the claim is %s", text)
		}
	}
}

// Provisioner.
func TestClaimOfAProvisioner(t *testing.T) {
	pool := testPool()
	pool.Key.Generation = v1.GenerationV1Alpha5
	claim, err := nodeclaims.NewStatic(pool, nodeclaims.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, later := claim.Labels[v1.NodePoolLabelKey]; later || claim.Labels["karpenter.sh/provisioner-name"] != "web" {
		t.Errorf("labels %v", claim.Labels)
	}
	if o := claim.OwnerReferences[0]; o.APIVersion != "karpenter.sh/v1alpha5" || o.Kind != "Provisioner" || o.Name != "web" || !*o.BlockOwnerDeletion {
		t.Errorf("owner %+v", o)
	}
}

// A pool whose key is left out is of the newest generation, and has its object's name.
func TestClaimOfAPoolWithoutKey(t *testing.T) {
	types := testTypes(2)
	pool := testPool()
	pool.Key = v1.PoolKey{}
	for name, make := range map[string]func(*scheduling.NodePool) (*v1.NodeClaim, error){
		"planned": func(p *scheduling.NodePool) (*v1.NodeClaim, error) {
			return nodeclaims.New(testNode(types), p, nodeclaims.Options{InstanceTypes: types})
		},
		"static": func(p *scheduling.NodePool) (*v1.NodeClaim, error) {
			return nodeclaims.NewStatic(p, nodeclaims.Options{})
		},
	} {
		got, err := make(pool)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := make(testPool())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-with key +without):\n%s", name, diff)
		}
	}
}

// API-376, API-377: the kubelet block that a pool brings from v1beta1 goes with its claims, since providers see nothing else.
func TestKubeletOfAnOlderPool(t *testing.T) {
	pool := testPool()
	if claim, err := nodeclaims.NewStatic(pool, nodeclaims.Options{}); err != nil || claim.Annotations[v1beta1.KubeletAnnotationKey] != "" {
		t.Errorf("annotations %v, %v", claim.Annotations, err)
	}
	pool.Object.Annotations = map[string]string{v1beta1.KubeletAnnotationKey: `{"maxPods":7}`, "other": "stays"}
	claim, err := nodeclaims.NewStatic(pool, nodeclaims.Options{})
	if err != nil || claim.Annotations[v1beta1.KubeletAnnotationKey] != `{"maxPods":7}` || claim.Annotations["other"] != "" {
		t.Errorf("annotations %v, %v", claim.Annotations, err)
	}
}

// Nothing is shared with what a claim is made from.
func TestNothingShared(t *testing.T) {
	types := testTypes(1)
	pool, node := testPool(), testNode(types)
	before := pool.Object.DeepCopy()
	claim, err := nodeclaims.New(node, pool, nodeclaims.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claim.Labels["team"], claim.Annotations["note"] = "b", "y"
	claim.Spec.Taints[0].Key = "changed"
	claim.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("9")
	if diff := cmp.Diff(before, pool.Object); diff != "" {
		t.Errorf("the pool has changed (-want +got):\n%s", diff)
	}
	if cpu := node.Requests[corev1.ResourceCPU]; cpu.String() != "1500m" {
		t.Errorf("the node has changed: %s", cpu.String())
	}
}

func TestRefusals(t *testing.T) {
	types := testTypes(1)
	foreign := testNode(types)
	foreign.Pool = v1.NewPoolKey("other")
	for name, c := range map[string]struct {
		node *scheduling.NewNode
		pool *scheduling.NodePool
	}{
		"no node": {nil, testPool()}, "no pool": {testNode(types), nil}, "another's": {foreign, testPool()}, "no types": {testNode(nil), testPool()},
		"a pool without its object": {testNode(types), &scheduling.NodePool{Key: v1.NewPoolKey("web")}},
	} {
		var input *nodeclaims.InputError
		if _, err := nodeclaims.New(c.node, c.pool, nodeclaims.Options{}); !errors.As(err, &input) {
			t.Errorf("%s: %v, want an InputError", name, err)
		}
	}
	var input *nodeclaims.InputError
	if _, err := nodeclaims.NewStatic(nil, nodeclaims.Options{}); !errors.As(err, &input) {
		t.Errorf("static without a pool: %v", err)
	}
}

// most is a bound as options take it.
func most(n int) *int { return &n }
