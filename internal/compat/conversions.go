package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"time"
)

// drawn is the number of objects that are converted for each kind and version.
const drawn = 400

type conversionQuestion struct {
	Kind        string          `json:"kind"`
	ToHub       bool            `json:"toHub"`
	ExpireAfter string          `json:"expireAfter"`
	Object      json.RawMessage `json:"object"`
}

// conversions compares this project's conversion with the conversion of the last Karpenter release that had one. Each object is one spec of
// the suite "conversion". If the results differ, the spec's name contains the paths of the differing fields.
func (w *workspace) conversions() (release, ours outcome, err error) {
	release, ours = newOutcome(), newOutcome()
	var questions []conversionQuestion
	var input bytes.Buffer
	encoder := json.NewEncoder(&input)
	for _, kind := range []string{"NodePool", "NodeClaim", "EC2NodeClass"} {
		for _, toHub := range []bool{true, false} {
			for n := range drawn {
				data, err := json.Marshal(draw(kind, !toHub, n))
				if err != nil {
					return release, ours, err
				}
				q := conversionQuestion{Kind: kind, ToHub: toHub, ExpireAfter: []string{"720h0m0s", "Never"}[n%2], Object: data}
				questions = append(questions, q)
				if err := encoder.Encode(q); err != nil {
					return release, ours, err
				}
			}
		}
	}
	answers, err := w.askUpstream(&input)
	if err != nil {
		return release, ours, err
	}
	for i, q := range questions {
		direction := "to v1beta1"
		if q.ToHub {
			direction = "to v1"
		}
		var got struct {
			Object json.RawMessage
			Error  string
		}
		if err := answers.Decode(&got); err != nil {
			return release, ours, fmt.Errorf("answer %d: %w", i, err)
		}
		mine, mineErr := convertOurs(q)
		name := fmt.Sprintf("%s %s", q.Kind, direction)
		why := ""
		switch {
		case got.Error != "" && mineErr != nil:
		case got.Error != "":
			why = "the release refuses: " + got.Error
		case mineErr != nil:
			why = "refused here: " + mineErr.Error()
		default:
			if why, err = differingFields(got.Object, mine); err != nil {
				return release, ours, err
			}
		}
		spec := fmt.Sprintf("%s: %03d", name, i%drawn)
		if why != "" {
			spec = fmt.Sprintf("%s: %s: %03d", name, why, i%drawn)
		}
		release.state[spec], release.reached[spec] = "passed", true
		ours.state[spec] = "passed"
		if why != "" {
			ours.state[spec], ours.message[spec] = "failed", string(q.Object)
		}
	}
	return release, ours, nil
}

func newOutcome() outcome {
	return outcome{state: map[string]string{}, message: map[string]string{}, reached: map[string]bool{}}
}

func (w *workspace) askUpstream(input *bytes.Buffer) (*json.Decoder, error) {
	folder := filepath.Join(w.here, "conversion")
	for _, module := range []string{"sigs.k8s.io/karpenter", "github.com/aws/karpenter-provider-aws"} {
		if _, err := moduleFolder(folder, module); err != nil {
			return nil, err
		}
		version, err := moduleVersion(folder, module)
		if err != nil {
			return nil, err
		}
		w.versions = append(w.versions, module+" "+version)
	}
	binary := filepath.Join(w.dir, "bin", "conversion")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the release's conversion: %w\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Stdin = input
	var output, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the release's conversion: %w\n%s", err, &complaints)
	}
	return json.NewDecoder(&output), nil
}

func convertOurs(q conversionQuestion) ([]byte, error) {
	if q.ToHub {
		return oursToHub(q.Kind, q.Object, q.ExpireAfter, true)
	}
	return oursFromHub(q.Kind, q.Object, true)
}

// differingFields returns the paths at which two objects differ. Empty and missing values are equal. apiVersion and kind are ignored,
// because the API server sets them.
func differingFields(a, b []byte) (string, error) {
	var x, y map[string]any
	if err := json.Unmarshal(a, &x); err != nil {
		return "", err
	}
	if err := json.Unmarshal(b, &y); err != nil {
		return "", err
	}
	for _, o := range []map[string]any{x, y} {
		delete(o, "apiVersion")
		delete(o, "kind")
	}
	paths := map[string]bool{}
	compareValues("", withoutEmpty(x), withoutEmpty(y), paths)
	list := sortedKeys(paths)
	sort.Strings(list)
	if len(list) == 0 {
		return "", nil
	}
	return fmt.Sprint(list), nil
}

func compareValues(path string, a, b any, paths map[string]bool) {
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if !okX || !okY {
		if !reflect.DeepEqual(readable(a), readable(b)) {
			paths[path] = true
		}
		return
	}
	for k := range x {
		compareValues(path+"."+k, x[k], y[k], paths)
	}
	for k := range y {
		if _, both := x[k]; !both {
			paths[path+"."+k] = true
		}
	}
}

// readable makes values comparable. It parses JSON in annotations, because the order of keys may differ, and durations, because one
// duration can be written in several ways.
func readable(v any) any {
	if list, ok := v.([]any); ok {
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = readable(e)
		}
		return out
	}
	if fields, ok := v.(map[string]any); ok {
		out := map[string]any{}
		for k, e := range fields {
			out[k] = readable(e)
		}
		return out
	}
	text, ok := v.(string)
	if d, err := time.ParseDuration(text); ok && err == nil {
		return d
	}
	var inside map[string]any
	if ok && json.Unmarshal([]byte(text), &inside) == nil {
		return withoutEmpty(inside)
	}
	return v
}

func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e = withoutEmpty(e); e != nil {
				out[k] = e
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutEmpty(v[i])
		}
		return out
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}
