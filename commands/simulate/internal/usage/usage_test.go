package usage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/manifesttest"
)

// result is an answer of Prometheus with these elements.
func result(kind string, elements ...string) string {
	return fmt.Sprintf(`{"status":"success","data":{"resultType":%q,"result":[%s]}}`, kind, strings.Join(elements, ","))
}

const labels = `"namespace":"shop","pod":"web-1","container":"app"`

func one(labels, value string) string {
	return fmt.Sprintf(`{"metric":{%s},"value":[1767200000.123,%q]}`, labels, value)
}

func several(labels string, values ...string) string {
	samples := make([]string, len(values))
	for i, v := range values {
		samples[i] = fmt.Sprintf(`[%d,%q]`, 1767200000+i, v)
	}
	return fmt.Sprintf(`{"metric":{%s},"values":[%s]}`, labels, strings.Join(samples, ","))
}

const vpa = `apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: v, namespace: shop}
spec: {targetRef: {kind: Deployment, name: web}}
status: {recommendation: {containerRecommendations: [{containerName: app, target: {cpu: 25m, memory: 300Mi}}]}}
`

var (
	app    = podContainer{"shop", "web-1", "app"}
	appVPA = containerKey{Workload{"Deployment", "shop", "web"}, "app"}
)

func TestReadPrometheus(t *testing.T) {
	for name, c := range map[string]struct {
		text       string
		resource   corev1.ResourceName
		percentile int
		want       map[podContainer]amounts
		sums       int
	}{
		"cpu":                       {text: result("vector", one(labels, "0.25")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 250}}},
		"cpu rounded up":            {text: result("vector", one(labels, "0.0301")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 31}}},
		"cpu not rounded by floats": {text: result("vector", one(labels, "1.1")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 1100}}},
		"no cpu":                    {text: result("vector", one(labels, "0")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 1}}},
		"memory":                    {text: result("vector", one(labels, "3e+08")), resource: "memory", want: map[podContainer]amounts{app: {memory: 300_000_000}}},
		"hardly any memory":         {text: result("vector", one(labels, "17.5")), resource: "memory", want: map[podContainer]amounts{app: {memory: 1 << 20}}},
		"by the label resource":     {text: result("vector", one(labels+`,"resource":"memory","__name__":"x_cpu"`, "2097152")), want: map[podContainer]amounts{app: {memory: 2 << 20}}},
		"by the name":               {text: result("vector", one(labels+`,"__name__":"container_memory_working_set_bytes"`, "2097152"), one(labels+`,"__name__":"node_namespace_pod_container:container_cpu_usage_seconds_total:sum_irate"`, "0.5")), want: map[podContainer]amounts{app: {500, 2 << 20}}},
		"the flag before labels":    {text: result("vector", one(labels+`,"resource":"memory"`, "0.5")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 500}}},
		"exported labels":           {text: result("vector", one(`"namespace":"monitoring","pod":"exporter","container":"e","exported_namespace":"shop","exported_pod":"web-1","exported_container":"app"`, "1")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 1000}}},
		"old labels":                {text: result("vector", one(`"namespace":"shop","pod_name":"web-1","container_name":"app"`, "1")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 1000}}},
		"the largest counts":        {text: result("vector", one(labels, "1"), one(labels+`,"id":"a"`, "3"), one(labels, "2")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 3000}}},
		"several documents":         {text: result("vector", one(labels, "1")) + "\n" + result("vector", one(labels, "2")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 2000}}},
		"sums are skipped":          {text: result("vector", one(labels, "1"), one(`"namespace":"shop","pod":"web-1"`, "7"), one(`"namespace":"shop","pod":"web-1","container":"POD"`, "7")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 1000}}, sums: 2},
		"percentile 50 of 4":        {text: result("matrix", several(labels, "4", "1", "3", "2")), resource: "cpu", percentile: 50, want: map[podContainer]amounts{app: {milliCPU: 2000}}},
		"percentile 95 of 4":        {text: result("matrix", several(labels, "4", "1", "3", "2")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 4000}}},
		"percentile 1":              {text: result("matrix", several(labels, "4", "1", "3", "2")), resource: "cpu", percentile: 1, want: map[podContainer]amounts{app: {milliCPU: 1000}}},
		"a mark at the beginning":   {text: "\xef\xbb\xbf" + result("vector", one(labels, "1")), resource: "cpu", want: map[podContainer]amounts{app: {milliCPU: 1000}}},
	} {
		u := New(max(c.percentile, 0))
		if c.percentile == 0 {
			u = New(95)
		}
		if err := u.Read("f.json", c.resource, strings.NewReader(c.text)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, u.observed, cmp.AllowUnexported(podContainer{}, amounts{})); diff != "" || u.Sums() != c.sums {
			t.Errorf("%s: %d sums (-want +got):\n%s", name, u.Sums(), diff)
		}
		if _, sampled := u.Percentile(); sampled != strings.Contains(name, "percentile") {
			t.Errorf("%s: sampled is %v", name, sampled)
		}
	}
}

func TestReadVPAs(t *testing.T) {
	asJSON := `{"apiVersion":"autoscaling.k8s.io/v1beta2","kind":"VerticalPodAutoscalerList","items":[{"metadata":{"name":"v","namespace":"shop"},"spec":{"targetRef":{"kind":"Deployment","name":"web"}},"status":{"recommendation":{"containerRecommendations":[{"containerName":"app","target":{"cpu":1.5,"memory":"1Gi"}}]}}}]}`
	empty := strings.Split(vpa, "status:")[0]
	for name, c := range map[string]struct {
		text  string
		want  map[containerKey]amounts
		empty []string
	}{
		"an object":         {vpa, map[containerKey]amounts{appVPA: {25, 300 << 20}}, nil},
		"documents":         {"# head\n---\n" + vpa + "---\n" + strings.Replace(vpa, "25m", "1", 1) + "---\n", map[containerKey]amounts{appVPA: {1000, 300 << 20}}, nil},
		"a list":            {"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(vpa), "\n", "\n  ") + "\n", map[containerKey]amounts{appVPA: {25, 300 << 20}}, nil},
		"a typed list":      {asJSON, map[containerKey]amounts{appVPA: {1500, 1 << 30}}, nil},
		"no recommendation": {vpa + "---\n" + empty, map[containerKey]amounts{appVPA: {25, 300 << 20}}, []string{"shop/v"}},
		"no memory":         {strings.Replace(vpa, ", memory: 300Mi", "", 1), map[containerKey]amounts{appVPA: {milliCPU: 25}}, nil},
		"hardly anything":   {strings.Replace(vpa, "cpu: 25m, memory: 300Mi", "cpu: 0, memory: 1k", 1), map[containerKey]amounts{appVPA: {1, 1 << 20}}, nil},
		"an answer as well": {strings.Replace(asJSON, "}]}", "}]}", 1) + result("vector", one(labels+`,"resource":"cpu"`, "1")), map[containerKey]amounts{appVPA: {1500, 1 << 30}}, nil},
	} {
		u := New(95)
		if err := u.Read("f", "", strings.NewReader(c.text)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, u.recommended, cmp.AllowUnexported(containerKey{}, amounts{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.empty, u.WithoutRecommendation()); diff != "" {
			t.Errorf("%s: skipped (-want +got):\n%s", name, diff)
		}
		if u.FromTargets() != (name != "an answer as well") {
			t.Errorf("%s: from targets %v", name, u.FromTargets())
		}
	}
}

func TestReadRefuses(t *testing.T) {
	name := `series {container="app", namespace="shop", pod="web-1"}: `
	object := "VerticalPodAutoscaler shop/v: "
	for text, want := range map[string]string{
		"":                         "f: has no series and no VerticalPodAutoscaler; check the query",
		result("vector"):           "f: has no series and no VerticalPodAutoscaler; check the query",
		"[1]":                      "document 1: cannot unmarshal array",
		`{"a": 1}`:                 "document 1: is neither an answer",
		"a: 1":                     "document 1: is neither an answer",
		"- a":                      "document 1: unmarshal errors: line 1: cannot unmarshal !!seq",
		"text":                     "document 1: unmarshal errors: line 1: cannot unmarshal !!str",
		`{"status":"success","da`:  "document 1: the text ends in the middle of the document; save it again",
		"a: [":                     "document 1: line 1: ",
		"a: &a [*a]\nkind: List":   "f: has no series",
		manifesttest.AliasBomb(30): "document 1: is neither an answer",
		`{"status":"error","errorType":"bad_data","error":"parse error: unexpected end"}`: `document 1: status of the answer is "error": parse error: unexpected end; correct the query`,
		`{"status":"success"}`:                                                   `document 1: data.resultType is "", and must be vector or matrix`,
		result("scalar", "1", `"2"`):                                             `data.resultType is "scalar", and must be vector or matrix: write a query that returns time series of containers`,
		result("vector", "1"):                                                    "data.result[0]: cannot unmarshal number",
		result("vector", `{"metric":{`+labels+`},"value":[1,2]}`):                `data.result[0]: sample [1,2] is not [time, "value"]`,
		result("vector", `{"metric":{`+labels+`},"histogram":[1,{}]}`):           name + "has no value; query numbers, not native histograms",
		result("matrix", several(labels)):                                        name + "has no value",
		result("vector", one(labels, "NaN")):                                     name + `value "NaN" is not a number of at least 0; leave it out of the query, as with ... >= 0`,
		result("matrix", several(labels, "1", "+Inf")):                           name + `value "+Inf" is not a number`,
		result("vector", one(labels, "-1")):                                      name + `value "-1" is not a number`,
		result("vector", one(labels, "1Gi")):                                     name + `value "1Gi" is not a number`,
		result("vector", one(labels, "1e300")):                                   name + "1e+300 cores are more than 10000, so that this is not a number of cores; query rate(container_cpu_usage_seconds_total[5m])",
		result("vector", one(labels, "10001")):                                   name + "10001 cores are more than 10000",
		result("vector", one(labels+`,"__name__":"a_total"`, "1")):               `series a_total{container="app", namespace="shop", pod="web-1"}: is a counter, which only grows; query rate(a_total[5m])`,
		result("vector", one(`"namespace":"shop","container":"app"`, "1")):       `series {container="app", namespace="shop"}: has no label namespace or no label pod; keep them in the query`,
		result("vector", one(`"pod":"p","container":"app"`, "1")):                "has no label namespace",
		result("vector", one(`"namespace":"shop","pod":"web-1"`, "1")):           "f: all series are sums of pods, because they have no label container; keep it in the query",
		strings.Replace(vpa, "autoscaling.k8s.io/v1", "apps/v1", 1):              object + "is not a VerticalPodAutoscaler of autoscaling.k8s.io; give only these in the file",
		strings.Replace(vpa, "k8s.io/v1", "k8s.io/v1beta1", 1):                   object + `apiVersion "autoscaling.k8s.io/v1beta1" is not read; get it as autoscaling.k8s.io/v1 or v1beta2`,
		strings.Replace(vpa, "kind: Deployment, ", "", 1):                        object + "spec.targetRef must have a kind and a name",
		strings.Replace(vpa, "containerName: app, ", "", 1):                      object + "status.recommendation.containerRecommendations[0].containerName is missing",
		strings.Replace(vpa, "25m", "-25m", 1):                                   object + "status.recommendation.containerRecommendations[0].target.cpu: -25m is negative; it must be at least 0",
		strings.Replace(vpa, "25m", "20k", 1):                                    "target.cpu: 20k is more than any node has; at most 10,000 cores and 100Ti are read",
		strings.Replace(vpa, "300Mi", "1Pi", 1):                                  "target.memory: 1Pi is more than any node has",
		strings.Replace(vpa, "300Mi", "1e999999999", 1):                          `target.memory: "1e999999999": "1e999999999" is no quantity that can be read`,
		strings.Replace(vpa, "300Mi", "many", 1):                                 `target.memory: "many": quantities must match`,
		strings.Replace(vpa, "300Mi", "[1]", 1):                                  "document 1: line 5: a quantity must be a text or a number",
		vpa + "---\n" + strings.Replace(vpa, "25m", "-1", 1):                     "document 2: " + object,
		"kind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}": "document 1: item 1: Pod default/a: is not a VerticalPodAutoscaler",
		"kind: List\nitems: [1]":                                                 "document 1: item 1: unmarshal errors: line 2: cannot unmarshal !!int",
	} {
		err := New(95).Read("f", "cpu", strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), "f: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.200s:\n%v\nwant %s", text, err, want)
		}
	}
	err := New(95).Read("f", "", strings.NewReader(result("vector", one(labels+`,"__name__":"x"`, "1"))))
	if want := `f: document 1: series x{container="app", namespace="shop", pod="web-1"}: neither a label resource nor the name says whether this is cpu or memory; give the file as cpu=FILE or memory=FILE`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	err = New(95).Read("f", "memory", strings.NewReader(result("vector", one(labels, "2e14"))))
	if want := "2e+14 bytes are more than 100Ti, so that this is not a number of bytes; query container_memory_working_set_bytes"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := New(95).Read("f", "", strings.NewReader(strings.Repeat("#", mostYAMLBytes+1))); err == nil || !strings.Contains(err.Error(), "bytes of YAML; save it with -o json") {
		t.Error(err)
	}
}

func TestNearestRank(t *testing.T) {
	for _, c := range [][3]int{{1, 95, 0}, {20, 95, 18}, {21, 95, 19}, {100, 1, 0}, {100, 100, 99}, {3, 50, 1}, {4, 50, 1}} {
		if got := nearestRank(c[0], c[1]); got != c[2] {
			t.Errorf("percentile %d of %d is at %d, want %d", c[1], c[0], got, c[2])
		}
	}
}

func FuzzPrometheus(f *testing.F) {
	for _, text := range []string{
		result("vector", one(labels, "0.5")), result("matrix", several(labels, "1", "2", "1e3")), result("vector", one(labels, "NaN")), result("scalar", "1"),
		`{"status":"error","error":"x"}`, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"container":""},"value":[1,"0x1p-2"]}]}}`, `{"status":`, `{"status":{}}`,
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, cpu bool) {
		what := corev1.ResourceMemory
		if cpu {
			what = corev1.ResourceCPU
		}
		u := New(95)
		if !isJSON([]byte(text)) || u.Read("f", what, strings.NewReader(text)) != nil {
			return
		}
		checkAmounts(t, u)
	})
}

func FuzzVPAs(f *testing.F) {
	for _, text := range []string{
		vpa, "kind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(vpa), "\n", "\n  "), strings.Split(vpa, "status:")[0], manifesttest.AliasBomb(5), manifesttest.MergeBomb(5),
		"a: &a [*a]", "kind: List\nitems: [&a {b: *a}]", strings.Replace(vpa, "25m", "1e-999999999", 1), "? [a]\n: b", "---\n---\n", "kind: List\nitems: &a [*a]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u := New(95)
		if u.Read("f", "", strings.NewReader(text)) == nil {
			checkAmounts(t, u)
		}
	})
}

// checkAmounts checks that what was read can be requested.
func checkAmounts(t *testing.T, u *Usage) {
	t.Helper()
	check := func(a amounts) {
		for name, q := range a.list() {
			if q.Sign() <= 0 || name == corev1.ResourceMemory && q.Cmp(resource.MustParse("1Mi")) < 0 || q.Cmp(resource.MustParse("101Ti")) > 0 {
				t.Errorf("%s is %s", name, &q)
			}
		}
		if a == (amounts{}) {
			t.Error("nothing is known of a container")
		}
	}
	for at, a := range u.observed {
		if at.namespace == "" || at.pod == "" || at.container == "" {
			t.Errorf("%+v", at)
		}
		check(a)
	}
	for _, a := range u.recommended {
		check(a)
	}
	if len(u.observed) != len(u.seen) || len(u.recommended) != len(u.targets) {
		t.Errorf("%d of %d, %d of %d", len(u.observed), len(u.seen), len(u.recommended), len(u.targets))
	}
}
