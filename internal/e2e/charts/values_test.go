package charts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
)

// at is what stands in the object of a kind under a path of fields and of list positions; nil when nothing does.
func at(objects []map[string]any, kind string, path ...any) any {
	for _, object := range objects {
		if object["kind"] != kind {
			continue
		}
		var here any = object
		for _, step := range path {
			switch step := step.(type) {
			case string:
				m, _ := here.(map[string]any)
				here = m[step]
			case int:
				l, _ := here.([]any)
				if step >= len(l) {
					return nil
				}
				here = l[step]
			}
		}
		return here
	}
	return nil
}

// Every value of 0.26 that says how the controller's pod is run, on its own: what is there without it, and what becomes of it.
// SET-068 to SET-093.
func TestValuesOfThePod(t *testing.T) {
	pod := func(path ...any) []any { return append([]any{"spec", "template", "spec"}, path...) }
	container := func(path ...any) []any { return pod(append([]any{"containers", 0}, path...)...) }
	_, defaults := render(t, Controller, "x", nil)
	for _, c := range []struct {
		row    string
		values string
		kind   string // Deployment when empty
		path   []any
		before any // without the value
		after  any
	}{
		{row: "S3-006 nameOverride", values: "nameOverride: scaler", path: []any{"metadata", "labels", "app.kubernetes.io/name"}, before: "drawknife", after: "scaler"},
		{row: "S3-006 fullnameOverride", values: "fullnameOverride: scaler", path: []any{"metadata", "name"}, before: "x-drawknife", after: "scaler"},
		{row: "S3-007 additionalLabels", values: "additionalLabels: {app: karpenter}", path: []any{"metadata", "labels", "app"}, after: "karpenter"},
		{row: "S3-007 additionalAnnotations", values: "additionalAnnotations: {a: b}", path: []any{"metadata", "annotations", "a"}, after: "b"},
		{row: "S3-008 imagePullPolicy", values: "imagePullPolicy: Always", path: container("imagePullPolicy"), before: "IfNotPresent", after: "Always"},
		{row: "S3-008 imagePullSecrets", values: "imagePullSecrets: [{name: registry}]", path: pod("imagePullSecrets", 0, "name"), after: "registry"},
		{row: "S3-009 serviceAccount.name", values: "serviceAccount: {name: account}", path: pod("serviceAccountName"), before: "x-drawknife", after: "account"},
		{row: "S3-009 serviceAccount.create", values: "serviceAccount: {create: false, name: account}", kind: "ServiceAccount", path: []any{"metadata", "name"}, before: "x-drawknife"},
		{row: "S3-009 serviceAccount.annotations", values: "serviceAccount: {annotations: {eks.amazonaws.com/role-arn: arn}}", kind: "ServiceAccount", path: []any{"metadata", "annotations", "eks.amazonaws.com/role-arn"}, after: "arn"},
		{row: "S3-011 serviceMonitor.enabled", values: "serviceMonitor: {enabled: true}", kind: "ServiceMonitor", path: []any{"spec", "endpoints", 0, "port"}, after: "http-metrics"},
		{row: "S3-011 serviceMonitor.endpointConfig", values: "serviceMonitor: {enabled: true, endpointConfig: {interval: 30s}}", kind: "ServiceMonitor", path: []any{"spec", "endpoints", 0, "interval"}, after: "30s"},
		{row: "S3-011 serviceMonitor.additionalLabels", values: "serviceMonitor: {enabled: true, additionalLabels: {release: prometheus}}", kind: "ServiceMonitor", path: []any{"metadata", "labels", "release"}, after: "prometheus"},
		{row: "serviceMonitor.relabelings", values: "serviceMonitor: {enabled: true, relabelings: [{action: labeldrop, regex: pod}]}", kind: "ServiceMonitor", path: []any{"spec", "endpoints", 0, "relabelings", 0, "regex"}, after: "pod"},
		{row: "serviceMonitor.metricRelabelings", values: "serviceMonitor: {enabled: true, metricRelabelings: [{action: drop, regex: x}]}", kind: "ServiceMonitor", path: []any{"spec", "endpoints", 0, "metricRelabelings", 0, "action"}, after: "drop"},
		{row: "serviceMonitor.sampleLimit", values: "serviceMonitor: {enabled: true, sampleLimit: 5000}", kind: "ServiceMonitor", path: []any{"spec", "sampleLimit"}, after: 5000.0},
		{row: "initContainers", values: "initContainers: [{name: first, image: i}]", path: pod("initContainers", 0, "name"), after: "first"},
		{row: "S3-012 replicas", values: "replicas: 1", path: []any{"spec", "replicas"}, before: 2.0, after: 1.0},
		{row: "S3-013 revisionHistoryLimit", values: "revisionHistoryLimit: 3", path: []any{"spec", "revisionHistoryLimit"}, before: 10.0, after: 3.0},
		{row: "S3-014 strategy", values: "strategy: {rollingUpdate: {maxUnavailable: 2}}", path: []any{"spec", "strategy", "rollingUpdate", "maxUnavailable"}, before: 1.0, after: 2.0},
		{row: "S3-015 podLabels", values: "podLabels: {a: b}", path: []any{"spec", "template", "metadata", "labels", "a"}, after: "b"},
		{row: "S3-015 podAnnotations", values: "podAnnotations: {a: b}", path: []any{"spec", "template", "metadata", "annotations", "a"}, after: "b"},
		{row: "S3-016 podDisruptionBudget.name", values: "podDisruptionBudget: {name: budget}", kind: "PodDisruptionBudget", path: []any{"metadata", "name"}, before: "x-drawknife", after: "budget"},
		{row: "S3-016 podDisruptionBudget.maxUnavailable", values: "podDisruptionBudget: {maxUnavailable: 50%}", kind: "PodDisruptionBudget", path: []any{"spec", "maxUnavailable"}, before: 1.0, after: "50%"},
		{row: "S3-017 podSecurityContext", values: "podSecurityContext: {fsGroup: 1000}", path: pod("securityContext", "fsGroup"), before: 65532.0, after: 1000.0},
		{row: "S3-018 priorityClassName", values: "priorityClassName: other", path: pod("priorityClassName"), before: "system-cluster-critical", after: "other"},
		{row: "S3-019 terminationGracePeriodSeconds", values: "terminationGracePeriodSeconds: 0", path: pod("terminationGracePeriodSeconds"), after: 0.0},
		{row: "S3-020 hostNetwork", values: "hostNetwork: true", path: pod("hostNetwork"), after: true},
		{row: "S3-020 dnsPolicy", values: "dnsPolicy: Default", path: pod("dnsPolicy"), before: "ClusterFirst", after: "Default"},
		{row: "S3-020 dnsConfig", values: "dnsConfig: {nameservers: [10.0.0.10]}", path: pod("dnsConfig", "nameservers", 0), after: "10.0.0.10"},
		{row: "S3-021 nodeSelector", values: "nodeSelector: {role: system}", path: pod("nodeSelector", "role"), after: "system"},
		{row: "S3-021 nodeSelector by default", path: pod("nodeSelector", "kubernetes.io/os"), before: "linux", after: "linux"},
		{row: "S3-022 affinity.nodeAffinity", values: "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [system]}]}]}}}",
			path:   pod("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", 0, "matchExpressions", 0, "key"),
			before: "karpenter.sh/nodepool", after: "eks.amazonaws.com/nodegroup"},
		{row: "S2-032 the replicas keep apart", path: pod("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 0, "topologyKey"), before: "kubernetes.io/hostname", after: "kubernetes.io/hostname"},
		{row: "S3-025 tolerations by default", path: pod("tolerations", 0, "key"), before: "CriticalAddonsOnly", after: "CriticalAddonsOnly"},
		{row: "S3-025 tolerations", values: "tolerations: [{key: system, operator: Exists}]", path: pod("tolerations", 0, "key"), before: "CriticalAddonsOnly", after: "system"},
		{row: "S3-026 extraVolumes", values: "extraVolumes: [{name: token, emptyDir: {}}]", path: pod("volumes", 1, "name"), after: "token"},
		{row: "S3-027 extraObjects", values: "extraObjects: [{apiVersion: v1, kind: Secret, metadata: {name: extra}}]", kind: "Secret", path: []any{"metadata", "name"}, after: "extra"},
		{row: "S3-028 controller.image", values: "controller: {image: {repository: example.com/c, tag: v1, digest: \"\"}}", path: container("image"), before: "drawknife/controller:0.1.0", after: "example.com/c:v1"},
		{row: "S3-029 controller.securityContext", values: "controller: {securityContext: {runAsUser: 7}}", path: container("securityContext", "runAsUser"), before: 65532.0, after: 7.0},
		{row: "S3-030 controller.env", values: "controller: {env: [{name: AWS_REGION, value: eu-west-1}]}", path: container("env", 2, "value"), after: "eu-west-1"},
		{row: "S3-030 controller.envFrom", values: "controller: {envFrom: [{secretRef: {name: more}}]}", path: container("envFrom", 0, "secretRef", "name"), after: "more"},
		{row: "S3-031 controller.resources", values: "controller: {resources: {requests: {cpu: 1, memory: 1Gi}}}", path: container("resources", "requests", "memory"), after: "1Gi"},
		{row: "S3-034 controller.extraVolumeMounts", values: "controller: {extraVolumeMounts: [{name: token, mountPath: /t}]}", path: container("volumeMounts", 1, "mountPath"), after: "/t"},
		{row: "S3-034 controller.sidecarContainer", values: "controller: {sidecarContainer: [{name: proxy, image: i}], sidecarVolumeMounts: [{name: token, mountPath: /t}]}", path: pod("containers", 1, "volumeMounts", 0, "mountPath"), after: "/t"},
		{row: "S3-035 controller.metrics.port", values: "controller: {metrics: {port: 9090}}", path: container("ports", 0, "containerPort"), before: 8080.0, after: 9090.0},
		{row: "S3-036 controller.healthProbe.port", values: "controller: {healthProbe: {port: 9091}}", path: container("ports", 1, "containerPort"), before: 8081.0, after: 9091.0},
	} {
		t.Run(c.row, func(t *testing.T) {
			kind := c.kind
			if kind == "" {
				kind = "Deployment"
			}
			if diff := cmp.Diff(c.before, at(defaults, kind, c.path...)); diff != "" {
				t.Errorf("by default (-want +got):\n%s", diff)
			}
			_, objects := render(t, Controller, "x", []byte(c.values))
			if diff := cmp.Diff(c.after, at(objects, kind, c.path...)); diff != "" {
				t.Errorf("with %s (-want +got):\n%s", c.values, diff)
			}
		})
	}
}

// SET-072: rules of one's own come after the controller's.
func TestRulesOfOnesOwn(t *testing.T) {
	const rule = "additionalClusterRoleRules: [{apiGroups: [example.com], resources: [things], verbs: [get]}]"
	_, objects := render(t, Controller, "x", []byte(rule))
	rules, _ := at(objects, "ClusterRole", "rules").([]any)
	if len(rules) < 2 {
		t.Fatalf("%d rules", len(rules))
	}
	want := map[string]any{"apiGroups": []any{"example.com"}, "resources": []any{"things"}, "verbs": []any{"get"}}
	if diff := cmp.Diff(any(want), rules[len(rules)-1]); diff != "" {
		t.Errorf("the last rule (-want +got):\n%s", diff)
	}
}

// Every value of 0.26 that is a setting of the controller, on its own: it reaches the settings that the controller starts with.
func TestValuesOfTheController(t *testing.T) {
	for _, c := range []struct {
		row    string
		values string
		get    func(*settings.Settings) any
		before any
		after  any
	}{
		{"S3-032 controller.outputPaths", "controller: {outputPaths: [stdout, /log]}", func(s *settings.Settings) any { return strings.Join(s.Process.LogOutputPaths, " ") }, "stdout", "stdout /log"},
		{"S3-032 controller.errorOutputPaths", "controller: {errorOutputPaths: [/log]}", func(s *settings.Settings) any { return strings.Join(s.Process.LogErrorOutputPaths, " ") }, "stderr", "/log"},
		{"S3-033 controller.logLevel", "logLevel: debug\ncontroller: {logLevel: error}", func(s *settings.Settings) any { return s.Process.LogLevel.String() }, "INFO", "ERROR"},
		{"S3-033 controller.logLevel empty", "logLevel: debug\ncontroller: {logLevel: \"\"}", func(s *settings.Settings) any { return s.Process.LogLevel.String() }, "INFO", "DEBUG"},
		{"S3-033 controller.logEncoding", "controller: {logEncoding: console}", func(s *settings.Settings) any { return string(s.Process.LogEncoding) }, "json", "console"},
		{"S3-035 metrics port", "controller: {metrics: {port: 9090}}", func(s *settings.Settings) any { return s.Process.MetricsPort }, 8080, 9090},
		{"S3-036 health probe port", "controller: {healthProbe: {port: 9091}}", func(s *settings.Settings) any { return s.Process.HealthProbePort }, 8081, 9091},
		{"S3-038 logLevel", "logLevel: debug", func(s *settings.Settings) any { return s.Process.LogLevel.String() }, "INFO", "DEBUG"},
		{"S3-039 logEncoding", "logEncoding: console", func(s *settings.Settings) any { return string(s.Process.LogEncoding) }, "json", "console"},
	} {
		t.Run(c.row, func(t *testing.T) {
			started := func(values string) *settings.Settings {
				t.Helper()
				_, objects := render(t, Controller, "x", []byte("settings: {clusterName: blue}\n"+values))
				text, _ := at(objects, "ConfigMap", "data", "values.yaml").(string)
				in, err := settings.Combine(settings.ParseFile([]byte(text)))
				if err != nil {
					t.Fatal(err)
				}
				return &in.Settings
			}
			if diff := cmp.Diff(c.before, c.get(started(""))); diff != "" {
				t.Errorf("by default (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.after, c.get(started(c.values))); diff != "" {
				t.Errorf("with %s (-want +got):\n%s", c.values, diff)
			}
		})
	}
}
