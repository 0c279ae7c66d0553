package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// Variables that change what TestKilledAtRandom does: how many kills and nodes there are, and which moments are drawn.
const (
	killsVariable = "E2E_KILLS"
	nodesVariable = "E2E_NODES"
	seedVariable  = "E2E_SEED"
)

const (
	killsBudget    = 10 // nodes of a pool, and pods of a deployment, that may be given up at one time
	podsOnFour     = 3  // pods that have room on an instance with four cores
	idlePatience   = 30 * time.Second
	killedPatience = 10 * time.Minute
)

func fromEnvironment(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestKilledAtRandom (DIS-073, DIS-184, DIS-196): the controller's program is killed, as by kill -9, at random moments while it brings
// up a fleet and while it removes half of it and replaces a third by smaller instances; each time another one goes on at once.
// All comes out as without kills: as many instances launched, not more at one time, budgets held, nothing left behind, a fleet
// that costs no more.
func TestKilledAtRandom(t *testing.T) {
	kills, nodes, rests := 50, 100, 25*time.Second // two periods in which the controller looks for something to do
	if testing.Short() {
		kills, nodes, rests = 3, 12, 15*time.Second
	}
	kills, nodes = fromEnvironment(t, killsVariable, kills), fromEnvironment(t, nodesVariable, nodes)
	seed := fromEnvironment(t, seedVariable, 1)
	path := buildRemote(t)
	var calm, killed *killing
	t.Run("calm", func(t *testing.T) {
		calm = &killing{t: t, path: path, nodes: nodes, rests: rests}
		calm.play()
	})
	if t.Failed() || t.Skipped() || calm == nil || calm.cluster == nil {
		return
	}
	t.Run("killed", func(t *testing.T) {
		killed = &killing{t: t, path: path, nodes: nodes, rests: rests, kills: kills, calm: calm, random: rand.New(rand.NewPCG(uint64(seed), uint64(nodes)))}
		killed.play()
		killed.compare()
	})
}

// killing is a fleet that comes up and is then consolidated.
type killing struct {
	t       *testing.T
	path    string
	cluster *harness.Cluster
	// nodes in the beginning, of which pools have web and lone.
	nodes, web, lone int
	// rests is how long nothing must happen for the fleet to be at rest.
	rests time.Duration
	// kills, of which the greater half falls into consolidation, at moments of the random source; calm is the run without.
	kills  int
	calm   *killing
	random *rand.Rand

	cloud string
	gate  reaper
	// effects are how many there were in each phase.
	effects []int
	seen    [2]sights
	end     fleet
	idle    int
}

// fleet is what is there in the end.
type fleet struct {
	launched, nodes, bound int
	cost                   float64
}

func (k *killing) play() {
	k.cluster = server.Start(k.t, harness.Options{})
	k.cloud = serveCloud(k.t, k.cluster, k.gate.pass)
	// Nodes of one pool lose most of their pods, those of the other are much larger than their pod, which keeps apart from others.
	k.lone = k.nodes / 3
	k.web = k.nodes - k.lone
	k.pool("web", "4")
	k.pool("lone", "8")
	k.cluster.CreateDeployment("web", int32(podsOnFour*k.web), inPool("web", harness.Pod("1", "1Gi")))
	lone := inPool("lone", harness.Pod("1", "1Gi"))
	lone.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: harness.Labels("lone")},
		}},
	}}
	k.cluster.CreateDeployment("lone", int32(k.lone), lone)
	k.phase("the fleet is up", func() (bool, string) {
		if done, seen := k.run(podsOnFour * k.web); !done {
			return false, seen
		}
		return k.cluster.Settled(k.nodes)()
	})
	k.cluster.Note("%d nodes are up, %d instances were launched, %d effects, %v", len(k.cluster.Nodes()), k.cluster.Bought(), k.effects[0], &k.seen[0])
	if n := k.cluster.Bought(); n != k.nodes {
		k.t.Errorf("%d instances were launched for %d nodes", n, k.nodes)
	}

	k.cluster.Scale("web", int32(k.web))
	k.cluster.Eventually("a third of the pods is left", killedPatience, func() (bool, string) { return k.run(k.web) })
	for name, pods := range map[string]int{"web": k.web, "lone": k.lone} {
		k.cluster.CreateBudget(name, killsBudget)
		k.cluster.Eventually("the budget is counted", patience, k.cluster.BudgetAllows(name, int32(pods), int32(min(pods, killsBudget))))
	}
	patchPool(k.t, k.cluster, "web", `{"spec":{"disruption":{"consolidateAfter":"1s"}}}`)
	patchPool(k.t, k.cluster, "lone", `{"spec":{"disruption":{"consolidateAfter":"1s"},"template":{"spec":{"requirements":[
		{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},
		{"key":"`+fake.LabelInstanceCPU+`","operator":"In","values":["2","8"]}]}}}}`)
	k.phase("the fleet is at rest", k.resting())
	k.take()
	k.cluster.Note("%+v, %d effects, %v", k.end, k.effects[1], &k.seen[1])
	k.nothingLeft()
}

// pool creates one of instances with so many cores, which is not consolidated yet.
func (k *killing) pool(name, cores string) {
	pool := consolidated(name, 0)
	pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, requirement(fake.LabelInstanceCPU, corev1.NodeSelectorOpIn, cores))
	pool.Spec.Disruption.ConsolidateAfter = v1.Never()
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: strconv.Itoa(killsBudget)}}
	k.cluster.CreateNodePool(pool)
}

// inPool has pods run on nodes of the pool alone.
func inPool(pool string, template corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	template.Spec.NodeSelector = map[string]string{v1.NodePoolLabelKey: pool}
	return template
}

// run reports whether so many pods of the first deployment run, and those of the other.
func (k *killing) run(web int) (bool, string) {
	if done, seen := k.cluster.PodsRun("web", web)(); !done {
		return false, seen
	}
	return k.cluster.PodsRun("lone", k.lone)()
}

// phase has programs run, each killed in its turn, and the last one until the condition holds.
func (k *killing) phase(what string, done harness.Condition) {
	k.t.Helper()
	n := len(k.effects)
	kills := (k.kills + n) / 2
	stop := k.watch(&k.seen[n], n == 1)
	defer stop()
	k.gate.begin()
	for i := range kills {
		k.killOne(k.moment(k.calm.effects[n]-k.gate.count(), kills-i))
	}
	p := k.start(moment{})
	k.cluster.Eventually(what, killedPatience, done)
	k.effects = append(k.effects, k.gate.count())
	p.stop()
}

// moment at which a program is killed.
type moment struct {
	// effect is the number of the one at which it is, before or after it is had; 0 for none.
	effect int
	after  bool
	// time since its start at which it is, if that is not 0.
	time time.Duration
}

// moment draws one, such that kills that are left fall into the effects that are left.
func (k *killing) moment(effects, kills int) moment {
	if k.random.IntN(5) == 0 {
		return moment{time: time.Duration(k.random.Int64N(int64(4 * time.Second)))}
	}
	return moment{effect: 1 + k.random.IntN(max(1, 2*effects/(kills+1))), after: k.random.IntN(2) == 0}
}

func (k *killing) start(at moment) *program {
	p := startBuilt(k.t, k.cluster, built{path: k.path, environment: []string{cloudVariable + "=" + k.cloud}, gate: k.gate.pass},
		// A successor acts at once: without an election it does not wait until the lease of the dead has run out.
		"--disable-leader-election", "--batch-idle-duration", "200ms", "--batch-max-duration", "1s",
		"--disruption-validation-delay", "1s", "--disruption-cool-down", "0", "--disruption-pay-back", "0")
	k.gate.follow(p, at)
	return p
}

// killOne starts a program and waits until it was killed at the moment, or for want of one.
func (k *killing) killOne(at moment) {
	k.t.Helper()
	p := k.start(at)
	timer := time.AfterFunc(at.time, func() {
		if at.time > 0 {
			k.gate.strike(p, fmt.Sprint(at.time.Round(time.Millisecond), " after its start"))
		}
	})
	defer timer.Stop()
	began := time.Now()
	k.cluster.Eventually("the program is killed", killedPatience, func() (bool, string) {
		if time.Since(began) > idlePatience {
			k.idle++
			k.gate.strike(p, "idle")
			<-p.done
		}
		select {
		case <-p.done:
			return true, ""
		default:
			return false, "it lives"
		}
	})
	if p.code != -1 {
		k.t.Errorf("the program ended by itself, with %d", p.code)
	}
	p.wire.close()
	k.cluster.Note("killed %s; %d instances, %d nodes, %d pods bound", k.gate.last(), len(k.cluster.Cloud.Instances()), len(k.cluster.Nodes()), k.bound())
}

func (k *killing) bound() int {
	n := 0
	for _, pod := range k.cluster.Pods("") {
		if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// resting is the condition that all pods run and nothing was given up or launched for a time.
func (k *killing) resting() harness.Condition {
	var last []string
	var since time.Time
	return func() (bool, string) {
		settled, seen := k.cluster.Settled(-1)()
		run, pods := k.run(k.web)
		var instances []string
		for _, i := range k.cluster.Cloud.Instances() {
			instances = append(instances, i.ProviderID)
		}
		marked := 0
		for _, n := range givenUpNow(k.cluster) {
			marked += n
		}
		if now := time.Now(); !settled || !run || marked > 0 || !slices.Equal(instances, last) || since.IsZero() {
			last, since = instances, now
		}
		return time.Since(since) > k.rests, fmt.Sprintf("%s; %s; %d nodes given up", seen, pods, marked)
	}
}

// givenUpNow is how many nodes of each pool are marked or deleted.
func givenUpNow(cluster *harness.Cluster) map[string]int {
	out := map[string]int{}
	for _, node := range cluster.Nodes() {
		if v1.DisruptionMarked(node) || node.DeletionTimestamp != nil {
			out[node.Labels[v1.NodePoolLabelKey]]++
		}
	}
	return out
}

func (k *killing) take() {
	k.end = fleet{launched: k.cluster.Bought(), nodes: len(k.cluster.Nodes()), bound: k.bound(), cost: k.cluster.Costs().Fleet}
}

// nothingLeft fails the test for what commands leave when they are forgotten.
func (k *killing) nothingLeft() {
	k.t.Helper()
	for _, node := range k.cluster.Nodes() {
		if len(node.Spec.Taints) > 0 || node.Spec.Unschedulable || node.DeletionTimestamp != nil {
			k.t.Errorf("node %s has taints %v", node.Name, node.Spec.Taints)
		}
	}
	instances := map[types.UID]int{}
	for _, i := range k.cluster.Cloud.Instances() {
		instances[types.UID(i.Tags[fake.TagNodeClaimUID])]++
	}
	for _, claim := range claimsOf(k.t, k.cluster) {
		if claim.DeletionTimestamp != nil || claim.Conditions().IsTrue(v1.ConditionDisruptionReason) || claim.Annotations[v1.DisruptionCommandAnnotationKey] != "" {
			k.t.Errorf("nodeclaim %s bears what is left of a command: %v, %+v", claim.Name, claim.Annotations, claim.Status.Conditions)
		}
		if instances[claim.UID] != 1 {
			k.t.Errorf("nodeclaim %s has %d instances", claim.Name, instances[claim.UID])
		}
		delete(instances, claim.UID)
	}
	for uid := range instances {
		k.t.Errorf("an instance of nodeclaim %s is left, which is not there", uid)
	}
}

// compare compares with the run without kills.
func (k *killing) compare() {
	k.t.Helper()
	was, is := k.calm.end, k.end
	if was.launched != k.nodes+k.lone {
		k.t.Errorf("without kills %d instances were launched, want %d and a smaller one for %d of them", was.launched, k.nodes, k.lone)
	}
	k.t.Logf("without kills %+v; with %d, %d of them idle, %+v", was, k.kills, k.idle, is)
	if is.bound != was.bound || is.nodes != was.nodes || is.cost > was.cost*costSlack {
		k.t.Errorf("with kills the fleet is %+v, without it was %+v", is, was)
	}
	// Each large instance is replaced once.
	if most := k.nodes + k.lone; is.launched > most {
		k.t.Errorf("%d instances were launched, want no more than %d", is.launched, most)
	}
	if most := k.nodes + killsBudget; k.seen[0].instances > k.nodes || k.seen[1].instances > most {
		k.t.Errorf("there were %d instances at one time while the fleet came up, and %d later; want no more than %d and %d", k.seen[0].instances, k.seen[1].instances, k.nodes, most)
	}
	if 3*k.idle > k.kills {
		k.t.Errorf("%d of %d kills fell into idleness", k.idle, k.kills)
	}
}

// costSlack is for sums of prices in another order.
const costSlack = 1 + 1e-9

// reaper kills programs at their effects: requests that change something, in the cluster or in the cloud. Events and leases are none.
type reaper struct {
	mu    sync.Mutex
	total int
	p     *program
	at    moment
	// left is how many effects the program has left.
	left   int
	struck string
}

// begin begins to count again.
func (r *reaper) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total = 0
}

func (r *reaper) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

func (r *reaper) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.struck
}

// follow has the program be killed at the moment.
func (r *reaper) follow(p *program, at moment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.p, r.at, r.left = p, at, at.effect
}

func (r *reaper) strike(p *program, when string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.struck = when
	_ = p.process.Signal(syscall.SIGKILL)
}

// pass lets an effect through, unless it is the last one.
func (r *reaper) pass(effect string, do func()) {
	if strings.Contains(effect, "/events") || strings.Contains(effect, "/leases") {
		do()
		return
	}
	r.mu.Lock()
	p, after := r.p, r.at.after
	last := r.left == 1
	r.left--
	r.total++
	r.mu.Unlock()
	if last && !after {
		r.strike(p, "before "+effect)
		panic(http.ErrAbortHandler)
	}
	do()
	if last {
		r.strike(p, "after "+effect)
		panic(http.ErrAbortHandler)
	}
}

// sights are the most of what was seen at one time.
type sights struct {
	mu sync.Mutex
	// instances that were not told to end, of which upcoming had no node yet that was initialised; of a pool the nodes that were given
	// up, of a deployment the pods that did not run.
	instances, upcoming, disrupted, away int
}

// String is for a log.
func (s *sights) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("at one time at most %d instances, %d of them on their way, %d nodes of a pool given up, %d pods of a deployment away", s.instances, s.upcoming, s.disrupted, s.away)
}

// watch looks at the cluster until it is stopped. In consolidation budgets have to hold.
func (k *killing) watch(into *sights, consolidation bool) (stop func()) {
	ending, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ending:
				return
			case <-tick.C:
				k.look(into, consolidation)
			}
		}
	}()
	return func() {
		close(ending)
		<-done
	}
}

func (k *killing) look(into *sights, consolidation bool) {
	ready := map[string]bool{}
	for _, node := range k.cluster.Nodes() {
		ready[node.Spec.ProviderID] = node.Labels[v1.NodeInitializedLabelKey] == "true"
	}
	instances, upcoming := 0, 0
	for _, i := range k.cluster.Cloud.Instances() {
		if i.Phase != fake.Pending && i.Phase != fake.Running {
			continue
		}
		instances++
		if !ready[i.ProviderID] {
			upcoming++
		}
	}
	disrupted, away := 0, 0
	of := givenUpNow(k.cluster)
	into.mu.Lock()
	defer into.mu.Unlock()
	for name, pods := range map[string]int{"web": k.web, "lone": k.lone} {
		running := 0
		for _, pod := range k.cluster.Pods(name) {
			if harness.Running(pod) {
				running++
			}
		}
		disrupted, away = max(disrupted, of[name]), max(away, pods-running)
	}
	if consolidation && disrupted > killsBudget && disrupted > into.disrupted {
		k.t.Errorf("%d nodes of a pool are given up at one time, the budget is %d", disrupted, killsBudget)
	}
	if consolidation && away > killsBudget && away > into.away {
		k.t.Errorf("%d pods of a deployment are away at one time, their budget is %d", away, killsBudget)
	}
	into.instances, into.upcoming = max(into.instances, instances), max(into.upcoming, upcoming)
	into.disrupted, into.away = max(into.disrupted, disrupted), max(into.away, away)
}
