package simulate

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// builtinCluster is planned when no input is given.
//
//go:embed builtin.yaml
var builtinCluster []byte

// defaultNodePool is used when the input has no pool.
//
//go:embed default-nodepool.yaml
var defaultNodePool []byte

// load returns the snapshot to plan: a saved snapshot, or a new one from the inputs and a catalogue.
func (s *simulation) load(ctx context.Context) (*scheduling.Snapshot, error) {
	if s.snapshot != "" {
		return s.replaySnapshot()
	}
	options := s.manifestOptions()
	sources, err := s.sources(ctx, &options)
	if err != nil {
		return nil, err
	}
	if s.diff != "" {
		s.former, s.live = sources, options.Live
	}
	s.progress.Enter("reading objects")
	options.Settings = s.settingsOfInput()
	loaded, err := loadManifests(sources, options)
	if err != nil {
		return nil, err
	}
	s.remarkOn(loaded)
	s.ofNamespace(loaded)
	s.keepRequests(loaded)
	snapshot := loaded.Snapshot
	if len(snapshot.Pods)+len(snapshot.Placeholders)+len(s.requests) == 0 && !s.consolidate && s.diff == "" && s.explain.kind == "" && s.replace == nil && s.replay.trace == "" {
		if !s.allowEmpty {
			return nil, errNoPods(loaded)
		}
		s.note("NoPendingPods", "the input has no pod that waits for a place")
	}
	s.remarkOnSettings(snapshot.NodePools)
	s.forgetDrift(snapshot)
	if len(snapshot.NodePools) == 0 {
		if snapshot.NodePools, err = s.defaultPools(); err != nil {
			return nil, err
		}
	}
	s.progress.Enter("reading instance types")
	facts, err := s.readCatalog(ctx)
	if err != nil {
		return nil, err
	}
	if !s.spotAsSeen {
		facts = catalog.SteadySpot(facts)
	}
	if facts, err = s.inRegion(facts, snapshot); err != nil {
		return nil, err
	}
	if snapshot, err = s.restrictImages(snapshot); err != nil {
		return nil, err
	}
	s.facts, s.classes = facts, classesOf(loaded)
	if err := s.addCatalogs(snapshot, facts, s.classes); err != nil {
		return nil, err
	}
	s.assumed = assumptionsOf(snapshot)
	s.keepScaled(loaded, sources, options)
	return snapshot, nil
}

// errNoPods explains that the input has no pending pods.
func errNoPods(loaded *manifests.Result) error {
	const expected = "expected pods without a node, or Deployments, StatefulSets, Jobs and the like that ask for some; --allow-empty plans without"
	none := withoutReplicas(loaded)
	switch s := loaded.Snapshot; {
	case none != "" && len(s.Nodes) == 0:
		return errors.New("there is nothing to plan: " + none + ". Plan with the number that it will have; --allow-empty plans without pods")
	case len(s.Nodes) > 0:
		return errors.New("the input has no pod that waits for a place: all are on nodes. To ask which nodes could go, give --consolidate; " + expected)
	case len(s.NodePools)+len(s.DaemonSets)+len(s.Placeholders)+len(loaded.NodeClasses)+len(loaded.Skipped) == 0:
		return errors.New("the input has no object: " + expected)
	}
	return errors.New("the input has no pod that waits for a place, not even one of a workload with replicas: " + expected)
}

// replaySnapshot reads a saved snapshot.
func (s *simulation) replaySnapshot() (*scheduling.Snapshot, error) {
	s.progress.Enter("reading the snapshot")
	file, err := os.Open(s.snapshot)
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	snapshot, err := scheduling.DecodeSnapshot(file)
	var objects *scheduling.NotSnapshotError
	if errors.As(err, &objects) {
		return nil, fmt.Errorf("reading the snapshot %[1]s: it contains Kubernetes objects (the first is a %[2]s), not a snapshot of --save-snapshot; to plan them, leave out --snapshot: simulate %[1]s",
			s.snapshot, objects.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot %s: %w", s.snapshot, err)
	}
	s.assumed = assumptionsOf(snapshot)
	return snapshot, nil
}

// sources reads the inputs. If there are no inputs, it returns the built-in cluster, unless a running cluster is read. sources stores a
// running cluster in into.Live.
func (s *simulation) sources(ctx context.Context, into *manifests.Options) ([]manifests.Source, error) {
	if s.cluster.asked() {
		cluster, err := s.readCluster(ctx)
		into.Live = []manifests.Source{cluster}
		if err != nil || len(s.inputs) == 0 {
			return nil, err
		}
		return s.inputSources(ctx)
	}
	if len(s.inputs) == 0 {
		s.note("BuiltInCluster", "no input: planning the built-in cluster (see --help)")
		return []manifests.Source{{Name: "built-in cluster", Data: builtinCluster}}, nil
	}
	return s.inputSources(ctx)
}

// inputSources reads the inputs.
func (s *simulation) inputSources(ctx context.Context) ([]manifests.Source, error) {
	paths := slices.DeleteFunc(slices.Clone(s.inputs), func(input string) bool { return input == "-" })
	s.noteRepeated()
	s.progress.Enter("reading files")
	sources, err := s.readFiles(ctx, paths)
	if err != nil {
		return nil, meantAsFlag(paths, err)
	}
	if len(paths) < len(s.inputs) {
		s.progress.Enter("reading standard input")
		source, err := manifests.Read("standard input", s.stdin)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("no *.yaml, *.yml or *.json in %s", strings.Join(paths, ", "))
	}
	return sources, nil
}

// noteRepeated prints which inputs are given more than once. Such inputs are read only once.
func (s *simulation) noteRepeated() {
	given := make(map[string]int)
	for _, input := range s.inputs {
		if input == "-" {
			continue
		}
		input = filepath.Clean(input)
		given[input]++
		if given[input] == 2 {
			s.note("RepeatedInput", "%s is given more than once, and read once", input)
		}
	}
	for _, input := range slices.Sorted(maps.Keys(given)) {
		for at := input; filepath.Dir(at) != at; at = filepath.Dir(at) {
			if dir := filepath.Dir(at); given[dir] > 0 {
				s.note("RepeatedInput", "%s is in %s, which is given too: it is read once", input, dir)
			}
		}
	}
}

func (s *simulation) manifestOptions() manifests.Options {
	now := s.now
	if now.IsZero() {
		now = time.Now().UTC().Truncate(time.Second)
	}
	limits := manifests.DefaultLimits()
	limits.Replicas = s.maxReplicas
	options := manifests.Options{
		Now: now, Vocabulary: instancetype.Vocabulary(), Strict: s.strict, Limits: &limits,
		Workloads: s.workloads.all(), Autoscaling: s.workloads.autoscaling,
		Kinds: convert.Kinds(), Conversion: s.convertOlder,
	}
	return options
}

// convertOlder converts objects of older generations with the settings that the input contains.
func (s *simulation) convertOlder(older []kinds.Object, pools []*v1.NodePool) []kinds.Converted {
	var options convert.Options
	if s.global != nil {
		options.Legacy = s.global.read.Settings.AWS.Legacy.ForConversion()
	}
	return convert.Conversion(options)(older, pools)
}

// remarkOn prints remarks about the input. It skips two kinds of remarks: remarkOnSkipped reports unknown kinds with the number of their
// objects, and findClass reports missing node classes with their substitute.
func (s *simulation) remarkOn(loaded *manifests.Result) {
	for _, warning := range loaded.Warnings {
		// An unknown kind with a path is a workload that refers to an object which the input lacks.
		if warning.Code == manifests.WarningUnknownKind && warning.Path == "" || warning.Code == manifests.WarningNodeClass {
			continue
		}
		severity := "warning"
		switch warning.Code {
		case manifests.WarningReplaced, manifests.WarningAutoscaled, manifests.WarningNoReplicas, manifests.WarningCronJob:
			severity = "note"
		}
		if conversion.Code(warning.Code).Severity() == conversion.SeverityInfo {
			severity = "note"
		}
		s.remark(severity, warning.String(), newLoaderNote(warning))
	}
	s.remarkOnSkipped(loaded)
	s.remarkOnRequests(loaded.Snapshot)
}

// meantAsFlag adds advice to the error if an input does not exist and has the name of a flag, as in "simulate version".
func meantAsFlag(paths []string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, path := range paths {
		if _, missing := os.Stat(path); missing != nil && strings.Contains(helpText, " --"+path+" ") {
			return fmt.Errorf("%w; inputs are files and folders: did you mean --%s?", err, path)
		}
	}
	return err
}

// defaultPools returns the pools to use if the input has none.
func (s *simulation) defaultPools() ([]scheduling.NodePool, error) {
	source := manifests.Source{Name: "default-nodepool.yaml", Data: defaultNodePool}
	loaded, err := manifests.Load([]manifests.Source{source}, s.manifestOptions())
	if err != nil {
		return nil, fmt.Errorf("built-in default nodepool: %w", err)
	}
	if len(loaded.Snapshot.NodePools) == 0 {
		return nil, errors.New("built-in default nodepool: default-nodepool.yaml contains no NodePool")
	}
	s.note("DefaultNodePool", "the input has no NodePool: using %q with linux, amd64 or arm64, spot or on-demand, any instance type",
		loaded.Snapshot.NodePools[0].Key)
	return loaded.Snapshot.NodePools, nil
}

// loadManifests is manifests.Load with additional remarks for AWS users.
func loadManifests(sources []manifests.Source, options manifests.Options) (*manifests.Result, error) {
	loaded, err := manifests.Load(sources, options)
	var refused *manifests.LoadError
	if errors.As(err, &refused) {
		for _, p := range refused.Problems {
			if p.Code == manifests.ProblemUnknownField && isMovedKubelet(p.Object, p.Path) {
				p.Message = movedKubelet
			}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	for i := range loaded.Warnings {
		if w := &loaded.Warnings[i]; w.Code == manifests.WarningUnknownField && isMovedKubelet(w.Object, w.Path) {
			w.Message = movedKubelet + "; here it is ignored"
		}
	}
	return loaded, nil
}

// movedKubelet is advice for a v1 NodePool that still has the kubelet block of a v1beta1 NodePool.
const movedKubelet = "in v1 this belongs in spec.kubelet of the pool's EC2NodeClass; convert moves it there if the class is in the same input"

// isMovedKubelet reports whether a field is the kubelet block of a NodePool, or a field inside it.
func isMovedKubelet(object, path string) bool {
	const block = "spec.template.spec.kubelet"
	return strings.HasPrefix(object, "NodePool ") && (path == block || strings.HasPrefix(path, block+"."))
}

// withoutReplicas returns a text about the workloads and static pools with 0 replicas, or "" if there are none.
func withoutReplicas(loaded *manifests.Result) string {
	var first string
	all := 0
	for i := range loaded.Warnings {
		if w := &loaded.Warnings[i]; w.Code == manifests.WarningNoReplicas {
			first = cmp.Or(first, w.Object)
			all += 1 + w.More
		}
	}
	for i := range loaded.Snapshot.NodePools {
		if p := &loaded.Snapshot.NodePools[i]; p.Object.Spec.Replicas != nil && *p.Object.Spec.Replicas == 0 {
			first = cmp.Or(first, "NodePool "+p.Key.String())
			all++
		}
	}
	switch all {
	case 0:
		return ""
	case 1:
		return first + " has 0 replicas"
	}
	return first + " and " + counted(all-1, "other object") + " have 0 replicas"
}
