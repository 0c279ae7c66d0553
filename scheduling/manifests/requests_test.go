package manifests

import (
	"errors"
	"strings"
	"testing"
)

const requestOf = "---\napiVersion: autoscaling.x-k8s.io/%v\nkind: ProvisioningRequest\nmetadata: {name: %n}\nspec: {%s}\n"

func request(version, name, spec string) string {
	return strings.NewReplacer("%v", version, "%n", name, "%s", spec).Replace(requestOf)
}

// ProvisioningRequests come with the PodTemplates that they refer to, which are completed: here by a LimitRange, and by a priority class.
func TestRequests(t *testing.T) {
	text := request("v1", "b", "provisioningClassName: check-capacity.autoscaling.x-k8s.io, podSets: [{podTemplateRef: {name: worker}, count: 2}]") +
		request("v1beta1", "a", "provisioningClassName: other.example.com, podSets: [{podTemplateRef: {name: none}, count: 1}]") +
		"---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: worker}\ntemplate: {spec: {priorityClassName: high, containers: [{name: c}]}}\n" +
		"---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: another}\ntemplate: {spec: {containers: [{name: c}]}}\n" +
		"---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 2}}]}\n" +
		"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n"
	result, err := Load([]Source{{Name: "in", Data: []byte(text)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Requests) != 2 || result.Requests[0].Name != "a" || result.Requests[0].APIVersion != "autoscaling.x-k8s.io/v1" || result.Requests[1].Namespace != "default" {
		t.Errorf("requests: %+v", result.Requests)
	}
	if len(result.PodTemplates) != 1 {
		t.Fatalf("%d templates", len(result.PodTemplates))
	}
	spec := result.PodTemplates[0].Template.Spec
	if spec.Priority == nil || *spec.Priority != 7 || spec.Containers[0].Resources.Requests.Cpu().Value() != 2 {
		t.Errorf("the template is not completed: %+v", spec)
	}
	if len(result.Snapshot.Pods)+len(result.Snapshot.Placeholders)+len(result.Snapshot.Gangs) > 0 {
		t.Error("the snapshot has pods of requests")
	}
}

// What makes no sense is refused with its place; fields that the kind does not have are, with Options.Strict.
func TestRequestsThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		request("v1", "a", "provisioningClassName: check-capacity.autoscaling.x-k8s.io, podSets: [{podTemplateRef: {name: w}, count: 0}]"): "ProvisioningRequest default/a: spec.podSets[0].count: Invalid value: 0: must be at least 1",
		request("v1", "a", "podSets: []"): "spec.podSets: Required value: say which pods need room",
		request("v1", "a", "provisioningClassName: check-capacity.autoscaling.x-k8s.io, parameters: {noRetry: x}, podSets: [{podTemplateRef: {name: w}, count: 1}]"): `spec.parameters[noRetry]: Unsupported value: "x"`,
		request("v1", "a", "provisioningClassName: c, podSets: [{podTemplateRef: {name: w}, count: many}]"):                                                          "count",
		request("v2", "a", "provisioningClassName: c"):                                                               "kind ProvisioningRequest is not known in apiVersion autoscaling.x-k8s.io/v2; convert it to autoscaling.x-k8s.io/v1",
		request("v1", "a", "provisioningClassName: c, podSet: [], podSets: [{podTemplateRef: {name: w}, count: 1}]"): "podSet",
	} {
		_, err := Load([]Source{{Name: "in", Data: []byte(text)}}, Options{Strict: true})
		var refused *LoadError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %s", text, err, want)
		}
	}
}
