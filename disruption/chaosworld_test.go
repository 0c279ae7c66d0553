package disruption_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// Times of the cluster that processes live and die in.
const (
	chaosTick       = 10 * time.Second
	chaosLaunched   = 10 * time.Second
	chaosRegistered = 30 * time.Second
	chaosReady      = 60 * time.Second
	chaosLost       = 80 * time.Second
	chaosGivenUp    = 15 * time.Minute
	chaosPodReady   = 30 * time.Second
	chaosRate       = 30 * time.Minute
)

// chaosTrouble is how many nodes meet trouble at most: what drifts is tried again for ever otherwise.
const chaosTrouble = 12

// chaosCase is a cluster to begin with and what goes wrong in it, the same each time.
type chaosCase struct {
	nodes []chaosNode
	// budget of the pool and of what is started in half an hour, and pods of "x" that may be away; 0 is none.
	budget, rate, pdb int
	// Every so many-th node is out of stock or never comes up, and every so many-th write meets a conflict; 0 is none.
	stockOut, dud, conflict int
	// Every so many-th launch that a command asks for is refused, as limits do; 0 is none. late has processes see a NodeClaim in the tick after
	// the one in which it was created.
	refused int
	late    bool
	// Every so many-th launch is held back by the launch rate limiter for five minutes, or every so many-th claim refuses to be written to, as a webhook has it;
	// 0 is none.
	heldBack, denied int
	// interrupted is taken away by the cloud at the tick; none if it is negative.
	interrupted, at int
	// Every so many-th new node is taken away by the cloud once it is up; 0 is none.
	lost int
}

type chaosNode struct {
	cores         int
	spot, drifted bool
	pods          []chaosPod
}

// chaosPod is a pod; gang is the number of its gang from 1 on, 0 for none.
type chaosPod struct {
	milli int
	x     bool
	gang  int
}

// chaos is that cluster: what an API server, a cloud, kubelets and kube-scheduler have. Processes come and go in it.
type chaos struct {
	*world
	fault func(format string, args ...any)
	c     *chaosCase
	now   time.Time
	// pending pods were evicted; back is when those under the PodDisruptionBudget are ready again.
	pending []*corev1.Pod
	back    []time.Time
	// objects are the Nodes of nodes that have not joined yet, born when their claims were created, serial which they are.
	objects map[string]*corev1.Node
	born    map[string]time.Time
	serial  map[string]int
	tokens  map[string]string
	// instances that run, by provider ID.
	instances map[string]bool
	// started is when each disruption was first noted, by command and node; forced are nodes that were interrupted.
	started map[string]time.Time
	forced  map[string]bool
	// members are the nodes of each command by what was written.
	members map[string]map[string]bool
	writes  int
	// launches that disruption asked for, the most nodes, up or coming up and not deleted, that there were at one time, and the
	// most of them that were coming up for commands.
	launches, most, mostComing int
	// asked is how many launches commands asked for, those that were refused included, denials how often a claim refused.
	asked, denials int
	chaosGangs
}

func newChaos(c *chaosCase, fault func(string, ...any)) *chaos {
	w := newWorld()
	w.catalog("all", instanceType("c2", 2, "on-demand=0.1", "spot=0.04"), instanceType("c4", 4, "on-demand=0.2", "spot=0.07"),
		instanceType("c8", 8, "on-demand=0.4", "spot=0.15"), instanceType("c16", 16, "on-demand=0.75"))
	if c.budget > 0 {
		w.pool("default", budgets(v1.Budget{Nodes: fmt.Sprint(c.budget)}))
	}
	if c.rate > 0 {
		w.input.Budgets = []disruption.Budget{{Name: "rate", Unit: disruption.UnitNodes, Amount: float64(c.rate), Window: chaosRate}}
	}
	if c.pdb > 0 {
		w.pdb("x", "x", int32(c.pdb))
	}
	s := &chaos{
		world: w, fault: fault, c: c, now: now(), objects: map[string]*corev1.Node{}, born: map[string]time.Time{}, serial: map[string]int{}, tokens: map[string]string{},
		instances: map[string]bool{}, started: map[string]time.Time{}, forced: map[string]bool{}, members: map[string]map[string]bool{},
	}
	for i, n := range c.nodes {
		var list []*corev1.Pod
		for k, p := range n.pods {
			options := []podOption{asks(fmt.Sprintf("cpu=%dm", p.milli), "memory=64Mi")}
			if p.x {
				options = append(options, app("x"))
			}
			list = append(list, pod(fmt.Sprintf("p-%d-%d", i, k), options...))
			s.addMember(p.gang, list[len(list)-1])
		}
		more := []nodeOption{holding(list...)}
		if n.spot {
			more = append(more, bought("spot"))
		}
		if n.drifted {
			more = append(more, drifted(time.Duration(i+1)*time.Minute))
		}
		s.instances[w.node(fmt.Sprintf("n-%d", i), fmt.Sprintf("c%d", n.cores), more...).Claim.Status.ProviderID] = true
	}
	return s
}

func (s *chaos) nodeNamed(name string) *scheduling.Node {
	for i := range s.snapshot.Nodes {
		if s.snapshot.Nodes[i].Name == name {
			return &s.snapshot.Nodes[i]
		}
	}
	return nil
}

// claim with the name; nil if there is none.
func (s *chaos) claim(name string) *v1.NodeClaim {
	for i := range s.snapshot.Nodes {
		if c := s.snapshot.Nodes[i].Claim; c.Name == name {
			return c
		}
	}
	return nil
}

// create stores a claim for the order; one that is there already is not made twice.
func (s *chaos) create(token, instance, capacityType, record string, pool v1.PoolKey) *v1.NodeClaim {
	if name, there := s.tokens[token]; there {
		return s.claim(name)
	}
	number := len(s.born) + 1
	name := fmt.Sprintf("new-%d", number)
	n := s.node(name, instance, bought(capacityType), ofPool(pool.Name), coming(launching))
	n.Claim.CreationTimestamp, n.Claim.UID = metav1.NewTime(s.now), types.UID("uid-"+name)
	n.Claim.Status.Conditions = nil
	if record != "" {
		annotate(n.Claim, record)
		s.launches++
		s.ordered = noted(s.ordered, name)
	}
	s.objects[name], n.Object = n.Object, nil
	s.born[name], s.serial[name], s.tokens[token] = s.now, number, n.Claim.Name
	return n.Claim
}

// live lets a tick go by.
func (s *chaos) live(tick int) {
	s.now = s.now.Add(chaosTick)
	s.snapshot.Time = s.now
	s.back = slices.DeleteFunc(s.back, func(t time.Time) bool { return !t.After(s.now) })
	for _, b := range s.snapshot.PodDisruptionBudgets {
		b.Status.DisruptionsAllowed = int32(max(0, s.c.pdb-len(s.back)))
	}
	if tick == s.c.at && s.c.interrupted >= 0 {
		if n := s.nodeNamed(fmt.Sprintf("n-%d", s.c.interrupted)); n != nil && n.Claim.DeletionTimestamp == nil {
			s.forced[n.Name] = true
			n.Claim.DeletionTimestamp = &metav1.Time{Time: s.now}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.names())) {
		s.lead(s.nodeNamed(name))
	}
	s.bind()
}

func (s *chaos) names() map[string]bool {
	out := map[string]bool{}
	for i := range s.snapshot.Nodes {
		out[s.snapshot.Nodes[i].Name] = true
	}
	return out
}

// lead takes a node as far as it gets now.
func (s *chaos) lead(n *scheduling.Node) {
	age, number := s.now.Sub(s.born[n.Name]), s.serial[n.Name]
	switch conditions := n.Claim.Conditions(); {
	case n.Claim.DeletionTimestamp != nil:
		s.drain(n)
	case number == 0: // it was there from the beginning
	case s.c.lost > 0 && number%s.c.lost == 0 && number < chaosTrouble && age >= chaosLost:
		s.forced[n.Name] = true
		n.Claim.DeletionTimestamp = &metav1.Time{Time: s.now}
	case n.Claim.Status.ProviderID == "" && age >= chaosLaunched:
		if s.c.stockOut > 0 && number%s.c.stockOut == 0 && number < chaosTrouble {
			s.outOfStock(n)
			s.remove(n)
			return
		}
		n.Claim.Status.ProviderID = "cloud://" + n.Name
		s.instances[n.Claim.Status.ProviderID] = true
		conditions.SetTrue(v1.ConditionLaunched, s.now)
	case conditions.IsTrue(v1.ConditionInitialized):
	case age >= chaosGivenUp:
		n.Claim.DeletionTimestamp = &metav1.Time{Time: s.now}
	case n.Object == nil && age >= chaosRegistered:
		n.Object = s.objects[n.Name]
		n.Claim.Status.NodeName = n.Name
		conditions.SetTrue(v1.ConditionRegistered, s.now)
	case age >= chaosReady && (s.c.dud == 0 || number%s.c.dud != 0 || number >= chaosTrouble):
		n.Object.Labels[v1.NodeInitializedLabelKey] = "true"
		conditions.SetTrue(v1.ConditionInitialized, s.now)
	}
}

func (s *chaos) drain(n *scheduling.Node) {
	var left []*corev1.Pod
	for _, p := range n.Pods {
		if budgeted(p) && s.c.pdb > 0 {
			if len(s.back) >= s.c.pdb {
				left = append(left, p)
				continue
			}
			s.back = append(s.back, s.now.Add(time.Hour)) // until it runs
		}
		p = p.DeepCopy()
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		s.pending = append(s.pending, p)
	}
	if n.Pods = left; len(left) == 0 {
		s.remove(n)
	}
}

func (s *chaos) remove(n *scheduling.Node) {
	delete(s.instances, n.Claim.Status.ProviderID)
	name := n.Name
	s.snapshot.Nodes = slices.DeleteFunc(slices.Clone(s.snapshot.Nodes), func(n scheduling.Node) bool { return n.Name == name })
}

// bind puts pods that wait on nodes that take them, as kube-scheduler does.
func (s *chaos) bind() {
	var left []*corev1.Pod
	for _, p := range s.pending {
		need, bound := p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue(), false
		for i := range s.snapshot.Nodes {
			n := &s.snapshot.Nodes[i]
			if n.Object == nil || n.Claim.DeletionTimestamp != nil || v1.DisruptionMarked(n.Object) || n.Object.Labels[v1.NodeInitializedLabelKey] != "true" || room(n) < need {
				continue
			}
			p.Status.Phase = corev1.PodRunning
			holding(p)(n)
			if bound = true; budgeted(p) && s.c.pdb > 0 {
				for k := range s.back {
					if s.back[k].Sub(s.now) > chaosPodReady {
						s.back[k] = s.now.Add(chaosPodReady)
						break
					}
				}
			}
			break
		}
		if !bound {
			left = append(left, p)
		}
	}
	s.pending = left
}

// room that a node has, in thousandths of a core.
func room(n *scheduling.Node) int64 {
	free := n.Object.Status.Allocatable.Cpu().MilliValue()
	for _, p := range n.Pods {
		free -= p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	}
	return free
}

// look checks what holds at any time.
func (s *chaos) look() {
	disrupted, running, staying := 0, 0, 0
	comes := map[string]int{} // by command
	for i := range s.snapshot.Nodes {
		n := &s.snapshot.Nodes[i]
		r, err := disruption.RecordOf(n.Claim)
		if err != nil {
			s.fault("%v", err)
		}
		if n.Claim.DeletionTimestamp == nil {
			staying++
		}
		member := r != nil && r.Role == disruption.RoleMember
		if member && !s.forced[n.Name] {
			disrupted++
		}
		if r != nil && !member && n.Claim.DeletionTimestamp == nil && !n.Claim.Conditions().IsTrue(v1.ConditionInitialized) {
			if comes[r.ID]++; comes[r.ID] > r.Replacements {
				s.fault("%s: %d nodes come up for command %s, which has %d", s.now, comes[r.ID], r.ID, r.Replacements)
			}
			s.wanted(n.Claim.Name, r.ID)
		}
		if n.Object != nil && v1.DisruptionMarked(n.Object) && !member {
			s.fault("%s: node %s is tainted, and no command is written on its claim", s.now, n.Name)
		}
		s.earns(n, r)
		if id := n.Claim.Status.ProviderID; id != "" {
			if running++; !s.instances[id] {
				s.fault("%s: claim %s without instance", s.now, n.Claim.Name)
			}
		}
	}
	all := 0
	for _, n := range comes {
		all += n
	}
	s.most, s.mostComing = max(s.most, staying), max(s.mostComing, all)
	s.together()
	if running != len(s.instances) {
		s.fault("%s: %d instances and %d claims of them", s.now, len(s.instances), running)
	}
	if s.c.budget > 0 && disrupted > s.c.budget {
		s.fault("%s: %d nodes are disrupted, and the budget is %d", s.now, disrupted, s.c.budget)
	}
	if s.c.rate > 0 {
		for key, at := range s.started {
			within := 0
			for _, other := range s.started {
				if d := other.Sub(at); d >= 0 && d < chaosRate {
					within++
				}
			}
			if within > s.c.rate {
				s.fault("%d disruptions were started in the half hour from that of %s, %s, on; the rate is %d", within, key, at, s.c.rate)
			}
		}
	}
}

// wanted checks that no member of the command that the node comes up for was given back: it would come up for nothing, in addition to
// what the next plan launches.
func (s *chaos) wanted(replacement, command string) {
	for node := range s.members[command] {
		n := s.nodeNamed(node)
		if n == nil || n.Claim.DeletionTimestamp != nil {
			continue
		}
		if r, _ := disruption.RecordOf(n.Claim); r == nil || r.ID != command {
			s.fault("%s: %s comes up for command %s, which %s is no member of any more", s.now, replacement, command, node)
		}
	}
}
