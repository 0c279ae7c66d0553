package provisioning

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// PassOptions configure how a plan is turned into orders.
type PassOptions struct {
	// Claims are passed on to nodeclaims.New; their InstanceTypes and Annotations are filled in from the snapshot.
	Claims nodeclaims.Options
	// Nomination is how long an existing node is protected from disruption after pods were planned for it. 0 means twice the
	// longest batch window, at least ten seconds.
	Nomination time.Duration
	// DeviceMatcher is the matcher that the plan was made with. It decides which drivers a claim waits for before its node is initialised.
	// Nil means that claims do not wait for drivers of ResourceClaims with selectors.
	DeviceMatcher scheduling.DeviceMatcher
}

const defaultNomination = 2 * DefaultBatchMax

// Orders are the decisions of a pass, which have not been carried out yet.
type Orders struct {
	// Launches in the order of the plan.
	Launches []Launch
	// Nominations of existing nodes, by name. Nodes that receive only placeholders are not nominated.
	Nominations []Nomination
	// Waiting are the pods that the plan has placed nowhere, with reasons. Placeholders are left out.
	Waiting []scheduling.Unschedulable
	// Held are planned nodes that are not launched now: earlier launches for the same gangs are not complete. Start another pass soon.
	Held []HeldNode
	// Refused are planned nodes for which no claim can be created; their pods stay pending.
	Refused []RefusedNode
	// Events for the pods' owners.
	Events []Event

	// refusedGroups are the launch groups of the nodes in Refused.
	refusedGroups []string
}

// Launch is one node to launch.
type Launch struct {
	// Claim to create; it has no name yet.
	Claim *v1.NodeClaim
	// Pool that launches it.
	Pool v1.PoolKey
	// Pods for which the node is launched, without placeholders, and their UIDs at the same indexes: events need them.
	Pods    []scheduling.PodKey
	PodUIDs []types.UID
	// Capacity is the maximum of each resource over the claim's instance types, which counts against its pool's limits.
	Capacity corev1.ResourceList
	// Price of the cheapest offering, in USD per hour.
	Price float64
	// Offering is the cheapest offering, which the plan counts on. It is the zero key if there is no plan, as for static pools.
	Offering cloudprovider.OfferingKey
	// Group is the name of the group of launches that are useful only together. It is empty for an independent launch. The claim's
	// annotation contains the same name (v1.LaunchGroup).
	Group string
}

// HeldNode is a planned node that waits for earlier launches.
type HeldNode struct {
	Node scheduling.NewNode
	// Why it waits: a sentence.
	Why string
}

// Nomination is an existing node that pods were planned for.
type Nomination struct {
	Node  string
	Pods  []scheduling.PodKey
	Until time.Time
}

// RefusedNode is a planned node for which no claim can be created.
type RefusedNode struct {
	Node scheduling.NewNode
	Err  error
}

// Decide turns the plan of a snapshot into orders. It is pure: it uses the snapshot's time and changes no argument. It fails for a
// plan of another snapshot, or with an *option.ArgumentError.
func Decide(snapshot *scheduling.Snapshot, plan *scheduling.Plan, o PassOptions) (*Orders, error) {
	switch {
	case snapshot == nil:
		return nil, option.Missing("Decide", "the snapshot")
	case plan == nil:
		return nil, option.Missing("Decide", "the plan")
	}
	for i := range snapshot.NodePools {
		if snapshot.NodePools[i].Object == nil {
			return nil, option.Missing("Decide", fmt.Sprintf("the object of snapshot.nodePools[%d]", i))
		}
	}
	if slices.Contains(snapshot.Pods, nil) {
		return nil, option.Missing("Decide", "a pod of the snapshot")
	}
	if o.Nomination == 0 {
		o.Nomination = defaultNomination
	}
	d := newDecision(snapshot, o)
	orders := &Orders{}
	gangs := d.gangsOf(plan)
	for i := range plan.NewNodes {
		group, held := gangs.groupOf(&plan.NewNodes[i])
		if held != "" {
			d.hold(orders, &plan.NewNodes[i], held)
			continue
		}
		if err := d.launch(orders, &plan.NewNodes[i], group); err != nil {
			return nil, err
		}
	}
	orders.dropRefusedGroups(d)
	for _, node := range plan.Existing {
		if pods := d.real(node.Pods); len(pods) > 0 {
			orders.Nominations = append(orders.Nominations, Nomination{Node: node.Name, Pods: pods, Until: snapshot.Time.Add(o.Nomination)})
			d.nominated(orders, pods, "node/"+node.Name)
		}
	}
	for _, u := range plan.Unschedulable {
		if d.pods[u.Pod] != nil {
			orders.Waiting = append(orders.Waiting, u)
			d.failed(orders, u.Pod, sentence(u.Reasons))
		}
	}
	return orders, nil
}

// decision has the inputs and intermediate results of one call of Decide.
type decision struct {
	snapshot *scheduling.Snapshot
	options  PassOptions
	pools    map[v1.PoolKey]*scheduling.NodePool
	// pods are the pending pods by key, without placeholders.
	pods     map[scheduling.PodKey]*corev1.Pod
	overlaid *overlay.Result
}

func newDecision(snapshot *scheduling.Snapshot, o PassOptions) *decision {
	d := &decision{
		snapshot: snapshot, options: o,
		pools: make(map[v1.PoolKey]*scheduling.NodePool, len(snapshot.NodePools)),
		pods:  make(map[scheduling.PodKey]*corev1.Pod, len(snapshot.Pods)),
	}
	in := overlay.Input{Overlays: snapshot.NodeOverlays, Lookup: snapshot.Vocabulary.Compile()}
	for i := range snapshot.NodePools {
		p := &snapshot.NodePools[i]
		d.pools[p.Identity()] = p
		in.Pools = append(in.Pools, overlay.Pool{Key: p.Identity(), Object: p.Object, Types: snapshot.Catalogs[p.Catalog]})
	}
	d.overlaid = overlay.Apply(in)
	d.options.Claims.Lookup = in.Lookup
	for _, pod := range snapshot.Pods {
		if !buffers.IsPlaceholder(pod) {
			d.pods[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = pod
		}
	}
	return d
}

// launch adds an order for a planned node, or returns the error that prevents it.
func (d *decision) launch(orders *Orders, node *scheduling.NewNode, group *v1.LaunchGroup) error {
	pool := d.pools[node.Pool]
	if pool == nil {
		return fmt.Errorf("plan: node %s is of nodepool %s, which the snapshot does not have: use a plan of this snapshot", node.Name, node.Pool)
	}
	types, err := d.overlaid.InstanceTypes(node.Pool)
	if err != nil {
		return fmt.Errorf("plan: node %s: %w", node.Name, err)
	}
	options := d.options.Claims
	options.InstanceTypes = types
	pods := d.real(node.Pods)
	claim, err := nodeclaims.New(node, pool, options)
	if err != nil {
		orders.Refused = append(orders.Refused, RefusedNode{Node: *node, Err: err})
		if group != nil {
			orders.refusedGroups = append(orders.refusedGroups, group.Name)
		}
		for _, pod := range pods {
			d.failed(orders, pod, err.Error())
		}
		return nil
	}
	named := namedTypes(claim, types)
	for key, value := range d.overlaid.Annotations(named) {
		claim.Annotations[key] = value
	}
	if drivers := nodeclaims.RequestedDrivers(d.snapshot, node.Pods, named, d.options.DeviceMatcher); len(drivers) > 0 {
		claim.Annotations[v1.RequestedDRADriversAnnotationKey] = strings.Join(drivers, ",")
	}
	launch := Launch{Claim: claim, Pool: node.Pool, Pods: pods, PodUIDs: d.uidsOf(pods), Capacity: most(named), Price: node.InstanceTypes[0].Price, Offering: node.InstanceTypes[0].Offering()}
	if group != nil {
		launch.Group = group.Name
		claim.Annotations[v1.LaunchGroupAnnotationKey] = group.String()
	}
	orders.Launches = append(orders.Launches, launch)
	return nil
}

// namedTypes returns the types whose names are in the claim's requirements.
func namedTypes(claim *v1.NodeClaim, types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	names := map[string]bool{}
	for _, r := range claim.Spec.Requirements {
		if r.Key == corev1.LabelInstanceTypeStable {
			for _, name := range r.Values {
				names[name] = true
			}
		}
	}
	var list []*cloudprovider.InstanceType
	for _, t := range types {
		if names[t.Name] {
			list = append(list, t)
		}
	}
	return list
}

// most returns, for each resource, the largest capacity of the types.
func most(types []*cloudprovider.InstanceType) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, t := range types {
		for name, q := range t.Capacity {
			if have, ok := out[name]; !ok || q.Cmp(have) > 0 {
				out[name] = q.DeepCopy()
			}
		}
	}
	return out
}

// real returns the given pods without the placeholders, in the same order.
func (d *decision) real(pods []scheduling.PodKey) []scheduling.PodKey {
	var list []scheduling.PodKey
	for _, key := range pods {
		if d.pods[key] != nil {
			list = append(list, key)
		}
	}
	return list
}

func (d *decision) uidsOf(pods []scheduling.PodKey) []types.UID {
	uids := make([]types.UID, len(pods))
	for i, key := range pods {
		uids[i] = d.pods[key].UID
	}
	return uids
}

func (d *decision) nominated(orders *Orders, pods []scheduling.PodKey, target string) {
	for _, key := range pods {
		orders.Events = append(orders.Events, Event{
			Kind: "Pod", Namespace: key.Namespace, Name: key.Name, UID: d.pods[key].UID, Reason: EventNominated,
			Message: "Pod should schedule on: " + target,
		})
	}
}

func (d *decision) failed(orders *Orders, key scheduling.PodKey, why string) {
	orders.Events = append(orders.Events, Event{
		Kind: "Pod", Namespace: key.Namespace, Name: key.Name, UID: d.pods[key].UID, Warning: true, Reason: EventFailedScheduling,
		Message: why, Every: every(failedSchedulingEvery),
	})
}

// sentence joins the reasons of the pools. If the text gets too long for an event, it ends with the number of reasons left out.
func sentence(reasons []scheduling.Reason) string {
	const longest = 900 // an event's message has at most 1,024 bytes
	var b strings.Builder
	for i, r := range reasons {
		text := r.String()
		if b.Len() > 0 && b.Len()+len(text) > longest {
			fmt.Fprintf(&b, "; and %d more", len(reasons)-i)
			break
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text)
	}
	if text := b.String(); len(text) > longest+100 {
		return strings.ToValidUTF8(text[:longest+100], "") + "…"
	}
	return b.String()
}
