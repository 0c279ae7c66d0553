package scheduling

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/answering"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/resources"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/updating"
)

// Model is a Snapshot prepared for planning: labels, resources and pods are converted to numbers. It is immutable and safe for concurrent
// use; any number of Solve and Trial calls may run on one Model.
type Model struct{ c *model.Model }

// Engine returns the internal model, for the other planners of this module. The type of the result is internal, so code outside the module
// can't use it.
func (m *Model) Engine() *model.Model {
	if m == nil {
		return nil
	}
	return m.c
}

// Compile makes a Model of the snapshot. It refuses a contradictory snapshot with a *SnapshotError. A pod that can't be planned is no
// error; the plan explains it. The snapshot must not be changed afterwards.
func Compile(s *Snapshot, options ...CompileOption) (*Model, error) {
	var o compileOptions
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	c, err := model.Compile(s, o...)
	if err != nil {
		return nil, err
	}
	return &Model{c}, nil
}

// Update makes a Model of a later snapshot. The result is the same as that of Compile(s), but the cost depends only on the changes.
// Unchanged parts are recognised by identity: keep the same pointers for the same objects and the same slices for the same lists, as
// package cluster does. m stays valid.
//
// If m comes from Compile, or if Update was called on m before, Update compiles all pods and nodes again and records them. Update also
// compiles everything again for all changes except these: pods that are added, removed, bound or changed, even if they have new node
// selectors, topology keys, host ports, tolerations or labels; their PersistentVolumeClaims, PersistentVolumes and Namespaces; nodes that
// are added, removed or changed; NodePools and DaemonSets whose status changed. It also compiles everything again in these cases: the first
// pod that requests a resource is added, or the last such pod is removed; pods have limits on spot nodes; the run time of pods is known and
// reservations end; DaemonSets are added, removed or changed; the first volume of a CSI driver is added, or its last volume is removed;
// pods of new namespaces are added while rules select namespaces by their labels. Changes of devices also need compiling: pods that claim
// devices or request a resource of a DeviceClass, nodes with devices or of a type that publishes devices, and the end of the time in which
// a node's drivers must publish. Compiled catalogs, and catalogs after overlays, are shared in any case if they have not changed.
//
// Models never change: any number of Solve and Trial calls may run in parallel on m and on earlier models, with unchanged results.
func (m *Model) Update(s *Snapshot) (*Model, error) {
	c, err := updating.Update(m.c, s)
	if err != nil {
		return nil, err
	}
	return &Model{c}, nil
}

// Solve places the snapshot's pending pods on existing and planned nodes, and explains the pods that it can't place. The same model and
// query give the same plan. A cancelled context ends Solve with ctx.Err() and no plan.
func (m *Model) Solve(ctx context.Context, q Query) (*Plan, error) {
	return answering.Solve(ctx, m.c, q)
}

// NodePrice returns the present cost of a node of the snapshot: the list price of its offering, changed by the cost model's terms for its
// pool, minus the part that commitments cover. It returns false for an unknown name, and for a node whose instance type or offering is in
// no catalog. It is safe for concurrent use.
func (m *Model) NodePrice(name string) (NodePrice, bool) {
	return newnodes.NodePrice(m.c, name)
}

// CompiledCatalog is a list of instance types made ready for planning. Compile does this for each of the snapshot's catalogs. A caller that
// compiles many small snapshots with the same types can do it once and pass the result to each call: see WithCatalogs. It is immutable and
// safe for concurrent use. The types must not be changed afterwards.
type CompiledCatalog struct{ c model.CompiledCatalog }

// CompileCatalog makes a list of instance types ready for planning. Like Compile, it refuses invalid catalogs with a *SnapshotError: a null
// type, an empty or repeated name, or a price or an amount that is not a valid number.
func CompileCatalog(types []*cloudprovider.InstanceType) (*CompiledCatalog, error) {
	c, err := model.CompileCatalog(types)
	if err != nil {
		return nil, err
	}
	return &CompiledCatalog{*c}, nil
}

// Types returns the list that the catalog was made of, or nil for the zero CompiledCatalog. It must not be changed.
func (c *CompiledCatalog) Types() []*cloudprovider.InstanceType { return c.c.Types() }

// CompileOption changes how Compile works, but never the resulting plans. A nil option changes nothing.
type CompileOption func(*compileOptions)

type compileOptions []model.CompileOption

// WithDeviceMatcher makes Compile, and Update of its models, evaluate selectors of devices with m. Without this option, plans do not place
// pods whose claims or device classes have selectors, and the reason says so.
func WithDeviceMatcher(m DeviceMatcher) CompileOption {
	return func(o *compileOptions) { *o = append(*o, model.WithDeviceMatcher(m)) }
}

// WithCatalogs makes Compile use catalogs that were compiled before. A compiled catalog is used for each of Snapshot.Catalogs that is the
// same slice as the one passed to CompileCatalog. Other catalogs are compiled as usual. A list that NodeOverlays change is a different
// list, so it is also compiled. Prices of a CostModel are computed for each Model.
func WithCatalogs(catalogs ...*CompiledCatalog) CompileOption {
	return func(o *compileOptions) {
		for _, c := range catalogs {
			if c != nil {
				*o = append(*o, model.WithCatalogs(&c.c))
			}
		}
	}
}

// ImpossibleRequest reports whether no node could ever have this amount of the resource: a negative request, 2,000 CPUs or more, more than
// 100 TiB of memory, or more than 1 PiB of local storage. For other resources the limit is the same number of whole units. The usual cause
// is a unit that was left out or mixed up. A pod with such a request is not planned; the plan contains the reason. It takes a short
// constant time for any quantity, also for exponents with which ordinary arithmetic would take minutes.
func ImpossibleRequest(name corev1.ResourceName, q resource.Quantity) bool {
	return resources.Impossible(name, q)
}

// PodRequests returns the amounts that a pod takes of a node's allocatable, including "pods: 1". They are the sum over its containers, or
// the largest sum of an init container and the sidecars started before it, whichever is larger. Requests set for the pod as a whole replace
// this sum. The runtime's overhead is added. During a resize, the larger of the desired and the allocated amount counts. Limits don't
// matter: the API server has already copied them to missing requests. Extreme amounts such as 1e9999999 count as amounts that no node has.
func PodRequests(pod *corev1.Pod) corev1.ResourceList {
	return resources.OfPod(pod)
}

// CheckNode returns the error that Compile would return because of this node: an amount that planning can't compute with. The error is a
// *SnapshotError.
func CheckNode(n *Node) error {
	return model.CheckNode(n)
}

// CheckNodePool returns the error that Compile would return because of this pool: no object, requirements that can't be parsed, or negative
// limits. lookup is the snapshot's vocabulary. The error is a *SnapshotError.
func CheckNodePool(np *NodePool, lookup *requirements.Lookup) error {
	return model.CheckNodePool(np, lookup)
}

// CheckNodeOverlay returns the error that Compile would return because of this overlay: an amount that planning can't compute with.
// Overlays that are invalid otherwise are left out by Compile itself, with a note. The error is a *SnapshotError.
func CheckNodeOverlay(o *v1.NodeOverlay) error {
	return model.CheckNodeOverlay(o)
}
