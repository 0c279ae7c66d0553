package redact

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// copy returns a copy of the value v in which names are replaced. If kept is true, strings remain unchanged. A string of a named type
// remains unchanged, because Kubernetes defines its values. A struct with unexported fields is an amount, a time or a duration, and also
// remains unchanged.
func (a *anonymizer) copy(v reflect.Value, kept bool) reflect.Value {
	t := v.Type()
	out := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		if kept || t != reflect.TypeFor[string]() && t != reflect.TypeFor[types.UID]() {
			return v
		}
		out.SetString(a.name(v.String()))
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.New(t.Elem()))
		out.Elem().Set(a.copy(v.Elem(), kept))
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(a.copy(v.Index(i), kept))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeMapWithSize(t, v.Len()))
		values := t.Elem().Kind() == reflect.String // labels, selectors and annotations keep their keys; keys of other maps may be names
		for entries := v.MapRange(); entries.Next(); {
			key, value := entries.Key(), entries.Value()
			if values && !kept {
				value = reflect.ValueOf(a.value(key.String(), value.String()))
			} else if !values {
				key, value = a.copy(key, kept), a.copy(value, kept)
			}
			out.SetMapIndex(key, value)
		}
	case reflect.Struct:
		a.copyFields(out, v, kept)
	default:
		return v
	}
	return out
}

func (a *anonymizer) copyFields(out, v reflect.Value, kept bool) {
	t := v.Type()
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			out.Set(v)
			return
		}
	}
	key := ""
	if field, ok := t.FieldByName("Key"); ok && field.Type.Kind() == reflect.String {
		key = v.FieldByIndex(field.Index).String()
		if operator := v.FieldByName("Operator"); operator.IsValid() && comparesNumbers(operator.String()) {
			a.plain[key] = true
		}
	}
	for i := range t.NumField() {
		from, to, field := v.Field(i), out.Field(i), t.Field(i)
		switch {
		case field.Name == "Message" && field.Type.Kind() == reflect.String:
			// Sentences name objects.
		case t == reflect.TypeFor[scheduling.NodePool]() && field.Name == "NotReady":
			if from.Len() > 0 {
				to.SetString("it was not ready")
			}
		case t == reflect.TypeFor[scheduling.Snapshot]() && field.Name == "Assumptions":
			to.Set(reflect.ValueOf(a.sentences(from.Interface().([]string))))
		case t == reflect.TypeFor[scheduling.CostSelector]() && field.Name == "NodePools":
			for j := range from.Len() {
				to.Set(reflect.Append(to, reflect.ValueOf(a.poolName(from.Index(j).String()))))
			}
		case t == reflect.TypeFor[corev1.PodSpec]() && field.Name == "PriorityClassName":
			to.Set(a.copy(from, kept || strings.HasPrefix(from.String(), "system-")))
		case key != "" && field.Name == "Value" && field.Type.Kind() == reflect.String:
			to.SetString(a.value(key, from.String()))
		case key != "" && field.Name == "Values" && !from.IsZero():
			to.Set(reflect.MakeSlice(field.Type, from.Len(), from.Len()))
			for j := range from.Len() {
				to.Index(j).SetString(a.value(key, from.Index(j).String()))
			}
		default:
			to.Set(a.copy(from, kept || keepsField(t.Name(), field.Name) && field.Type != reflect.TypeFor[v1.PoolKey]()))
		}
	}
}

// value returns the replacement for the value of a label, taint or annotation.
func (a *anonymizer) value(key, value string) string {
	if a.plain[key] || readAnnotation(key) && isSetting(value) {
		return value
	}
	return a.name(value)
}

// isSetting reports whether the value of an annotation, label or taint is a boolean, an amount, a percentage or a time.
func isSetting(value string) bool {
	if _, err := strconv.ParseBool(value); err == nil {
		return true
	}
	if _, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64); err == nil {
		return true
	}
	if _, err := time.ParseDuration(value); err == nil {
		return true
	}
	_, err := time.Parse(time.RFC3339, value)
	return err == nil
}

// poolName replaces the name of a pool in a cost model's selector, which has the form of PoolKey.String.
func (a *anonymizer) poolName(text string) string {
	if generation, name, older := strings.Cut(text, "/"); older {
		return generation + "/" + a.name(name)
	}
	return a.name(text)
}

func comparesNumbers(operator string) bool {
	switch operator {
	case "Gt", "Lt", "Gte", "Lte":
		return true
	}
	return false
}

// keepsField reports whether a string field stays unchanged, because its values have a meaning to Kubernetes or to a rule. The values of
// all other string fields are names.
func keepsField(owner, field string) bool {
	switch field {
	case "Kind", "APIVersion", "Group", "APIGroup", "Type", "Reason", "Finalizers",
		"Key", "TopologyKey", "TopologyKeys", "MatchLabelKeys", "MismatchLabelKeys", "SchedulerName",
		"HostIP", "StrVal", "Driver", "Provisioner", "Attacher", "InstanceType",
		"Vocabulary", "UnsupportedVolumeTopologyKeys", "UnsupportedVolumeDrivers":
		return true
	}
	switch owner + "." + field {
	case "CELDeviceSelector.Expression", "DeviceAttribute.StringValue", "DeviceAttribute.VersionValue", "DeviceClassSpec.ExtendedResourceName",
		"DeviceRequest.Name", "DeviceSubRequest.Name", "DeviceConstraint.Requests", "DeviceRequestAllocationResult.Request", "ResourceClaim.Request",
		"Device.BindingConditions", "Device.BindingFailureConditions", "DeviceRequestAllocationResult.BindingConditions",
		"DeviceRequestAllocationResult.BindingFailureConditions", "ResourceClaimConsumerReference.Resource",
		"CSINodeDriver.Name", "Budget.Nodes", "Budget.Schedule", "NodeOverlaySpec.Price", "NodeOverlaySpec.PriceAdjustment",
		"CostTerm.Offerings", "Commitment.Unit", "Commitment.ByType":
		return true
	}
	return false
}

// plainKeys returns the keys of labels whose values say nothing about the cluster. These are the keys that the vocabulary knows, and the
// keys that instance types state.
func plainKeys(vocabulary requirements.Vocabulary, catalogs map[string][]*cloudprovider.InstanceType) map[string]bool {
	plain := make(map[string]bool)
	for _, known := range []requirements.Vocabulary{requirements.CoreVocabulary(), vocabulary} {
		for _, key := range known.WellKnown {
			plain[key] = true
		}
		for alias, key := range known.Aliases {
			plain[alias], plain[key] = true, true
		}
	}
	for _, types := range catalogs {
		for _, it := range types {
			if it == nil {
				continue
			}
			for _, key := range it.Requirements.Keys() {
				plain[key] = true
			}
			for i := range it.Offerings {
				for _, key := range it.Offerings[i].Requirements.Keys() {
					plain[key] = true
				}
			}
		}
	}
	for _, key := range []string{"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner", "pv.kubernetes.io/provisioned-by"} {
		plain[key] = true // drivers
	}
	for _, generation := range []v1.Generation{v1.GenerationV1, v1.GenerationV1Alpha5} { // these keys are well known, but their values are names
		delete(plain, v1.PoolKey{Generation: generation}.LabelKey())
	}
	delete(plain, corev1.LabelHostname)
	return plain
}
