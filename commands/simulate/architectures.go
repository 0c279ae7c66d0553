package simulate

import (
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/commands/simulate/internal/images"
	"github.com/drawknife/drawknife/scheduling"
)

// architectures maps the names of instance types to their architectures.
type architectures map[string]string

func indexArchitectures(snapshot *scheduling.Snapshot) architectures {
	of := architectures{}
	for _, catalog := range snapshot.Catalogs {
		for _, t := range catalog {
			if t == nil || !t.Requirements.Has(corev1.LabelArchStable) {
				continue
			}
			if values := t.Requirements.Get(corev1.LabelArchStable).Values(); len(values) == 1 {
				of[t.Name] = values[0]
			}
		}
	}
	return of
}

// restrictImages prevents pods from being planned on nodes of architectures for which their images are not built. --images and annotations
// say for which architectures images are built.
func (s *simulation) restrictImages(snapshot *scheduling.Snapshot) (*scheduling.Snapshot, error) {
	var known images.Known
	if s.images != "" {
		file, err := os.Open(s.images)
		if err != nil {
			return nil, fmt.Errorf("reading the images: %w", err)
		}
		defer file.Close() // nothing was written, so closing can't lose anything
		if known, err = images.Read(file); err != nil {
			return nil, fmt.Errorf("reading the images %s: %w", s.images, err)
		}
	}
	return images.Restrict(snapshot, known)
}

// remarkOnImages prints for how many pods the plan assumes that their images are built for the architecture of their new node. These are
// pods for which neither the pod itself nor --images nor the NodePool determines the architecture.
func (s *simulation) remarkOnImages(snapshot *scheduling.Snapshot, plan *scheduling.Plan) {
	decided := make(map[string]bool)
	for i := range snapshot.NodePools {
		if p := &snapshot.NodePools[i]; p.Object != nil && decidesArchitecture(p.Object) {
			decided[p.Key.String()] = true
		}
	}
	free := make(map[scheduling.PodKey]bool)
	for _, pod := range snapshot.Pods {
		if !images.Stated(pod) {
			free[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = true
		}
	}
	arch, counts := indexArchitectures(snapshot), map[string]int{}
	for i := range plan.NewNodes {
		node := &plan.NewNodes[i]
		if len(node.InstanceTypes) == 0 || decided[node.Pool.String()] || arch[node.InstanceTypes[0].Name] == "" {
			continue
		}
		for _, pod := range node.Pods {
			if free[pod] {
				counts[arch[node.InstanceTypes[0].Name]]++
			}
		}
	}
	if len(counts) == 0 {
		return
	}
	var parts []string
	for _, name := range sortedKeys(counts) {
		parts = append(parts, fmt.Sprintf("%s on %s", counted(counts[name], "pod"), name))
	}
	s.note("ImagesAssumed", "images are assumed to be built for the architecture of their node: %s; --images, a nodeSelector on kubernetes.io/arch or the annotation %s says for which they are",
		strings.Join(parts, ", "), images.Annotation)
}

// decidesArchitecture reports whether a pool allows a single architecture.
func decidesArchitecture(pool *v1.NodePool) bool {
	for _, r := range pool.Spec.Template.Spec.Requirements {
		if r.Key == corev1.LabelArchStable && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			return true
		}
	}
	return pool.Spec.Template.Labels[corev1.LabelArchStable] != ""
}
