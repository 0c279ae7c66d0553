package simulate

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tracePod is a row of the openb trace: whole numbers, so that checks with them are exact.
type tracePod struct {
	name                     string
	milliCPU, memoryMiB, gpu int64
	qos                      string
}

// TestOpenb plans a production trace (Alibaba's "openb": 8,152 pods of a GPU cluster) on EC2's nodes and re-checks
// each placement with none of the project's own arithmetic: against what the nodes are known to have for pods, and
// the prices as the catalogue file states them.
func TestOpenb(t *testing.T) {
	data := os.Getenv("DRAWKNIFE_DATA")
	if data == "" {
		t.Skip("DRAWKNIFE_DATA is not set: the folder with openb/pods.csv, openb/nodepool.yaml, ec2-catalog.json and ec2-golden-allocatable.json")
	}
	pods := readTrace(t, filepath.Join(data, "openb", "pods.csv"))
	input := filepath.Join(t.TempDir(), "openb.json")
	writeTrace(t, input, pods)

	got := simulate(t, "", "--catalog", filepath.Join(data, "ec2-catalog.json"), "-o", "json",
		input, filepath.Join(data, "openb", "nodepool.yaml"))
	if got.code != exitPlaced {
		t.Errorf("exit status is %d\n%s", got.code, got.stderr)
	}
	d := got.plan(t)
	checkDocument(t, d)
	if d.Summary.Placed != len(pods) || len(pods) != 8152 {
		t.Errorf("%d of %d pods are placed, want all 8,152", d.Summary.Placed, len(pods))
	}
	if d.Summary.HourlyCost > 1240 {
		t.Errorf("the plan costs $%.2f/h, want at most $1,240", d.Summary.HourlyCost)
	}
	t.Logf("%d nodes, $%.2f/h, bound $%.2f/h, solved in %.0f ms", d.Summary.NewNodes, d.Summary.HourlyCost,
		d.Summary.LowerBound, d.Summary.SolveMillis)
	checkNodes(t, d, pods, readNodes(t, data))
}

func readTrace(t *testing.T, name string) map[string]tracePod {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, title := range rows[0] {
		column[title] = i
	}
	number := func(row []string, title string) int64 {
		n, err := strconv.ParseInt(row[column[title]], 10, 64)
		if err != nil {
			t.Fatalf("%s: column %s: %v", name, title, err)
		}
		return n
	}
	pods := make(map[string]tracePod, len(rows)-1)
	for _, row := range rows[1:] {
		pod := tracePod{
			name: row[column["name"]], qos: row[column["qos"]],
			milliCPU: number(row, "cpu_milli"), memoryMiB: number(row, "memory_mib"), gpu: number(row, "num_gpu"),
		}
		pods["openb/"+pod.name] = pod
	}
	return pods
}

// writeTrace writes pods as `kubectl get pods -A -o json` would print them. A pod that shares a GPU asks for a whole
// one.
func writeTrace(t *testing.T, name string, pods map[string]tracePod) {
	t.Helper()
	type object = map[string]any
	items := make([]object, 0, len(pods))
	for _, pod := range pods {
		requests := object{
			"cpu": strconv.FormatInt(pod.milliCPU, 10) + "m", "memory": strconv.FormatInt(pod.memoryMiB, 10) + "Mi",
		}
		limits := object{}
		if pod.gpu > 0 {
			requests["nvidia.com/gpu"] = strconv.FormatInt(pod.gpu, 10)
			limits["nvidia.com/gpu"] = requests["nvidia.com/gpu"]
		}
		items = append(items, object{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": object{"namespace": "openb", "name": pod.name, "labels": object{"qos": pod.qos}},
			"spec": object{"containers": []object{{
				"name": "main", "image": "trace", "resources": object{"requests": requests, "limits": limits},
			}}},
			"status": object{"phase": "Pending"},
		})
	}
	data, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// node is what is known of an EC2 type from elsewhere.
type instance struct {
	milliCPU, memoryMiB, pods, gpu int64
	onDemand                       float64
	spot                           []float64
}

func readNodes(t *testing.T, data string) map[string]instance {
	t.Helper()
	read := func(name string, into any) {
		text, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var facts struct {
		Types []struct {
			Name string `json:"name"`
			GPUs []struct {
				Manufacturer string `json:"manufacturer"`
				Count        int64  `json:"count"`
			} `json:"gpus"`
			OnDemand float64   `json:"odUSD"`
			Spot     []float64 `json:"spotUSD"`
		} `json:"types"`
	}
	read("ec2-catalog.json", &facts)
	var room struct {
		Types map[string][]float64 `json:"types"`
	}
	read("ec2-golden-allocatable.json", &room)
	nodes := make(map[string]instance)
	for _, facts := range facts.Types {
		known := room.Types[facts.Name]
		if len(known) < 3 {
			continue
		}
		m := instance{
			milliCPU: int64(known[0]), memoryMiB: int64(known[1]), pods: int64(known[2]),
			onDemand: facts.OnDemand, spot: facts.Spot,
		}
		for _, gpu := range facts.GPUs {
			if strings.EqualFold(gpu.Manufacturer, "nvidia") {
				m.gpu += gpu.Count
			}
		}
		nodes[facts.Name] = m
	}
	return nodes
}

func checkNodes(t *testing.T, d document, pods map[string]tracePod, nodes map[string]instance) {
	t.Helper()
	for _, node := range d.Nodes {
		m, ok := nodes[node.InstanceType]
		if !ok {
			t.Errorf("%s: nothing is known of %s", node.Name, node.InstanceType)
			continue
		}
		var used instance
		for _, name := range node.Pods {
			pod, ok := pods[name]
			if !ok {
				t.Errorf("%s: unknown pod %s", node.Name, name)
			}
			used.milliCPU += pod.milliCPU
			used.memoryMiB += pod.memoryMiB
			used.gpu += pod.gpu
			used.pods++
		}
		if used.milliCPU > m.milliCPU || used.memoryMiB > m.memoryMiB || used.gpu > m.gpu || used.pods > m.pods {
			t.Errorf("%s: pods need %dm, %d MiB, %d GPUs, %d places; %s has %dm, %d MiB, %d GPUs, %d places", node.Name,
				used.milliCPU, used.memoryMiB, used.gpu, used.pods,
				node.InstanceType, m.milliCPU, m.memoryMiB, m.gpu, m.pods)
		}
		prices := m.spot
		if node.CapacityType == "on-demand" {
			prices = []float64{m.onDemand}
		}
		known := false
		for _, price := range prices {
			known = known || math.Abs(price-node.Price) <= 1e-9
		}
		if !known {
			t.Errorf("%s: %s costs %v as %s, planned with %v", node.Name, node.InstanceType, prices, node.CapacityType, node.Price)
		}
	}
}
