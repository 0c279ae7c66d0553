package podgroups

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Kind says what defines a group: a kind of object (its name and API group), or the labels of a controller.
type Kind string

// The kinds of definitions of groups. A kind with a dot in its name is a kind of object.
const (
	PodGroup             Kind = "PodGroup.scheduling.k8s.io"
	Workload             Kind = "Workload.scheduling.k8s.io"
	CompositePodGroup    Kind = "CompositePodGroup.scheduling.k8s.io"
	CoschedulingPodGroup Kind = "PodGroup.scheduling.x-k8s.io"
	VolcanoPodGroup      Kind = "PodGroup.scheduling.volcano.sh"
	Kueue                Kind = "kueue"
	LeaderWorkerSet      Kind = "leaderworkerset"
	JobSet               Kind = "jobset"
)

// KindOf returns the kind for objects of an API group. It returns "" for objects that define no groups of pods.
func KindOf(group, kind string) Kind {
	if group == "scheduling.sigs.k8s.io" { // coscheduling until scheduler-plugins v0.24
		group = "scheduling.x-k8s.io"
	}
	switch k := Kind(kind + "." + group); k {
	case PodGroup, Workload, CompositePodGroup, CoschedulingPodGroup, VolcanoPodGroup:
		return k
	}
	return ""
}

// Key identifies a group of pods, or the object that describes it.
type Key struct {
	Kind            Kind
	Namespace, Name string
}

// Object is an object that describes groups. It has all fields that planning uses, from all kinds of PodGroups and Workloads. Sources:
// k8s.io/api scheduling/v1alpha1 (v0.35) and scheduling/v1alpha3, v1beta1 (v0.37); sigs.k8s.io/scheduler-plugins apis/scheduling/v1alpha1;
// volcano.sh/apis scheduling/v1beta1.
type Object struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              Spec `json:"spec"`
	Kind              Kind `json:"-"`
	unreadable        bool
}

// Spec is the spec of an Object.
type Spec struct {
	SchedulingPolicy      *Policy `json:"schedulingPolicy"`
	SchedulingConstraints *struct {
		Topology []struct {
			Key string `json:"key"`
		} `json:"topology"`
	} `json:"schedulingConstraints"`
	Priority       *int32 `json:"priority"`
	DisruptionMode *struct {
		All *struct{} `json:"all"`
	} `json:"disruptionMode"`
	// PriorityClassName is not resolved here: callers that know the PriorityClasses do this.
	PriorityClassName string `json:"priorityClassName"`
	// ParentCompositePodGroupName is a field of PodGroups and CompositePodGroups.
	ParentCompositePodGroupName *string `json:"parentCompositePodGroupName"`
	// MinMember is a field of coscheduling and Volcano. MinTaskMember is a field of Volcano with a minimum for each task.
	MinMember     int64            `json:"minMember"`
	MinTaskMember map[string]int64 `json:"minTaskMember"`
	// NetworkTopology is a field of Volcano.
	NetworkTopology *NetworkTopology `json:"networkTopology"`
	// PodGroups are the pod groups of a Workload of v1alpha1.
	PodGroups []struct {
		Name   string  `json:"name"`
		Policy *Policy `json:"policy"`
	} `json:"podGroups"`
}

// Policy is "basic" (pods are placed one by one) or "gang" (all or none).
type Policy struct {
	Gang *struct {
		MinCount int64 `json:"minCount"`
		// MinGroupCount is a field of CompositePodGroups. It is the number of groups that the CompositePodGroup needs.
		MinGroupCount int64 `json:"minGroupCount"`
	} `json:"gang"`
}

// NetworkTopology says how far apart in the network the pods of a Volcano PodGroup may be. A tier is a level of the network: the nodes of a
// tier with a lower number are closer together.
type NetworkTopology struct {
	// Mode is "hard" or "soft". Empty means "hard".
	Mode string `json:"mode"`
	// HighestTierAllowed (by number) or HighestTierName is the highest tier over whose nodes the pods may be spread: all pods must be in
	// one domain of this tier. A hard constraint without a tier has no effect.
	HighestTierAllowed *int64 `json:"highestTierAllowed"`
	HighestTierName    string `json:"highestTierName"`
}

// Counts returns the numbers of pods and groups that the object states, by the names of their fields. Each number is from 0 to the largest
// number that Read allows.
func (o *Object) Counts() map[string]int64 {
	out := map[string]int64{"spec.minMember": o.Spec.MinMember}
	if t := o.Spec.NetworkTopology; t != nil && t.HighestTierAllowed != nil {
		out["spec.networkTopology.highestTierAllowed"] = *t.HighestTierAllowed
	}
	for task, n := range o.Spec.MinTaskMember {
		out["spec.minTaskMember["+task+"]"] = n
	}
	if p := o.Spec.SchedulingPolicy; p != nil && p.Gang != nil {
		out["spec.schedulingPolicy.gang.minCount"] = p.Gang.MinCount
		out["spec.schedulingPolicy.gang.minGroupCount"] = p.Gang.MinGroupCount
	}
	for i := range o.Spec.PodGroups {
		if p := o.Spec.PodGroups[i].Policy; p != nil && p.Gang != nil {
			out[fmt.Sprintf("spec.podGroups[%d].policy.gang.minCount", i)] = p.Gang.MinCount
		}
	}
	return out
}

const (
	// mostPods is the largest number of pods that a field or annotation may state.
	mostPods = 1_000_000
	// mostTopology is the largest number of topology constraints of a group that are read; Kubernetes allows one.
	mostTopology = 8
)

// InvalidError says that no gang can be made from an object.
type InvalidError struct {
	// Object is the invalid object. Field is its faulty field, and Rule is the rule that the field breaks.
	Object Key
	Field  string
	Rule   string
}

// Error names the field and the rule.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s %s/%s: %s %s", e.Object.Kind, e.Object.Namespace, e.Object.Name, e.Field, e.Rule)
}

// Read reads an object of the kind from its fields in the API's form. The error is an *InvalidError.
func Read(kind Kind, fields map[string]any) (*Object, error) {
	meta, _ := fields["metadata"].(map[string]any)
	key := Key{Kind: kind}
	key.Namespace, _ = meta["namespace"].(string)
	key.Name, _ = meta["name"].(string)
	out := &Object{Kind: kind}
	text, err := json.Marshal(map[string]any{"metadata": meta, "spec": fields["spec"]})
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return nil, &InvalidError{Object: key, Field: "spec", Rule: "can't be read: " + err.Error()}
	}
	if field, rule := out.check(); rule != "" {
		return nil, &InvalidError{Object: key, Field: field, Rule: rule}
	}
	return out, nil
}

// check returns the path of an invalid field, and the rule that it breaks. The rule is "" if all fields are valid.
func (o *Object) check() (field, rule string) {
	for path, n := range o.Counts() {
		if (n < 0 || n > mostPods) && (field == "" || path < field) {
			field, rule = path, fmt.Sprintf("must be a whole number from 0 to %d", mostPods)
		}
	}
	if t := o.Spec.NetworkTopology; t != nil && field == "" && t.Mode != "" && t.Mode != modeHard && t.Mode != modeSoft {
		return "spec.networkTopology.mode", fmt.Sprintf("must be %s or %s, not %q", modeHard, modeSoft, t.Mode)
	}
	if c := o.Spec.SchedulingConstraints; c != nil && field == "" {
		if len(c.Topology) > mostTopology {
			return "spec.schedulingConstraints.topology", fmt.Sprintf("must have at most %d entries", mostTopology)
		}
		seen := map[string]bool{}
		for i, t := range c.Topology {
			if !isLabelKey(t.Key) || seen[t.Key] {
				return fmt.Sprintf("spec.schedulingConstraints.topology[%d].key", i), fmt.Sprintf("must be a label key that is not repeated, not %q", t.Key)
			}
			seen[t.Key] = true
		}
	}
	return field, rule
}

func isLabelKey(key string) bool { return len(validation.IsQualifiedName(key)) == 0 }

// Unreadable returns a placeholder for an object of the kind that can't be read. It describes no group.
func Unreadable(kind Kind, object metav1.Object) *Object {
	return &Object{Kind: kind, unreadable: true, ObjectMeta: metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
	}}
}
