package operators

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Labels and annotations of LeaderWorkerSet: "Labels, Annotations and Environment Variables" of its documentation.
const (
	labelLWS              = "leaderworkerset.sigs.k8s.io/name"
	labelLWSGroup         = "leaderworkerset.sigs.k8s.io/group-index"
	labelLWSWorker        = "leaderworkerset.sigs.k8s.io/worker-index"
	annotationLWSSize     = "leaderworkerset.sigs.k8s.io/size"
	annotationLWSTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology"
)

type leaderWorkerSet struct {
	meta `json:",inline"`
	Spec struct {
		Replicas             *int32 `json:"replicas"`
		LeaderWorkerTemplate struct {
			LeaderTemplate       *corev1.PodTemplateSpec        `json:"leaderTemplate"`
			WorkerTemplate       *corev1.PodTemplateSpec        `json:"workerTemplate"`
			Size                 *int32                         `json:"size"`
			VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates"`
		} `json:"leaderWorkerTemplate"`
	} `json:"spec"`
}

// readLeaderWorkerSet returns the leaders, one for each group, and the workers, which are all other pods of each group. If the set has no
// template for leaders, leaders have the template of workers.
func readLeaderWorkerSet(text []byte) (*Object, error) {
	var set leaderWorkerSet
	if err := decode(text, &set); err != nil {
		return nil, err
	}
	const replicasPath, sizePath = "spec.replicas", "spec.leaderWorkerTemplate.size"
	groups, err := count(set.Spec.Replicas, 1, replicasPath)
	if err != nil {
		return nil, err
	}
	size, err := count(set.Spec.LeaderWorkerTemplate.Size, 1, sizePath)
	if err != nil {
		return nil, err
	}
	templates := &set.Spec.LeaderWorkerTemplate
	if size == 0 {
		return nil, &FieldError{Path: sizePath, Rule: "must be at least 1: a group has a leader"}
	}
	if templates.WorkerTemplate == nil {
		return nil, &FieldError{Path: "spec.leaderWorkerTemplate.workerTemplate", Rule: "must be given"}
	}
	leader, leaderPath := templates.LeaderTemplate, "spec.leaderWorkerTemplate.leaderTemplate"
	if leader == nil {
		leader, leaderPath = templates.WorkerTemplate.DeepCopy(), "spec.leaderWorkerTemplate.workerTemplate"
	}
	for _, pod := range []*corev1.PodTemplateSpec{leader, templates.WorkerTemplate} {
		set.mark(pod, size)
	}
	object := &Object{Templates: []Template{{
		Path: leaderPath, CountPath: replicasPath, Pod: leader, Replicas: groups, PerReplica: 1, Claims: templates.VolumeClaimTemplates,
		IndexLabels: func(index int) map[string]string { return groupLabels(index, 0) },
	}}}
	if size > 1 {
		object.Templates = append(object.Templates, Template{
			Path: "spec.leaderWorkerTemplate.workerTemplate", CountPath: replicasPath, Pod: templates.WorkerTemplate, Replicas: groups, PerReplica: size - 1,
			Claims:      templates.VolumeClaimTemplates,
			IndexLabels: func(index int) map[string]string { return groupLabels(index/(size-1), index%(size-1)+1) },
		})
	}
	return object, nil
}

// mark adds to a template the labels and annotations that the controller adds to all pods of a set.
func (set *leaderWorkerSet) mark(pod *corev1.PodTemplateSpec, size int) {
	withLabels(pod, map[string]string{labelLWS: set.Metadata.Name})
	if pod.Annotations == nil {
		pod.Annotations = make(map[string]string, 2)
	}
	pod.Annotations[annotationLWSSize] = strconv.Itoa(size)
	if key := set.Metadata.Annotations[annotationLWSTopology]; key != "" {
		pod.Annotations[annotationLWSTopology] = key
	}
}

func groupLabels(group, worker int) map[string]string {
	return map[string]string{labelLWSGroup: strconv.Itoa(group), labelLWSWorker: strconv.Itoa(worker)}
}
