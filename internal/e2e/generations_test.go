package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	"github.com/drawknife/drawknife/examples/controller/generations"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// everyKind is a scheme of all generations.
func everyKind(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := reconcilers.Scheme()
	for _, add := range []func(*runtime.Scheme) error{generations.AddToScheme, awsv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// firstGeneration is a cluster that has the kinds of the first generation, for as long as the test takes.
type firstGeneration struct {
	*harness.Cluster
	t      *testing.T
	client client.Client
}

func startFirstGeneration(t *testing.T) *firstGeneration {
	t.Helper()
	capabilities := fake.GenericCapabilities()
	capabilities.NodeClasses = append(capabilities.NodeClasses, metav1.GroupKind{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass})
	ctrl.SetLogger(logr.Discard())
	s := &firstGeneration{t: t, Cluster: server.Start(t, harness.Options{Cloud: fake.Options{Capabilities: &capabilities}})}
	var err error
	if s.client, err = client.New(s.Config(), client.Options{Scheme: everyKind(t)}); err != nil {
		t.Fatal(err)
	}
	for _, definition := range crds.Alpha() {
		object := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(definition.YAML(), object); err != nil {
			t.Fatal(err)
		}
		s.must(s.client.Create(t.Context(), object))
	}
	t.Cleanup(func() { s.remove(context.Background()) })
	for _, list := range s.lists() {
		s.Eventually(fmt.Sprintf("%T is served", list), patience, func() (bool, string) {
			err := s.client.List(t.Context(), list)
			return err == nil, fmt.Sprint(err)
		})
	}
	s.create(&awsv1alpha1.AWSNodeTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: awsv1alpha1.AWSNodeTemplateSpec{AWS: awsv1alpha1.AWS{
			InstanceProfile: new("nodes"), SubnetSelector: map[string]string{"cluster": "test"}, SecurityGroupSelector: map[string]string{"cluster": "test"},
		}},
	})
	return s
}

func (s *firstGeneration) lists() []client.ObjectList {
	return []client.ObjectList{&v1alpha5.ProvisionerList{}, &v1alpha5.MachineList{}, &awsv1alpha1.AWSNodeTemplateList{}}
}

func (s *firstGeneration) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// remove takes the kinds away, and all objects with them.
func (s *firstGeneration) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, definition := range crds.Alpha() {
		object := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: definition.Name()}}
		for {
			s.releaseMachines(ctx)
			err := s.client.Delete(ctx, object)
			if apierrors.IsNotFound(err) {
				break
			}
			select {
			case <-ctx.Done():
				s.t.Errorf("%s is still there: %v", definition.Name(), err)
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// releaseMachines takes off the finalizers of those that there are; what fails is tried again by the function that waits for their end.
func (s *firstGeneration) releaseMachines(ctx context.Context) {
	var machines v1alpha5.MachineList
	if err := s.client.List(ctx, &machines); err != nil {
		return
	}
	for i := range machines.Items {
		_ = s.client.Patch(ctx, &machines.Items[i], client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	}
}

// create creates an object of a kind that is new: the API server may not take any for a moment after it has said that it serves it.
func (s *firstGeneration) create(object client.Object) {
	s.t.Helper()
	s.Retry(fmt.Sprintf("creating %T %s", object, object.GetName()), func() error {
		err := s.client.Create(s.t.Context(), object)
		if apierrors.IsAlreadyExists(err) { // the answer to an earlier try was lost
			return s.client.Get(s.t.Context(), client.ObjectKeyFromObject(object), object)
		}
		return err
	})
}

// serve starts a controller that serves the first generation.
func (s *firstGeneration) serve(options reconcilers.Options) *controller {
	s.t.Helper()
	return startServing(s.t, s.Cluster, options, func(mgr ctrl.Manager, log *slog.Logger) (ctrl.Manager, error) {
		return generations.Serve(mgr, generations.Options{Logger: log})
	})
}

// provisioner creates one whose machines have so many cores.
func (s *firstGeneration) provisioner(name, cores string) *v1alpha5.Provisioner {
	s.t.Helper()
	p := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.ProviderRef = &v1alpha5.MachineTemplateRef{Name: "default"}
	p.Spec.Requirements = []corev1.NodeSelectorRequirement{{Key: fake.LabelInstanceCPU, Operator: corev1.NodeSelectorOpIn, Values: []string{cores}}}
	s.create(p)
	return p
}

func (s *firstGeneration) machines() []v1alpha5.Machine {
	s.t.Helper()
	var list v1alpha5.MachineList
	s.Retry("listing machines", func() error { return s.client.List(s.t.Context(), &list) })
	return list.Items
}

// condition is the status of one of a Machine's or Provisioner's.
func condition(list []v1beta1.Condition, name string) metav1.ConditionStatus {
	for _, c := range list {
		if c.Type == name {
			return c.Status
		}
	}
	return metav1.ConditionUnknown
}

// pinned is a pod that takes nodes with the label alone.
func pinned(key, value string) corev1.PodTemplateSpec {
	pod := harness.Pod("3", "1Gi")
	pod.Spec.NodeSelector = map[string]string{key: value}
	return pod
}

// TestBothGenerations has a Provisioner and a NodePool of one name in one cluster (API-009 to API-011, API-220, API-262, API-408,
// SET-111): pods for each get nodes of each, those of the one stored as Machines, those of the other as NodeClaims; and a Machine
// that is deleted is drained and ended.
func TestBothGenerations(t *testing.T) {
	s := startFirstGeneration(t)
	s.serve(hasty())
	p := s.provisioner("default", "4")
	s.CreateNodePool(harness.NodePool("default"))
	s.CreateDeployment("old", 1, pinned(v1alpha5.ProvisionerNameLabelKey, "default"))
	s.CreateDeployment("new", 1, pinned(v1.NodePoolLabelKey, "default"))
	for _, workload := range []string{"old", "new"} {
		s.Eventually("the pods run", patience, s.PodsRun(workload, 1))
	}
	s.Eventually("a Machine and a NodeClaim are initialised", patience, func() (bool, string) {
		machines, claims := s.machines(), claimsOf(t, s.Cluster)
		return len(machines) == 1 && len(claims) == 1 && condition(machines[0].Status.Conditions, v1alpha5.ConditionMachineInitialized) == "True" &&
			claims[0].Conditions().IsTrue(v1.ConditionInitialized), fmt.Sprintf("%d machines, %d nodeclaims", len(machines), len(claims))
	})
	m := s.machines()[0]
	if m.Labels[v1alpha5.ProvisionerNameLabelKey] != "default" || m.OwnerReferences[0].UID != p.UID || m.Spec.MachineTemplateRef.Name != "default" ||
		condition(m.Status.Conditions, v1alpha5.ConditionReady) != "True" {
		t.Errorf("the Machine is %+v", m)
	}
	s.Eventually("each node is owned by the Machine or NodeClaim of its pool", patience, func() (bool, string) { // the watch may be late
		owned := 0
		for _, node := range s.Nodes() {
			pool := v1.PoolOf(node.Labels)
			kind := map[bool]string{true: v1alpha5.KindMachine, false: v1.KindNodeClaim}[pool == p.Key()]
			if pool.Name == "default" && len(node.OwnerReferences) == 1 && node.OwnerReferences[0].Kind == kind {
				owned++
			}
		}
		return owned == 2 && len(s.Nodes()) == 2, fmt.Sprintf("%d of %d", owned, len(s.Nodes()))
	})
	s.Eventually("the Provisioner is active and has usage", patience, func() (bool, string) {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			return false, err.Error()
		}
		cores := p.Status.Resources[corev1.ResourceCPU]
		return condition(p.Status.Conditions, v1alpha5.ConditionActive) == "True" && cores.Value() == 4, fmt.Sprintf("%+v", p.Status)
	})
	s.must(s.client.Delete(t.Context(), &m))
	s.Eventually("the Machine is replaced by another", patience, func() (bool, string) {
		machines := s.machines()
		return len(machines) == 1 && machines[0].UID != m.UID && len(s.Cloud.Instances()) == 2, fmt.Sprintf("%d machines, %d instances", len(machines), len(s.Cloud.Instances()))
	})
	s.Eventually("the pods run", patience, s.PodsRun("old", 1))
}

// oldNode is a Machine of the Provisioner with its instance and node, all as release 0.31 leaves them.
func (s *firstGeneration) oldNode(p *v1alpha5.Provisioner, name string) *v1alpha5.Machine {
	t := s.t
	t.Helper()
	m := &v1alpha5.Machine{ObjectMeta: metav1.ObjectMeta{
		Name: name, Finalizers: []string{v1.TerminationFinalizer}, Labels: map[string]string{v1alpha5.ProvisionerNameLabelKey: p.Name},
		Annotations:     map[string]string{v1alpha5.ProvisionerHashAnnotationKey: "1234", v1alpha5.ManagedByAnnotationKey: "test"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha5.APIVersion, Kind: v1alpha5.KindProvisioner, Name: p.Name, UID: p.UID, BlockOwnerDeletion: new(true)}},
	}}
	m.Spec.MachineTemplateRef = &v1alpha5.MachineTemplateRef{APIVersion: awsv1alpha1.APIVersion, Kind: awsv1alpha1.KindAWSNodeTemplate, Name: "default"}
	m.Spec.Requirements = p.Spec.Requirements
	s.create(m)
	claim := claimFor(name, zoneA)
	claim.UID, claim.Labels = m.UID, maps.Clone(m.Labels)
	launched, err := s.Cloud.Create(t.Context(), claim)
	s.must(err)
	var node *corev1.Node
	s.Eventually("the node of "+name+" has joined", patience, func() (bool, string) {
		for _, n := range s.Nodes() {
			if n.Spec.ProviderID == launched.Status.ProviderID {
				node = n
			}
		}
		return node != nil, "no node"
	})
	labels := maps.Clone(launched.Labels)
	maps.Copy(labels, m.Labels)
	s.Retry("the Machine "+name, func() error {
		next := m.DeepCopy()
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(m), next); err != nil {
			return err
		}
		next.Labels = labels
		if err := s.client.Update(t.Context(), next); err != nil {
			return err
		}
		next.Status = v1alpha5.MachineStatus{
			NodeName: node.Name, ProviderID: launched.Status.ProviderID, Capacity: launched.Status.Capacity, Allocatable: launched.Status.Allocatable,
		}
		for _, kind := range []string{v1alpha5.ConditionMachineLaunched, v1alpha5.ConditionMachineRegistered, v1alpha5.ConditionMachineInitialized, v1alpha5.ConditionReady} {
			next.Status.Conditions = append(next.Status.Conditions, v1beta1.Condition{Type: kind, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now()})
		}
		m = next
		return s.client.Status().Update(t.Context(), next)
	})
	s.Retry("the node of "+name, func() error {
		next, err := s.Client.CoreV1().Nodes().Get(t.Context(), node.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		maps.Copy(next.Labels, labels)
		next.Labels[v1.NodeRegisteredLabelKey], next.Labels[v1.NodeInitializedLabelKey] = "true", "true"
		next.Finalizers = []string{v1.TerminationFinalizer}
		next.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha5.APIVersion, Kind: v1alpha5.KindMachine, Name: m.Name, UID: m.UID, BlockOwnerDeletion: new(true)}}
		next.Spec.Taints = slices.DeleteFunc(next.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == v1.UnregisteredTaintKey })
		_, err = s.Client.CoreV1().Nodes().Update(t.Context(), next, metav1.UpdateOptions{})
		return err
	})
	return m
}

// TestMachinesOfEarlierReleases takes over what release 0.31 leaves (API-230, API-335, API-336, API-405, API-408, API-411): the
// Machines stay with their nodes and instances, the drift hash of this release next to the old one; when their Provisioner is
// deleted, they go, and nothing is launched for it any more.
func TestMachinesOfEarlierReleases(t *testing.T) {
	const pods = 2
	s := startFirstGeneration(t)
	p := s.provisioner("default", "8")
	before := map[types.UID]string{}
	for i := range pods {
		m := s.oldNode(p, fmt.Sprintf("default-%d", i))
		before[m.UID] = m.Status.ProviderID
	}
	s.CreateDeployment("web", pods, pinned(v1alpha5.ProvisionerNameLabelKey, "default"))
	s.Eventually("the pods run on nodes of the earlier release", patience, s.PodsRun("web", pods))
	s.serve(hasty())
	s.Eventually("the Machines have the drift hash of this release", patience, func() (bool, string) {
		n := 0
		for _, m := range s.machines() {
			if m.Annotations[v1.NodePoolHashAnnotationKey] != "" && m.Annotations[v1alpha5.ProvisionerHashAnnotationKey] == "1234" {
				n++
			}
		}
		return n == pods, fmt.Sprintf("%d", n)
	})
	s.Never("a Machine is replaced", 5*time.Second, func() (bool, string) {
		for _, m := range s.machines() {
			if before[m.UID] != m.Status.ProviderID || m.DeletionTimestamp != nil {
				return true, m.Name
			}
		}
		return len(s.Cloud.Instances()) != pods, fmt.Sprintf("%d instances", len(s.Cloud.Instances()))
	})
	s.must(s.client.Delete(t.Context(), p, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	s.Eventually("everything of the Provisioner is gone", patience, func() (bool, string) {
		nodes, instances, machines := len(s.Nodes()), len(s.Cloud.Instances()), len(s.machines())
		return nodes+instances+machines == 0, fmt.Sprintf("%d nodes, %d instances, %d machines", nodes, instances, machines)
	})
	s.Eventually("the pods wait", patience, s.PodsUnschedulable("web", pods))
}

// TestLegacyTaintRollsProvisioner goes the way from a Provisioner to the NodePool of its name (API-403, API-409, API-410, API-447):
// the Provisioner gets a taint that no pod tolerates, and its nodes are replaced by nodes of the NodePool, one at a time.
func TestLegacyTaintRollsProvisioner(t *testing.T) {
	const pods = 2
	s := startFirstGeneration(t)
	s.serve(hasty())
	p := s.provisioner("default", "4")
	s.CreateDeployment("web", pods, harness.Pod("3", "2Gi"))
	s.Eventually("the pods run", patience, s.PodsRun("web", pods))
	s.Eventually("all Machines are initialised", patience, func() (bool, string) {
		n := 0
		for _, m := range s.machines() {
			if condition(m.Status.Conditions, v1alpha5.ConditionMachineInitialized) == "True" {
				n++
			}
		}
		return n == pods, fmt.Sprintf("%d", n)
	})
	replacement := fourCores("default", 0)
	replacement.Spec.Disruption.ConsolidateAfter = v1.Never()
	s.CreateNodePool(replacement)
	s.must(s.client.Patch(t.Context(), p, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"taints":[{"key":"karpenter.sh/legacy","value":"true","effect":"NoSchedule"}]}}`))))
	most := 0
	took := s.Eventually("all nodes are of the NodePool", patience, func() (bool, string) {
		nodes := s.Nodes()         // read before the Machines: a node that leaves when another one has ended is not seen next to it
		lives := map[string]bool{} // machines that are being ended count no more
		for _, m := range s.machines() {
			lives[m.Status.NodeName] = condition(m.Status.Conditions, v1.ConditionInstanceTerminating) != "True"
		}
		leaving, left := 0, 0
		for _, node := range nodes {
			switch {
			case v1.PoolOf(node.Labels) == v1.NewPoolKey("default"):
			case !lives[node.Name]:
				left++
			case node.DeletionTimestamp != nil || v1.DisruptionMarked(node):
				leaving++
				left++
			default:
				left++
			}
		}
		most = max(most, leaving)
		return left == 0, fmt.Sprintf("%d are left, %d of them leave", left, leaving)
	})
	if most > 1 { // none is seen when each leaves between two looks
		t.Errorf("up to %d nodes left at a time, want 1", most)
	}
	s.Eventually("the pods run", patience, s.PodsRun("web", pods))
	s.Eventually("no Machine is left", patience, func() (bool, string) {
		return len(s.machines()) == 0 && len(s.Nodes()) == pods, fmt.Sprintf("%d machines, %d nodes", len(s.machines()), len(s.Nodes()))
	})
	s.Note("rolled after %s, up to %d node at a time", took.Round(time.Millisecond), most)
}
