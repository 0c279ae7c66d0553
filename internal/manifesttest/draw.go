package manifesttest

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// Word draws a text that is valid as any name or value.
func Word() *rapid.Generator[string] { return rapid.StringMatching(`[a-z]{1,8}`) }

// Time draws a time in whole seconds, as manifests write it.
func Time() *rapid.Generator[metav1.Time] {
	return rapid.Map(rapid.Int64Range(1, 4_000_000_000), func(seconds int64) metav1.Time { return metav1.NewTime(time.Unix(seconds, 0)) })
}

// Metadata draws the metadata of a manifest, sometimes with all fields that an API server adds.
func Metadata() *rapid.Generator[metav1.ObjectMeta] {
	return rapid.Custom(func(t *rapid.T) metav1.ObjectMeta {
		out := metav1.ObjectMeta{Name: Word().Draw(t, "name")}
		if rapid.Bool().Draw(t, "described") {
			out.Labels = rapid.MapOfN(Word(), Word(), 1, 3).Draw(t, "labels")
			out.Annotations = map[string]string{"example.com/note": Word().Draw(t, "note")}
			out.Finalizers = []string{"example.com/" + Word().Draw(t, "finalizer")}
		}
		if rapid.Bool().Draw(t, "stored") {
			deleted, grace, owns := Time().Draw(t, "deleted"), rapid.Int64Range(1, 100).Draw(t, "grace"), true
			out.UID, out.ResourceVersion = types.UID(Word().Draw(t, "uid")), strconv.Itoa(rapid.IntRange(1, 1000).Draw(t, "version"))
			out.Generation, out.CreationTimestamp = rapid.Int64Range(1, 100).Draw(t, "generation"), Time().Draw(t, "created")
			out.DeletionTimestamp, out.DeletionGracePeriodSeconds = &deleted, &grace
			out.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Owner", Name: "o", UID: "u", Controller: &owns, BlockOwnerDeletion: &owns}}
			out.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply}}
		}
		return out
	})
}

// UndrawnMetadata returns the paths of the fields that Metadata does not set: fields that objects of a cluster don't have, and fields
// inside of fields that are copied unchanged.
func UndrawnMetadata() []string {
	return []string{
		"apiVersion", "kind", "metadata.generateName", "metadata.namespace", "metadata.selfLink", "metadata.managedFields[].apiVersion",
		"metadata.managedFields[].time", "metadata.managedFields[].fieldsType", "metadata.managedFields[].fieldsV1", "metadata.managedFields[].subresource",
	}
}

// Taints draws taints with different keys that begin with the prefix.
func Taints(prefix string) *rapid.Generator[[]corev1.Taint] {
	return rapid.Custom(func(t *rapid.T) []corev1.Taint {
		var out []corev1.Taint
		for i := range rapid.IntRange(0, 2).Draw(t, "taints") {
			taint := corev1.Taint{
				Key: fmt.Sprintf("%s%d", prefix, i), Value: rapid.SampledFrom([]string{"", "x"}).Draw(t, "value"),
				Effect: rapid.SampledFrom([]corev1.TaintEffect{"NoSchedule", "NoExecute", "PreferNoSchedule"}).Draw(t, "effect"),
			}
			if rapid.Bool().Draw(t, "dated") {
				added := Time().Draw(t, "added")
				taint.TimeAdded = &added
			}
			out = append(out, taint)
		}
		return out
	})
}

// Resources draws amounts of resources; the result may be nil or empty.
func Resources() *rapid.Generator[corev1.ResourceList] {
	return rapid.SampledFrom([]corev1.ResourceList{
		nil, {}, {"cpu": resource.MustParse("1k")}, {"cpu": resource.MustParse("250m"), "memory": resource.MustParse("1536Mi"), "example.com/gpu": resource.MustParse("2")},
	})
}

// Requirements draws requirements with the operators that exist in all generations of the API.
func Requirements() *rapid.Generator[[]corev1.NodeSelectorRequirement] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) corev1.NodeSelectorRequirement {
		r := corev1.NodeSelectorRequirement{
			Key:      Word().Draw(t, "key"),
			Operator: rapid.SampledFrom([]corev1.NodeSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}).Draw(t, "operator"),
		}
		switch r.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			r.Values = rapid.SliceOfNDistinct(Word(), 1, 3, rapid.ID[string]).Draw(t, "values")
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			r.Values = []string{strconv.Itoa(rapid.IntRange(0, 100).Draw(t, "bound"))}
		}
		return r
	}), 0, 4)
}
