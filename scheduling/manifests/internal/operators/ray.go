package operators

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// rayCluster has the fields of a RayClusterSpec of KubeRay that determine pods.
type rayCluster struct {
	HeadGroupSpec struct {
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"headGroupSpec"`
	WorkerGroupSpecs        []rayGroup `json:"workerGroupSpecs"`
	EnableInTreeAutoscaling bool       `json:"enableInTreeAutoscaling"`
	AutoscalerOptions       struct {
		Image     *string                      `json:"image"`
		Resources *corev1.ResourceRequirements `json:"resources"`
	} `json:"autoscalerOptions"`
}

// rayGroup has the fields of a worker group.
type rayGroup struct {
	Template    *corev1.PodTemplateSpec `json:"template"`
	Replicas    *int32                  `json:"replicas"`
	MinReplicas *int32                  `json:"minReplicas"`
	MaxReplicas *int32                  `json:"maxReplicas"`
	NumOfHosts  *int32                  `json:"numOfHosts"`
	Suspend     bool                    `json:"suspend"`
}

// readRayCluster returns the pods of a RayCluster.
func readRayCluster(text []byte) (*Object, error) {
	var cluster struct {
		Spec struct {
			rayCluster `json:",inline"`
			Suspend    bool `json:"suspend"`
		} `json:"spec"`
	}
	if err := decode(text, &cluster); err != nil {
		return nil, err
	}
	return cluster.Spec.object("spec", cluster.Spec.Suspend)
}

// readRayJob returns the pods of a RayJob: those of its cluster, and the submitter. A RayJob with a clusterSelector uses a RayCluster that
// already exists.
func readRayJob(text []byte) (*Object, error) {
	var job struct {
		Spec struct {
			RayClusterSpec       rayCluster              `json:"rayClusterSpec"`
			ClusterSelector      map[string]string       `json:"clusterSelector"`
			SubmissionMode       string                  `json:"submissionMode"`
			SubmitterPodTemplate *corev1.PodTemplateSpec `json:"submitterPodTemplate"`
			Suspend              bool                    `json:"suspend"`
		} `json:"spec"`
		Status struct {
			JobDeploymentStatus string `json:"jobDeploymentStatus"`
		} `json:"status"`
	}
	if err := decode(text, &job); err != nil {
		return nil, err
	}
	if slices.Contains([]string{"Complete", "Failed"}, job.Status.JobDeploymentStatus) {
		return &Object{Ended: true}, nil
	}
	const path = "spec.rayClusterSpec"
	cluster, selected := &job.Spec.RayClusterSpec, len(job.Spec.ClusterSelector) > 0
	if selected {
		*cluster = rayCluster{}
	}
	object, err := cluster.object(path, job.Spec.Suspend)
	if err != nil || len(object.Templates) == 0 && !selected {
		return object, err
	}
	switch job.Spec.SubmissionMode {
	case "", "K8sJobMode":
		submitter, at := job.Spec.SubmitterPodTemplate, "spec.submitterPodTemplate"
		if submitter == nil {
			submitter = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{cluster.submitter()}, RestartPolicy: corev1.RestartPolicyNever}}
		}
		object.Templates = append(object.Templates, Template{Path: at, CountPath: at, Pod: submitter, Replicas: 1, PerReplica: 1})
	case "SidecarMode":
		if head := cluster.HeadGroupSpec.Template; head != nil && len(head.Spec.Containers) > 0 {
			head.Spec.Containers = append(head.Spec.Containers, cluster.submitter())
		}
	}
	// In HTTPMode and InteractiveMode no container submits the job.
	object.Ended = len(object.Templates) == 0
	return object, nil
}

// submitter returns the container that submits the job of a RayJob: GetDefaultSubmitterContainer of KubeRay.
func (c *rayCluster) submitter() corev1.Container {
	return c.container("ray-job-submitter", corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("200Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")},
	})
}

// autoscaler returns the container with which Ray's autoscaler runs in the head: BuildAutoscalerContainer of KubeRay.
func (c *rayCluster) autoscaler() corev1.Container {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("512Mi")}
	container := c.container("autoscaler", corev1.ResourceRequirements{Requests: amounts, Limits: amounts})
	if resources := c.AutoscalerOptions.Resources; resources != nil {
		container.Resources = *resources
	}
	if image := c.AutoscalerOptions.Image; image != nil {
		container.Image = *image
	}
	return container
}

// container returns a container of KubeRay. It has the image of the head's first container.
func (c *rayCluster) container(name string, resources corev1.ResourceRequirements) corev1.Container {
	container := corev1.Container{Name: name, Resources: resources}
	if head := c.HeadGroupSpec.Template; head != nil && len(head.Spec.Containers) > 0 {
		container.Image = head.Spec.Containers[0].Image
	}
	return container
}

// readRayService returns the pods of a RayService.
func readRayService(text []byte) (*Object, error) {
	var service struct {
		Spec struct {
			RayClusterConfig rayCluster `json:"rayClusterConfig"`
			Suspend          bool       `json:"suspend"`
		} `json:"spec"`
	}
	if err := decode(text, &service); err != nil {
		return nil, err
	}
	return service.Spec.RayClusterConfig.object("spec.rayClusterConfig", service.Spec.Suspend)
}

// object returns the head and the workers of each group. A cluster without any template has no templates.
func (c *rayCluster) object(path string, suspended bool) (*Object, error) {
	object := &Object{}
	if suspended {
		object.Suspended = "spec.suspend"
	}
	if head := c.HeadGroupSpec.Template; head != nil {
		if c.EnableInTreeAutoscaling && len(head.Spec.Containers) > 0 {
			head.Spec.Containers = append(head.Spec.Containers, c.autoscaler())
		}
		object.Templates = append(object.Templates, Template{Path: path + ".headGroupSpec.template", CountPath: path + ".headGroupSpec", Pod: head, Replicas: 1, PerReplica: 1})
	}
	for i := range c.WorkerGroupSpecs {
		group := &c.WorkerGroupSpecs[i]
		if group.Template == nil {
			continue
		}
		workers, err := group.workers(fmt.Sprintf("%s.workerGroupSpecs[%d]", path, i), c.EnableInTreeAutoscaling)
		if err != nil {
			return nil, err
		}
		object.Templates = append(object.Templates, workers)
	}
	return object, nil
}

// workers returns the pods of a group. A replica of a group has one pod on each of its hosts. The number of replicas is that of
// GetWorkerGroupDesiredReplicas of KubeRay.
func (g *rayGroup) workers(path string, autoscaling bool) (Template, error) {
	t := Template{Path: path + ".template", CountPath: path + ".replicas", Pod: g.Template, PerReplica: 1}
	var replicas, least, most int
	for _, field := range []struct {
		name    string
		given   *int32
		missing int
		into    *int
	}{
		{".replicas", g.Replicas, 0, &replicas}, {".minReplicas", g.MinReplicas, 0, &least}, {".maxReplicas", g.MaxReplicas, math.MaxInt32, &most},
		{".numOfHosts", g.NumOfHosts, 1, &t.PerReplica},
	} {
		var err error
		if *field.into, err = count(field.given, field.missing, path+field.name); err != nil {
			return t, err
		}
	}
	switch {
	case t.PerReplica == 0:
		return t, &FieldError{Path: path + ".numOfHosts", Rule: "must be at least 1: a replica has one pod on each host"}
	case least > most:
		return t, &FieldError{Path: path + ".maxReplicas", Rule: fmt.Sprintf("must be at least minReplicas, which is %d", least)}
	case g.Suspend:
		t.CountPath = path + ".suspend"
		return t, nil
	case replicas < least:
		t.Replicas, t.CountPath = least, path+".minReplicas"
	case replicas > most:
		t.Replicas, t.CountPath = most, path+".maxReplicas"
	default:
		t.Replicas = replicas
	}
	if autoscaling {
		t.Scale = &Scale{By: "Ray", Min: least, Max: most, Unbounded: most == math.MaxInt32}
	}
	return t, nil
}
