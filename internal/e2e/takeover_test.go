package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/adoption"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// ownLease is the program's.
const ownLease = "drawknife-leader-election"

// karpentersLease has Karpenter's lease say this; what is nil stays as it is.
func karpentersLease(t *testing.T, cluster *harness.Cluster, holder string, renewed time.Time) {
	t.Helper()
	leases := cluster.Client.CoordinationV1().Leases(cluster.Namespace)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: adoption.DefaultLease},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(3600)), RenewTime: &metav1.MicroTime{Time: renewed},
		},
	}
	cluster.Retry("writing Karpenter's lease", func() error {
		there, err := leases.Get(t.Context(), lease.Name, metav1.GetOptions{})
		if err != nil {
			_, err = leases.Create(t.Context(), lease, metav1.CreateOptions{})
			return err
		}
		there.Spec = lease.Spec
		_, err = leases.Update(t.Context(), there, metav1.UpdateOptions{})
		return err
	})
}

// versions are the resource versions of all objects of the cluster but events and leases, which change by themselves, and endpoints, which
// are slices under another name. Namespaces that are ending, those of scenarios before, are left out with all that is in them.
func versions(t *testing.T, cluster *harness.Cluster) map[string]string {
	t.Helper()
	var resources []*metav1.APIResourceList
	cluster.Retry("finding out what there is", func() (err error) {
		resources, err = cluster.Client.Discovery().ServerPreferredResources()
		return err
	})
	resources = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, resources)
	objects, err := metadata.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	listOf := func(r schema.GroupVersionResource) *metav1.PartialObjectMetadataList {
		list := &metav1.PartialObjectMetadataList{}
		cluster.Retry("listing "+r.String(), func() error {
			found, err := objects.Resource(r).List(t.Context(), metav1.ListOptions{})
			if err == nil {
				list = found
			}
			if apierrors.IsNotFound(err) { // its definition is gone, with a scenario before
				return nil
			}
			return err
		})
		return list
	}
	namespaces := listOf(corev1.SchemeGroupVersion.WithResource("namespaces"))
	ending := map[string]bool{}
	for i := range namespaces.Items {
		ending[namespaces.Items[i].Name] = namespaces.Items[i].DeletionTimestamp != nil
	}
	out := map[string]string{}
	for _, list := range resources {
		of, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if r.Name == "events" || r.Name == "leases" || r.Name == "endpoints" {
				continue
			}
			found := listOf(of.WithResource(r.Name))
			for i := range found.Items {
				o := &found.Items[i]
				if ending[o.Namespace] || (r.Name == "namespaces" && ending[o.Name]) {
					continue
				}
				out[fmt.Sprintf("%s %s/%s", r.Name, o.Namespace, o.Name)] = string(o.UID) + " at " + o.ResourceVersion
			}
		}
	}
	return out
}

// settledVersions are those of a cluster in which nothing happens any more: what other scenarios have left is gone, and with it
// what the end of a namespace does to objects outside of it, such as volumes.
func settledVersions(t *testing.T, cluster *harness.Cluster) map[string]string {
	t.Helper()
	cluster.Eventually("no namespace is ending any more", patience, func() (bool, string) {
		namespaces, err := cluster.Client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		for i := range namespaces.Items {
			if namespaces.Items[i].DeletionTimestamp != nil {
				return false, namespaces.Items[i].Name + " is"
			}
		}
		return true, ""
	})
	last := versions(t, cluster)
	cluster.Eventually("nothing happens any more", patience, func() (bool, string) {
		before := last
		time.Sleep(time.Second)
		last = versions(t, cluster)
		return maps.Equal(before, last), fmt.Sprint(changes(before, last))
	})
	return last
}

// changes are the objects that two answers of versions differ in.
func changes(before, after map[string]string) []string {
	var out []string
	for name, version := range before {
		if after[name] != version {
			out = append(out, fmt.Sprintf("%s was %s and is %q", name, version, after[name]))
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			out = append(out, name+" is new")
		}
	}
	slices.Sort(out)
	return out
}

// karpenters is a cluster as Karpenter v1 leaves it, with two NodePools, a node of each and pods on them.
type karpenters struct {
	t       *testing.T
	cluster *harness.Cluster
	pools   map[string]*v1.NodePool
	claims  map[string]*v1.NodeClaim
	nodes   map[string]*corev1.Node
	pods    map[types.UID]string
}

func leftByKarpenter(t *testing.T) *karpenters {
	t.Helper()
	cluster := server.Start(t, harness.Options{})
	k := &karpenters{t: t, cluster: cluster, claims: map[string]*v1.NodeClaim{}, nodes: map[string]*corev1.Node{}, pods: map[types.UID]string{}}
	k.pools = map[string]*v1.NodePool{
		"web-1": karpentersPool(cluster, "web", v1.NodePoolHashVersion, ""), "old-1": karpentersPool(cluster, "old", "v2", "1234"),
	}
	for name, pool := range k.pools {
		k.claims[name] = karpentersNode(t, cluster, pool, name)
	}
	cluster.CreateDeployment("web", 4, harness.Pod("3", "1Gi"))
	cluster.Eventually("the pods run on Karpenter's nodes", patience, cluster.PodsRun("web", 4))
	for _, node := range cluster.Nodes() {
		k.nodes[node.Name] = node
	}
	for _, pod := range cluster.Pods("web") {
		k.pods[pod.UID] = pod.Spec.NodeName
	}
	cluster.Scale("web", 8)
	cluster.Eventually("more pods wait", patience, func() (bool, string) {
		waiting := 0
		for _, pod := range cluster.Pods("web") {
			if harness.Unschedulable(pod) {
				waiting++
			}
		}
		return waiting == 4, fmt.Sprint(waiting, " of 4")
	})
	return k
}

// kept fails the test unless Karpenter's claims and nodes, and the pods on them, are what they were.
func (k *karpenters) kept() {
	k.t.Helper()
	for name, was := range k.claims {
		claim, err := k.cluster.NodeClaims.Get(k.t.Context(), name, metav1.GetOptions{})
		switch {
		case err != nil:
			k.t.Errorf("nodeclaim %s: %v", name, err)
		case claim.UID != was.UID || claim.DeletionTimestamp != nil || claim.Status.ProviderID != was.Status.ProviderID:
			k.t.Errorf("nodeclaim %s is another now: %+v", name, claim)
		case claim.Conditions().IsTrue(v1.ConditionDrifted):
			k.t.Errorf("nodeclaim %s has drifted: %+v", name, claim.Status.Conditions)
		}
	}
	for name, was := range k.nodes {
		node := k.cluster.Node(name)
		if node == nil || node.UID != was.UID || node.DeletionTimestamp != nil || node.Spec.Unschedulable || len(node.Spec.Taints) > 0 {
			k.t.Errorf("node %s is another now: %+v", name, node)
		}
	}
	left := maps.Clone(k.pods)
	for _, pod := range k.cluster.Pods("web") {
		if left[pod.UID] == pod.Spec.NodeName && harness.Running(pod) {
			delete(left, pod.UID)
		}
	}
	if len(left) > 0 {
		k.t.Errorf("pods %v do not run any more", left)
	}
}

// nothingDone fails the test if the program has changed anything.
func nothingDone(t *testing.T, p *program) {
	t.Helper()
	if w := p.wire.writes(); len(w) > 0 {
		t.Errorf("the program has written %v", w)
	}
}

// TestProgramTakesOver runs the controller's program on a cluster as Karpenter v1 leaves it. A dry run changes nothing; without
// --adopt, or while Karpenter holds its lease, nothing is done; when the lease is given back, or has run out, no node is replaced and
// what pods wait for is launched; when Karpenter comes back the program steps down. SET-055.
func TestProgramTakesOver(t *testing.T) {
	k := leftByKarpenter(t)
	cluster := k.cluster
	cluster.Note("as Karpenter leaves it")

	// Karpenter was scaled to 0, and nobody said that its nodes are to be taken over.
	karpentersLease(t, cluster, "", time.Now())
	was := settledVersions(t, cluster)
	stranger := startProgram(t, cluster)
	stranger.says("2 NodeClaims were launched by another controller: see with --adopt=dry-run")
	if code := stranger.stop(); code != 0 {
		t.Errorf("told to stop, the program ended with %d", code)
	}
	nothingDone(t, stranger)
	cluster.Note("left alone without --adopt")

	// Karpenter runs.
	karpentersLease(t, cluster, "karpenter-1", time.Now())
	dry := startProgram(t, cluster, "--adopt=dry-run")
	if code := dry.ends(); code != 0 {
		t.Errorf("a dry run that finds nothing ends with %d", code)
	}
	nothingDone(t, dry)
	for _, line := range []string{
		"Karpenter acts: karpenter-1 holds the lease " + cluster.Namespace + "/" + adoption.DefaultLease + ". Taking over waits until it is scaled to 0.",
		"4 taken over, 0 leaving, 0 would be replaced, 0 would be ended, 0 refused, 0 would lose fields",
	} {
		if !strings.Contains(dry.stdout.String(), line+"\n") {
			t.Errorf("the dry run does not print %q", line)
		}
	}
	for name, claim := range k.claims {
		words := []string{"NodeClaim", name, k.pools[name].Name, claim.Status.NodeName, "taken", "over"}
		if !slices.ContainsFunc(strings.Split(dry.stdout.String(), "\n"), func(line string) bool { return slices.Equal(strings.Fields(line), words) }) {
			t.Errorf("the dry run does not mention %v", words)
		}
	}
	if changed := changes(was, versions(t, cluster)); len(changed) > 0 {
		t.Errorf("after a start without --adopt and a dry run: %v", changed)
	}
	cluster.Note("dry run")

	p := startProgram(t, cluster, "--adopt")
	p.says("Karpenter is running: karpenter-1 holds the lease")
	looks := p.wire.asked("/leases?")
	cluster.Eventually("the program has looked for the lease three more times", patience, func() (bool, string) {
		return p.wire.asked("/leases?") >= looks+3, fmt.Sprint(p.wire.asked("/leases?"), " times in all")
	})
	cluster.Eventually("the program's probe says why it is not ready", patience, func() (bool, string) {
		ready, text := p.ready()
		if ready {
			t.Errorf("while Karpenter holds its lease the program's probe says %s", text)
		}
		return strings.Contains(text, "[-]karpenter failed"), text
	})
	nothingDone(t, p)
	if changed := changes(was, versions(t, cluster)); len(changed) > 0 {
		t.Errorf("while Karpenter holds its lease: %v", changed)
	}
	cluster.Note("nothing is done while Karpenter runs")

	karpentersLease(t, cluster, "", time.Now())
	cluster.Eventually("more pods run", patience, cluster.PodsRun("web", 8))
	cluster.Eventually("the program is ready", patience, p.ready)
	k.lookedAfter()
	k.kept()
	cluster.Note("taken over, with %d nodes", len(cluster.Nodes()))

	karpentersLease(t, cluster, "karpenter-2", time.Now())
	if code := p.ends(); code != 1 {
		t.Errorf("when Karpenter comes back the program ends with %d", code)
	}
	if !strings.Contains(p.stderr.String()+p.stdout.String(), "karpenter-2 holds the lease") {
		t.Error("the program does not say why it ends")
	}
	p.letGo()
	k.kept()
	cluster.Note("stepped down")

	// Nor does one do anything that needs no election.
	single := startProgram(t, cluster, "--adopt", "--disable-leader-election")
	if code := single.ends(); code != 1 {
		t.Errorf("without an election the program ends with %d while Karpenter runs", code)
	}
	nothingDone(t, single)

	// Karpenter is gone without a word.
	next := startProgram(t, cluster, "--adopt")
	next.says("karpenter-2 holds the lease")
	nothingDone(t, next)
	karpentersLease(t, cluster, "karpenter-2", time.Now().Add(-2*time.Hour))
	cluster.Scale("web", 12)
	cluster.Eventually("still more pods run", patience, cluster.PodsRun("web", 12))
	k.kept()
	if code := next.stop(); code != 0 {
		t.Errorf("told to stop, the program ended with %d", code)
	}
	next.letGo()
	cluster.Note("taken over again when the lease had run out")
}

// letGo fails the test unless the program has given its own lease back, so that a successor need not wait.
func (p *program) letGo() {
	p.t.Helper()
	lease, err := p.cluster.Client.CoordinationV1().Leases(p.cluster.Namespace).Get(p.t.Context(), ownLease, metav1.GetOptions{})
	if err != nil || *lease.Spec.HolderIdentity != "" {
		p.t.Errorf("the program has not given its lease back: %+v, %v", lease, err)
	}
}

// lookedAfter waits until hashes of older versions are written again.
func (k *karpenters) lookedAfter() {
	k.t.Helper()
	for name, pool := range k.pools {
		k.cluster.Eventually(name+" is looked after", patience, func() (bool, string) {
			claim, err := k.cluster.NodeClaims.Get(k.t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			stamps := claim.Annotations[v1.NodePoolHashVersionAnnotationKey] + " " + claim.Annotations[v1.NodePoolHashAnnotationKey]
			return stamps == v1.NodePoolHashVersion+" "+pool.Hash(), "its hash is " + stamps
		})
	}
}

// TestProgramDryRunFinds has the program's dry run find what would not stay as it is: it says so by its exit code, and changes
// nothing of it.
func TestProgramDryRunFinds(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	pool := karpentersPool(cluster, "web", v1.NodePoolHashVersion, "")
	karpentersNode(t, cluster, pool, "web-1")
	patchPool(t, cluster, "web", `{"spec":{"template":{"metadata":{"labels":{"team":"blue"}}}},"metadata":{"annotations":{"`+v1.NodePoolHashAnnotationKey+`":"1"}}}`)
	// A node whose claim somebody has deleted. Its kubelet lives: otherwise it would change when that is noticed.
	cluster.Kubelets.Boot(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "lost", Labels: map[string]string{v1.NodePoolLabelKey: "web"}}}, kubelet.Behaviour{})
	cluster.Eventually("the lost node is ready", patience, func() (bool, string) {
		node := cluster.Node("lost")
		return node != nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}), fmt.Sprint(node)
	})
	was := settledVersions(t, cluster)
	p := startProgram(t, cluster, "--adopt=dry-run")
	if code := p.ends(); code != 3 {
		t.Errorf("it ends with %d, want 3", code)
	}
	nothingDone(t, p)
	for _, words := range []string{"would be replaced  Drifted: NodePoolDrifted", "refused            no NodeClaim has its provider ID", "1 taken over, 0 leaving, 1 would be replaced, 0 would be ended, 1 refused, 0 would lose fields"} {
		if !strings.Contains(p.stdout.String(), words) {
			t.Errorf("it does not say %q", words)
		}
	}
	if changed := changes(was, versions(t, cluster)); len(changed) > 0 {
		t.Errorf("a dry run has changed %v", changed)
	}
}
