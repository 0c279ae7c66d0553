package convert

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/conversion"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

const (
	kubeletClass = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, spec: {KUBELET role: r, amiSelectorTerms: [{alias: al2@latest}], subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}}"
	kubeletPool  = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: NAME}, spec: {template: {spec: {KUBELET requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}}}}"
)

func poolWith(name, kubelet string) string {
	return strings.NewReplacer("NAME", name, "KUBELET", kubelet).Replace(kubeletPool)
}

func classWith(kubelet string) string { return strings.Replace(kubeletClass, "KUBELET", kubelet, 1) }

func rewriteAll(t *testing.T, options Options, documents ...string) Result {
	t.Helper()
	return rewrite(t, strings.Join(documents, "\n---\n"), options)
}

func codesOf(r Result, kinds ...conversion.Code) (found []conversion.Code) {
	for _, kind := range kinds {
		if r.Warnings.Has(kind) {
			found = append(found, kind)
		}
	}
	return found
}

// A rollback gives the kubelet block of a class back to its pools in the same input, each the whole of it; one whose pools are
// elsewhere loses it, and says so. The way there and back again changes nothing.
func TestRollbackReturnsKubelets(t *testing.T) {
	const block = "kubelet: {maxPods: 20, systemReserved: {cpu: 100m}},"
	r := rewriteAll(t, Options{Target: V1Beta1}, poolWith("a", ""), classWith(block), poolWith("b", ""))
	pods := map[string]int32{}
	var there []string
	for _, o := range r.Objects {
		switch o := o.Object.(type) {
		case *v1beta1.NodePool:
			k := o.Spec.Template.Spec.Kubelet
			if k == nil || k.MaxPods == nil || k.SystemReserved["cpu"] != "100m" {
				t.Fatalf("pool %s: %+v", o.Name, k)
			}
			if _, kept := o.Annotations[v1beta1.KubeletAnnotationKey]; kept {
				t.Errorf("pool %s still has the annotation", o.Name)
			}
			pods[o.Name] = *k.MaxPods
		case *awsv1beta1.EC2NodeClass:
			there = append(there, o.Name)
		}
	}
	if diff := cmp.Diff(map[string]int32{"a": 20, "b": 20}, pods); diff != "" || len(there) != 1 {
		t.Errorf("maxPods (-want +got), classes %v:\n%s", there, diff)
	}
	if got := codesOf(r, conversion.CodeKubeletMovedBack, conversion.CodeLaterFieldDropped); len(got) != 1 || got[0] != conversion.CodeKubeletMovedBack {
		t.Errorf("codes %v", got)
	}
	text := written(t, r)
	back := rewriteAll(t, Options{}, text)
	for _, o := range back.Objects {
		if class, ok := o.Object.(*awsv1.EC2NodeClass); ok && (class.Name != "c" || class.Spec.Kubelet == nil || class.Spec.Kubelet.MaxPods.IntValue() != 20) {
			t.Errorf("forth again: %s %+v", class.Name, class.Spec.Kubelet)
		}
	}
	alone := rewriteAll(t, Options{Target: V1Beta1}, classWith(block))
	if got := codesOf(alone, conversion.CodeKubeletMovedBack, conversion.CodeLaterFieldDropped); len(got) != 1 || got[0] != conversion.CodeLaterFieldDropped {
		t.Errorf("a class alone: codes %v", got)
	}
}

// A kubelet block in a pool of v1 means nothing there: it is told where it belongs, and moves there when the class is in the input,
// has none of its own, and no other pool would change for it.
func TestKubeletInPoolOfV1(t *testing.T) {
	const block = "kubelet: {maxPods: 20},"
	type class struct {
		name string
		pods int32
	}
	for name, c := range map[string]struct {
		in      []string
		codes   []conversion.Code
		classes []class
	}{
		"no class":              {[]string{poolWith("a", block)}, []conversion.Code{conversion.CodeUnknownField}, nil},
		"its class":             {[]string{poolWith("a", block), classWith("")}, []conversion.Code{conversion.CodeKubeletMoved}, []class{{"c", 20}}},
		"a class with the same": {[]string{poolWith("a", block), classWith(block)}, []conversion.Code{conversion.CodeKubeletMoved}, []class{{"c", 20}}},
		"a class with its own":  {[]string{poolWith("a", block), classWith("kubelet: {maxPods: 5},")}, []conversion.Code{conversion.CodeUnknownField}, []class{{"c", 5}}},
		"a class that others use": {[]string{poolWith("a", ""), poolWith("b", block), classWith("")},
			[]conversion.Code{conversion.CodeKubeletMoved, conversion.CodeNodeClassSplit}, []class{{"c", 0}, {"c-b", 20}}},
		"what no kubelet has": {[]string{poolWith("a", "kubelet: {maxPods: -1},"), classWith("")}, []conversion.Code{conversion.CodeUnknownField}, []class{{"c", 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rewriteAll(t, Options{}, c.in...)
			if err := r.Warnings.Err(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.codes, codesOf(r, conversion.CodeUnknownField, conversion.CodeKubeletMoved, conversion.CodeNodeClassSplit)); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
			var got []class
			for _, o := range r.Objects {
				if hub, ok := o.Object.(*awsv1.EC2NodeClass); ok {
					one := class{name: hub.Name}
					if hub.Spec.Kubelet != nil {
						one.pods = int32(hub.Spec.Kubelet.MaxPods.IntValue())
					}
					got = append(got, one)
				}
			}
			if diff := cmp.Diff(c.classes, got, cmp.AllowUnexported(class{})); diff != "" {
				t.Errorf("classes (-want +got):\n%s", diff)
			}
		})
	}
	told := rewriteAll(t, Options{}, poolWith("a", block)).Warnings
	if len(told) != 1 || told[0].Message != "unknown field spec.template.spec.kubelet ignored: write it as spec.kubelet of the EC2NodeClass" {
		t.Errorf("told %v", told)
	}
	if _, err := Decode(DecodeOptions{Strict: true}, Source{Name: "in", Data: []byte(poolWith("a", block))}); err == nil || !strings.Contains(err.Error(), "spec.kubelet of the EC2NodeClass") {
		t.Errorf("strictly: %v", err)
	}
}

// The node class of EKS Auto Mode has one version: the way back invents none.
func TestAutoModeKeepsItsVersion(t *testing.T) {
	pool := strings.Replace(poolWith("a", ""), "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}", "{group: eks.amazonaws.com, kind: NodeClass, name: default}", 1)
	r := rewriteAll(t, Options{Target: V1Beta1}, pool)
	if len(r.Objects) != 1 {
		t.Fatalf("%v", r.Warnings)
	}
	want := v1beta1.NodeClassReference{APIVersion: "eks.amazonaws.com/v1", Kind: "NodeClass", Name: "default"}
	if diff := cmp.Diff(want, r.Objects[0].Object.(*v1beta1.NodePool).Spec.Template.Spec.NodeClassRef); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := rewriteAll(t, Options{}, written(t, r))
	if ref := again.Objects[0].Object.(*api.NodePool).Spec.Template.Spec.NodeClassRef; ref.Group != "eks.amazonaws.com" || again.Warnings.Has(conversion.CodeReferenceVersionDropped) {
		t.Errorf("forth again: %+v, %v", ref, again.Warnings)
	}
}

// Strict reading leaves a kubelet block of a v1 pool to be moved where its class is in the input, and refuses it elsewhere, in the order of
// the input.
func TestStrictMovesKubelets(t *testing.T) {
	const block = "kubelet: {maxPods: 20},"
	read := func(keepGoing bool, documents ...string) ([]Document, error) {
		return Decode(DecodeOptions{Strict: true, KeepGoing: keepGoing}, Source{Name: "-", Data: []byte(strings.Join(documents, "\n---\n"))})
	}
	for _, documents := range [][]string{{poolWith("a", block), classWith("")}, {classWith(""), poolWith("a", block)}} {
		got, err := read(false, documents...)
		if err != nil {
			t.Fatal(err)
		}
		r := Rewrite(got, Options{})
		if diff := cmp.Diff([]conversion.Code{conversion.CodeKubeletMoved}, codesOf(r, conversion.CodeUnknownField, conversion.CodeKubeletMoved)); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
		if lost := r.Warnings.Lossy(); len(lost) > 0 {
			t.Errorf("lost: %v", lost)
		}
	}
	wrong := strings.Replace(poolWith("b", block), "spec: {template", "spec: {wait: 1, template", 1)
	elsewhere := strings.ReplaceAll(classWith(""), "{name: c}", "{name: d}")
	_, err := read(false, poolWith("a", block), wrong, elsewhere, poolWith("c", block))
	var refused *DecodeError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	var found []string
	for _, p := range refused.Problems {
		found = append(found, p.Object+": "+p.Message)
	}
	const unknown = `unknown field "spec.template.spec.kubelet": write it as spec.kubelet of the EC2NodeClass`
	if diff := cmp.Diff([]string{"NodePool/a: " + unknown, `NodePool/b: unknown field "spec.wait"`, "NodePool/b: " + unknown, "NodePool/c: " + unknown}, found); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	got, err := read(true, poolWith("a", block), elsewhere)
	if err != nil || len(got) != 2 || got[0].Object != nil || !got[0].Warnings.Has(conversion.CodeUnreadable) || got[1].Object == nil {
		t.Errorf("with all that can be read: %+v, %v", got, err)
	}
}

// Terms that join an id with other conditions are given as the reference gives them, on all ways, and told of once.
func TestReferenceMixesIDs(t *testing.T) {
	const (
		template = "{apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, metadata: {name: c}, spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, amiSelector: {aws::ids: 'ami-1,ami-2', aws::owners: self, aws::name: x}}}"
		terms    = "amiSelectorTerms: [{id: ami-0123456789abcdef0, name: x, owner: self}, {id: ami-0123456789abcdef1, tags: {a: b}}]"
	)
	hub := strings.Replace(classWith(""), "amiSelectorTerms: [{alias: al2@latest}]", "amiFamily: AL2, "+terms, 1)
	beta := strings.Replace(hub, "karpenter.k8s.aws/v1,", "karpenter.k8s.aws/v1beta1,", 1)
	for name, text := range map[string]string{"AWSNodeTemplate": template, "v1beta1": beta, "v1": hub} {
		for _, to := range []Version{V1, V1Beta1} {
			if name == "v1" && to == V1Beta1 {
				continue // the reference has no way back
			}
			r := rewriteAll(t, Options{Target: to, ReferenceCompat: true}, text)
			count := 0
			for _, w := range r.Warnings {
				if w.Code == conversion.CodeReferenceRefused {
					count++
				}
			}
			if len(r.Objects) != 1 || count != 1 || r.Warnings.Err() != nil {
				t.Errorf("%s to %s: %d objects, %v", name, to, len(r.Objects), r.Warnings)
			}
			if r := rewriteAll(t, Options{Target: to}, text); name != "AWSNodeTemplate" && r.Warnings.Err() == nil {
				t.Errorf("%s to %s: taken without being asked for what the reference gives", name, to)
			}
		}
	}
}
