package launchtemplate

import (
	"encoding/json"
	"fmt"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// MarshalJSON writes the template as input of "aws ec2 create-launch-template --cli-input-json", without unset fields. The result contains
// the user data, which may be secret.
func (t Template) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(struct {
		LaunchTemplateName string
		LaunchTemplateData *ec2types.RequestLaunchTemplateData
		TagSpecifications  []ec2types.TagSpecification
	}{t.Name, t.Data, t.TagSpecifications()})
	if err != nil {
		return nil, fmt.Errorf("launch template %s: %w", t.Name, err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("launch template %s: %w", t.Name, err)
	}
	return json.Marshal(pruned(value))
}

// TagSpecifications returns the template's own tags for CreateLaunchTemplate. The caller owns the list; its tags are shared.
func (t Template) TagSpecifications() []ec2types.TagSpecification {
	return []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: t.Tags}}
}

// pruned removes, at any depth, the fields of JSON objects that are null or an empty string, list or object. It keeps fields called Value,
// because these are the values of tags.
func pruned(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case map[string]any:
		for key, member := range v {
			member = pruned(member)
			v[key] = member
			if key != "Value" && isEmpty(member) {
				delete(v, key)
			}
		}
	}
	return value
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
