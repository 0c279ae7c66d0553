package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/drawknife/drawknife/scheduling"
)

// pluginVerdict is a line that package verdicts wrote.
type pluginVerdict struct {
	Plugin, Test, Node, Code string
	Reasons                  []string
	Pod                      *corev1.Pod
	Nodes                    []pluginNode
	Namespaces               []*corev1.Namespace
	Claims                   []*corev1.PersistentVolumeClaim
	Volumes                  []*corev1.PersistentVolume
	Classes                  []*storagev1.StorageClass
	CSINodes                 []*storagev1.CSINode
	Attachments              []*storagev1.VolumeAttachment
	DefaultSpread            []corev1.TopologySpreadConstraint
	Set                      bool
}

type pluginNode struct {
	Node *corev1.Node
	Pods []*corev1.Pod
}

// replay compares the verdicts of a plugin with the planner. Each verdict is one spec: the planner must place the pod on the node if the
// plugin accepts it, and must not if the plugin refuses it.
func (w *workspace) replay(folder string) (release, ours outcome, err error) {
	release, ours = newOutcome(), newOutcome()
	path, err := w.verdicts()
	if err != nil {
		return release, ours, err
	}
	file, err := os.Open(path)
	if err != nil {
		return release, ours, err
	}
	defer func() { _ = file.Close() }()
	seen, times := map[string]bool{}, map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v pluginVerdict
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return release, ours, fmt.Errorf("%s: %w", path, err)
		}
		if v.Plugin != folder {
			continue
		}
		if err := v.sort(); err != nil {
			return release, ours, err
		}
		// Tests may ask the same question twice, with a feature on and off.
		question, err := v.question()
		if err != nil {
			return release, ours, err
		}
		if seen[question] {
			continue
		}
		seen[question] = true
		spec := v.Test
		if v.Node != "" {
			spec += " on " + v.Node
		}
		if times[spec]++; times[spec] > 1 {
			spec += fmt.Sprintf(" (%d)", times[spec])
		}
		release.state[spec], ours.state[spec] = "passed", "passed"
		release.reached[spec] = v.Code != "Error" && !v.Set
		if !release.reached[spec] {
			continue
		}
		placed, why, err := v.place()
		if err != nil {
			return release, ours, fmt.Errorf("%s: %w", spec, err)
		}
		switch want := v.Code == "Success"; {
		case want && !placed:
			ours.state[spec], ours.message[spec] = "failed", "kube-scheduler takes it; refused here: "+why
		case !want && placed:
			ours.state[spec], ours.message[spec] = "failed", fmt.Sprintf("kube-scheduler turns it away (%s); placed here", strings.Join(v.Reasons, "; "))
		}
	}
	return release, ours, lines.Err()
}

// question returns a verdict without the name of its test, as text. Equal texts mean equal questions. The order of its lists does not
// matter.
func (v pluginVerdict) question() (string, error) {
	v.Test = ""
	data, err := json.Marshal(v)
	return string(data), err
}

// sort sorts the objects, because the caches of kube-scheduler's tests list nodes and pods in the random order of a map.
func (v *pluginVerdict) sort() error {
	var errs []error
	for i := range v.Nodes {
		errs = append(errs, byContent(v.Nodes[i].Pods))
	}
	// The tests also make the expressions in a volume's node affinity from a map.
	for _, volume := range v.Volumes {
		if affinity := volume.Spec.NodeAffinity; affinity != nil && affinity.Required != nil {
			for _, term := range affinity.Required.NodeSelectorTerms {
				slices.SortStableFunc(term.MatchExpressions, func(a, b corev1.NodeSelectorRequirement) int { return cmp.Compare(a.Key, b.Key) })
			}
		}
	}
	errs = append(errs, byContent(v.Nodes), byContent(v.Namespaces), byContent(v.Claims), byContent(v.Volumes), byContent(v.Classes),
		byContent(v.CSINodes), byContent(v.Attachments))
	return errors.Join(errs...)
}

// byContent sorts objects by their JSON.
func byContent[T any](objects []T) error {
	type keyed struct {
		object T
		key    string
	}
	keys := make([]keyed, len(objects))
	for i, object := range objects {
		data, err := json.Marshal(object)
		if err != nil {
			return err
		}
		keys[i] = keyed{object, string(data)}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	for i := range keys {
		objects[i] = keys[i].object
	}
	return nil
}

// place reports whether the planner puts the pod on the node (or on any node if the verdict names none). If it does not, place says why.
func (v *pluginVerdict) place() (bool, string, error) {
	snapshot := v.snapshot()
	model, err := scheduling.Compile(snapshot)
	if err != nil {
		return false, err.Error(), nil
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		return false, "", err
	}
	for _, e := range plan.Existing {
		if len(e.Pods) > 0 {
			return v.Node == "" || e.Name == v.Node, "on " + e.Name, nil
		}
	}
	var sentences []string
	for _, u := range plan.Unschedulable {
		for _, r := range u.Reasons {
			sentences = append(sentences, r.String())
		}
	}
	return false, strings.Join(sentences, "; "), nil
}

// snapshot returns the test's cluster. If the plugin checks room, nodes have their real room. Otherwise only the node of the verdict has
// room.
func (v *pluginVerdict) snapshot() *scheduling.Snapshot {
	s := &scheduling.Snapshot{
		Namespaces: v.Namespaces, PersistentVolumeClaims: v.Claims, PersistentVolumes: v.Volumes, StorageClasses: v.Classes, CSINodes: v.CSINodes,
		VolumeAttachments: v.Attachments, DefaultTopologySpread: v.DefaultSpread,
	}
	if v.Pod.UID == "" {
		v.Pod.UID = "incoming"
	}
	v.completeVolumes()
	names := map[string]bool{}
	for i, n := range v.Nodes {
		node := n.Node
		if node.Name == "" {
			node.Name = fmt.Sprintf("unnamed-%d", i)
		}
		if v.Plugin == "volumebinding" && node.Labels[corev1.LabelHostname] == "" { // the kubelet's
			node.Labels = maps.Clone(node.Labels)
			if node.Labels == nil {
				node.Labels = map[string]string{}
			}
			node.Labels[corev1.LabelHostname] = node.Name
		}
		asked := v.Node == "" || node.Name == v.Node
		if v.Plugin != "noderesources" {
			makeRoom(node, len(n.Pods), asked)
		}
		out := scheduling.Node{Name: node.Name, Object: node}
		for _, p := range n.Pods {
			p.Spec.NodeName = node.Name
			if p.Namespace == "" {
				p.Namespace = "default"
			}
			if key := p.Namespace + "/" + p.Name; p.Name == "" || names[key] {
				p.Name, p.UID = fmt.Sprintf("bound-%d", len(names)), ""
			}
			names[p.Namespace+"/"+p.Name] = true
			if p.UID == "" {
				p.UID = types.UID(p.Namespace + "/" + p.Name)
			}
			out.Pods = append(out.Pods, p)
		}
		s.Nodes = append(s.Nodes, out)
	}
	pod := v.Pod
	if pod.Namespace == "" {
		pod.Namespace = "default"
	}
	if key := pod.Namespace + "/" + pod.Name; pod.Name == "" || names[key] {
		pod.Name = "incoming"
	}
	pod.Spec.NodeName = ""
	s.Pods = []*corev1.Pod{pod}
	return s
}

func makeRoom(node *corev1.Node, bound int, asked bool) {
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = corev1.ResourceList{}
	}
	pods := int64(bound)
	if asked {
		pods += 10
	}
	for name, amount := range map[corev1.ResourceName]string{"cpu": "1000", "memory": "1000Gi", "ephemeral-storage": "1000Gi"} {
		node.Status.Allocatable[name] = resource.MustParse(amount)
	}
	node.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(pods, resource.DecimalSI)
}

// completeVolumes sets fields that controllers would have set, and that the tests of other plugins leave out.
func (v *pluginVerdict) completeVolumes() {
	for _, class := range v.Classes {
		if v.Plugin == "volumebinding" {
			continue
		}
		if v.Plugin == "nodevolumelimits" && class.VolumeBindingMode == nil {
			class.VolumeBindingMode = ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)
		}
		class.Provisioner = cmp.Or(class.Provisioner, "example.com/provisioner")
	}
	for _, c := range v.Claims {
		if c.Namespace == "" {
			c.Namespace = "default"
		}
		for i := range c.OwnerReferences { // the owners of the claim of a generic ephemeral volume
			owner := &c.OwnerReferences[i]
			owner.APIVersion, owner.Kind, owner.UID = "v1", "Pod", cmp.Or(owner.UID, v.Pod.UID)
		}
		if c.Spec.VolumeName == "" {
			continue
		}
		if v.Plugin != "volumebinding" {
			if c.Annotations == nil {
				c.Annotations = map[string]string{}
			}
			c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
			c.Status.Phase = corev1.ClaimBound
		}
		for _, pv := range v.Volumes {
			if pv.Name == c.Spec.VolumeName && pv.Spec.ClaimRef == nil {
				pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID}
			}
		}
	}
}
