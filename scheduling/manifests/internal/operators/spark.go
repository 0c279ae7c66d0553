package operators

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/quantities"
)

// labelSparkApp is the label of all pods of a SparkApplication.
const labelSparkApp = "sparkoperator.k8s.io/app-name"

type sparkApplication struct {
	meta   `json:",inline"`
	Spec   sparkSpec `json:"spec"`
	Status struct {
		ApplicationState struct {
			State string `json:"state"`
		} `json:"applicationState"`
	} `json:"status"`
}

type scheduledSparkApplication struct {
	meta `json:",inline"`
	Spec struct {
		Suspend  bool      `json:"suspend"`
		Template sparkSpec `json:"template"`
	} `json:"spec"`
}

// sparkSpec contains the fields of v1beta2 that determine pods.
type sparkSpec struct {
	Type                 string            `json:"type"`
	SparkConf            map[string]string `json:"sparkConf"`
	NodeSelector         map[string]string `json:"nodeSelector"`
	MemoryOverheadFactor *string           `json:"memoryOverheadFactor"`
	Image                *string           `json:"image"`
	Volumes              []corev1.Volume   `json:"volumes"`
	Suspend              bool              `json:"suspend"`
	Driver               sparkPod          `json:"driver"`
	Executor             sparkPod          `json:"executor"`
	DynamicAllocation    *struct {
		Enabled          bool   `json:"enabled"`
		InitialExecutors *int32 `json:"initialExecutors"`
		MinExecutors     *int32 `json:"minExecutors"`
		MaxExecutors     *int32 `json:"maxExecutors"`
	} `json:"dynamicAllocation"`
}

// sparkPod has the fields of the driver or of the executors.
type sparkPod struct {
	Instances         *int32                  `json:"instances"`
	Template          *corev1.PodTemplateSpec `json:"template"`
	Cores             sparkAmount             `json:"cores"`
	CoreRequest       sparkAmount             `json:"coreRequest"`
	CoreLimit         sparkAmount             `json:"coreLimit"`
	Memory            sparkAmount             `json:"memory"`
	MemoryOverhead    sparkAmount             `json:"memoryOverhead"`
	Image             *string                 `json:"image"`
	Labels            map[string]string       `json:"labels"`
	Annotations       map[string]string       `json:"annotations"`
	NodeSelector      map[string]string       `json:"nodeSelector"`
	Affinity          *corev1.Affinity        `json:"affinity"`
	Tolerations       []corev1.Toleration     `json:"tolerations"`
	VolumeMounts      []corev1.VolumeMount    `json:"volumeMounts"`
	InitContainers    []corev1.Container      `json:"initContainers"`
	Sidecars          []corev1.Container      `json:"sidecars"`
	HostNetwork       *bool                   `json:"hostNetwork"`
	SchedulerName     *string                 `json:"schedulerName"`
	PriorityClassName *string                 `json:"priorityClassName"`
	GPU               *struct {
		Name     string `json:"name"`
		Quantity int64  `json:"quantity"`
	} `json:"gpu"`
}

// sparkAmount is an amount that may be written as text or as a number. It is empty if the field is not set.
type sparkAmount string

// Wanted names the allowed forms of an amount, for error messages.
func (*sparkAmount) Wanted() string { return "a number or text" }

// UnmarshalJSON reads text or a number.
func (a *sparkAmount) UnmarshalJSON(text []byte) error {
	var quoted string
	if json.Unmarshal(text, &quoted) == nil {
		*a = sparkAmount(quoted)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil {
		return fmt.Errorf("must be %s", a.Wanted())
	}
	*a = sparkAmount(number)
	return nil
}

func readSparkApplication(text []byte) (*Object, error) {
	var app sparkApplication
	if err := decode(text, &app); err != nil {
		return nil, err
	}
	if slices.Contains([]string{"COMPLETED", "FAILED"}, app.Status.ApplicationState.State) {
		return &Object{Ended: true}, nil
	}
	object, err := app.Spec.object("spec", app.Metadata.Name)
	if err == nil && app.Spec.Suspend {
		object.Suspended = "spec.suspend"
	}
	return object, err
}

// readScheduledSparkApplication returns the pods of one run.
func readScheduledSparkApplication(text []byte) (*Object, error) {
	var app scheduledSparkApplication
	if err := decode(text, &app); err != nil {
		return nil, err
	}
	object, err := app.Spec.Template.object("spec.template", app.Metadata.Name)
	if err != nil {
		return nil, err
	}
	object.Scheduled = true
	if app.Spec.Suspend {
		object.Suspended = "spec.suspend"
	}
	return object, nil
}

// object returns the driver and the executors.
func (s *sparkSpec) object(path, name string) (*Object, error) {
	var list []Template
	for _, role := range []string{"driver", "executor"} {
		part := &s.Driver
		if role == "executor" {
			part = &s.Executor
		}
		pod, err := s.pod(part, role, path+"."+role)
		if err != nil {
			return nil, err
		}
		withLabels(pod, map[string]string{labelSparkApp: name, "spark-role": role})
		list = append(list, Template{Path: path + "." + role, CountPath: path + "." + role + ".instances", Pod: pod, Replicas: 1, PerReplica: 1})
	}
	executors := &list[1]
	var err error
	executors.Replicas, executors.Scale, err = s.executors(path)
	return &Object{Templates: list}, err
}

// pod returns the template of the driver or of the executors.
func (s *sparkSpec) pod(part *sparkPod, role, path string) (*corev1.PodTemplateSpec, error) {
	pod := part.Template
	if pod == nil {
		pod = &corev1.PodTemplateSpec{}
	}
	name := "spark-kubernetes-" + role
	main := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	if main < 0 {
		main = 0
		if len(pod.Spec.Containers) == 0 {
			pod.Spec.Containers = []corev1.Container{{Name: name}}
		}
	}
	container := &pod.Spec.Containers[main]
	for _, image := range []*string{s.Image, part.Image} {
		if image != nil {
			container.Image = *image
		}
	}
	container.VolumeMounts = append(container.VolumeMounts, part.VolumeMounts...)
	if err := s.setResources(container, part, role, path); err != nil {
		return nil, err
	}
	withLabels(pod, part.Labels)
	if pod.Annotations == nil {
		pod.Annotations = part.Annotations
	}
	spec := &pod.Spec
	spec.NodeSelector = joined(spec.NodeSelector, s.NodeSelector, part.NodeSelector)
	if part.Affinity != nil {
		spec.Affinity = part.Affinity
	}
	spec.Tolerations = append(spec.Tolerations, part.Tolerations...)
	spec.InitContainers = append(spec.InitContainers, part.InitContainers...)
	for _, volume := range s.Volumes {
		if slices.ContainsFunc(part.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume.Name }) {
			spec.Volumes = append(spec.Volumes, volume)
		}
	}
	if part.HostNetwork != nil {
		spec.HostNetwork = *part.HostNetwork
	}
	if part.SchedulerName != nil {
		spec.SchedulerName = *part.SchedulerName
	}
	if part.PriorityClassName != nil {
		spec.PriorityClassName = *part.PriorityClassName
	}
	spec.Containers = append(spec.Containers, part.Sidecars...)
	return pod, nil
}

// setResources sets the requests and limits that Spark gives to a container, as described in "Running Spark on Kubernetes" under
// "Configuration".
func (s *sparkSpec) setResources(container *corev1.Container, part *sparkPod, role, path string) error {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for name, amount := range container.Resources.Requests {
		requests[name] = amount
	}
	for name, amount := range container.Resources.Limits {
		limits[name] = amount
	}
	cpu, err := sparkCores(path, "coreRequest", part.CoreRequest, sparkAmount(s.SparkConf["spark.kubernetes."+role+".request.cores"]),
		part.Cores, sparkAmount(s.SparkConf["spark."+role+".cores"]), "1")
	if err != nil {
		return err
	}
	requests[corev1.ResourceCPU] = cpu
	if limit := firstGiven(part.CoreLimit, sparkAmount(s.SparkConf["spark.kubernetes."+role+".limit.cores"])); limit != "" {
		if limits[corev1.ResourceCPU], err = sparkCores(path, "coreLimit", limit); err != nil {
			return err
		}
	}
	memory, err := s.memory(part, role, path)
	if err != nil {
		return err
	}
	requests[corev1.ResourceMemory], limits[corev1.ResourceMemory] = memory, memory
	if gpu := part.GPU; gpu != nil && gpu.Name != "" {
		if gpu.Quantity < 0 {
			return &FieldError{Path: path + ".gpu.quantity", Rule: "must not be negative"}
		}
		amount := *resource.NewQuantity(gpu.Quantity, resource.DecimalSI)
		requests[corev1.ResourceName(gpu.Name)], limits[corev1.ResourceName(gpu.Name)] = amount, amount
	}
	container.Resources.Requests, container.Resources.Limits = requests, limits
	return nil
}

// executors returns the number of executors, and its range if Spark allocates them dynamically, as described in Spark's documentation under
// "Dynamic Allocation".
func (s *sparkSpec) executors(path string) (int, *Scale, error) {
	conf := func(key string) *int32 {
		n, err := strconv.ParseInt(s.SparkConf[key], 10, 32)
		if err != nil {
			return nil
		}
		number := int32(n)
		return &number
	}
	instances := s.Executor.Instances
	if instances == nil {
		instances = conf("spark.executor.instances")
	}
	dynamic := s.SparkConf["spark.dynamicAllocation.enabled"] == "true"
	initial, least, most := conf("spark.dynamicAllocation.initialExecutors"), conf("spark.dynamicAllocation.minExecutors"), conf("spark.dynamicAllocation.maxExecutors")
	if d := s.DynamicAllocation; d != nil {
		dynamic = d.Enabled
		for _, given := range []struct{ from, to **int32 }{{&d.InitialExecutors, &initial}, {&d.MinExecutors, &least}, {&d.MaxExecutors, &most}} {
			if *given.from != nil {
				*given.to = *given.from
			}
		}
	}
	if !dynamic {
		n, err := count(instances, 1, path+".executor.instances")
		return n, nil, err
	}
	scale := &Scale{By: "Spark", Unbounded: most == nil}
	current := 0
	for _, given := range []struct {
		n    *int32
		path string
		into *int
	}{
		{instances, ".executor.instances", nil}, {initial, ".dynamicAllocation.initialExecutors", nil},
		{least, ".dynamicAllocation.minExecutors", &scale.Min}, {most, ".dynamicAllocation.maxExecutors", &scale.Max},
	} {
		n, err := count(given.n, 0, path+given.path)
		if err != nil {
			return 0, nil, err
		}
		if given.into != nil {
			*given.into = n
		}
		if given.into != &scale.Max {
			current = max(current, n)
		}
	}
	scale.Max = max(scale.Max, scale.Min)
	if !scale.Unbounded {
		current = min(current, scale.Max)
	}
	return current, scale, nil
}

// sparkCores parses the first amount that is not empty.
func sparkCores(path, field string, amounts ...sparkAmount) (resource.Quantity, error) {
	text := string(firstGiven(amounts...))
	cpu, err := quantities.Parse(text)
	if err != nil || cpu.Sign() < 0 {
		return cpu, &FieldError{Path: path + "." + field, Rule: fmt.Sprintf("must be a number of cores such as 500m or 2, not %.60q", text)}
	}
	return cpu, nil
}

func firstGiven(amounts ...sparkAmount) sparkAmount {
	for _, a := range amounts {
		if a != "" {
			return a
		}
	}
	return ""
}

// joined merges maps. If several entries have the same key, the value of the last one is used.
func joined(maps ...map[string]string) map[string]string {
	var all map[string]string
	for _, m := range maps {
		for key, value := range m {
			if all == nil {
				all = make(map[string]string)
			}
			all[key] = value
		}
	}
	return all
}
