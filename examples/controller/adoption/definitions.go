package adoption

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/crds"
)

// CheckDefinitions validates every stored object of node autoscaling against this project's CRDs, with an API server's
// validators. It returns the objects that could not be written again, and those that would lose fields with their first write.
// Nothing is changed. Objects are read in the newest version that both the cluster and the CRDs have; kinds that the cluster does
// not have are skipped. The error is an error of the cluster.
func CheckDefinitions(ctx context.Context, reader client.Reader) ([]Finding, error) {
	var out []Finding
	for _, definition := range definitions() {
		crd, err := readDefinition(definition.YAML())
		if err != nil {
			return nil, fmt.Errorf("definition %s: %w", definition.Name(), err)
		}
		slices.SortStableFunc(crd.Spec.Versions, func(a, b apiextensions.CustomResourceDefinitionVersion) int {
			return version.CompareKubeAwareVersionStrings(b.Name, a.Name)
		})
		for _, served := range crd.Spec.Versions {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: served.Name, Kind: crd.Spec.Names.Kind + "List"})
			if err := reader.List(ctx, list); meta.IsNoMatchError(err) {
				continue
			} else if apierrors.IsForbidden(err) {
				out = append(out, Finding{Kind: definition.Kind, Name: "*", Verdict: Refused, Reason: "nothing is said of its objects, which may not be listed: " + err.Error()})
				break
			} else if err != nil {
				return nil, fmt.Errorf("listing %s: %w", definition.Name(), err)
			}
			judge, err := newJudge(crd, served.Name)
			if err != nil {
				return nil, fmt.Errorf("definition %s: %w", definition.Name(), err)
			}
			for i := range list.Items {
				out = append(out, judge.findings(ctx, &list.Items[i])...)
			}
			break
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return out, nil
}

// definitions returns the CRDs of all kinds. A CRD includes v1beta1 if the kind has this version.
func definitions() []crds.CRD {
	out := crds.All()
	for _, both := range crds.WithV1Beta1() {
		for i := range out {
			if out[i].Name() == both.Name() {
				out[i] = both
			}
		}
	}
	return append(out, crds.Alpha()...)
}

// findings returns what the new definition changes for an object. It returns nothing if the object stays unchanged.
func (j *judge) findings(ctx context.Context, o *unstructured.Unstructured) []Finding {
	dropped, errs := j.admit(ctx, o)
	f := Finding{Kind: o.GetKind(), Name: o.GetName()}
	if namespace := o.GetNamespace(); namespace != "" {
		f.Name = namespace + "/" + f.Name
	}
	var out []Finding
	if len(errs) > 0 {
		f.Verdict, f.Reason = Refused, "the definitions about to be installed refuse it: "+errs.ToAggregate().Error()+": mend it before you install them"
		out = append(out, f)
	}
	if len(dropped) > 0 {
		slices.Sort(dropped)
		f.Verdict, f.Reason = Pruned, "the definitions about to be installed don't have "+strings.Join(dropped, ", ")+": that is dropped when it is written next"
		out = append(out, f)
	}
	return out
}
