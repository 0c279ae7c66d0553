package operators

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// rayCluster has the fields of a RayClusterSpec of KubeRay that determine pods.
type rayCluster struct {
	HeadGroupSpec struct {
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"headGroupSpec"`
	WorkerGroupSpecs []rayGroup `json:"workerGroupSpecs"`
}

// rayGroup has the fields of a worker group.
type rayGroup struct {
	Template   *corev1.PodTemplateSpec `json:"template"`
	Replicas   *int32                  `json:"replicas"`
	NumOfHosts *int32                  `json:"numOfHosts"`
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

// readRayJob returns the pods of a RayJob.
func readRayJob(text []byte) (*Object, error) {
	var job struct {
		Spec struct {
			RayClusterSpec rayCluster `json:"rayClusterSpec"`
			Suspend        bool       `json:"suspend"`
		} `json:"spec"`
	}
	if err := decode(text, &job); err != nil {
		return nil, err
	}
	return job.Spec.RayClusterSpec.object("spec.rayClusterSpec", job.Spec.Suspend)
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
		object.Templates = append(object.Templates, Template{Path: path + ".headGroupSpec.template", CountPath: path + ".headGroupSpec", Pod: head, Replicas: 1, PerReplica: 1})
	}
	for i := range c.WorkerGroupSpecs {
		group := &c.WorkerGroupSpecs[i]
		if group.Template == nil {
			continue
		}
		workers, err := group.workers(fmt.Sprintf("%s.workerGroupSpecs[%d]", path, i))
		if err != nil {
			return nil, err
		}
		object.Templates = append(object.Templates, workers)
	}
	return object, nil
}

// workers returns the pods of a group. A replica of a group has one pod on each of its hosts.
func (g *rayGroup) workers(path string) (Template, error) {
	t := Template{Path: path + ".template", CountPath: path + ".replicas", Pod: g.Template}
	var err error
	if t.Replicas, err = count(g.Replicas, 1, t.CountPath); err != nil {
		return t, err
	}
	if t.PerReplica, err = count(g.NumOfHosts, 1, path+".numOfHosts"); err != nil {
		return t, err
	}
	if t.PerReplica == 0 {
		return t, &FieldError{Path: path + ".numOfHosts", Rule: "must be at least 1: a replica has one pod on each host"}
	}
	return t, nil
}
