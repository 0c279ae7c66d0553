package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

// assemble makes the snapshot from the objects that are valid. It may still find problems that concern several objects together.
func (l *loader) assemble() *Result {
	l.oldNames()
	l.admitAll()
	noClaims := len(l.objects.persistentVolumeClaims) == 0
	l.expand()
	for _, e := range l.objects.pods {
		if e.object.Spec.NodeName == "" && stageOf(e.object) == newPod {
			l.addEphemeralClaims(e.origin, e.object)
		}
	}
	if noClaims {
		l.missingClaims()
	}
	l.resolveStorage()
	l.completeStorageClasses()
	nodes := l.joinedNodes()
	pending := l.placePods(nodes)
	resolved := l.resolveBuffers(nodes, pending)
	placeholders := buffers.Placeholders(resolved)
	l.addNamespaces(nodes, pending, placeholders)
	l.sortAll()

	snapshot := &scheduling.Snapshot{
		Time:                   l.opts.Now,
		Vocabulary:             l.vocabulary(),
		NodePools:              l.nodePools(),
		NodeOverlays:           listOf(l.objects.nodeOverlays),
		Pods:                   pending,
		Placeholders:           placeholders,
		DaemonSets:             listOf(l.objects.daemonSets),
		Namespaces:             listOf(l.objects.namespaces),
		Services:               listOf(l.objects.services),
		ReplicaSets:            listOf(l.objects.replicaSets),
		StatefulSets:           listOf(l.objects.statefulSets),
		ReplicationControllers: listOf(l.objects.replicationControllers),
		PodDisruptionBudgets:   listOf(l.objects.podDisruptionBudgets),
		PersistentVolumeClaims: listOf(l.objects.persistentVolumeClaims),
		PersistentVolumes:      listOf(l.objects.persistentVolumes),
		StorageClasses:         listOf(l.objects.storageClasses),
		CSINodes:               listOf(l.objects.csiNodes),
		VolumeAttachments:      listOf(l.objects.volumeAttachments),
		ResourceClaims:         listOf(l.objects.resourceClaims),
		ResourceClaimTemplates: listOf(l.objects.resourceClaimTemplates),
		DeviceClasses:          listOf(l.objects.deviceClasses),
		ResourceSlices:         listOf(l.objects.resourceSlices),
	}
	for i := range nodes {
		snapshot.Nodes = append(snapshot.Nodes, nodes[i].node)
	}
	snapshot.Gangs = l.gangs(snapshot)
	requests, templates := l.requests()
	result := &Result{Snapshot: snapshot, Buffers: resolved, Requests: requests, PodTemplates: templates, Warnings: l.warnings.result()}
	for _, e := range l.objects.nodeClasses {
		if e.born == v1.GenerationV1Alpha5 {
			result.FirstNodeClasses = append(result.FirstNodeClasses, e.object)
		} else {
			result.NodeClasses = append(result.NodeClasses, e.object)
		}
	}
	if len(l.skipped) > 0 {
		result.Skipped = l.skipped
	}
	result.PodMakers, result.Scaled = l.allPodMakers(), l.scaled
	slices.SortFunc(result.Scaled, ScaledWorkload.compare)
	return result
}

// admitAll completes the pods of the input, and the templates of DaemonSets. No pods are made from these templates: planning only subtracts
// their requests from nodes. Templates of other workloads are completed when pods are made from them.
func (l *loader) admitAll() {
	l.admission = l.newAdmission()
	for _, e := range l.objects.pods {
		l.admission.admit(l, admissible{
			origin: e.origin, kind: "Pod", name: qualifiedName(e.object), namespace: e.object.Namespace, spec: &e.object.Spec,
		}, stageOf(e.object))
	}
	for _, e := range l.objects.daemonSets {
		l.admission.admit(l, admissible{
			origin: e.origin, kind: kindDaemonSet, name: qualifiedName(e.object), namespace: e.object.Namespace,
			spec: &e.object.Spec.Template.Spec,
		}, newPod)
	}
}

// completeStorageClasses fills in the API's default for a missing volumeBindingMode. The default is Immediate, which means that volumes are
// created at once, in any zone.
func (l *loader) completeStorageClasses() {
	for _, e := range l.objects.storageClasses {
		if e.object.VolumeBindingMode == nil {
			mode := storagev1.VolumeBindingImmediate
			e.object.VolumeBindingMode = &mode
		}
	}
}

// addNamespaces adds missing namespaces of pods, and sets the label with the name that the API server sets on each namespace.
func (l *loader) addNamespaces(nodes []joinedNode, unbound ...[]*corev1.Pod) {
	known := make(map[string]bool, len(l.objects.namespaces))
	for _, e := range l.objects.namespaces {
		known[e.object.Name] = true
	}
	add := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			if !known[pod.Namespace] {
				known[pod.Namespace] = true
				ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}}
				l.objects.namespaces = append(l.objects.namespaces, entry[*corev1.Namespace]{object: ns})
			}
		}
	}
	for _, pods := range unbound {
		add(pods)
	}
	for i := range nodes {
		add(nodes[i].node.Pods)
	}
	for _, e := range l.objects.namespaces {
		e.object.Labels = joinLabels(e.object.Labels, map[string]string{corev1.LabelMetadataName: e.object.Name})
	}
}

// nodePools lists the pools. It adds warnings for pools that can't launch nodes and for missing node classes.
func (l *loader) nodePools() []scheduling.NodePool {
	var list []scheduling.NodePool
	classes := make(map[classKey]bool, len(l.objects.nodeClasses))
	for _, e := range l.objects.nodeClasses {
		classes[classKeyOf(e)] = true
	}
	for _, e := range l.objects.nodePools {
		pool := e.object
		p := scheduling.NodePool{Key: poolKeyOf(e), Object: pool, NotReady: notReady(pool)}
		if p.NotReady != "" {
			l.warn(e.origin, remark{
				code: WarningNotReady, kind: v1.KindNodePool, name: p.Key.String(), detail: p.Key.String(),
				message: "the pool may not launch nodes: " + p.NotReady,
			})
		}
		ref := pool.Spec.Template.Spec.NodeClassRef
		if kind := (groupKind{ref.Group, ref.Kind}); l.isNodeClass(kind) && !classes[classKey{kind, p.Key.Generation, ref.Name}] {
			l.warn(e.origin, remark{
				code: WarningNodeClass, kind: v1.KindNodePool, name: p.Key.String(),
				path: "spec.template.spec.nodeClassRef", detail: ref.Name,
				message: fmt.Sprintf("%s %q is not in the input", ref.Kind, ref.Name),
			})
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b scheduling.NodePool) int { return a.Key.Compare(b.Key) })
	return list
}

// notReady returns why a pool of a running cluster must not launch nodes, or "" if the pool may launch nodes. A pool that was never applied
// to a cluster has no such state.
func notReady(pool *v1.NodePool) string {
	if pool.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	for _, c := range pool.Status.Conditions {
		if c.Type == v1.ConditionReady && c.Status == metav1.ConditionFalse {
			return strings.TrimSuffix(cmp.Or(c.Reason, "not ready")+": "+c.Message, ": ")
		}
	}
	return ""
}

// sortAll sorts the lists that go into the snapshot unchanged.
func (l *loader) sortAll() {
	o := &l.objects
	sortEntries(o.nodeOverlays)
	sortNodeClasses(o.nodeClasses)
	sortEntries(o.daemonSets)
	sortEntries(o.namespaces)
	sortEntries(o.services)
	sortEntries(o.replicaSets)
	sortEntries(o.statefulSets)
	sortEntries(o.replicationControllers)
	sortEntries(o.podDisruptionBudgets)
	sortEntries(o.persistentVolumeClaims)
	sortEntries(o.persistentVolumes)
	sortEntries(o.storageClasses)
	sortEntries(o.csiNodes)
	sortEntries(o.volumeAttachments)
	sortEntries(o.resourceClaims)
	sortEntries(o.resourceClaimTemplates)
	sortEntries(o.deviceClasses)
	sortEntries(o.resourceSlices)
}
