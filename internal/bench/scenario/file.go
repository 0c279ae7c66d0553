package scenario

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// File is a scenario in the form that users write. The package comment shows an example.
type File struct {
	Name          string         `json:"name,omitempty"`
	Catalog       string         `json:"catalog,omitempty"`
	InstanceTypes []InstanceType `json:"instanceTypes,omitempty"`
	NodePools     []*v1.NodePool `json:"nodePools,omitempty"`
	Deployments   []Deployment   `json:"deployments"`
	Nodes         []Nodes        `json:"nodes,omitempty"`
}

// InstanceType is an instance type of the scenario.
type InstanceType struct {
	Name      string              `json:"name"`
	Capacity  corev1.ResourceList `json:"capacity"`
	Reserved  corev1.ResourceList `json:"reserved,omitempty"`
	Labels    map[string]string   `json:"labels,omitempty"`
	Offerings []Offering          `json:"offerings"`
}

// Offering is one way to buy the instance type.
type Offering struct {
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// Price is in USD per hour.
	Price float64 `json:"price"`
	// Available is true if omitted.
	Available *bool `json:"available,omitempty"`
}

// Deployment is a set of equal pods.
type Deployment struct {
	Name      string              `json:"name"`
	Namespace string              `json:"namespace,omitempty"`
	Count     int                 `json:"count"`
	Requests  corev1.ResourceList `json:"requests"`
	Labels    map[string]string   `json:"labels,omitempty"`

	NodeSelector              map[string]string                 `json:"nodeSelector,omitempty"`
	Affinity                  *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations               []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}

// Nodes is a set of equal existing nodes.
type Nodes struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	Count        int    `json:"count"`
	// Pods is how many pods of each deployment run on each of the nodes, in addition to the pending pods.
	Pods map[string]int `json:"pods,omitempty"`
}

// maxFileBytes is the largest size of a scenario file.
const maxFileBytes = 16 << 20

// Read makes a scenario from a file. If pods > 0, the deployments are scaled so that this is the total number of pending pods.
func Read(name string, pods int) (*Scenario, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the file was only read, so closing it can't lose data
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%s: it is larger than 16 MiB", name)
	}
	s, err := read(base(name), data, pods, filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// FromText makes a scenario from the text of a scenario file. Paths of catalogs in the text are relative to the working directory.
func FromText(name, text string) (*Scenario, error) { return read(name, []byte(text), 0, ".") }

func read(name string, data []byte, pods int, folder string) (*Scenario, error) {
	f, err := Parse(data)
	if err != nil {
		return nil, err
	}
	if f.Name == "" {
		f.Name = name
	}
	if err := f.scale(pods); err != nil {
		return nil, err
	}
	s, err := f.snapshot(folder)
	if err != nil {
		return nil, err
	}
	return &Scenario{f.Name, "scenario file", 0, s}, nil
}

// Parse parses and validates a scenario file. It reports all faults, each with the path of the field.
func Parse(data []byte) (*File, error) {
	var f File
	if err := yaml.UnmarshalStrict(data, &f); err != nil {
		return nil, err
	}
	return &f, f.check()
}

func (f *File) check() error {
	var wrong []error
	fault := func(path, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
	}
	if f.Catalog != "" && len(f.InstanceTypes) > 0 {
		fault("catalog", "give either a catalogue or instanceTypes")
	}
	if len(f.Deployments) == 0 {
		fault("deployments", "there must be at least one")
	}
	total := 0
	names := make(map[string]bool)
	for i, d := range f.Deployments {
		path := fmt.Sprintf("deployments[%d]", i)
		if d.Name == "" || names[d.Name] {
			fault(path+".name", "%q is empty or used twice", d.Name)
		}
		names[d.Name] = true
		if d.Count < 0 || d.Count > maxPods {
			fault(path+".count", "%d is not between 0 and %d", d.Count, maxPods)
		}
		total += d.Count
		for resource, q := range d.Requests {
			if q.Sign() < 0 {
				fault(path+".requests", "%s is negative", resource)
			}
		}
	}
	for i, n := range f.Nodes {
		path := fmt.Sprintf("nodes[%d]", i)
		if n.Count < 0 || n.Count > maxPods {
			fault(path+".count", "%d is not between 0 and %d", n.Count, maxPods)
		}
		for _, d := range slices.Sorted(maps.Keys(n.Pods)) {
			if !names[d] {
				fault(path+".pods", "there is no deployment %q", d)
			}
			if n.Pods[d] < 0 || n.Pods[d] > 10_000 {
				fault(path+".pods", "%d pods of %s are not between 0 and 10000", n.Pods[d], d)
				continue
			}
			total += max(n.Count, 0) * n.Pods[d]
		}
	}
	if total > maxPods {
		fault("deployments", "%d pods are more than %d", total, maxPods)
	}
	types := make(map[string]bool)
	for i, t := range f.InstanceTypes {
		path := fmt.Sprintf("instanceTypes[%d]", i)
		if t.Name == "" || types[t.Name] {
			fault(path+".name", "%q is empty or used twice", t.Name)
		}
		types[t.Name] = true
		for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
			if q := t.Capacity[resource]; q.Sign() <= 0 {
				fault(path+".capacity", "%s must be more than nothing", resource)
			}
		}
		for k, o := range t.Offerings {
			if o.Zone == "" || o.CapacityType == "" || !(o.Price > 0) {
				fault(fmt.Sprintf("%s.offerings[%d]", path, k), "needs a zone, a capacityType and a price above 0")
			}
		}
	}
	for i, p := range f.NodePools {
		if p == nil || p.Name == "" {
			fault(fmt.Sprintf("nodePools[%d].metadata.name", i), "is empty")
		}
	}
	return errors.Join(wrong...)
}

// scale changes the pod counts of the deployments in proportion, so that they add up to the parameter pods.
func (f *File) scale(pods int) error {
	if pods < 0 || pods > maxPods {
		return fmt.Errorf("%d pods: give 1 to %d, or 0 for those of the file", pods, maxPods)
	}
	total := 0
	for _, d := range f.Deployments {
		total += d.Count
	}
	if pods == 0 || total == 0 {
		return nil
	}
	// Rounding the running sums, not the counts, spreads the rounding errors evenly and makes the last sum exact.
	before, sum := 0, 0
	for i := range f.Deployments {
		sum += f.Deployments[i].Count
		upTo := sum * pods / total
		f.Deployments[i].Count = upTo - before
		before = upTo
	}
	return nil
}
