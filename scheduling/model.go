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
)

// Model is a Snapshot made ready for planning: labels, resources and pods turned into numbers. It is immutable and
// safe for concurrent use; any number of Solve and Trial calls may run on one Model.
type Model struct{ c *model.Model }

// Engine is what is behind the model, for the other planners of this module. Its type is internal: code outside the module can't do
// anything with it.
func (m *Model) Engine() *model.Model {
	if m == nil {
		return nil
	}
	return m.c
}

// Compile makes a Model of the snapshot. It refuses a snapshot that contradicts itself with a *SnapshotError; a pod
// that can't be planned is no error, the plan explains it. The snapshot must not be changed afterwards.
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

// Update makes a Model of a later snapshot: the same as Compile(s), at the cost of what has changed. What is unchanged is
// recognised by identity: keep the same pointers for the same objects and the same slices for the same lists, as
// package cluster does. m stays valid.
//
// The first Update of a compiled Model compiles all pods and nodes again and remembers them; so does the second Update
// of one Model, and any that finds other changes than these: pods that come, go, are bound or change, of kinds that were
// there before or not, with node selectors, topology keys, host ports, tolerations or labels that none had before; their
// PersistentVolumeClaims, PersistentVolumes and Namespaces; nodes that come, go or change; NodePools and DaemonSets whose
// status changed. A pod that asks for a resource that no other pod asks for, or the last that did so going, takes
// compiling too, as do gangs, DaemonSets that come, go or change, the first volume of a CSI driver and the last, and pods of new
// namespaces where rules select namespaces by their labels. So do changes of devices: pods that claim some, or ask for a resource
// that a DeviceClass stands behind, nodes that have devices or are of a type that publishes some, and the end of the time that a
// node's drivers have to publish. What was compiled of catalogs and what overlays made of them is shared in any case where they
// have not changed.
//
// Models never change: any number of Solve and Trial calls may run on m and on models before it meanwhile, and plan what
// they planned.
func (m *Model) Update(s *Snapshot) (*Model, error) {
	c, err := m.c.Update(s)
	if err != nil {
		return nil, err
	}
	return &Model{c}, nil
}

// Solve places the snapshot's waiting pods, on nodes it has and on planned ones, and explains those it can't place. The
// same model and query give the same plan. A cancelled context ends it with ctx.Err() and no plan.
func (m *Model) Solve(ctx context.Context, q Query) (*Plan, error) {
	return answering.Solve(ctx, m.c, q)
}

// NodePrice is what a node of the snapshot costs now by its offering's list price, its pool's terms, and what commitments
// cover of it; false for a name that the snapshot lacks, and for a node whose instance type or offering no catalog has. It
// is safe for concurrent use.
func (m *Model) NodePrice(name string) (NodePrice, bool) {
	return newnodes.NodePrice(m.c, name)
}

// CompiledCatalog is a list of instance types made ready for planning. Compile makes it of each of the snapshot's catalogs;
// a caller that compiles many small snapshots with the same types makes it once and hands it to each: see WithCatalogs. It is
// immutable and safe for concurrent use. The types must not be changed afterwards.
type CompiledCatalog struct{ c model.CompiledCatalog }

// CompileCatalog makes a list of instance types ready for planning. It refuses with a *SnapshotError what Compile refuses in
// a catalog: a null type, a name that is empty or stands twice, a price or an amount that is no number to plan with.
func CompileCatalog(types []*cloudprovider.InstanceType) (*CompiledCatalog, error) {
	c, err := model.CompileCatalog(types)
	if err != nil {
		return nil, err
	}
	return &CompiledCatalog{*c}, nil
}

// Types is the list that the catalog was made of; nil for the zero CompiledCatalog. It must not be changed.
func (c *CompiledCatalog) Types() []*cloudprovider.InstanceType { return c.c.Types() }

// CompileOption changes how Compile works, and never what plans come of it. A nil option changes nothing.
type CompileOption func(*compileOptions)

type compileOptions []model.CompileOption

// WithDeviceMatcher has Compile, and Update of its models, evaluate selectors of devices with m. Without, pods whose claims or their
// classes have selectors are refused with a reason that says so.
func WithDeviceMatcher(m DeviceMatcher) CompileOption {
	return func(o *compileOptions) { *o = append(*o, model.WithDeviceMatcher(m)) }
}

// WithCatalogs has Compile use catalogs that were compiled before, for those of Snapshot.Catalogs that are the very same
// lists: the same slices as those given to CompileCatalog. Others are compiled as without. What NodeOverlays change is
// another list and is compiled too; prices of a CostModel are computed for each Model.
func WithCatalogs(catalogs ...*CompiledCatalog) CompileOption {
	return func(o *compileOptions) {
		for _, c := range catalogs {
			if c != nil {
				*o = append(*o, model.WithCatalogs(&c.c))
			}
		}
	}
}

// ImpossibleRequest reports whether no node of any kind could grant a request for so much of the resource: it is
// negative, 2,000 CPUs or more, more than 100 TiB of memory, or more than 1 PiB of local storage or of anything else, in
// whole units. The usual cause is a unit that was left out or mixed up. A pod that asks for such an amount is not
// planned, but explained. It takes the same short time for any quantity, also for those whose exponents other
// arithmetic on quantities would take minutes for.
func ImpossibleRequest(name corev1.ResourceName, q resource.Quantity) bool {
	return resources.Impossible(name, q)
}

// PodRequests is what a pod takes from a node's allocatable, "pods: 1" included: the larger of what its containers
// need together and what any init container needs with the sidecars started before it; requests set for the pod as
// a whole replace that sum; the runtime's overhead comes on top. While a resize is under way the larger of wanted and
// held counts. Limits play no part: the API server has already copied them where requests are missing. Amounts that
// no arithmetic should be done on, such as 1e9999999, count as others that no node has.
func PodRequests(pod *corev1.Pod) corev1.ResourceList {
	return resources.OfPod(pod)
}

// CheckNode is the error that Compile would return because of this node: an amount that planning can't compute with. The error is a
// *SnapshotError.
func CheckNode(n *Node) error {
	return model.CheckNode(n)
}

// CheckNodePool is what Compile would refuse about one pool: no object, requirements that can't be read, negative limits.
// lookup is the snapshot's vocabulary. The error is a *SnapshotError.
func CheckNodePool(np *NodePool, lookup *requirements.Lookup) error {
	return model.CheckNodePool(np, lookup)
}

// CheckNodeOverlay is the error that Compile would return because of this overlay: an amount that planning can't compute with. Overlays that are
// invalid otherwise are left out by Compile itself, with a note. The error is a *SnapshotError.
func CheckNodeOverlay(o *v1.NodeOverlay) error {
	return model.CheckNodeOverlay(o)
}
