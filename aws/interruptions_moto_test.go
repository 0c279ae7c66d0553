package aws_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
)

// cluster is an API server in memory, and a controller that ends claims and nodes in it by package provisioning.
type cluster struct {
	t        *testing.T
	provider *aws.Provider
	clock    *clock
	claims   map[string]*v1.NodeClaim
	nodes    map[string]*corev1.Node
	pods     map[types.NamespacedName]*corev1.Pod
	log      []string
}

// join adds a claim with its instance, and the node that the instance became, with pods.
func (c *cluster) join(claim *v1.NodeClaim, pods int) {
	claim.Finalizers = []string{v1.TerminationFinalizer}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-" + claim.Name, UID: types.UID("node-" + claim.UID), Finalizers: []string{v1.TerminationFinalizer}},
		Spec:       corev1.NodeSpec{ProviderID: claim.Status.ProviderID},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	claim.Status.NodeName = node.Name
	c.claims[claim.Name], c.nodes[node.Name] = claim, node
	for n := range pods {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(claim.Name, "-", n), UID: types.UID(fmt.Sprint("pod-", n))}}
		pod.Spec.NodeName = node.Name
		c.pods[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
}

// settle lets the controller look at everything, a second apart, until it has nothing to do any more.
func (c *cluster) settle() {
	for range 120 {
		busy := false
		for _, name := range slices.Sorted(maps.Keys(c.claims)) {
			s := provisioning.ClaimTermination{Claim: c.claims[name]}
			for _, n := range c.nodes {
				if n.Spec.ProviderID == s.Claim.Status.ProviderID {
					s.Nodes = append(s.Nodes, n)
				}
			}
			step := provisioning.TerminateClaim(s, c.clock.Now())
			if s.Instance = c.do(step); s.Instance != provisioning.InstanceUnasked {
				c.do(provisioning.TerminateClaim(s, c.clock.Now()))
			}
			busy = busy || c.claims[name] != nil && c.claims[name].DeletionTimestamp != nil
		}
		for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
			s := provisioning.NodeTermination{Node: c.nodes[name]}
			for _, claim := range c.claims {
				if claim.Status.ProviderID == s.Node.Spec.ProviderID {
					s.Claims = append(s.Claims, claim)
				}
			}
			for _, pod := range c.pods {
				if pod.Spec.NodeName == name {
					s.Pods = append(s.Pods, pod)
				}
			}
			if s.Instance = c.do(provisioning.TerminateNode(s, c.clock.Now())); s.Instance != provisioning.InstanceUnasked {
				s.Claims = nil
				for _, claim := range c.claims {
					if claim.Status.ProviderID == s.Node.Spec.ProviderID {
						s.Claims = append(s.Claims, claim)
					}
				}
				c.do(provisioning.TerminateNode(s, c.clock.Now()))
			}
			busy = busy || c.nodes[name] != nil && c.nodes[name].DeletionTimestamp != nil
		}
		if !busy {
			return
		}
		c.clock.now = c.clock.now.Add(time.Second)
	}
	c.t.Fatalf("it never settles: %q", c.log)
}

// do carries out a step; it returns what the provider said of the instance if it was asked.
func (c *cluster) do(step provisioning.Step) provisioning.InstanceState {
	ctx := c.t.Context()
	state := provisioning.InstanceUnasked
	asked := func(err error) {
		switch {
		case cloudprovider.IsNodeClaimNotFound(err):
			state = provisioning.InstanceGone
		case err == nil:
			state = provisioning.InstanceThere
		default:
			c.t.Fatal(err)
		}
	}
	for _, effect := range step.Effects {
		c.log = append(c.log, effect.String())
		switch e := effect.(type) {
		case provisioning.PutClaim:
			if c.claims[e.Claim.Name] = e.Claim; e.Claim.DeletionTimestamp != nil && len(e.Claim.Finalizers) == 0 {
				delete(c.claims, e.Claim.Name)
			}
		case provisioning.PutNode:
			if c.nodes[e.Node.Name] = e.Node; e.Node.DeletionTimestamp != nil && len(e.Node.Finalizers) == 0 {
				delete(c.nodes, e.Node.Name)
			}
		case provisioning.DeleteNode:
			node := c.nodes[e.Name].DeepCopy()
			node.DeletionTimestamp = &metav1.Time{Time: c.clock.Now()}
			c.nodes[e.Name] = node
		case provisioning.DeleteClaim:
			c.delete(e.Name)
		case provisioning.EvictPod:
			if !slices.ContainsFunc(c.nodes[c.pods[e.Key].Spec.NodeName].Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(ptr(v1.DisruptedTaint())) }) {
				c.t.Errorf("pod %s is evicted from a node that still takes pods", e.Key)
			}
			delete(c.pods, e.Key)
		case provisioning.TerminateInstance:
			asked(c.provider.Delete(ctx, e.Claim))
		case provisioning.AskInstance:
			_, err := c.provider.Get(ctx, e.Claim.Status.ProviderID)
			asked(err)
		default:
			c.t.Fatalf("unexpected: %s", effect)
		}
	}
	return state
}

func (c *cluster) delete(claim string) {
	if deleted := c.claims[claim]; deleted != nil && deleted.DeletionTimestamp == nil {
		deleted = deleted.DeepCopy()
		deleted.DeletionTimestamp = &metav1.Time{Time: c.clock.Now()}
		c.claims[claim] = deleted
	}
}

func ptr[T any](v T) *T { return &v }

// A spot warning, through an SQS that is not ours, closes the offering, has the node tainted and drained and its instance
// ended, and is removed once its claim is deleted; its neighbour stays. AWN-284 to AWN-291, AWN-367, CP-INTERRUPT-01,
// CP-INTERRUPT-02.
func TestMotoInterruptionDrains(t *testing.T) {
	now := &clock{time.Now()}
	s := newSite(t, func(c *aws.Config, o *aws.Options) { c.InterruptionQueue, o.Clock = "demo-events", now })
	ctx := t.Context()
	queue := sqs.NewFromConfig(mototest.Config(s.cloud))
	made, err := queue.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: awssdk.String("demo-events")})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, provider: s.provider, clock: now, claims: map[string]*v1.NodeClaim{}, nodes: map[string]*corev1.Node{}, pods: map[types.NamespacedName]*corev1.Pod{}}
	ids := map[string]string{}
	for _, name := range []string{"reclaimed", "neighbour"} {
		created, err := s.provider.Create(ctx, claim(name, in(v1.CapacityTypeLabelKey, "spot"), in(corev1.LabelTopologyZone, "us-east-1a")))
		if err != nil {
			t.Fatal(err)
		}
		c.join(created, 3)
		ids[name] = created.Status.ProviderID[strings.LastIndexByte(created.Status.ProviderID, '/')+1:]
	}
	instanceType := c.claims["reclaimed"].Labels[corev1.LabelInstanceTypeStable]
	for _, instance := range []string{"i-00000000000000000", ids["reclaimed"]} { // the first is another cluster's
		body := fmt.Sprintf(`{"version":"0","id":"e-%s","detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","account":"123456789012",`+
			`"time":%q,"region":"us-east-1","resources":[],"detail":{"instance-id":%q,"instance-action":"terminate"}}`, instance, now.now.UTC().Format(time.RFC3339), instance)
		if _, err := queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: made.QueueUrl, MessageBody: &body}); err != nil {
			t.Fatal(err)
		}
	}
	var list []cloudprovider.Interruption
	for len(list) == 0 {
		if list, err = s.provider.ReceiveInterruptions(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if len(list) != 1 || list[0].Kind != cloudprovider.InterruptionSpotReclaim || list[0].ProviderID != c.claims["reclaimed"].Status.ProviderID {
		t.Fatalf("heard %+v", list)
	}
	if closed := s.offering(instanceType, "us-east-1a", "spot"); closed.Available {
		t.Errorf("%s in us-east-1a is still offered as spot", instanceType)
	}

	for name, claim := range c.claims {
		if claim.Status.ProviderID == list[0].ProviderID {
			c.delete(name)
		}
	}
	if err := s.provider.AckInterruptions(ctx, list[0].ID); err != nil {
		t.Error(err)
	}
	c.settle()
	if len(c.claims) != 1 || len(c.nodes) != 1 || len(c.pods) != 3 || c.claims["neighbour"] == nil {
		t.Errorf("left: %d claims, %d nodes, %d pods, after %q", len(c.claims), len(c.nodes), len(c.pods), c.log)
	}
	if left := s.instances(); len(left) != 1 || *left[0].InstanceId != ids["neighbour"] || left[0].State.Name != ec2types.InstanceStateNameRunning {
		t.Errorf("%d instances are left", len(left))
	}
	evicted := slices.IndexFunc(c.log, func(l string) bool { return strings.HasPrefix(l, "evict pod") })
	ended := slices.IndexFunc(c.log, func(l string) bool { return strings.HasPrefix(l, "terminate instance") })
	if evicted < 0 || ended < evicted {
		t.Errorf("pods are evicted before the instance is ended: %q", c.log)
	}
	out, err := queue.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: made.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"} {
		if out.Attributes[name] != "0" {
			t.Errorf("%s: %s, want an empty queue", name, out.Attributes[name])
		}
	}

	// The next process has launched nothing, and still knows whose instance it is.
	clients, err := sdk.Load(ctx, sdkConfig(s.cloud))
	if err != nil {
		t.Fatal(err)
	}
	next, err := aws.New(ctx, aws.Config{ClusterName: "demo", InterruptionQueue: "demo-events"}, aws.Options{
		Clients: clients, NodeClasses: aws.NodeClasses{"default": s.class}, Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
	})
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"version":"0","id":"e-9","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","time":%q,"detail":{"instance-id":%q,"state":"stopping"}}`,
		now.now.UTC().Format(time.RFC3339), ids["neighbour"])
	if _, err := queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: made.QueueUrl, MessageBody: &body}); err != nil {
		t.Fatal(err)
	}
	list, err = next.ReceiveInterruptions(ctx)
	if err != nil || len(list) != 1 || list[0].Kind != cloudprovider.InterruptionStopped || list[0].ProviderID != c.claims["neighbour"].Status.ProviderID {
		t.Errorf("the next process heard %+v, %v", list, err)
	}
}

// offering is one of the class's.
func (s *site) offering(instanceType, zone, capacityType string) *cloudprovider.Offering {
	s.t.Helper()
	all, err := s.provider.InstanceTypes(s.t.Context(), nodePool())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, it := range all {
		for n := range it.Offerings {
			if o := &it.Offerings[n]; it.Name == instanceType && o.Zone() == zone && o.CapacityType() == capacityType {
				return o
			}
		}
	}
	s.t.Fatalf("no %s offering of %s in %s", capacityType, instanceType, zone)
	return nil
}
