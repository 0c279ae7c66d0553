package crds

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	requestsv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	buffersv1beta1 "github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/api/crds"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// judged is a kind with its judges: the API server's, and the validation in Go.
type judged struct {
	judge *Judge
	good  map[string]any
	// validate is what the validation in Go finds; old is nil for a new object.
	validate func(object, old []byte) (field.ErrorList, error)
}

// validated is the validation of a type, and of changing it.
func validated[T any](check func(object *T) field.ErrorList, change func(object, old *T) field.ErrorList) func(object, old []byte) (field.ErrorList, error) {
	return func(object, old []byte) (field.ErrorList, error) {
		var decoded, before T
		if err := yaml.UnmarshalStrict(object, &decoded); err != nil {
			return nil, err
		}
		if old == nil || change == nil {
			return check(&decoded), nil
		}
		if err := yaml.UnmarshalStrict(old, &before); err != nil {
			return nil, err
		}
		return change(&decoded, &before), nil
	}
}

func kinds(t *testing.T) map[string]*judged {
	t.Helper()
	lookup := requirements.CoreVocabulary().Compile()
	entries := func(list []v1.NodeSelectorRequirementWithMinValues) field.ErrorList {
		return requirements.ValidateRequirements(list, lookup, field.NewPath("spec", "requirements"))
	}
	all := map[string]*judged{
		"NodePool": {validate: validated(
			func(p *v1.NodePool) field.ErrorList {
				return append(p.Validate(), requirements.ValidateNodePool(p, lookup)...)
			},
			func(p, old *v1.NodePool) field.ErrorList { return p.ValidateUpdate(old) })},
		"NodeClaim": {validate: validated(
			func(c *v1.NodeClaim) field.ErrorList { return append(c.Validate(), entries(c.Spec.Requirements)...) },
			func(c, old *v1.NodeClaim) field.ErrorList { return c.ValidateUpdate(old) })},
		"NodeOverlay": {validate: validated(
			func(o *v1.NodeOverlay) field.ErrorList { return append(o.Validate(), entries(o.Spec.Requirements)...) }, nil)},
		"EC2NodeClass":   {validate: validated((*awsv1.EC2NodeClass).Validate, nil)},
		"CapacityBuffer": {validate: validated((*buffersv1beta1.CapacityBuffer).Validate, nil)},
		"ProvisioningRequest": {validate: validated(
			(*requestsv1.ProvisioningRequest).Validate,
			func(r, old *requestsv1.ProvisioningRequest) field.ErrorList { return r.ValidateUpdate(old) })},
	}
	for _, c := range crds.All() {
		crd, err := Read(c.YAML())
		if err != nil {
			t.Fatal(err)
		}
		k := all[c.Kind]
		if k.judge, err = NewJudge(crd, c.Versions[len(c.Versions)-1]); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile("testdata/" + c.Kind + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		k.good = decoded(t, text)
	}
	return all
}

// changed is the object with the change, a merge patch in YAML: null removes a field, lists are replaced.
func changed(t *testing.T, object map[string]any, change string) map[string]any {
	t.Helper()
	patch := decoded(t, []byte(change))
	out := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	merge(out, patch)
	return out
}

// decoded is YAML as the API server reads it: whole numbers are integers.
func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var out map[string]any
	if err := json.Unmarshal(asJSON, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func merge(into, patch map[string]any) {
	for key, value := range patch {
		below, isMap := value.(map[string]any)
		have, there := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && there:
			merge(have, below)
		default:
			into[key] = value
		}
	}
}

func text(t *testing.T, object map[string]any) []byte {
	t.Helper()
	out, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the good objects, with every field, become: nothing is pruned, and Go agrees with the API server. PRV-001, PRV-002,
// PRV-005, PRV-140, PRV-150, API-175 to API-191, API-194 to API-197, API-200 to API-214.
func TestGoodObjects(t *testing.T) {
	for kind, k := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: k.good}
			admitted, errs := k.judge.Admit(t.Context(), object, nil)
			for _, e := range errs {
				t.Error(e)
			}
			if missing := lost("", k.good, admitted.Object); len(missing) > 0 {
				t.Errorf("the API server would drop %v", missing)
			}
			if _, errs := k.judge.Admit(t.Context(), object, object); len(errs) > 0 {
				t.Errorf("written again without a change: %v", errs.ToAggregate())
			}
			if errs, err := k.validate(text(t, k.good), nil); err != nil || len(errs) > 0 {
				t.Errorf("Go: %v, %v", err, errs.ToAggregate())
			}
		})
	}
}

// lost are the paths of a that b lacks.
func lost(path string, a, b any) []string {
	var out []string
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		for key, value := range a {
			if other, there := b[key]; !there {
				out = append(out, path+"."+key)
			} else {
				out = append(out, lost(path+"."+key, value, other)...)
			}
		}
	case []any:
		b, _ := b.([]any)
		for i := range a {
			if i < len(b) {
				out = append(out, lost(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])...)
			} else {
				out = append(out, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	return out
}

// refusal is a change that makes a good object bad.
type refusal struct {
	kind, name, change string
	// update judges the change as one of an object that is there.
	update bool
	// says is part of the API server's message.
	says string
	// field is the path in Go's error; empty where Go can't even read it, or has the rule elsewhere, as why says.
	field, why string
}

// Every rule of the schemas refuses an object, and the validation in Go refuses it too, at the same place.
func TestBadObjects(t *testing.T) {
	all := kinds(t)
	broken := make(brokenRules)
	for _, c := range refusals() {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			k := all[c.kind]
			bad := changed(t, k.good, c.change)
			var old *unstructured.Unstructured
			var before []byte
			if c.update {
				old, before = &unstructured.Unstructured{Object: k.good}, text(t, k.good)
			}
			_, errs := k.judge.Admit(t.Context(), &unstructured.Unstructured{Object: bad}, old)
			if len(errs) == 0 {
				t.Fatal("the API server takes it")
			}
			broken.note(c.kind, errs)
			if !strings.Contains(errs.ToAggregate().Error(), c.says) {
				t.Errorf("the API server says %v, not %q", errs.ToAggregate(), c.says)
			}
			found, err := k.validate(text(t, bad), before)
			switch {
			case c.field == "" && c.why == "":
				if err == nil {
					t.Error("Go reads it")
				}
			case c.field == "":
			case err != nil || !slices.ContainsFunc(found, func(e *field.Error) bool { return e.Field == c.field }):
				t.Errorf("Go: %v, %v; want an error at %s", err, found.ToAggregate(), c.field)
			}
		})
	}
	broken.check(t, all)
}

// brokenRules are the rules that some object has broken: kind and place without indices and keys, and message.
type brokenRules map[string]bool

// anyIndex is what distinguishes one entry of a list or map from another.
var anyIndex = regexp.MustCompile(`\[[^]]*\]`)

func (b brokenRules) note(kind string, errs field.ErrorList) {
	for _, e := range errs {
		at := kind
		if e.Field != "" && e.Field != "<nil>" {
			at += "." + anyIndex.ReplaceAllString(e.Field, item)
		}
		b[at+": "+e.Detail] = true
	}
}

// check fails the test for every rule, at each of its places, that no object has broken.
func (b brokenRules) check(t *testing.T, all map[string]*judged) {
	t.Helper()
	for kind, k := range all {
		if strings.Contains(kind, " ") {
			continue // a second good object of a kind
		}
		for rule, at := range rules(kind, k.judge.structural) {
			if !b[at] {
				t.Errorf("no case breaks the rule of %s", rule)
			}
		}
	}
}

// rules are the places with the messages of a schema's rules, by place and rule.
func rules(path string, s *schema.Structural) map[string]string {
	out := make(map[string]string)
	if s == nil {
		return out
	}
	for _, rule := range s.XValidations {
		out[path+": "+rule.Rule] = path + ": " + rule.Message
	}
	for name, property := range s.Properties {
		maps.Copy(out, rules(path+"."+name, &property))
	}
	maps.Copy(out, rules(path+item, s.Items))
	if s.AdditionalProperties != nil {
		maps.Copy(out, rules(path+item, s.AdditionalProperties.Structural))
	}
	return out
}
