package convert_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/convert"
)

// Strict reading names the unknown fields of workloads; else they are passed on as they are.
func TestStrictWorkloads(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"a pod":              {`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeselector: {a: b}}}`, `Pod/a: unknown field "spec.nodeselector"`},
		"a Deployment":       {`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, imagee: x}]}}}}`, `Deployment/a: unknown field "spec.template.spec.containers[0].imagee"`},
		"a CronJob":          {`{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplates: {}}}`, `CronJob/a: unknown field "spec.jobTemplates"`},
		"a type":             {`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: 5}}`, `Pod/a: spec.containers`},
		"a quantity":         {`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {requests: {cpu: "1e-999999999"}}}]}}`, `Pod/a: `},
		"fields that it has": {`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {a: b}}}`, ""},
		"another kind":       {`{apiVersion: example.com/v1, kind: Pod, metadata: {name: a}, spec: {anything: b}}`, ""},
	} {
		source := convert.Source{Name: "x", Data: []byte(c.text)}
		_, err := convert.Decode(convert.DecodeOptions{Strict: true}, source)
		var refused *convert.DecodeError
		switch {
		case c.says == "" && err != nil, c.says != "" && !errors.As(err, &refused):
			t.Errorf("%s: %v", name, err)
		case c.says != "" && !strings.Contains(err.Error(), c.says):
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
		if documents, err := convert.Decode(convert.DecodeOptions{}, source); err != nil || len(documents) != 1 {
			t.Errorf("%s, not strict: %v", name, err)
		}
	}
}
