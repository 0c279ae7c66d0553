package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling/manifests/internal/operators"
)

// WorkloadKind is a kind of another project whose objects contain pod templates, from which a controller makes pods.
type WorkloadKind struct {
	// Group and Kind identify the kind, for all of its versions.
	Group, Kind string
	// Parts are the kind's pod templates. Nil is for kinds whose pods this package computes, because a template and a count do not suffice:
	// LeaderWorkerSet, SparkApplication, ScheduledSparkApplication, Service of Knative, RayCluster, RayJob and RayService. Objects of other
	// kinds without Parts are skipped.
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

// CommonWorkloadKinds returns the kinds of well-known projects that make pods: Argo Rollouts, OpenKruise, JobSet, LeaderWorkerSet, Ray, the
// Spark operator and Knative Serving. The slice is the caller's.
func CommonWorkloadKinds() []WorkloadKind {
	plain := []WorkloadPart{{Template: "spec.template", Counts: []string{"spec.replicas"}}}
	return []WorkloadKind{
		{Group: "argoproj.io", Kind: "Rollout", Parts: plain},
		{Group: "apps.kruise.io", Kind: "CloneSet", Parts: plain},
		{Group: "apps.kruise.io", Kind: "StatefulSet", Parts: plain},
		{Group: "jobset.x-k8s.io", Kind: "JobSet", Parts: []WorkloadPart{
			{List: "spec.replicatedJobs", Template: "template.spec.template", Counts: []string{"replicas", "template.spec.parallelism"}},
		}},
		{Group: "ray.io", Kind: "RayCluster"},
		{Group: "ray.io", Kind: "RayJob"},
		{Group: "ray.io", Kind: "RayService"},
		{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"},
		{Group: "sparkoperator.k8s.io", Kind: "SparkApplication"},
		{Group: "sparkoperator.k8s.io", Kind: "ScheduledSparkApplication"},
		{Group: "serving.knative.dev", Kind: "Service"},
	}
}

// customObject is an object of a WorkloadKind.
type customObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// pods contains the pod templates of the object, and says whether the object has pods now, only at times, or no longer.
	pods *operators.Object
}

// readCustom reads an object of a WorkloadKind. It returns false if the object has no pod template, and does not refer to one of another
// object.
func (l *loader) readCustom(d document, wk *WorkloadKind) bool {
	object := &customObject{}
	if json.Unmarshal(d.text, object) != nil {
		return false
	}
	d.kind.namespaced = true
	pods, err := operators.Read(d.groupKind.exported(), d.text)
	if wk.Parts != nil || pods == nil && err == nil {
		pods, err = l.templatesAt(d, wk)
	}
	if err == nil && len(pods.Templates) == 0 {
		pods.Reference, err = operators.ReadReference(d.groupKind.exported(), d.text)
	}
	if err != nil {
		var field *operators.FieldError
		if errors.As(err, &field) {
			code := ProblemInvalid
			if field.WrongType {
				code = ProblemType
			}
			l.problem(d.origin, code, l.nameOf(d), field.Path, field.Rule)
		}
		return true
	}
	if len(pods.Templates) == 0 && !pods.Ended && pods.Reference == nil {
		return false
	}
	object.pods = pods
	apiVersion := d.apiVersion
	if l.accept(d, object) {
		object.APIVersion, object.Kind = apiVersion, d.groupKind.kind
		l.objects.custom = append(l.objects.custom, entry[*customObject]{object: object, origin: d.origin})
	}
	return true
}

// exported converts the kind to the type of package operators.
func (g groupKind) exported() operators.Kind { return operators.Kind{Group: g.group, Kind: g.kind} }

// templatesAt returns the pod templates at the paths that the kind defines, with the number of pods of each template.
func (l *loader) templatesAt(d document, wk *WorkloadKind) (*operators.Object, error) {
	var fields map[string]any
	if err := json.Unmarshal(d.text, &fields); err != nil {
		return nil, &operators.FieldError{Rule: err.Error(), WrongType: true}
	}
	object := &operators.Object{}
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
			template, err := l.templateAt(element, at[i], part)
			if err != nil {
				return nil, err
			}
			if template != nil {
				object.Templates = append(object.Templates, *template)
			}
		}
	}
	if suspend, _ := fieldAt(fields, "spec.suspend").(bool); suspend {
		object.Suspended = "spec.suspend"
	}
	return object, nil
}

// templateAt returns one pod template of an element, or nil if the element does not have this template.
func (l *loader) templateAt(element any, at string, part WorkloadPart) (*operators.Template, error) {
	raw, ok := fieldAt(element, part.Template).(map[string]any)
	if !ok {
		return nil, nil
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, nil
	}
	t := &operators.Template{Path: at + part.Template, Replicas: 1, PerReplica: 1, Pod: &corev1.PodTemplateSpec{}}
	if _, err := decodeStrict(text, t.Pod); err != nil {
		return nil, &operators.FieldError{Path: t.Path, Rule: strings.TrimPrefix(err.Error(), "json: "), WrongType: true}
	}
	for _, path := range part.Counts {
		n, given := fieldAt(element, path).(float64)
		if !given {
			continue
		}
		t.CountPath = at + path
		if n < 0 || n > float64(l.limits.Replicas) || n != float64(int(n)) {
			return nil, &operators.FieldError{Path: t.CountPath, Rule: fmt.Sprintf("must be a whole number from 0 to %d", l.limits.Replicas)}
		}
		// If the product does not fit into an int, the largest number is used, which is above any limit.
		t.Replicas = int(min(float64(t.Replicas)*n, 1<<53))
	}
	return t, nil
}

// fieldAt returns the value at a path, or nil if the path has no value.
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

// workloads returns the workloads of the object, one for each template.
func (o *customObject) workloads(at origin) []workload {
	var list []workload
	for i := range o.pods.Templates {
		t := &o.pods.Templates[i]
		w := newWorkload(at, o.Kind, o.APIVersion, o, t.Pod)
		w.perReplica, w.scale, w.claims = t.PerReplica, t.Scale, t.Claims
		// If the product does not fit into an int, the largest number is used, which is above any limit.
		w.count, w.countPath = int(min(float64(t.Replicas)*float64(t.PerReplica), 1<<53)), t.CountPath
		if labels := t.IndexLabels; labels != nil {
			w.indexLabels = func(_ string, index int) map[string]string { return labels(index) }
		}
		list = append(list, w)
	}
	return list
}

// addCustom adds the workloads of an object. It adds none if the input already has pods of the object, or objects between the object and
// its pods.
func (l *loader) addCustom(e entry[*customObject], owners *ownership, add func(w workload, present int)) {
	o := e.object
	group, _, _ := strings.Cut(o.APIVersion, "/")
	if owners.hasMembers(keyOf(group, o.Kind, o)) || o.pods.Ended {
		return
	}
	if ref := o.pods.Reference; ref != nil {
		template := l.referenced(o.GetNamespace(), ref)
		if template == nil {
			l.leaveOutCustom(e, group)
			return
		}
		w := newWorkload(e.origin, o.Kind, o.APIVersion, o, template)
		w.count, w.countPath = ref.Replicas, ref.CountPath
		add(w, 0)
		return
	}
	list := o.workloads(e.origin)
	if suspended := o.pods.Suspended != ""; l.suspended(list[0], o.pods.Suspended, &suspended) {
		return
	}
	if o.pods.Scheduled {
		l.warn(e.origin, remark{code: WarningCronJob, kind: o.Kind, name: qualifiedName(o), message: "it is planned as if one of its runs were under way"})
	}
	for _, w := range list {
		add(w, 0)
	}
}

// referenced returns the pod template of the object that another object refers to, or nil if the input does not contain it.
func (l *loader) referenced(namespace string, ref *operators.Reference) *corev1.PodTemplateSpec {
	is := func(object metav1.Object) bool {
		return object.GetNamespace() == namespace && object.GetName() == ref.Name
	}
	switch ref.Kind {
	case kindDeployment:
		if i := slices.IndexFunc(l.objects.deployments, func(e entry[*appsv1.Deployment]) bool { return is(e.object) }); i >= 0 {
			return &l.objects.deployments[i].object.Spec.Template
		}
	case kindReplicaSet:
		if i := slices.IndexFunc(l.objects.replicaSets, func(e entry[*appsv1.ReplicaSet]) bool { return is(e.object) }); i >= 0 {
			return &l.objects.replicaSets[i].object.Spec.Template
		}
	case kindPodTemplate:
		if i := slices.IndexFunc(l.objects.podTemplates, func(e entry[*corev1.PodTemplate]) bool { return is(e.object) }); i >= 0 {
			return &l.objects.podTemplates[i].object.Template
		}
	}
	return nil
}

// scaleDownReferenced sets spec.replicas of Deployments to 0 if the controller of an object that uses their pod template does so.
func (l *loader) scaleDownReferenced() {
	down := make(map[objectKey]bool)
	for _, e := range l.objects.custom {
		if ref := e.object.pods.Reference; ref != nil && ref.ScaleDown && ref.Kind == kindDeployment {
			down[objectKey{groupKind{groupApps, kindDeployment}, e.object.GetNamespace(), ref.Name}] = true
		}
	}
	for _, e := range l.objects.deployments {
		if down[keyOf(groupApps, kindDeployment, e.object)] {
			e.object.Spec.Replicas = new(int32)
		}
	}
}

// leaveOutCustom records that no pods are made of an object, because the input lacks the object with its pod template.
func (l *loader) leaveOutCustom(e entry[*customObject], group string) {
	name := groupKind{group, e.object.Kind}.String()
	l.skipped[name]++
	l.podMakers[name]++
	ref := e.object.pods.Reference
	l.warn(e.origin, remark{
		code: WarningUnknownKind, kind: name, name: qualifiedName(e.object), path: "spec.workloadRef", detail: qualifiedName(e.object),
		message: fmt.Sprintf("its pods are not planned: the input lacks %s %s, which has their template", ref.Kind, ref.Name),
	})
}

// containerList matches the beginning of the list of containers in a pod template. It does not match inside a JSON string, because quotes
// are escaped there.
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
		"SparkApplication.sparkoperator.k8s.io", "ScheduledSparkApplication.sparkoperator.k8s.io", "Service.serving.knative.dev", "FlinkDeployment.flink.apache.org",
		"VirtualMachine.kubevirt.io", "VirtualMachineInstanceReplicaSet.kubevirt.io", "OpenTelemetryCollector.opentelemetry.io", "Jaeger.jaegertracing.io",
		"Keycloak.k8s.keycloak.org", "Vault.vault.banzaicloud.com", "PipelineRun.tekton.dev", "TaskRun.tekton.dev",
		"HelmRelease.helm.toolkit.fluxcd.io", "Kustomization.kustomize.toolkit.fluxcd.io", "Application.argoproj.io", "ApplicationSet.argoproj.io",
	}
}

// podMaking says whether an object of a skipped kind seems to create pods.
type podMaking int

const (
	// makesNoPods is for an object that has a controller, like a Revision of Knative, because the owner is the workload that must be
	// reported. It is also for a CustomResourceDefinition.
	makesNoPods podMaking = iota
	// makesPodsLikeKind is for an object that makes pods if other objects of its kind do. Examples are two InferenceServices of KServe: one
	// contains a list of containers, and the other names a model.
	makesPodsLikeKind
	makesPods
)

func podMakingOf(d document) podMaking {
	var object struct{ Metadata metav1.ObjectMeta }
	switch {
	case d.groupKind.group == "apiextensions.k8s.io":
		return makesNoPods
	case bytes.Contains(d.text, []byte("ownerReferences")) && json.Unmarshal(d.text, &object) == nil && metav1.GetControllerOfNoCopy(&object.Metadata) != nil:
		return makesNoPods
	case slices.Contains(podMakers(), d.groupKind.String()) || containerList.Match(d.text):
		return makesPods
	}
	return makesPodsLikeKind
}

// allPodMakers returns the number of objects that seem to create pods, by kind. If one object of a kind seems to, all objects of this kind
// count, except those with a controller.
func (l *loader) allPodMakers() map[string]int {
	var all map[string]int
	for kind, n := range l.podMakers {
		if all == nil {
			all = make(map[string]int)
		}
		all[kind] = n + l.likePodMakers[kind]
	}
	return all
}
