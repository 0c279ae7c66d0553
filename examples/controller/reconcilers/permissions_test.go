package reconcilers

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// surgeRules begins the rules that hold with settings.eviction surge-first alone.
const surgeRules = `"surge-first" }}`

// deviceRules begins the rules that hold with settings.ignoreDRARequests false alone.
const deviceRules = `.ignoreDRARequests) "false" }}`

// alphaRules begins the rules that hold with settings.serveAlpha alone.
const alphaRules = `.serveAlpha) "false" }}`

// approvalRules begins what holds with settings.disruptionApproval configmap alone, in the namespace of the controller.
const approvalRules = `.disruptionApproval) "configmap" }}`

// formerRules begins what holds with settings.disruptionApproval none, written out.
const formerRules = `.disruptionApproval) "none" }}`

// namespaceRules are the rules of a Role of the chart that holds under the condition.
func namespaceRules(t *testing.T, condition string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile("../charts/drawknife/templates/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), condition)
	_, block, begins := strings.Cut(block, "\nrules:\n")
	block, _, ends := strings.Cut(block, "\n---")
	var rules []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict([]byte(block), &rules); err != nil || !found || !begins || !ends || len(rules) == 0 {
		t.Fatalf("the chart has no Role under %s: %v", condition, err)
	}
	return rules
}

// chartRules are the rules of the chart's ClusterRole that hold with every values file, and those of the block that each of the
// conditions begins.
func chartRules(t *testing.T, conditions ...string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile("../charts/drawknife/templates/clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\nrules:\n")
	always, _, conditional := strings.Cut(rest, "\n{{") // what follows is for some values alone
	if !found || !conditional {
		t.Fatal("the template has no rules that hold with every values file")
	}
	var rules []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict([]byte(always), &rules); err != nil {
		t.Fatal(err)
	}
	for _, condition := range conditions {
		if condition == approvalRules || condition == formerRules {
			rules = append(rules, namespaceRules(t, condition)...)
			continue
		}
		_, block, found := strings.Cut(rest, condition)
		block, _, ends := strings.Cut(block, "\n{{- end }}")
		var more []rbacv1.PolicyRule
		if err := yaml.UnmarshalStrict([]byte(block), &more); err != nil || !found || !ends || len(more) == 0 {
			t.Fatalf("the template has no rules under %s: %v", condition, err)
		}
		rules = append(rules, more...)
	}
	return rules
}

// permitted is a client that may do what the chart lets the controller do; anything else it does is an error of the test.
type permitted struct {
	t      *testing.T
	scheme *runtime.Scheme
	rules  []rbacv1.PolicyRule
}

// permittedClient wraps c for the reconcilers: every test of theirs is one of the chart's permissions too.
func permittedClient(t *testing.T, c client.WithWatch, conditions ...string) client.Client {
	p := &permitted{t, c.Scheme(), chartRules(t, conditions...)}
	return interceptor.NewClient(c, interceptor.Funcs{
		// Through a cache, which lists and watches whatever is asked for.
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			p.check(o, "", "get", "list", "watch")
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			p.check(list, "", "list", "watch")
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			p.check(o, "", "create")
			return c.Create(ctx, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			p.check(o, "", "update")
			return c.Update(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			p.check(o, "", "patch")
			return c.Patch(ctx, o, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			p.check(o, "", "delete")
			return c.Delete(ctx, o, options...)
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteAllOfOption) error {
			p.check(o, "", "deletecollection")
			return c.DeleteAllOf(ctx, o, options...)
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o client.Object, body client.Object, options ...client.SubResourceCreateOption) error {
			p.check(o, "/"+sub, "create")
			return c.SubResource(sub).Create(ctx, o, body, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption) error {
			p.check(o, "/"+sub, "update")
			return c.SubResource(sub).Update(ctx, o, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			p.check(o, "/"+sub, "patch")
			return c.SubResource(sub).Patch(ctx, o, patch, options...)
		},
	})
}

// permittedReader wraps c as a reader that asks the API server each time, without a cache.
func permittedReader(t *testing.T, c client.WithWatch, conditions ...string) client.Reader {
	p := &permitted{t, c.Scheme(), chartRules(t, conditions...)}
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			p.check(o, "", "get")
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			p.check(list, "", "list")
			return c.List(ctx, list, options...)
		},
	})
}

// check fails the test unless the chart allows all the verbs.
func (p *permitted) check(object runtime.Object, sub string, verbs ...string) {
	kinds, _, err := p.scheme.ObjectKinds(object)
	if err != nil {
		p.t.Error(err)
		return
	}
	kind := kinds[0].GroupVersion().WithKind(strings.TrimSuffix(kinds[0].Kind, "List"))
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	resource := strings.Replace(plural.Resource, "overlaies", "overlays", 1) // the one plural that is guessed wrong
	for _, verb := range verbs {
		if !slices.ContainsFunc(p.rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.APIGroups, kind.Group) && slices.Contains(r.Resources, resource+sub) && slices.Contains(r.Verbs, verb)
		}) {
			p.t.Errorf("the chart's ClusterRole does not let the controller %s %s%s of group %q", verb, resource, sub, kind.Group)
		}
	}
}

// The chart allows what informers ask for, those for default spread constraints and features among them, and events. What
// else the reconcilers do is checked wherever a world is made.
func TestPermissions(t *testing.T) {
	p := &permitted{t, Scheme(), chartRules(t)}
	o := &Options{DefaultTopologySpread: make([]corev1.TopologySpreadConstraint, 1)}
	o.Features.NodeOverlay = true
	for _, w := range watchedKinds(o) {
		p.check(w.object, "", "get", "list", "watch")
	}
	o.Features.Devices = true
	for _, k := range groupKinds() {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(k.of.WithVersion("v1beta1"))
		p.check(object, "", "get", "list", "watch")
	}
	p.rules = chartRules(t, deviceRules)
	for _, w := range watchedKinds(o) {
		p.check(w.object, "", "get", "list", "watch")
	}
	for _, o := range []client.Object{&corev1.Event{}, &eventsv1.Event{}} {
		p.check(o, "", "create", "patch")
	}
}
