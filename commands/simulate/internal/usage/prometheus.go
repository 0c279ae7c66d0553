package usage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// data is the result of a query.
type data struct {
	ResultType string            `json:"resultType"`
	Result     []json.RawMessage `json:"result"`
}

// series is an element of a vector (Value) or of a matrix (Values).
type series struct {
	Metric map[string]string `json:"metric"`
	Value  *sample           `json:"value"`
	Values []sample          `json:"values"`
}

// sample is the text of a value; its time doesn't matter.
type sample string

// UnmarshalJSON reads [time, "value"].
func (s *sample) UnmarshalJSON(text []byte) error {
	var pair []json.RawMessage
	if json.Unmarshal(text, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[1], (*string)(s)) != nil {
		return fmt.Errorf(`sample %.60s is not [time, "value"]`, text)
	}
	return nil
}

// longestName is the number of bytes of a series in messages.
const longestName = 200

// name returns the series as Prometheus writes it.
func (s *series) name() string {
	labels := make([]string, 0, len(s.Metric))
	for _, key := range slices.Sorted(maps.Keys(s.Metric)) {
		if key != labelName {
			labels = append(labels, fmt.Sprintf("%s=%q", key, s.Metric[key]))
		}
	}
	text := s.Metric[labelName] + "{" + strings.Join(labels, ", ") + "}"
	if len(text) > longestName {
		text = strings.ToValidUTF8(text[:longestName], "") + "..."
	}
	return text
}

const labelName = "__name__"

// label returns the first label that is not empty.
func (s *series) label(names ...string) string {
	for _, name := range names {
		if value := s.Metric[name]; value != "" {
			return value
		}
	}
	return ""
}

// answer reads an answer of Prometheus' HTTP API.
func (r *reader) answer(status string, d document) error {
	if status != "success" {
		return fmt.Errorf("status of the answer is %.60q: %.500s; correct the query", status, cmp.Or(d.Error, d.ErrorType, "it gives no reason"))
	}
	var result data
	if d.Data != nil {
		if err := json.Unmarshal(d.Data, &result); err != nil {
			return fmt.Errorf("data: %w", err)
		}
	}
	if result.ResultType != "vector" && result.ResultType != "matrix" {
		return fmt.Errorf("data.resultType is %.60q, and must be vector or matrix: write a query that returns time series of containers", result.ResultType)
	}
	for i, raw := range result.Result {
		var s series
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("data.result[%d]: %w", i, err)
		}
		if err := r.series(&s); err != nil {
			return fmt.Errorf("series %s: %w", s.name(), err)
		}
	}
	return nil
}

// series adds the value of a series.
func (r *reader) series(s *series) error {
	r.found++
	what, err := r.resourceOf(s)
	if err != nil {
		return err
	}
	// With the prefix exported_ Prometheus keeps labels of a metric that its target also has; then the label without the prefix is the
	// target's.
	at := podContainer{
		namespace: s.label("exported_namespace", "namespace"), pod: s.label("exported_pod", "pod", "pod_name"),
		container: s.label("exported_container", "container", "container_name"),
	}
	if at.container == "" || at.container == "POD" {
		r.sums++
		r.usage.sums++
		return nil
	}
	if at.namespace == "" || at.pod == "" {
		return errors.New("has no label namespace or no label pod; keep them in the query, as in sum by (namespace, pod, container) (...)")
	}
	value, err := r.valueOf(s)
	if err != nil {
		return err
	}
	var used amounts
	switch {
	case what == corev1.ResourceCPU && value > mostMilliCPU/1000:
		return fmt.Errorf("%g cores are more than %d, so that this is not a number of cores; query rate(container_cpu_usage_seconds_total[5m])", value, mostMilliCPU/1000)
	case value > mostMemory:
		return fmt.Errorf("%g bytes are more than 100Ti, so that this is not a number of bytes; query container_memory_working_set_bytes", value)
	case what == corev1.ResourceCPU:
		used = cores(value)
	default:
		used = bytesOf(value)
	}
	r.used++
	return r.usage.observe(at, used)
}

// resourceOf returns what a series measures.
func (r *reader) resourceOf(s *series) (corev1.ResourceName, error) {
	name := s.Metric[labelName]
	// Recording rules such as container_cpu_usage_seconds_total:sum_irate are no counters.
	if strings.HasSuffix(name, "_total") {
		return "", fmt.Errorf("is a counter, which only grows; query rate(%.100s[5m])", name)
	}
	if r.resource != "" {
		return r.resource, nil
	}
	switch label := s.Metric["resource"]; {
	case label == "cpu" || label == "" && strings.Contains(name, "cpu"):
		return corev1.ResourceCPU, nil
	case label == "memory" || label == "" && strings.Contains(name, "memory"):
		return corev1.ResourceMemory, nil
	}
	return "", errors.New("neither a label resource nor the name says whether this is cpu or memory; give the file as cpu=FILE or memory=FILE")
}

// valueOf returns the value of a series: the percentile of its samples if it has several.
func (r *reader) valueOf(s *series) (float64, error) {
	samples := s.Values
	if s.Value != nil {
		samples = append(samples, *s.Value)
	}
	if len(samples) == 0 {
		return 0, errors.New("has no value; query numbers, not native histograms")
	}
	values := make([]float64, len(samples))
	for i, text := range samples {
		value, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
			return 0, fmt.Errorf("value %.40q is not a number of at least 0; leave it out of the query, as with ... >= 0", string(text))
		}
		values[i] = value
	}
	if len(values) == 1 {
		return values[0], nil
	}
	r.usage.sampled = true
	slices.Sort(values)
	return values[nearestRank(len(values), r.usage.percentile)], nil
}

// nearestRank returns the index of a percentile in n sorted values: the smallest value that at least this share of the values doesn't
// exceed.
func nearestRank(n, percentile int) int {
	return max((n*percentile+99)/100, 1) - 1
}
