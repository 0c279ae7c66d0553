package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/examples/controller/install"
	"github.com/drawknife/drawknife/examples/controller/transport"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// older is an API server whose definitions let in what those of this project don't, as those of other releases do.
type older struct {
	t       *testing.T
	cluster *harness.Cluster
	client  client.Client
	objects dynamic.Interface
}

// loosen has the API server take anything for objects of these kinds, by the names of their definitions, until renew.
func loosen(t *testing.T, cluster *harness.Cluster, names ...string) *older {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	c, err := client.New(cluster.Config(), client.Options{Scheme: everyKind(t)})
	if err != nil {
		t.Fatal(err)
	}
	o := &older{t: t, cluster: cluster, client: c, objects: dynamic.NewForConfigOrDie(cluster.Config())}
	t.Cleanup(func() {
		if err := install.CRDs(context.Background(), cluster.Config(), install.Options{}); err != nil {
			t.Error(err)
		}
	})
	for _, name := range names {
		cluster.Retry("loosening "+name, func() error { // the API server writes conditions of it in between
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := c.Get(t.Context(), client.ObjectKey{Name: name}, crd); err != nil {
				return err
			}
			for i := range crd.Spec.Versions {
				crd.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
			}
			return c.Update(t.Context(), crd)
		})
	}
	return o
}

// renew installs the project's definitions.
func (o *older) renew() {
	o.t.Helper()
	if err := install.CRDs(o.t.Context(), o.cluster.Config(), install.Options{}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *older) of(version, resource string) dynamic.ResourceInterface {
	group := v1.Group
	if resource == "ec2nodeclasses" {
		group = awsv1.Group
	}
	return o.objects.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
}

// store creates an object, as soon as the API server takes it.
func (o *older) store(version, resource, manifest string) {
	o.t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		o.t.Fatal(err)
	}
	o.cluster.Retry("storing "+object.GetName(), func() error {
		_, err := o.of(version, resource).Create(o.t.Context(), object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // the answer to an earlier try was lost
			return nil
		}
		return err
	})
	o.t.Cleanup(func() { o.remove(version, resource, object.GetName()) })
}

// remove deletes an object that nobody looks after any more.
func (o *older) remove(version, resource, name string) {
	ctx := context.Background()
	err := o.of(version, resource).Delete(ctx, name, metav1.DeleteOptions{})
	if err == nil {
		_, err = o.of(version, resource).Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		o.t.Error(err)
	}
}

// refused waits until an object like the one that is stored is refused for the reason.
func (o *older) refused(version, resource, manifest, reason string) {
	o.t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		o.t.Fatal(err)
	}
	object.SetName("another")
	o.cluster.Eventually("the like of it is refused", patience, func() (bool, string) {
		_, err := o.of(version, resource).Create(o.t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err) && strings.Contains(err.Error(), reason), fmt.Sprint(err)
	})
}

// minutes is a quantity that takes minutes to read.
const minutes = `"1e-999999999"`

// TestStoredHostileQuantities has a quantity that takes minutes to read in objects that looser definitions let in. The program
// names each, reads it as 0 and goes on with everything else; present definitions let none in any more. A pod can't have one: an
// API server stores what it has read itself.
func TestStoredHostileQuantities(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	ref := fmt.Sprintf("nodeClassRef: {group: %s, kind: %s, name: default}", fake.NodeClassGroup, fake.NodeClassKind)
	o := loosen(t, cluster, "nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "nodeoverlays.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws")
	hostile := []struct{ version, resource, manifest string }{
		{"v1", "nodepools", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd-pool}\nspec: {limits: {cpu: " + minutes + "}, weight: 100, disruption: {consolidateAfter: 0s}, template: {spec: {requirements: [], " + ref + "}}}\n"},
		{"v1", "nodeclaims", "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: odd-claim, labels: {karpenter.sh/nodepool: odd-pool}}\nspec: {resources: {requests: {cpu: " + minutes + "}}, requirements: [], " +
			"nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: odd-class}}\n"},
		{"v1alpha1", "nodeoverlays", "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: odd-overlay}\nspec: {requirements: [{key: a, operator: Exists}], capacity: {example.com/x: " + minutes + "}}\n"},
		{"v1", "ec2nodeclasses", "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: odd-class}\nspec: {role: r, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{id: subnet-1}], " +
			"securityGroupSelectorTerms: [{id: sg-1}], blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: " + minutes + "}}]}\n"},
	}
	for _, h := range hostile {
		o.store(h.version, h.resource, h.manifest)
	}
	o.renew()
	for _, h := range hostile {
		o.refused(h.version, h.resource, h.manifest, "should match")
	}
	cluster.Note("stored, and refused from now on")

	p := startProgram(t, cluster, "--batch-idle-duration", "200ms", "--batch-max-duration", "1s", "--feature-gates", "NodeOverlay=true")
	cluster.CreateNodePool(harness.NodePool("default"))
	cluster.CreateDeployment("web", 4, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 4))
	list, err := o.of("v1", "nodeclaims").List(t.Context(), metav1.ListOptions{}) // not as NodeClaims: that takes minutes
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range list.Items {
		if claim.GetLabels()[v1.NodePoolLabelKey] == "odd-pool" && claim.GetName() != "odd-claim" {
			t.Errorf("nodeclaim %s is of the pool whose limit nobody can read", claim.GetName())
		}
	}
	for _, name := range []string{"odd-pool", "odd-claim", "odd-overlay"} {
		p.says(fmt.Sprintf(`"object":%q`, name))
	}
	cluster.Note("the program goes on")

	// The AWS provider reads classes the same way.
	var told bytes.Buffer
	config := rest.CopyConfig(cluster.Config())
	config.Wrap(transport.Bounded(slog.New(slog.NewJSONHandler(&told, nil))))
	c, err := client.New(config, client.Options{Scheme: everyKind(t)})
	if err != nil {
		t.Fatal(err)
	}
	var classes awsv1.EC2NodeClassList
	if err := c.List(t.Context(), &classes); err != nil || len(classes.Items) != 1 || !strings.Contains(told.String(), `"object":"odd-class"`) {
		t.Errorf("classes: %v, %d; told: %s", err, len(classes.Items), &told)
	}

	// An exponent that is only too large, so that the API server need not write out a billion digits.
	raw := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"odd"},"spec":{"containers":[{"name":"c","image":"none","resources":{"requests":{"cpu":"1e-1000"}}}]}}`)
	answer, err := cluster.Client.CoreV1().RESTClient().Post().Namespace(cluster.Namespace).Resource("pods").Body(raw).
		SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").DoRaw(t.Context())
	if err != nil && !apierrors.IsInvalid(err) {
		t.Fatal(err)
	}
	var stored struct {
		Spec struct {
			Containers []struct {
				Resources struct{ Requests map[string]string }
			}
		}
	}
	if err == nil {
		if err := json.Unmarshal(answer, &stored); err != nil || stored.Spec.Containers[0].Resources.Requests["cpu"] == "1e-1000" {
			t.Errorf("a pod is stored with what was written: %s, %v", answer, err)
		}
	}
	p.stop()
}

// TestAdoptedFromReleasesWithoutReasons takes over NodeClaims whose conditions have neither reason nor message, as Karpenter up to 0.36
// wrote them. A dry run lists the objects that the current definitions refuse or prune. Then the controller manages the NodeClaims, and
// removes one that is deleted. API-149, API-220.
func TestAdoptedFromReleasesWithoutReasons(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	pool := karpentersPool(cluster, "web", v1.NodePoolHashVersion, "")
	for _, name := range []string{"web-1", "web-2"} {
		karpentersNode(t, cluster, pool, name)
	}
	o := loosen(t, cluster, "nodepools.karpenter.sh", "nodeclaims.karpenter.sh")
	bare := func(types ...string) []any {
		var list []any
		for _, kind := range types {
			list = append(list, map[string]any{"type": kind, "status": "True", "lastTransitionTime": "2024-03-01T00:00:00Z"})
		}
		return list
	}
	claims := o.of("v1", "nodeclaims")
	for _, name := range []string{"web-1", "web-2"} {
		o.setConditions(claims, name, bare(v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized, v1.ConditionReady))
	}
	ref := fmt.Sprintf("nodeClassRef: {group: %s, kind: %s, name: default}", fake.NodeClassGroup, fake.NodeClassKind)
	o.store("v1", "nodepools", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: older}\nspec: {retired: 1, disruption: {consolidateAfter: 0s}, template: {spec: {requirements: [], expireAfter: Never, "+ref+"}}}\n")
	o.store("v1", "nodeclaims", "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: twice}\nspec: {requirements: [], expireAfter: Never, "+ref+"}\n")
	o.setConditions(claims, "twice", bare(v1.ConditionLaunched, v1.ConditionLaunched))

	dry := startProgram(t, cluster, "--adopt=dry-run")
	if code := dry.ends(); code != exitFindings {
		t.Errorf("the dry run ends with %d, want %d", code, exitFindings)
	}
	nothingDone(t, dry)
	for _, words := range []string{"status.conditions[1]: Duplicate value", "spec.retired", "1 refused, 1 would lose fields"} {
		if !strings.Contains(dry.stdout.String(), words) {
			t.Errorf("the dry run does not say %q", words)
		}
	}
	for line := range strings.SplitSeq(dry.stdout.String(), "\n") {
		if strings.Contains(line, "web-") && strings.Contains(line, "refused") {
			t.Errorf("conditions without reasons are refused: %s", line)
		}
	}
	cluster.Note("dry run")

	o.remove("v1", "nodeclaims", "twice") // as the table says
	o.renew()
	p := startProgram(t, cluster, "--adopt")
	p.says("adopted NodePools and NodeClaims")
	cluster.Eventually("the program is ready", patience, p.ready)
	for _, claim := range claimsOf(t, cluster) {
		for _, c := range claim.Status.Conditions {
			if c.Reason == "" {
				t.Errorf("condition %s of nodeclaim %s has no reason: %+v", c.Type, claim.Name, c)
			}
		}
		if ready := claim.Conditions().Ready(); ready.Status != metav1.ConditionTrue {
			t.Errorf("nodeclaim %s is not ready any more: %+v", claim.Name, ready)
		}
	}
	kept, gone := cluster.Node(nodeOfClaim(t, cluster, "web-1")), nodeOfClaim(t, cluster, "web-2")
	if err := cluster.NodeClaims.Delete(t.Context(), "web-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the claim and its node are gone", patience, func() (bool, string) {
		_, err := cluster.NodeClaims.Get(t.Context(), "web-2", metav1.GetOptions{})
		return apierrors.IsNotFound(err) && cluster.Node(gone) == nil, fmt.Sprint(err)
	})
	if now := cluster.Node(kept.Name); now == nil || now.UID != kept.UID || now.DeletionTimestamp != nil {
		t.Errorf("the other node is %+v", now)
	}
	p.stop()
	cluster.Note("taken over")
}

// exitFindings is the program's exit code after a dry run that found something.
const exitFindings = 3

// setConditions stores conditions as they are given, as soon as the API server takes them.
func (o *older) setConditions(of dynamic.ResourceInterface, name string, list []any) {
	o.t.Helper()
	o.cluster.Retry("conditions of "+name, func() error {
		object, err := of.Get(o.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedSlice(object.Object, list, "status", "conditions"); err != nil {
			return err
		}
		stored, err := of.UpdateStatus(o.t.Context(), object, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		got, _, err := unstructured.NestedSlice(stored.Object, "status", "conditions")
		if err == nil && len(got) != len(list) {
			err = fmt.Errorf("%d conditions are stored", len(got))
		}
		return err
	})
}

func nodeOfClaim(t *testing.T, cluster *harness.Cluster, name string) string {
	t.Helper()
	claim, err := cluster.NodeClaims.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return claim.Status.NodeName
}

// TestConvertedHostileQuantities has the webhook convert an object with a quantity that takes minutes to read: all objects of its
// kind are listed at once, in both versions, and it keeps what it has. API-350.
func TestConvertedHostileQuantities(t *testing.T) {
	s := serveTwoVersions(t)
	o := loosen(t, s.cluster, "nodepools.karpenter.sh")
	o.store("v1beta1", "nodepools", "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: odd-pool}\nspec: {limits: {cpu: "+minutes+"}, template: {spec: {requirements: [], nodeClassRef: {name: default}}}}\n")
	for _, version := range []string{"v1", "v1beta1"} {
		var list *unstructured.UnstructuredList
		s.cluster.Retry("listing "+version, func() (err error) {
			list, err = o.of(version, "nodepools").List(t.Context(), metav1.ListOptions{})
			return err
		})
		if len(list.Items) != 1 {
			t.Fatalf("%d nodepools as %s", len(list.Items), version)
		}
		if cpu, _, err := unstructured.NestedString(list.Items[0].Object, "spec", "limits", "cpu"); err != nil || `"`+cpu+`"` != minutes {
			t.Errorf("as %s the limit is %q, %v", version, cpu, err)
		}
	}
}
