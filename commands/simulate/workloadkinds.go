package simulate

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// workloadOptions say for which kinds of objects pods are created, and how many.
type workloadOptions struct {
	// kinds are the kinds of --template.
	kinds []manifests.WorkloadKind
	// autoscaling selects which number of replicas is used for a workload with an autoscaler; empty means current.
	autoscaling manifests.Autoscaling
}

// addFlags declares --template and --replicas.
func (o *workloadOptions) addFlags(flags *flag.FlagSet) {
	flags.Func("template", "plan the pods of a kind that is not known here, `KIND.GROUP=PATH[:COUNT]`: the paths of its pod template and of the number of pods; repeatable", func(text string) error {
		kind, err := parseWorkloadKind(text)
		if err != nil {
			return err
		}
		same := func(k manifests.WorkloadKind) bool { return k.Group == kind.Group && k.Kind == kind.Kind }
		if i := slices.IndexFunc(o.kinds, same); i >= 0 {
			o.kinds[i].Parts = append(o.kinds[i].Parts, kind.Parts...)
		} else {
			o.kinds = append(o.kinds, kind)
		}
		return nil
	})
	flags.Func("replicas", "number of pods of a workload with an autoscaler in the input: `WHICH` is min, max (the bounds of the autoscaler) or current", func(text string) (err error) {
		all := []manifests.Autoscaling{manifests.AutoscalingMin, manifests.AutoscalingCurrent, manifests.AutoscalingMax}
		o.autoscaling = manifests.Autoscaling(text)
		if !slices.Contains(all, o.autoscaling) {
			return errors.New("not one of min, current, max")
		}
		return nil
	})
}

// The method all returns the kinds of --template and the built-in kinds. If both define a kind, the definition of --template is used.
func (o *workloadOptions) all() []manifests.WorkloadKind {
	return append(manifests.CommonWorkloadKinds(), o.kinds...)
}

// parseWorkloadKind reads KIND.GROUP=PATH or KIND.GROUP=PATH:COUNT*COUNT. A "[]" in a path stands for each element of a list; the counts
// are then fields of these elements. Without counts, the field "replicas" next to the template has the number of pods.
func parseWorkloadKind(text string) (manifests.WorkloadKind, error) {
	name, rest, found := strings.Cut(text, "=")
	kind, group, grouped := strings.Cut(name, ".")
	path, counts, counted := strings.Cut(rest, ":")
	if !found || !grouped || kind == "" || group == "" || path == "" || counted && counts == "" {
		return manifests.WorkloadKind{}, errors.New("write KIND.GROUP=PATH or KIND.GROUP=PATH:COUNT, like Worker.example.com=spec.template:spec.size")
	}
	part := manifests.WorkloadPart{Template: path}
	if list, template, through := strings.Cut(path, "[]."); through {
		part.List, part.Template = list, template
	}
	part.Counts = strings.Split(counts, "*")
	if !counted {
		parent := ""
		if at := strings.LastIndexByte(part.Template, '.'); at >= 0 {
			parent = part.Template[:at+1]
		}
		part.Counts = []string{parent + "replicas"}
	}
	for _, field := range append([]string{part.Template}, part.Counts...) {
		if strings.Contains(field, "[") || slices.Contains(strings.Split(field, "."), "") {
			return manifests.WorkloadKind{}, fmt.Errorf("%q is not a path of fields like spec.template; it may contain one list, like spec.groups[].template", field)
		}
	}
	return manifests.WorkloadKind{Group: group, Kind: kind, Parts: []manifests.WorkloadPart{part}}, nil
}

// shownWithoutRequests is the number of workloads without requests that are named.
const shownWithoutRequests = 5

// remarkOnRequests lists pods that request neither CPU nor memory: the plan counts them only against a node's maximum number of pods. Pods
// of one workload share their containers, which are checked once.
func (s *simulation) remarkOnRequests(snapshot *scheduling.Snapshot) {
	var (
		of          workloadTally
		deployments = deploymentsOf(snapshot)
		last        *corev1.Pod
		owner       workload
		none        bool
		pods        int
	)
	for _, pod := range snapshot.Pods {
		if last == nil || !sameTemplate(last, pod) {
			requests := scheduling.PodRequests(pod)
			cpu, memory := requests[corev1.ResourceCPU], requests[corev1.ResourceMemory]
			owner, none = workloadOf(pod, deployments), cpu.IsZero() && memory.IsZero()
		}
		last = pod
		if none {
			pods++
			of.add(owner, pod.Name, 1)
		}
	}
	if pods == 0 {
		return
	}
	var names []string
	counts := of.counts()
	for _, c := range counts[:min(len(counts), shownWithoutRequests)] {
		names = append(names, fmt.Sprintf("%s x%d", c.short(), c.count))
	}
	if more := len(counts) - len(names); more > 0 {
		names = append(names, counted(more, "more workload"))
	}
	text := fmt.Sprintf("%s without requests for CPU and memory: planned as if they needed none, so that the cost is too low: %s",
		counted(pods, "pod"), strings.Join(names, ", "))
	s.warn(text, planNote{Code: "NoRequests", Message: text})
}

// sameTemplate reports whether two pods were created from one template of one workload, so that they share their lists.
func sameTemplate(a, b *corev1.Pod) bool {
	shares := func(x, y []metav1.OwnerReference) bool { return len(x) > 0 && len(x) == len(y) && &x[0] == &y[0] }
	containers := func(x, y []corev1.Container) bool { return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0]) }
	return shares(a.OwnerReferences, b.OwnerReferences) && len(a.Spec.Containers) > 0 && containers(a.Spec.Containers, b.Spec.Containers) &&
		containers(a.Spec.InitContainers, b.Spec.InitContainers)
}

// remarkOnSkipped lists the kinds of skipped objects with their numbers, and separately those of objects that may create pods.
func (s *simulation) remarkOnSkipped(loaded *manifests.Result) {
	others := make(map[string]int, len(loaded.Skipped))
	for kind, count := range loaded.Skipped {
		if rest := count - loaded.PodMakers[kind]; rest > 0 {
			others[kind] = rest
		}
	}
	if n := s.remarkOnLogging(); n > 0 {
		others["ConfigMap"] += n
	}
	if len(loaded.PodMakers) > 0 {
		text := fmt.Sprintf("%s may make pods that are not planned for: %s; --template says where a kind has its pod template",
			counted(total(loaded.PodMakers), "skipped object"), namedCounts(loaded.PodMakers))
		s.warn(text, planNote{Code: "PodsNotRead", Message: text})
	}
	if len(others) > 0 {
		text := fmt.Sprintf("skipped %s of kinds that planning does not read: %s", counted(total(others), "object"), namedCounts(others))
		s.warn(text, planNote{Code: string(manifests.WarningUnknownKind), Message: text})
	}
}

func total(counts map[string]int) int {
	sum := 0
	for _, count := range counts {
		sum += count
	}
	return sum
}

// namedCounts returns "A x1, B x2".
func namedCounts(counts map[string]int) string {
	var list []string
	for _, name := range sortedKeys(counts) {
		list = append(list, fmt.Sprintf("%s x%d", name, counts[name]))
	}
	return strings.Join(list, ", ")
}
