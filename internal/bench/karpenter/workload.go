package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// workload is the input. It has the fields of a saved snapshot that this program uses, and those that must be empty.
type workload struct {
	Time       metav1.Time `json:"time"`
	Vocabulary struct {
		WellKnown []string `json:"wellKnown"`
	} `json:"vocabulary"`
	Catalogs               map[string][]instanceType       `json:"catalogs"`
	NodePools              []nodePool                      `json:"nodePools"`
	Nodes                  []node                          `json:"nodes"`
	Pods                   []*corev1.Pod                   `json:"pods"`
	DaemonSets             []*appsv1.DaemonSet             `json:"daemonSets"`
	Namespaces             []*corev1.Namespace             `json:"namespaces"`
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses"`
	CSINodes               []*storagev1.CSINode            `json:"csiNodes"`
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`

	NodeOverlays          []json.RawMessage `json:"nodeOverlays"`
	Placeholders          []json.RawMessage `json:"placeholders"`
	DefaultTopologySpread []json.RawMessage `json:"defaultTopologySpread"`
}

type nodePool struct {
	Object   *v1.NodePool `json:"object"`
	Catalog  string       `json:"catalog"`
	NotReady string       `json:"notReady"`
}

type node struct {
	Name    string        `json:"name"`
	Object  *corev1.Node  `json:"object"`
	Claim   *v1.NodeClaim `json:"claim"`
	Pods    []*corev1.Pod `json:"pods"`
	Leaving bool          `json:"leaving"`
}

// requirement is one entry of a list of requirements.
type requirement = v1.NodeSelectorRequirementWithMinValues

type instanceType struct {
	Name         string              `json:"name"`
	Requirements []requirement       `json:"requirements"`
	Offerings    []offering          `json:"offerings"`
	Capacity     corev1.ResourceList `json:"capacity"`
	Overhead     *overhead           `json:"overhead"`
}

type offering struct {
	Requirements        []requirement       `json:"requirements"`
	Price               float64             `json:"price"`
	Available           bool                `json:"available"`
	ReservationCapacity int                 `json:"reservationCapacity"`
	Capacity            corev1.ResourceList `json:"capacity"`
	Overhead            *overhead           `json:"overhead"`
}

type overhead struct {
	KubeReserved      corev1.ResourceList `json:"kubeReserved"`
	SystemReserved    corev1.ResourceList `json:"systemReserved"`
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold"`
}

// readWorkload reads one document. It refuses documents with data that Karpenter would plan differently.
func readWorkload(r io.Reader) (*workload, error) {
	var w workload
	dec := json.NewDecoder(r)
	if err := dec.Decode(&w); err != nil {
		return nil, fmt.Errorf("reading the workload: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading the workload: something follows the document")
	}
	for _, unknown := range []struct {
		field string
		count int
	}{
		{"nodeOverlays", len(w.NodeOverlays)},
		{"placeholders", len(w.Placeholders)},
		{"defaultTopologySpread", len(w.DefaultTopologySpread)},
	} {
		if unknown.count > 0 {
			return nil, fmt.Errorf("the workload has %s, which Karpenter's scheduler does not support: leave them out", unknown.field)
		}
	}
	for i, p := range w.NodePools {
		if p.Object == nil {
			return nil, fmt.Errorf("nodePools[%d].object is missing", i)
		}
	}
	for i, n := range w.Nodes {
		if n.Object == nil && n.Claim == nil {
			return nil, fmt.Errorf("nodes[%d] has neither object nor claim", i)
		}
	}
	return &w, nil
}
