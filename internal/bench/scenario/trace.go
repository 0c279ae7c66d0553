package scenario

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// traceRow is a pod of the openb trace.
type traceRow struct {
	name, qos   string
	cpu, memory int64 // in thousandths of a CPU, and in MiB
	gpus        int64 // number of whole GPUs; a pod that shares a GPU with other pods requests a whole GPU here
	// models are the GPU models that the pod accepts, with the names in labels of EC2 nodes. Nil means any model.
	models []string
}

func readTrace(name string) ([]traceRow, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the file was only read, so closing it can't lose data
	table, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(table) == 0 {
		return nil, fmt.Errorf("%s: it is empty", name)
	}
	column := make(map[string]int)
	for i, title := range table[0] {
		column[title] = i
	}
	for _, title := range []string{"name", "cpu_milli", "memory_mib", "num_gpu", "qos"} {
		if _, found := column[title]; !found {
			return nil, fmt.Errorf("%s: the file has no column %s", name, title)
		}
	}
	rows := make([]traceRow, 0, len(table)-1)
	for i, cells := range table[1:] {
		number := func(title string) int64 {
			n, e := strconv.ParseInt(cells[column[title]], 10, 64)
			if e != nil {
				err = cmp.Or(err, fmt.Errorf("%s: row %d: %s: %w", name, i+2, title, e))
			}
			return n
		}
		rows = append(rows, traceRow{
			name: cells[column["name"]], qos: cells[column["qos"]], cpu: number("cpu_milli"), memory: number("memory_mib"), gpus: number("num_gpu"),
		})
	}
	return rows, err
}

// gpuModelLabel is the label of EC2 nodes that names their GPU model.
const gpuModelLabel = "karpenter.k8s.aws/instance-gpu-name"

// traceObjects converts rows to pending pods, as a list in JSON.
func traceObjects(rows []traceRow) ([]byte, error) {
	type object = map[string]any
	items := make([]object, 0, len(rows))
	for _, row := range rows {
		requests := object{"cpu": fmt.Sprintf("%dm", row.cpu), "memory": fmt.Sprintf("%dMi", row.memory)}
		limits := object{}
		if row.gpus > 0 {
			requests["nvidia.com/gpu"], limits["nvidia.com/gpu"] = strconv.FormatInt(row.gpus, 10), strconv.FormatInt(row.gpus, 10)
		}
		spec := object{"containers": []object{{
			"name": "main", "image": "trace", "resources": object{"requests": requests, "limits": limits},
		}}}
		if row.models != nil {
			spec["affinity"] = object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": []object{
				{"matchExpressions": []object{{"key": gpuModelLabel, "operator": "In", "values": row.models}}},
			}}}}
		}
		items = append(items, object{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": object{"namespace": "openb", "name": row.name, "labels": object{"qos": row.qos}},
			"spec":     spec,
			"status":   object{"phase": "Pending"},
		})
	}
	return json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": items})
}
