package usage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/drawknife/drawknife/internal/quantities"
)

const (
	groupVPA = "autoscaling.k8s.io"
	kindVPA  = "VerticalPodAutoscaler"
)

// autoscaler contains the fields of a VerticalPodAutoscaler that are read.
type autoscaler struct {
	APIVersion string `json:"apiVersion" yaml:"apiVersion"`
	Kind       string `json:"kind" yaml:"kind"`
	Metadata   struct {
		Namespace string `json:"namespace" yaml:"namespace"`
		Name      string `json:"name" yaml:"name"`
	} `json:"metadata" yaml:"metadata"`
	Spec struct {
		TargetRef struct {
			Kind string `json:"kind" yaml:"kind"`
			Name string `json:"name" yaml:"name"`
		} `json:"targetRef" yaml:"targetRef"`
	} `json:"spec" yaml:"spec"`
	Status struct {
		Recommendation struct {
			ContainerRecommendations []recommendation `json:"containerRecommendations" yaml:"containerRecommendations"`
		} `json:"recommendation" yaml:"recommendation"`
	} `json:"status" yaml:"status"`
}

type recommendation struct {
	ContainerName string            `json:"containerName" yaml:"containerName"`
	Target        map[string]scalar `json:"target" yaml:"target"`
}

// scalar is the text of a quantity, which may be written as a number.
type scalar string

// UnmarshalJSON reads a text or a number.
func (s *scalar) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(s))
	}
	*s = scalar(text)
	return nil
}

// UnmarshalYAML reads a text or a number.
func (s *scalar) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a quantity must be a text or a number", node.Line)
	}
	*s = scalar(node.Value)
	return nil
}

// inherit returns the object with the version and the kind of its list, if the list has only objects of that kind.
func (v autoscaler) inherit(list document) autoscaler {
	if kind, ok := strings.CutSuffix(list.Kind, "List"); ok && kind != "" {
		v.Kind, v.APIVersion = cmp.Or(v.Kind, kind), cmp.Or(v.APIVersion, list.APIVersion)
	}
	return v
}

// autoscaler adds the recommendation of a VerticalPodAutoscaler.
func (r *reader) autoscaler(v autoscaler) error {
	r.found++
	namespace := cmp.Or(v.Metadata.Namespace, "default")
	name := namespace + "/" + v.Metadata.Name
	if err := r.targets(v, namespace, name); err != nil {
		return fmt.Errorf("%.100s %.200s: %w", cmp.Or(v.Kind, "object"), name, err)
	}
	return nil
}

func (r *reader) targets(v autoscaler, namespace, name string) error {
	if group, version, _ := strings.Cut(v.APIVersion, "/"); v.Kind != kindVPA || group != groupVPA {
		return fmt.Errorf("is not a %s of %s; give only these in the file, and other objects as inputs", kindVPA, groupVPA)
	} else if !slices.Contains([]string{"v1", "v1beta2"}, version) {
		return fmt.Errorf("apiVersion %.60q is not read; get it as %s/v1 or v1beta2", v.APIVersion, groupVPA)
	}
	target := Workload{Kind: v.Spec.TargetRef.Kind, Namespace: namespace, Name: v.Spec.TargetRef.Name}
	if target.Kind == "" || target.Name == "" {
		return errors.New("spec.targetRef must have a kind and a name: the workload to which the recommendation belongs")
	}
	list := v.Status.Recommendation.ContainerRecommendations
	if len(list) == 0 {
		r.usage.empty = append(r.usage.empty, name)
		return nil
	}
	for i, c := range list {
		at := fmt.Sprintf("status.recommendation.containerRecommendations[%d]", i)
		if c.ContainerName == "" {
			return fmt.Errorf("%s.containerName is missing", at)
		}
		value, err := c.amounts()
		if err != nil {
			return fmt.Errorf("%s.%w", at, err)
		}
		if value == (amounts{}) {
			continue
		}
		if err := r.usage.recommend(containerKey{target, c.ContainerName}, value); err != nil {
			return err
		}
	}
	r.used++
	return nil
}

// amounts returns the target for cpu and memory.
func (c *recommendation) amounts() (amounts, error) {
	var out amounts
	for _, name := range []string{"cpu", "memory"} {
		text, ok := c.Target[name]
		if !ok {
			continue
		}
		q, err := quantities.Parse(string(text))
		if err != nil {
			return out, fmt.Errorf("target.%s: %.60q: %w", name, string(text), err)
		}
		if q.Sign() < 0 {
			return out, fmt.Errorf("target.%s: %.60s is negative; it must be at least 0", name, string(text))
		}
		if value := q.AsApproximateFloat64(); name == "cpu" && value*1000 > mostMilliCPU || value > mostMemory {
			return out, fmt.Errorf("target.%s: %.60s is more than any node has; at most 10,000 cores and 100Ti are read", name, string(text))
		}
		if name == "cpu" {
			out.milliCPU = max(q.MilliValue(), 1)
		} else {
			out.memory = max(q.Value(), leastMemory)
		}
	}
	return out, nil
}
