package operators

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
)

// rayCluster has the fields of a RayClusterSpec of KubeRay that determine pods.
type rayCluster struct {
	HeadGroupSpec struct {
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"headGroupSpec"`
	WorkerGroupSpecs        []rayGroup `json:"workerGroupSpecs"`
	EnableInTreeAutoscaling bool       `json:"enableInTreeAutoscaling"`
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
