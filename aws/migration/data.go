package migration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/aws/launchtemplate"
)

// compareData adds a finding for each difference in the content of a launch template, except its user data.
func (v *verifier) compareData(object string, theirs *made, ours launchtemplate.Template) {
	was, err := flat(theirs.data)
	if err != nil {
		v.report.skip(CheckLaunchTemplates, object, "%s cannot be compared: %v", theirs.source, err)
		return
	}
	is, err := flat(ours.Data)
	if err != nil {
		v.report.skip(CheckLaunchTemplates, object, "%s cannot be compared: %v", theirs.source, err)
		return
	}
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		before, now := was[key], is[key]
		if before == now || disabled(before) && disabled(now) {
			continue
		}
		severity, cure := weigh(key)
		v.report.found(severity, CheckLaunchTemplates, object, key, cure, "%s has %s, drawknife writes %s", theirs.source, orNothing(before), orNothing(now))
	}
}

// weigh returns the severity of a difference in a field of launch template data, and what to do about it.
func weigh(key string) (Severity, string) {
	member := key
	if end := strings.IndexAny(key, ".["); end >= 0 {
		member = key[:end]
	}
	switch member {
	case "TagSpecifications":
		return SeverityInfo, ""
	case "ImageId":
		return SeverityWarning, "nodes are replaced once, as by any new image; pin the image in amiSelectorTerms to avoid that"
	case "CapacityReservationSpecification":
		return SeverityWarning, "list the reservations that nodes should use in capacityReservationSelectorTerms, or set the controller to ignore reservations"
	case "IamInstanceProfile":
		return SeverityWarning, "let both controllers use the same profile with spec.instanceProfile, or check that the role in both is the same"
	}
	return SeverityWarning, "compare it with the class: new nodes get drawknife's value"
}

// disabled reports whether a value has the same meaning as a missing value.
func disabled(value string) bool {
	return value == "" || value == "false" || value == "0" || value == "disabled"
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return quoted(value)
}

// flat returns the fields of launch template data by path. Lists are sorted by the fields that identify their elements.
func flat(data any) (map[string]string, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("writing the launch template as JSON: %w", err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("reading the launch template as JSON: %w", err)
	}
	delete(tree, "UserData")
	// State is not a setting: it shows the progress of a change of these options.
	if options, ok := tree["MetadataOptions"].(map[string]any); ok {
		delete(options, "State")
	}
	out := map[string]string{}
	flatten(out, "", tree)
	// The tags of the template itself do not affect instances.
	maps.DeleteFunc(out, func(key, _ string) bool { return strings.HasPrefix(key, "TagSpecifications[launch-template]") })
	return out, nil
}

func flatten(out map[string]string, path string, value any) {
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for key, below := range v {
			next := key
			if path != "" {
				next = path + "." + key
			}
			flatten(out, next, below)
		}
	case []any:
		var plain []string
		for i, each := range v {
			object, ok := each.(map[string]any)
			if !ok {
				plain = append(plain, fmt.Sprint(each))
				continue
			}
			id := identity(object, i)
			if value, isTag := object["Value"]; isTag && len(object) == 2 {
				out[path+"["+id+"]"] = fmt.Sprint(value)
				continue
			}
			flatten(out, path+"["+id+"]", object)
		}
		if len(plain) > 0 {
			slices.Sort(plain)
			out[path] = strings.Join(plain, ",")
		}
	case float64:
		out[path] = fmt.Sprintf("%.0f", v)
	default:
		if text := fmt.Sprint(v); text != "" {
			out[path] = text
		}
	}
}

// identity returns the fields that distinguish an element of a list from the others.
func identity(object map[string]any, index int) string {
	for _, key := range []string{"Key", "DeviceName", "ResourceType"} {
		if text, ok := object[key].(string); ok && text != "" {
			return text
		}
	}
	if device, ok := object["DeviceIndex"].(float64); ok {
		card, _ := object["NetworkCardIndex"].(float64)
		return fmt.Sprintf("card %.0f device %.0f", card, device)
	}
	return fmt.Sprint(index)
}
