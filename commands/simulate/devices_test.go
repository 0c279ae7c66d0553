package simulate

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
)

const claims = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: server, namespace: default}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
  containers: [{name: server, image: x, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]
`

// ofDriver evaluates the selector of claims.
type ofDriver struct{}

func (ofDriver) Matches(expression, driver string, _ *resourcev1.Device) (bool, error) {
	return strings.Contains(expression, driver), nil
}

// Pods of a trace that claim devices are told so, too: of what this program does not evaluate, and of drivers that nobody named.
func TestReplayedClaims(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(trace, []byte("name,arrival,departure,cpu,memory,resourceclaimtemplates\na,0,,1,1Gi,gpu\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, _, _ := strings.Cut(claims, "---\napiVersion: v1\nkind: Pod")
	for _, c := range []struct {
		name    string
		options Options
		args    []string
		code    int
		notes   []string
		reason  string
	}{
		{"nothing", Options{}, nil, exitUnschedulable, []string{"DeviceSelectors", "NoDevices"}, "no matcher to evaluate them"},
		{"drivers", Options{}, []string{"--device-drivers", "nvidia=gpu.nvidia.com"}, exitUnschedulable, []string{"DeviceSelectors"}, "no matcher to evaluate them"},
		{"a matcher", Options{DeviceMatcher: ofDriver{}}, nil, exitUnschedulable, []string{"NoDevices"}, "devices that it claims"},
		{"both", Options{DeviceMatcher: ofDriver{}}, []string{"--device-drivers", "nvidia=gpu.nvidia.com"}, exitPlaced, nil, ""},
	} {
		var stdout, stderr strings.Builder
		args := append([]string{"-", "-o", "json", "--replay", trace, "--replay-for", "1h"}, c.args...)
		code := Run(context.Background(), args, strings.NewReader(cluster), &stdout, &stderr, c.options)
		d := decode[replayDocument](t, answer{code, stdout.String(), stderr.String()})
		var notes []string
		for _, n := range d.Notes {
			if n.Code == "DeviceSelectors" || n.Code == "NoDevices" {
				notes = append(notes, n.Code)
			}
		}
		if code != c.code || !slices.Equal(notes, c.notes) {
			t.Errorf("%s: exit status %d, notes %v; want %d, %v", c.name, code, notes, c.code, c.notes)
		}
		if said := fmt.Sprint(d.Refusals); len(d.Refusals) != min(d.Refused, 1) || !strings.Contains(said, c.reason) {
			t.Errorf("%s: %d refused: %s", c.name, d.Refused, said)
		}
	}
}

// What a run lacks to plan pods that claim devices is a note; a program with a matcher plans them on what the drivers named publish.
func TestClaimsOfDevices(t *testing.T) {
	drivers := []string{"-", "--device-drivers", "nvidia=gpu.nvidia.com"}
	for _, c := range []struct {
		name    string
		options Options
		args    []string
		code    int
		notes   []string
	}{
		{"nothing", Options{}, []string{"-"}, exitUnschedulable, []string{"DeviceSelectors", "NoDevices"}},
		{"drivers", Options{}, drivers, exitUnschedulable, []string{"DeviceSelectors"}},
		{"a matcher", Options{DeviceMatcher: ofDriver{}}, []string{"-"}, exitUnschedulable, []string{"NoDevices"}},
		{"both", Options{DeviceMatcher: ofDriver{}}, drivers, exitPlaced, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := Run(context.Background(), append(c.args, "-o", "json"), strings.NewReader(claims), &stdout, &stderr, c.options)
			var notes []string
			for _, n := range (answer{code, stdout.String(), stderr.String()}).plan(t).Notes {
				if n.Code == "DeviceSelectors" || n.Code == "NoDevices" {
					notes = append(notes, n.Code)
				}
			}
			if code != c.code || !slices.Equal(notes, c.notes) {
				t.Errorf("exit status %d with %v, want %d with %v\n%s", code, notes, c.code, c.notes, &stderr)
			}
		})
	}
}

// What nodes of the input have published is planned with: a node with a GPU that the type is not known to have, and a NodePool that kept what one had that is gone.
func TestPublishedDevices(t *testing.T) {
	const cluster = claims + `
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default, annotations: {drawknife.dev/learned-devices: "KEPT"}}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]
`
	const node = `
---
apiVersion: v1
kind: Node
metadata:
  name: old
  labels: {karpenter.sh/nodepool: default, karpenter.sh/registered: "true", karpenter.sh/initialized: "true", node.kubernetes.io/instance-type: m5.large}
spec: {unschedulable: true, providerID: "aws:///us-east-1a/i-1"}
status: {allocatable: {cpu: "2", memory: 7Gi, pods: "29"}, capacity: {cpu: "2", memory: 8Gi, pods: "29"}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: old}
spec: {driver: gpu.nvidia.com, nodeName: old, pool: {name: old, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}
`
	for name, c := range map[string]struct {
		input string
		code  int
		said  string
	}{
		"nothing known": {strings.Replace(cluster, "KEPT", "", 1), exitUnschedulable, ""},
		"a node": {strings.Replace(cluster, "KEPT", "", 1) + node, exitPlaced,
			"nodepool default, instance type m5.large: driver gpu.nvidia.com has published 1 device in place of none on node old; plans count on that"},
		"no annotation of ours": {cluster, exitUnschedulable, "nodepool default: annotation drawknife.dev/learned-devices: "},
	} {
		var stdout, stderr strings.Builder
		code := Run(context.Background(), []string{"-", "--now", "2026-05-04T10:00:00Z"}, strings.NewReader(c.input), &stdout, &stderr, Options{DeviceMatcher: ofDriver{}})
		if code != c.code || !strings.Contains(stderr.String(), c.said) || c.said == "" && strings.Contains(stderr.String(), "learned") {
			t.Errorf("%s: exit status %d, want %d and %q\n%s%s", name, code, c.code, c.said, &stderr, &stdout)
		}
	}
}

// A program that evaluates selectors does not hand a run over to one that does not.
func TestMatcherIsNotRelayed(t *testing.T) {
	if linksAWS {
		t.Skip("this program asks AWS itself")
	}
	var stderr strings.Builder
	code := Run(context.Background(), []string{"--provider", "aws", "--region", "us-east-1"}, strings.NewReader(""), io.Discard, &stderr, Options{DeviceMatcher: ofDriver{}})
	if code != exitInput || !strings.Contains(stderr.String(), "build this program with: go build -tags aws") {
		t.Errorf("exit status %d\n%s", code, &stderr)
	}
}
