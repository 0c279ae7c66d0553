package conversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
	"github.com/drawknife/drawknife/examples/controller/conversion"
	"github.com/drawknife/drawknife/internal/kindfields"
)

type object = map[string]any

// manifests are objects with every field, and what else is said of the versions' differences.
func manifests(t testing.TB) map[string]object {
	t.Helper()
	out := make(map[string]object)
	for name, path := range map[string]string{
		"v1 NodePool": "../../../internal/e2e/crds/testdata/NodePool.yaml", "v1 NodeClaim": "../../../internal/e2e/crds/testdata/NodeClaim.yaml",
		"v1 EC2NodeClass": "../../../internal/e2e/crds/testdata/EC2NodeClass.yaml", "v1 static NodePool": "../../../api/v1/testdata/nodepool-static.yaml",
		"v1 full EC2NodeClass": "../../../aws/api/v1/testdata/full.yaml", "v1 alias": "../../../aws/api/v1/testdata/alias.yaml",
		"v1beta1 NodePool": "../../../api/v1beta1/testdata/nodepool-full.yaml", "v1beta1 NodeClaim": "../../../api/v1beta1/testdata/nodeclaim.yaml",
		"v1beta1 EC2NodeClass": "../../../aws/api/v1beta1/testdata/full.yaml", "v1beta1 least EC2NodeClass": "../../../aws/api/v1beta1/testdata/least.yaml",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = decode(t, string(text))
	}
	const pool = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: web}\nspec: {template: {spec: {requirements: [], nodeClassRef: {name: default}}}"
	const class = "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: c}\nspec: {role: r, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}], "
	const (
		condition = "{type: Ready, status: 'False', reason: Why, message: it is so, lastTransitionTime: '2024-05-01T10:00:00Z', observedGeneration: 4}"
		taints    = "taints: [{key: a, value: b, effect: NoExecute, timeAdded: '2024-05-01T10:00:00Z'}], startupTaints: [{key: c, value: d, effect: NoSchedule, timeAdded: '2024-05-01T10:00:00Z'}]"
		kubelet   = "kubelet: {clusterDNS: [10.0.0.10], maxPods: 5, podsPerCore: 2, cpuCFSQuota: false, systemReserved: {cpu: 100m}, kubeReserved: {memory: 1Gi}, evictionHard: {pid.available: 5%}, evictionSoft: {memory.available: 7%}, " +
			"evictionSoftGracePeriod: {memory.available: 1m}, evictionMaxPodGracePeriod: 3, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 70}"
		minValues = "requirements: [{key: a, operator: In, values: [b, c], minValues: 2}]"
	)
	for name, manifest := range map[string]string{
		"v1 rest of a NodePool": "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: web}\nspec: {disruption: {consolidateAfter: 0s}, template: {spec: {" + taints + ", requirements: [], expireAfter: Never, nodeClassRef: {group: a, kind: b, name: c}}}}\n" +
			"status: {resources: {cpu: '5'}, nodes: 3, nodeClassObservedGeneration: 2, conditions: [" + condition + "]}",
		"v1 rest of a NodeClaim":     "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: web-1}\nspec: {" + taints + ", " + minValues + ", expireAfter: 3h, nodeClassRef: {group: a, kind: b, name: c}}\nstatus: {conditions: [" + condition + "]}",
		"v1 rest of an EC2NodeClass": strings.Replace(class, "v1beta1", "v1", 1) + "amiSelectorTerms: [{alias: al2023@latest}], associatePublicIPAddress: false, placementGroupSelector: {id: pg-1}, placement: {tenancy: host, hostID: h-0123456789abcdef0, hostResourceGroupARN: 'arn:aws:resource-groups:us-east-1:111122223333:group/x'}}\nstatus: {conditions: [" + condition + "]}",
		"v1beta1 rest of a NodePool": strings.Replace(pool, "requirements: []", taints+", "+minValues, 1) + "}\nstatus: {resources: {cpu: '5'}}",
		"v1beta1 rest of a NodeClaim": "apiVersion: karpenter.sh/v1beta1\nkind: NodeClaim\nmetadata: {name: web-1}\nspec: {" + taints + ", " + minValues + ", " + kubelet + ", nodeClassRef: {name: c}}\n" +
			"status: {conditions: [" + condition + "]}",
		"v1beta1 rest of an EC2NodeClass": strings.Replace(class, "role: r", "instanceProfile: p", 1) + "amiFamily: AL2, associatePublicIPAddress: false}\nstatus: {subnets: [{id: subnet-1, zone: us-east-1a, outpostARN: 'arn:aws:outposts:us-east-1:111122223333:outpost/op-0123456789abcdef0'}], conditions: [" + condition + "]}",
		"v1beta1 consolidation off":       pool + ", disruption: {consolidationPolicy: WhenUnderutilized, consolidateAfter: Never, expireAfter: Never}}",
		"v1beta1 quantities as typed":     pool + ", limits: {cpu: 1000, memory: 1024Mi}}",
		"v1beta1 bare":                    pool + "}",
		"v1beta1 old annotations": "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: web}\nspec: {template: {metadata: {annotations: {karpenter.sh/do-not-consolidate: 'true'}}, " +
			"spec: {requirements: [], nodeClassRef: {name: default, apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate}, resources: {requests: {cpu: 1}}}}}",
		"v1beta1 Ubuntu":                class + "amiFamily: Ubuntu, amiSelectorTerms: [{id: ami-1}]}",
		"v1beta1 Ubuntu without images": class + "amiFamily: Ubuntu}",
		"v1beta1 family":                class + "amiFamily: Bottlerocket, tags: {'eks:eks-cluster-name': x}}",
		"v1beta1 pinned":                strings.Replace(class, "name: c", "name: c, annotations: {compatibility.karpenter.k8s.aws/v1-alias-version: v20240807}", 1) + "amiFamily: AL2023}",
		"v1 reasons": "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: web, uid: u, resourceVersion: '7', generation: 3}\nspec: {weight: 5, disruption: {consolidateAfter: 10m, consolidationPolicy: Balanced, " +
			"budgets: [{nodes: '0', reasons: [Drifted]}, {nodes: 10%}]}, template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}], " +
			"nodeClassRef: {group: example.com, kind: Other, name: x}, expireAfter: 1h, terminationGracePeriod: 5m}}}",
		"v1 kubelet annotation": "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: web, annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{\"maxPods\":20}'}}\n" +
			"spec: {disruption: {consolidateAfter: 0s}, template: {spec: {requirements: [], expireAfter: Never, nodeClassRef: {group: a, kind: b, name: c}}}}",
	} {
		out[name] = decode(t, manifest)
	}
	return out
}

func decode(t testing.TB, text string) object {
	t.Helper()
	var out object
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// What goes there and back has every field of every kind, so that one that a kind gains is not forgotten.
func TestEveryFieldIsThere(t *testing.T) {
	kinds := map[string]func() any{
		"karpenter.sh/v1 NodePool": func() any { return &v1.NodePool{} }, "karpenter.sh/v1 NodeClaim": func() any { return &v1.NodeClaim{} },
		"karpenter.sh/v1beta1 NodePool": func() any { return &v1beta1.NodePool{} }, "karpenter.sh/v1beta1 NodeClaim": func() any { return &v1beta1.NodeClaim{} },
		"karpenter.k8s.aws/v1 EC2NodeClass": func() any { return &awsv1.EC2NodeClass{} }, "karpenter.k8s.aws/v1beta1 EC2NodeClass": func() any { return &awsv1beta1.EC2NodeClass{} },
	}
	seen := make(map[string]*kindfields.Seen)
	for name, o := range manifests(t) {
		kind := fmt.Sprint(o["apiVersion"], " ", o["kind"])
		// The metadata of both versions are of one type.
		delete(o, "metadata")
		typed := kinds[kind]()
		if err := yaml.Unmarshal([]byte(text(t, o)), typed); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if seen[kind] == nil {
			seen[kind] = &kindfields.Seen{}
		}
		seen[kind].Note(typed)
	}
	for kind, newObject := range kinds {
		t.Run(kind, func(t *testing.T) { seen[kind].Complete(t, newObject(), "metadata") })
	}
}

// other is the API version of the other generation.
func other(o object) string {
	version := o["apiVersion"].(string)
	if group, old := strings.CutSuffix(version, "/v1beta1"); old {
		return group + "/v1"
	}
	return strings.TrimSuffix(version, "/v1") + "/v1beta1"
}

func converted(t *testing.T, c conversion.Converter, o object, to string) object {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Convert(t.Context(), text, to)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(out))
}

// There and back nothing is lost, whatever the generations have no place for, and the metadata are the same in between but for
// annotations. API-005, API-237, API-238, API-239, API-240, API-340, API-368, API-376, API-380, API-381, API-382.
func TestThereAndBack(t *testing.T) {
	for name, o := range manifests(t) {
		t.Run(name, func(t *testing.T) {
			between := converted(t, conversion.Converter{}, o, other(o))
			if between["apiVersion"] != other(o) || between["kind"] != o["kind"] {
				t.Errorf("got %v %v", between["apiVersion"], between["kind"])
			}
			back := converted(t, conversion.Converter{}, between, o["apiVersion"].(string))
			if diff := cmp.Diff(o, back); diff != "" {
				t.Errorf("there and back (-was +is):\n%s", diff)
			}
			was, is := decode(t, text(t, o["metadata"])), decode(t, text(t, between["metadata"]))
			delete(was, "annotations")
			delete(is, "annotations")
			if diff := cmp.Diff(was, is); diff != "" {
				t.Errorf("metadata in between (-was +is):\n%s", diff)
			}
			// Another time there gives the same.
			if diff := cmp.Diff(between, converted(t, conversion.Converter{}, back, other(o))); diff != "" {
				t.Errorf("there again (-first +second):\n%s", diff)
			}
		})
	}
}

func text(t *testing.T, value any) string {
	t.Helper()
	out, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// set changes a field of an object.
func set(t *testing.T, o object, value any, path ...string) object {
	t.Helper()
	out := decode(t, text(t, o))
	into := out
	for _, name := range path[:len(path)-1] {
		into = into[name].(object)
	}
	into[path[len(path)-1]] = value
	return out
}

func at(o object, path ...string) any {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(object)
	}
	return o[path[len(path)-1]]
}

// A change made in the other generation counts, and takes nothing along that it is not about.
func TestChangesInBetween(t *testing.T) {
	pool := manifests(t)["v1 reasons"]
	old := converted(t, conversion.Converter{}, pool, "karpenter.sh/v1beta1")
	old = set(t, old, "WhenEmpty", "spec", "disruption", "consolidationPolicy")
	old = set(t, old, "30s", "spec", "disruption", "consolidateAfter")
	old = set(t, old, "2h", "spec", "disruption", "expireAfter")
	back := converted(t, conversion.Converter{}, old, "karpenter.sh/v1")
	for _, c := range []struct {
		want any
		path []string
	}{
		{"WhenEmpty", []string{"spec", "disruption", "consolidationPolicy"}},
		{"30s", []string{"spec", "disruption", "consolidateAfter"}},
		{"2h", []string{"spec", "template", "spec", "expireAfter"}},
		{"5m", []string{"spec", "template", "spec", "terminationGracePeriod"}},
	} {
		if got := at(back, c.path...); got != c.want {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
	budgets, _ := at(back, "spec", "disruption", "budgets").([]any)
	if len(budgets) != 2 || budgets[0].(object)["reasons"] == nil {
		t.Errorf("budgets are %v: their reasons are lost by a change elsewhere", budgets)
	}

	// And the other way round: what the pool of v1beta1 said of its kubelet stays when v1 is changed.
	beta := manifests(t)["v1beta1 NodePool"]
	hub := set(t, converted(t, conversion.Converter{}, beta, "karpenter.sh/v1"), float64(50), "spec", "weight")
	back = converted(t, conversion.Converter{}, hub, "karpenter.sh/v1beta1")
	if diff := cmp.Diff(set(t, beta, float64(50), "spec", "weight"), back); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An annotation that somebody wrote by hand keeps no object from being read, and reaches nothing but the spec.
func TestBrokenAnnotations(t *testing.T) {
	for name, annotation := range map[string]string{
		"no JSON":         "{",
		"no list":         `{"path": ["spec"]}`,
		"another path":    `[{"path": ["metadata", "name"], "was": "web", "is": "other"}]`,
		"the spec itself": `[{"path": ["spec"], "is": 1}]`,
		"a wrong type":    `[{"path": ["spec", "weight"], "is": "heavy"}]`,
		"no path":         `[{"path": []}]`,
		"through a value": `[{"path": ["spec", "disruption", "expireAfter", "x"], "is": 1}]`,
	} {
		t.Run(name, func(t *testing.T) {
			pool := manifests(t)["v1beta1 bare"]
			want := converted(t, conversion.Converter{}, pool, "karpenter.sh/v1")
			pool["metadata"].(object)["annotations"] = object{conversion.LaterFieldsAnnotationKey: annotation}
			got := converted(t, conversion.Converter{}, pool, "karpenter.sh/v1")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// API-350: a claim of v1beta1 lives as long as its pool says, for ever without one; what a claim of v1 said counts before that.
func TestExpiryOfClaims(t *testing.T) {
	unreachable := errors.New("unreachable")
	c := conversion.Converter{OwnerExpireAfter: func(_ context.Context, pool string) (v1.NillableDuration, error) {
		switch pool {
		case "web":
			var after v1.NillableDuration
			return after, json.Unmarshal([]byte(`"36h"`), &after)
		case "broken":
			return v1.NillableDuration{}, unreachable
		}
		return v1.NillableDuration{}, nil
	}}
	claim := func(pool string) object {
		return set(t, manifests(t)["v1beta1 NodeClaim"], object{v1.NodePoolLabelKey: pool}, "metadata", "labels")
	}
	for pool, want := range map[string]string{"web": "36h", "gone": "Never", "": "Never"} {
		if got := at(converted(t, c, claim(pool), "karpenter.sh/v1"), "spec", "expireAfter"); got != want {
			t.Errorf("pool %q: %v, want %s", pool, got, want)
		}
	}
	text, err := json.Marshal(claim("broken"))
	if err != nil {
		t.Fatal(err)
	}
	var e *conversion.Error
	if _, err := c.Convert(t.Context(), text, "karpenter.sh/v1"); !errors.Is(err, unreachable) || !errors.As(err, &e) || !strings.HasPrefix(e.Object, "NodeClaim/") {
		t.Errorf("got %v", err)
	}
	stored := set(t, set(t, manifests(t)["v1 NodeClaim"], object{v1.NodePoolLabelKey: "web"}, "metadata", "labels"), "5h", "spec", "expireAfter")
	if back := converted(t, c, converted(t, c, stored, "karpenter.sh/v1beta1"), "karpenter.sh/v1"); at(back, "spec", "expireAfter") != "5h" {
		t.Errorf("a claim of 5h now has %v", at(back, "spec", "expireAfter"))
	}
}

// What there is no conversion for is refused, with the object's name.
func TestNotConverted(t *testing.T) {
	for text, to := range map[string]string{
		`{"apiVersion":"karpenter.sh/v1alpha5","kind":"Provisioner","metadata":{"name":"x"}}`:       "karpenter.sh/v1",
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"x"}}`:                "karpenter.sh/v2",
		`{"apiVersion":"karpenter.sh/v1beta1","kind":"NodePool","metadata":{"name":"x"}}`:           "karpenter.k8s.aws/v1",
		`{"apiVersion":"karpenter.sh/v1beta1","kind":"NodePool","metadata":{"name":"x"},"spec":[]}`: "karpenter.sh/v1",
		`[`: "karpenter.sh/v1",
	} {
		var e *conversion.Error
		if out, err := (conversion.Converter{}).Convert(t.Context(), []byte(text), to); !errors.As(err, &e) || out != nil || e.To != to {
			t.Errorf("%s to %s: %s, %v", text, to, out, err)
		}
	}
	same := `{"apiVersion":"karpenter.sh/v1","kind":"NodePool"}`
	if out, err := (conversion.Converter{}).Convert(t.Context(), []byte(same), "karpenter.sh/v1"); err != nil || string(out) != same {
		t.Errorf("%s, %v", out, err)
	}
}

// FuzzConvert: no text makes it panic, and what was converted can be converted back.
func FuzzConvert(f *testing.F) {
	for _, o := range manifests(f) {
		text, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"apiVersion":"karpenter.sh/v1beta1","kind":"NodePool","metadata":{"annotations":{"compatibility.drawknife.dev/v1-fields":"[{\"path\":[\"spec\",\"a\"],\"is\":1}]"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, to := range []string{"karpenter.sh/v1", "karpenter.sh/v1beta1", "karpenter.k8s.aws/v1", "karpenter.k8s.aws/v1beta1"} {
			out, err := conversion.Converter{}.Convert(t.Context(), text, to)
			if err != nil {
				continue
			}
			var from struct {
				APIVersion string `json:"apiVersion"`
			}
			if err := json.Unmarshal(text, &from); err != nil {
				t.Fatal(err)
			}
			if _, err := (conversion.Converter{}).Convert(t.Context(), out, from.APIVersion); err != nil {
				t.Errorf("%s became %s, which can't be converted back: %v", text, out, err)
			}
		}
	})
}
