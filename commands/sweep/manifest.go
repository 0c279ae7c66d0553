package sweep

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// indexVariable is the variable in which the pods of an Indexed Job have their index.
const indexVariable = "JOB_COMPLETION_INDEX"

// mountPath is where the pods of a Job have the volume. It is their working directory, so that relative names of files mean the same there.
const mountPath = "/sweep"

// job describes the Job of a sweep.
type job struct {
	name, namespace, image, claim string
	grid, results                 string
	shards, parallel, retries     int
	cpu, memory                   string
}

// check returns the first setting that a Job can't have.
func (j *job) check() error {
	if problems := validation.IsDNS1123Label(j.name); len(problems) > 0 {
		return fmt.Errorf("--name %q: %s", j.name, problems[0])
	}
	if j.image == "" {
		return fmt.Errorf("--image must name an image that contains the program drawknife")
	}
	if problems := validation.IsDNS1123Subdomain(j.claim); len(problems) > 0 {
		return fmt.Errorf("--claim %q: must be the name of a PersistentVolumeClaim: %s", j.claim, problems[0])
	}
	for flag, text := range map[string]string{"--cpu": j.cpu, "--memory": j.memory} {
		if q, err := resource.ParseQuantity(text); err != nil || q.Sign() <= 0 {
			return fmt.Errorf("%s %q: must be a quantity above 0 such as 1 or 2Gi", flag, text)
		}
	}
	return nil
}

// object returns the Indexed Job: pod i runs shard i. A pod that dies is started again by the Job controller; a pod that finds that the grid or
// the command line is wrong ends the Job, because the other pods would find the same.
func (j *job) object() *batchv1.Job {
	indexed, none := batchv1.IndexedCompletion, false
	shards, parallel, retries := int32(j.shards), int32(min(j.parallel, j.shards)), int32(j.retries)
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(j.cpu), corev1.ResourceMemory: resource.MustParse(j.memory)}
	labels := map[string]string{"app.kubernetes.io/name": "drawknife-sweep", "app.kubernetes.io/instance": j.name}
	yes := true
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: j.name, Namespace: j.namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			CompletionMode: &indexed, Completions: &shards, Parallelism: &parallel, BackoffLimitPerIndex: &retries,
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}, // an eviction does not count as a try
				}},
				{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{exitInput},
				}},
			}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: &none, EnableServiceLinks: &none,
					SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
					Containers: []corev1.Container{{
						Name: "shard", Image: j.image, WorkingDir: mountPath,
						Args:      []string{"sweep", "shard", j.grid, "--shards=" + strconv.Itoa(j.shards), "--results=" + j.results},
						Resources: corev1.ResourceRequirements{Requests: amounts, Limits: corev1.ResourceList{corev1.ResourceMemory: amounts[corev1.ResourceMemory]}},
						SecurityContext: &corev1.SecurityContext{
							AllowPrivilegeEscalation: &none, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
						},
						VolumeMounts: []corev1.VolumeMount{{Name: "sweep", MountPath: mountPath}},
					}},
					Volumes: []corev1.Volume{{Name: "sweep", VolumeSource: corev1.VolumeSource{
						PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: j.claim},
					}}},
				},
			},
		},
	}
}
