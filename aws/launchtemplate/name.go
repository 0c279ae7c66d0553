package launchtemplate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// NamePrefix is the prefix of the names of all templates.
const NamePrefix = "karpenter.k8s.aws/"

// NameVersion is part of the hash in every name. It changes when equal requests must get new names.
const NameVersion = "drawknife-v1"

// nameOf returns a template's name: the prefix and 64 bits of a hash of the template's content, as a decimal number. The order of lists
// does not matter. Unset fields are not hashed, so a newer SDK with more fields gives the same names.
func nameOf(data *ec2types.RequestLaunchTemplateData, tags []ec2types.Tag) (string, error) {
	text, err := json.Marshal(struct {
		Version string
		Data    *ec2types.RequestLaunchTemplateData
		Tags    []ec2types.Tag
	}{NameVersion, data, tags})
	if err != nil {
		return "", fmt.Errorf("naming the template: %w", err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return "", fmt.Errorf("naming the template: %w", err)
	}
	canonical, err := json.Marshal(sortLists(pruned(value)))
	if err != nil {
		return "", fmt.Errorf("naming the template: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return NamePrefix + strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 10), nil
}

// sortLists sorts the lists of a JSON value by the JSON text of their elements. Objects are always written sorted by key.
func sortLists(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = sortLists(member)
		}
	case []any:
		texts := make([]string, 0, len(v))
		for _, element := range v {
			// A value that was decoded from JSON can be encoded again.
			text, _ := json.Marshal(sortLists(element))
			texts = append(texts, string(text))
		}
		slices.Sort(texts)
		return texts
	}
	return value
}
