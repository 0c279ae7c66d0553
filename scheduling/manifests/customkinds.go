package manifests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadKind is a kind of object outside of Kubernetes that keeps pods which are made from templates in the object.
type WorkloadKind struct {
	// Group and Kind identify it, for all versions.
	Group, Kind string
	// Parts are its pod templates; at least one.
	Parts []WorkloadPart
}

// WorkloadPart is a pod template of a WorkloadKind. Paths are names of fields with dots between them: "spec.template".
type WorkloadPart struct {
	// List is the path of a list whose elements each have the template and the counts; empty if the object itself has them.
	List string
	// Template is the path of the pod template, from the object or from an element of List.
	Template string
	// Counts are paths of numbers; their product is the number of pods. A missing number counts as 1.
	Counts []string
}

// CommonWorkloadKinds returns the kinds of well-known projects that keep pods by template: Argo Rollouts, OpenKruise, JobSet and Ray. The
// slice is the caller's.
func CommonWorkloadKinds() []WorkloadKind {
	plain := []WorkloadPart{{Template: "spec.template", Counts: []string{"spec.replicas"}}}
	ray := func(spec string) []WorkloadPart {
		return []WorkloadPart{
			{Template: spec + ".headGroupSpec.template"},
			{List: spec + ".workerGroupSpecs", Template: "template", Counts: []string{"replicas"}},
		}
	}
	return []WorkloadKind{
		{Group: "argoproj.io", Kind: "Rollout", Parts: plain},
		{Group: "apps.kruise.io", Kind: "CloneSet", Parts: plain},
		{Group: "apps.kruise.io", Kind: "StatefulSet", Parts: plain},
		{Group: "jobset.x-k8s.io", Kind: "JobSet", Parts: []WorkloadPart{
			{List: "spec.replicatedJobs", Template: "template.spec.template", Counts: []string{"replicas", "template.spec.parallelism"}},
		}},
		{Group: "ray.io", Kind: "RayCluster", Parts: ray("spec")},
		{Group: "ray.io", Kind: "RayJob", Parts: ray("spec.rayClusterSpec")},
		{Group: "ray.io", Kind: "RayService", Parts: ray("spec.rayClusterConfig")},
	}
}

// customObject is an object of a WorkloadKind.
type customObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// parts are its templates, each with the number of pods to make from it.
	parts []customPart
}

type customPart struct {
	path, countPath string
	count           int
	template        *corev1.PodTemplateSpec
}

// readCustom reads an object of a WorkloadKind. It reports false if the object has no template, like a Rollout that refers to a Deployment.
func (l *loader) readCustom(d document, wk *WorkloadKind) bool {
	var fields map[string]any
	object := &customObject{}
	if json.Unmarshal(d.text, &fields) != nil || json.Unmarshal(d.text, object) != nil {
		return false
	}
	d.kind.namespaced = true
	for _, part := range wk.Parts {
		elements, at := []any{fields}, []string{""}
		if part.List != "" {
			list, _ := fieldAt(fields, part.List).([]any)
			elements, at = list, make([]string, len(list))
			for i := range at {
				at[i] = fmt.Sprintf("%s[%d].", part.List, i)
			}
		}
		for i, element := range elements {
			p := customPart{path: at[i] + part.Template, count: 1}
			raw, ok := fieldAt(element, part.Template).(map[string]any)
			if !ok {
				continue
			}
			text, err := json.Marshal(raw)
			if err != nil {
				continue
			}
			p.template = &corev1.PodTemplateSpec{}
			if _, err := decodeStrict(text, p.template); err != nil {
				l.problem(d.origin, ProblemType, l.nameOf(d), p.path, strings.TrimPrefix(err.Error(), "json: "))
				return true
			}
			for _, path := range part.Counts {
				n, given := fieldAt(element, path).(float64)
				if !given {
					continue
				}
				p.countPath = at[i] + path
				if n < 0 || n > float64(l.limits.Replicas) || n != float64(int(n)) {
					l.problem(d.origin, ProblemInvalid, l.nameOf(d), p.countPath, fmt.Sprintf("must be a whole number from 0 to %d", l.limits.Replicas))
					return true
				}
				// A product that does not fit in an int is above any limit.
				p.count = int(min(float64(p.count)*n, 1<<53))
			}
			object.parts = append(object.parts, p)
		}
	}
	if len(object.parts) == 0 {
		return false
	}
	apiVersion := d.apiVersion
	if l.accept(d, object) {
		object.APIVersion, object.Kind = apiVersion, d.groupKind.kind
		l.objects.custom = append(l.objects.custom, entry[*customObject]{object: object, origin: d.origin})
	}
	return true
}

// fieldAt returns the value at a path, or nil if there is none.
func fieldAt(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = fields[name]
	}
	return value
}

// customWorkloads are the workloads of the object, one for each template.
func (o *customObject) workloads(at origin) []workload {
	var list []workload
	for _, part := range o.parts {
		w := newWorkload(at, o.Kind, o.APIVersion, o, part.template)
		w.count, w.countPath = part.count, part.countPath
		list = append(list, w)
	}
	return list
}

// containerList finds a list of containers, which a template has; inside a quoted text, the quotes are escaped.
var containerList = regexp.MustCompile(`"containers"\s*:\s*\[`)

// podMakers returns kinds whose controllers make pods although the objects contain no pod templates.
func podMakers() []string {
	return []string{
		"Prometheus.monitoring.coreos.com", "PrometheusAgent.monitoring.coreos.com", "Alertmanager.monitoring.coreos.com", "ThanosRuler.monitoring.coreos.com",
		"Elasticsearch.elasticsearch.k8s.elastic.co", "Kibana.kibana.k8s.elastic.co", "Logstash.logstash.k8s.elastic.co", "Beat.beat.k8s.elastic.co",
		"Agent.agent.k8s.elastic.co", "ApmServer.apm.k8s.elastic.co", "EnterpriseSearch.enterprisesearch.k8s.elastic.co",
		"CephCluster.ceph.rook.io", "Kafka.kafka.strimzi.io", "KafkaNodePool.kafka.strimzi.io", "KafkaConnect.kafka.strimzi.io",
		"Cluster.postgresql.cnpg.io", "postgresql.acid.zalan.do", "RabbitmqCluster.rabbitmq.com", "MongoDBCommunity.mongodbcommunity.mongodb.com",
		"RedisCluster.redis.redis.opstreelabs.in", "Cassandra.cassandra.datastax.com", "CassandraDatacenter.cassandra.datastax.com",
		"SparkApplication.sparkoperator.k8s.io", "ScheduledSparkApplication.sparkoperator.k8s.io", "FlinkDeployment.flink.apache.org",
		"VirtualMachine.kubevirt.io", "VirtualMachineInstanceReplicaSet.kubevirt.io", "OpenTelemetryCollector.opentelemetry.io", "Jaeger.jaegertracing.io",
		"Keycloak.k8s.keycloak.org", "Vault.vault.banzaicloud.com", "PipelineRun.tekton.dev", "TaskRun.tekton.dev",
		"HelmRelease.helm.toolkit.fluxcd.io", "Kustomization.kustomize.toolkit.fluxcd.io", "Application.argoproj.io", "ApplicationSet.argoproj.io",
	}
}

// makesPods reports whether an object of a skipped kind seems to create pods.
func makesPods(d document) bool {
	return slices.Contains(podMakers(), d.groupKind.String()) || containerList.Match(d.text)
}
