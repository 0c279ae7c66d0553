package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// whatIf is the outcome of a plan that differs from the printed plan in one assumption.
type whatIf struct {
	Pods int `json:"pods"`
	// The other fields are left out if nothing was planned, because there are too many pods.
	NewNodes      *int     `json:"newNodes,omitempty"`
	HourlyCost    *float64 `json:"hourlyCost,omitempty"`
	Unschedulable *int     `json:"unschedulable,omitempty"`
}

// words returns the cost, such as "$1.0000/h", and the number of pods without a place.
func (w whatIf) words(mark string) string {
	if w.HourlyCost == nil {
		return "not planned"
	}
	text := mark + dollars(*w.HourlyCost) + "/h"
	if n := *w.Unschedulable; n > 0 {
		text += fmt.Sprintf(" (%s without a place)", counted(n, "pod"))
	}
	return text
}

// newWhatIf returns the figures of a plan.
func newWhatIf(snapshot *scheduling.Snapshot, plan *scheduling.Plan) whatIf {
	plan, _ = separate(snapshot, plan)
	s := newSummary(snapshot, plan, 0)
	return whatIf{Pods: s.Pods, NewNodes: &s.NewNodes, HourlyCost: &s.HourlyCost, Unschedulable: &s.Unschedulable}
}

// planIf plans a snapshot that differs from the printed plan's.
func (s *simulation) planIf(ctx context.Context, snapshot *scheduling.Snapshot) (whatIf, error) {
	model, err := scheduling.Compile(snapshot, scheduling.WithDeviceMatcher(s.matcher))
	if err != nil {
		return whatIf{}, fmt.Errorf("compiling the snapshot: %w", err)
	}
	plan, err := model.Solve(ctx, s.query)
	if err != nil {
		return whatIf{}, fmt.Errorf("planning: %w", err)
	}
	return newWhatIf(snapshot, plan), nil
}

// mostPodsIf is the largest number of pods for which other numbers of replicas are also planned. If there are more pods, they are only
// counted, because each plan takes as long as the printed one.
const mostPodsIf = 20_000

// replicaRange is the range of pods that the autoscalers of the input allow.
type replicaRange struct {
	// Planned is the value of --replicas: min, current or max.
	Planned   string           `json:"planned"`
	Workloads []scaledWorkload `json:"workloads"`
	// Min and Max are plans with the least and the greatest number of pods that the autoscalers allow. Workloads without a maximum have their
	// planned number in Max.
	Min whatIf `json:"min"`
	Max whatIf `json:"max"`
}

// scaledWorkload is a workload with an autoscaler.
type scaledWorkload struct {
	Workload string `json:"workload"`
	Scaler   string `json:"scaler"`
	Planned  int    `json:"planned"`
	Min      int    `json:"min"`
	// Max is left out if there is no maximum.
	Max *int `json:"max,omitempty"`
}

// scaled contains the workloads with autoscalers, and how to read the input again with another number of their pods.
type scaled struct {
	workloads []manifests.ScaledWorkload
	reload    func(manifests.Autoscaling) (*scheduling.Snapshot, error)
}

// keepScaled remembers the workloads with autoscalers if their range is part of the answer.
func (s *simulation) keepScaled(loaded *manifests.Result, sources []manifests.Source, options manifests.Options) {
	if len(loaded.Scaled) == 0 || s.consolidate || s.diff != "" || s.explain.kind != "" || s.replay.trace != "" || s.replace != nil || len(s.requests) > 0 {
		return
	}
	s.scaled = scaled{loaded.Scaled, func(how manifests.Autoscaling) (*scheduling.Snapshot, error) {
		options.Autoscaling = how
		return s.readAgain(sources, options)
	}}
}

// readAgain reads the input with other options. It adds no remarks, because they would repeat those of the first reading.
func (s *simulation) readAgain(sources []manifests.Source, options manifests.Options) (*scheduling.Snapshot, error) {
	again := &simulation{options: s.options, matcher: s.matcher, stderr: s.stderr, progress: s.progress, facts: s.facts, classes: s.classes}
	options.Settings = again.settingsOfInput()
	loaded, err := loadManifests(sources, options)
	if err != nil {
		return nil, err
	}
	again.ofNamespace(loaded)
	snapshot := loaded.Snapshot
	again.forgetDrift(snapshot)
	if len(snapshot.NodePools) == 0 {
		if snapshot.NodePools, err = again.defaultPools(); err != nil {
			return nil, err
		}
	}
	if snapshot, err = again.restrictImages(snapshot); err != nil {
		return nil, err
	}
	if err := again.addCatalogs(snapshot, s.facts, s.classes); err != nil {
		return nil, err
	}
	return snapshot, again.addCosts(snapshot)
}

// planRange plans with the least and the greatest number of pods that autoscalers allow; nil without autoscalers.
func (s *simulation) planRange(ctx context.Context, planned result) (*replicaRange, error) {
	if len(s.scaled.workloads) == 0 {
		return nil, nil
	}
	now := newWhatIf(planned.snapshot, planned.plan)
	r := &replicaRange{Planned: string(s.workloads.which()), Min: now, Max: now}
	least, most := now.Pods, now.Pods
	for _, w := range s.scaled.workloads {
		list := scaledWorkload{Workload: w.Kind + " " + w.Namespace + "/" + w.Name, Scaler: w.Scaler, Planned: w.Planned, Min: w.Min}
		least += w.Min - w.Planned
		if !w.Unbounded {
			list.Max = &w.Max
			most += w.Max - w.Planned
		} else {
			most += max(w.Max-w.Planned, 0)
		}
		r.Workloads = append(r.Workloads, list)
	}
	for _, end := range []struct {
		how  manifests.Autoscaling
		pods int
		into *whatIf
	}{{manifests.AutoscalingMin, least, &r.Min}, {manifests.AutoscalingMax, most, &r.Max}} {
		if s.workloads.which() == end.how {
			continue
		}
		if *end.into = (whatIf{Pods: end.pods}); end.pods > mostPodsIf {
			continue
		}
		s.progress.Enter(fmt.Sprintf("planning the %s number of replicas", end.how))
		snapshot, err := s.scaled.reload(end.how)
		var refused *manifests.LoadError
		if errors.As(err, &refused) {
			continue // more pods than --max-replicas allows
		}
		if err != nil {
			return nil, err
		}
		if *end.into, err = s.planIf(ctx, snapshot); err != nil {
			return nil, fmt.Errorf("with --replicas %s: %w", end.how, err)
		}
	}
	return r, nil
}

// which (a method) returns the value of --replicas, or AutoscalingCurrent without the flag.
func (o *workloadOptions) which() manifests.Autoscaling {
	if o.autoscaling == "" {
		return manifests.AutoscalingCurrent
	}
	return o.autoscaling
}

// writeRange prints the range that autoscalers allow.
func (r textReport) writeRange(w io.Writer) {
	scales := r.summary.Replicas
	if scales == nil {
		return
	}
	mark, unbounded := "", 0
	if r.summary.Estimated > 0 {
		mark = "~"
	}
	for _, workload := range scales.Workloads {
		if workload.Max == nil {
			unbounded++
		}
	}
	text := fmt.Sprintf("Autoscalers decide the pods of %s: %s at least, %s; %s at most, %s", counted(len(scales.Workloads), "workload"),
		counted(scales.Min.Pods, "pod"), scales.Min.words(mark), counted(scales.Max.Pods, "pod"), scales.Max.words(mark))
	if unbounded > 0 {
		text += fmt.Sprintf("; %s without a maximum with the planned number", counted(unbounded, "workload"))
	}
	text += "."
	r.writeWrapped(w, "", text)
}
