package manifests

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	autoscalingv1beta1 "github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/scheduling"
)

// groupKind identifies a kind of objects in all of its API versions.
type groupKind struct{ group, kind string }

// String is "Kind" or "Kind.group".
func (g groupKind) String() string {
	if g.group == "" {
		return g.kind
	}
	return g.kind + "." + g.group
}

// objects contains the objects that were read, by kind, in the order of the input.
type objects struct {
	pods                   []entry[*corev1.Pod]
	nodes                  []entry[*corev1.Node]
	namespaces             []entry[*corev1.Namespace]
	services               []entry[*corev1.Service]
	limitRanges            []entry[*corev1.LimitRange]
	persistentVolumes      []entry[*corev1.PersistentVolume]
	persistentVolumeClaims []entry[*corev1.PersistentVolumeClaim]
	replicationControllers []entry[*corev1.ReplicationController]
	deployments            []entry[*appsv1.Deployment]
	replicaSets            []entry[*appsv1.ReplicaSet]
	statefulSets           []entry[*appsv1.StatefulSet]
	daemonSets             []entry[*appsv1.DaemonSet]
	jobs                   []entry[*batchv1.Job]
	cronJobs               []entry[*batchv1.CronJob]
	podDisruptionBudgets   []entry[*policyv1.PodDisruptionBudget]
	storageClasses         []entry[*storagev1.StorageClass]
	csiNodes               []entry[*storagev1.CSINode]
	volumeAttachments      []entry[*storagev1.VolumeAttachment]
	resourceClaims         []entry[*resourcev1.ResourceClaim]
	resourceClaimTemplates []entry[*resourcev1.ResourceClaimTemplate]
	deviceClasses          []entry[*resourcev1.DeviceClass]
	resourceSlices         []entry[*resourcev1.ResourceSlice]
	priorityClasses        []entry[*schedulingv1.PriorityClass]
	runtimeClasses         []entry[*nodev1.RuntimeClass]
	configMaps             []entry[*corev1.ConfigMap]
	podTemplates           []entry[*corev1.PodTemplate]
	capacityBuffers        []entry[*autoscalingv1beta1.CapacityBuffer]
	requests               []entry[*autoscalingv1.ProvisioningRequest]
	podGroups              []entry[*podGroup]
	nodePools              []entry[*v1.NodePool]
	nodeClaims             []entry[*v1.NodeClaim]
	nodeOverlays           []entry[*v1.NodeOverlay]
	nodeClasses            []entry[kinds.NodeClass]
	// custom are objects of the kinds in Options.Workloads.
	custom []entry[*customObject]
	// older are objects of the node autoscaling API of generations before v1, until they are converted.
	older []entry[kinds.Object]
}

// entry is an object of the input, and the position where it was found.
type entry[T any] struct {
	object T
	origin origin
	// born is the generation in which a pool, claim or node class was created. Empty means the current generation.
	born v1.Generation
}

// poolKeyOf returns the identity of a pool.
func poolKeyOf(e entry[*v1.NodePool]) v1.PoolKey {
	return v1.PoolKey{Generation: cmp.Or(e.born, v1.GenerationV1), Name: e.object.Name}
}

// kind says how objects of a kind are read.
type kind struct {
	// version is the API version that is read. In the versions in older, the fields that planning uses are the same.
	version string
	older   []string
	// namespaced says that the kind's objects have a namespace. From objects of kinds without namespaces, the loader removes a namespace.
	namespaced bool
	// ours says that decoded objects of the kind keep the fields apiVersion and kind, because the file format of the kind needs them.
	ours bool
	// nodeClass says that the kind's objects are node classes.
	nodeClass bool
	// upgrade changes an object of an older version if the object has another meaning in the current version. It may be nil.
	upgrade func(object any)
	// decode decodes an object and adds it to the loader's objects.
	decode func(l *loader, d document)
	// converted has a decoder for each older API version whose fields differ from those of the current version. The objects of these older
	// versions are collected and then converted together.
	converted map[string]func(l *loader, d document)
}

func (k kind) reads(version string) (older, ok bool) {
	if version == k.version {
		return false, true
	}
	ok = slices.Contains(k.older, version)
	return ok, ok
}

// knownKinds lists the kinds that planning reads.
func knownKinds() map[groupKind]kind {
	const apps, batch, extensions, resource = "apps", "batch", "extensions", "resource.k8s.io"
	return map[groupKind]kind{
		{"", "Pod"}:                   {version: "v1", namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*corev1.Pod] { return &o.pods })},
		{"", "Node"}:                  {version: "v1", decode: decodeInto(func(o *objects) *[]entry[*corev1.Node] { return &o.nodes })},
		{"", "Namespace"}:             {version: "v1", decode: decodeInto(func(o *objects) *[]entry[*corev1.Namespace] { return &o.namespaces })},
		{"", "Service"}:               {version: "v1", namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*corev1.Service] { return &o.services })},
		{"", "LimitRange"}:            {version: "v1", namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*corev1.LimitRange] { return &o.limitRanges })},
		{"", "PersistentVolume"}:      {version: "v1", decode: decodeInto(func(o *objects) *[]entry[*corev1.PersistentVolume] { return &o.persistentVolumes })},
		{"", "PersistentVolumeClaim"}: {version: "v1", namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*corev1.PersistentVolumeClaim] { return &o.persistentVolumeClaims })},
		{"", "ReplicationController"}: {version: "v1", namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*corev1.ReplicationController] { return &o.replicationControllers })},
		{"", kindPodTemplate}:         {version: "v1", namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*corev1.PodTemplate] { return &o.podTemplates })},

		{apps, "Deployment"}:  {version: "v1", older: []string{"v1beta1", "v1beta2"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*appsv1.Deployment] { return &o.deployments })},
		{apps, "ReplicaSet"}:  {version: "v1", older: []string{"v1beta2"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*appsv1.ReplicaSet] { return &o.replicaSets })},
		{apps, "StatefulSet"}: {version: "v1", older: []string{"v1beta1", "v1beta2"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*appsv1.StatefulSet] { return &o.statefulSets })},
		{apps, "DaemonSet"}:   {version: "v1", older: []string{"v1beta2"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*appsv1.DaemonSet] { return &o.daemonSets })},
		// extensions is the earlier API group of these workloads of group apps.
		{extensions, "Deployment"}: {older: []string{"v1beta1"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*appsv1.Deployment] { return &o.deployments })},
		{extensions, "ReplicaSet"}: {older: []string{"v1beta1"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*appsv1.ReplicaSet] { return &o.replicaSets })},
		{extensions, "DaemonSet"}:  {older: []string{"v1beta1"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*appsv1.DaemonSet] { return &o.daemonSets })},

		{batch, "Job"}:     {version: "v1", namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*batchv1.Job] { return &o.jobs })},
		{batch, "CronJob"}: {version: "v1", older: []string{"v1beta1"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*batchv1.CronJob] { return &o.cronJobs })},

		{"policy", "PodDisruptionBudget"}: {version: "v1", older: []string{"v1beta1"}, upgrade: upgradeBudget, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*policyv1.PodDisruptionBudget] { return &o.podDisruptionBudgets })},

		{"storage.k8s.io", "StorageClass"}:     {version: "v1", older: []string{"v1beta1"}, decode: decodeInto(func(o *objects) *[]entry[*storagev1.StorageClass] { return &o.storageClasses })},
		{"storage.k8s.io", "CSINode"}:          {version: "v1", older: []string{"v1beta1"}, decode: decodeInto(func(o *objects) *[]entry[*storagev1.CSINode] { return &o.csiNodes })},
		{"storage.k8s.io", "VolumeAttachment"}: {version: "v1", older: []string{"v1beta1"}, decode: decodeInto(func(o *objects) *[]entry[*storagev1.VolumeAttachment] { return &o.volumeAttachments })},

		// v1beta2 has the same fields as v1; v1beta1 and v1alpha3 have other fields.
		{resource, "ResourceClaim"}:         {version: "v1", older: []string{"v1beta2"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*resourcev1.ResourceClaim] { return &o.resourceClaims })},
		{resource, "ResourceClaimTemplate"}: {version: "v1", older: []string{"v1beta2"}, namespaced: true, decode: decodeInto(func(o *objects) *[]entry[*resourcev1.ResourceClaimTemplate] { return &o.resourceClaimTemplates })},
		{resource, "DeviceClass"}:           {version: "v1", older: []string{"v1beta2"}, decode: decodeInto(func(o *objects) *[]entry[*resourcev1.DeviceClass] { return &o.deviceClasses })},
		{resource, "ResourceSlice"}:         {version: "v1", older: []string{"v1beta2"}, decode: decodeInto(func(o *objects) *[]entry[*resourcev1.ResourceSlice] { return &o.resourceSlices })},

		{"scheduling.k8s.io", "PriorityClass"}: {version: "v1", older: []string{"v1beta1"}, decode: decodeInto(func(o *objects) *[]entry[*schedulingv1.PriorityClass] { return &o.priorityClasses })},
		{"node.k8s.io", "RuntimeClass"}:        {version: "v1", older: []string{"v1beta1"}, decode: decodeInto(func(o *objects) *[]entry[*nodev1.RuntimeClass] { return &o.runtimeClasses })},

		// The version v1alpha1 of CapacityBuffer has the same fields.
		{autoscalingv1beta1.Group, autoscalingv1beta1.KindCapacityBuffer}: {
			version: autoscalingv1beta1.Version, older: []string{"v1alpha1"}, upgrade: upgradeBuffer, namespaced: true, ours: true,
			decode: decodeInto(func(o *objects) *[]entry[*autoscalingv1beta1.CapacityBuffer] { return &o.capacityBuffers }),
		},

		{v1.Group, v1.KindNodePool}: {
			version: v1.Version, ours: true, decode: decodeInto(func(o *objects) *[]entry[*v1.NodePool] { return &o.nodePools }),
			converted: only(v1beta1.Version, decodeOlder(func() kinds.Object { return &v1beta1.NodePool{} })),
		},
		{v1.Group, v1.KindNodeClaim}: {
			version: v1.Version, ours: true, decode: decodeInto(func(o *objects) *[]entry[*v1.NodeClaim] { return &o.nodeClaims }),
			converted: only(v1beta1.Version, decodeOlder(func() kinds.Object { return &v1beta1.NodeClaim{} })),
		},
		{v1.Group, v1.KindNodeOverlay}:       {version: v1.NodeOverlayVersion, ours: true, decode: decodeInto(func(o *objects) *[]entry[*v1.NodeOverlay] { return &o.nodeOverlays })},
		{v1.Group, v1alpha5.KindProvisioner}: {ours: true, converted: only(v1alpha5.Version, decodeOlder(func() kinds.Object { return &v1alpha5.Provisioner{} }))},
		{v1.Group, v1alpha5.KindMachine}:     {ours: true, converted: only(v1alpha5.Version, decodeOlder(func() kinds.Object { return &v1alpha5.Machine{} }))},
	}
}

// upgradeBudget removes an empty selector from a PodDisruptionBudget. In the old version, an empty selector selects no pods, but in the
// current version it would select all pods.
func upgradeBudget(object any) {
	budget, ok := object.(*policyv1.PodDisruptionBudget)
	if ok && budget.Spec.Selector != nil && len(budget.Spec.Selector.MatchLabels)+len(budget.Spec.Selector.MatchExpressions) == 0 {
		budget.Spec.Selector = nil
	}
}

// upgradeBuffer sets the present apiVersion in a buffer that was read with its alpha apiVersion.
func upgradeBuffer(object any) {
	if buffer, ok := object.(*autoscalingv1beta1.CapacityBuffer); ok {
		buffer.APIVersion = autoscalingv1beta1.APIVersion
	}
}

// The caller defines the kinds of node classes: Options.Kinds lists the kinds and their versions.

// addCloudKinds adds the kinds of Options.Kinds to the kinds that planning reads. It does not change kinds that are already known.
func (l *loader) addCloudKinds() {
	own := knownKinds()
	added := make(map[groupKind]kind)
	for _, k := range l.opts.Kinds.NodeClasses {
		key := groupKind{k.Group, k.Kind}
		if _, taken := own[key]; !taken && k.New != nil {
			added[key] = kind{version: k.Version, ours: true, nodeClass: true, decode: decodeNodeClass(k.New)}
		}
	}
	for _, k := range l.opts.Kinds.Older {
		key := groupKind{k.Group, k.Kind}
		if _, taken := own[key]; taken || k.New == nil {
			continue
		}
		of := added[key]
		of.ours = true
		if of.converted == nil {
			of.converted = make(map[string]func(*loader, document))
		}
		of.converted[k.Version] = decodeOlder(k.New)
		added[key] = of
	}
	for key, k := range added {
		l.kinds[key] = k
		l.strictGroups[key.group] = true
	}
}

// decodeNodeClass returns the decoder of a kind of node class.
func decodeNodeClass(empty func() kinds.NodeClass) func(*loader, document) {
	return func(l *loader, d document) {
		object := empty()
		if l.fill(d, object) {
			l.objects.nodeClasses = append(l.objects.nodeClasses, entry[kinds.NodeClass]{object: object, origin: d.origin})
		}
	}
}

// isNodeClass reports whether objects of the kind are read as node classes.
func (l *loader) isNodeClass(key groupKind) bool { return l.kinds[key].nodeClass }

// hasNodeClass reports whether a kind of node class has this name, in any group.
func (l *loader) hasNodeClass(name string) bool {
	for key := range l.kinds {
		if key.kind == name && l.isNodeClass(key) {
			return true
		}
	}
	return false
}

// classKey is the identity of a node class.
type classKey struct {
	groupKind
	born v1.Generation
	name string
}

// kindOf returns the kind that the object states.
func kindOf(object decodable) groupKind {
	gvk := object.GetObjectKind().GroupVersionKind()
	return groupKind{gvk.Group, gvk.Kind}
}

// classKeyOf returns the identity of a node class of the input.
func classKeyOf(e entry[kinds.NodeClass]) classKey {
	return classKey{kindOf(e.object), cmp.Or(e.born, v1.GenerationV1), e.object.GetName()}
}

// sortNodeClasses sorts node classes by name, and node classes with the same name by kind.
func sortNodeClasses(entries []entry[kinds.NodeClass]) {
	slices.SortStableFunc(entries, func(a, b entry[kinds.NodeClass]) int {
		return cmp.Or(compareNames(a.object, b.object), strings.Compare(classKeyOf(a).String(), classKeyOf(b).String()))
	})
}

// NodeClassOf returns the node class that a pool of the snapshot refers to. It must belong to the pool's generation, where v1beta1 and v1
// count as one. It is nil if the input does not contain the class, or if Options.Kinds does not contain its kind.
func (r *Result) NodeClassOf(pool *scheduling.NodePool) kinds.NodeClass {
	if pool == nil || pool.Object == nil {
		return nil
	}
	ref := pool.Object.Spec.Template.Spec.NodeClassRef
	classes := r.NodeClasses
	if pool.Key.Generation == v1.GenerationV1Alpha5 {
		classes = r.FirstNodeClasses
	}
	i := slices.IndexFunc(classes, func(c kinds.NodeClass) bool {
		return c != nil && c.GetName() == ref.Name && kindOf(c) == groupKind{ref.Group, ref.Kind}
	})
	if i < 0 {
		return nil
	}
	return classes[i]
}
