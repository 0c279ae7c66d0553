package harness

import (
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake"
)

type httpClient = http.Client

// projectClient makes a REST client for the project's kinds.
func projectClient(config *rest.Config, client *httpClient) (*rest.RESTClient, runtime.ParameterCodec, error) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		return nil, nil, err
	}
	metav1.AddToGroupVersion(scheme, v1.GroupVersion())
	c := rest.CopyConfig(config)
	version := v1.GroupVersion()
	c.GroupVersion, c.APIPath = &version, "/apis"
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	rc, err := rest.RESTClientForConfigAndClient(c, client)
	return rc, runtime.NewParameterCodec(scheme), err
}

// Labels returns the labels of the pods of a workload.
func Labels(workload string) map[string]string { return map[string]string{"app": workload} }

// Pod returns a pod template with one container that requests these amounts. The container exits within a second after a termination
// signal.
func Pod(cpu, memory string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(1)),
		Containers: []corev1.Container{{
			Name: "main", Image: "none",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
			}},
		}},
	}}
}

// CreateDeployment creates a deployment in the test's namespace. Its pods have Labels(name), and the labels of the template.
func (c *Cluster) CreateDeployment(name string, replicas int32, template corev1.PodTemplateSpec) *appsv1.Deployment {
	c.t.Helper()
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	for key, value := range Labels(name) {
		template.Labels[key] = value
	}
	created, err := c.Client.AppsV1().Deployments(c.Namespace).Create(c.t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: Labels(name)}, Template: template,
		},
	}, metav1.CreateOptions{})
	c.check(err)
	return created
}

// CreateBudget creates a PodDisruptionBudget in the test's namespace, with the name of the deployment. It allows this number of the
// deployment's pods to be unavailable at a time.
func (c *Cluster) CreateBudget(deployment string, maxUnavailable int32) {
	c.t.Helper()
	_, err := c.Client.PolicyV1().PodDisruptionBudgets(c.Namespace).Create(c.t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: deployment},
		Spec: policyv1.PodDisruptionBudgetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: Labels(deployment)}, MaxUnavailable: new(intstr.FromInt32(maxUnavailable)),
		},
	}, metav1.CreateOptions{})
	c.check(err)
}

// Scale changes the number of pods of a deployment.
func (c *Cluster) Scale(deployment string, replicas int32) {
	c.t.Helper()
	c.Retry("scaling deployment "+deployment, func() error {
		scale, err := c.Client.AppsV1().Deployments(c.Namespace).GetScale(c.t.Context(), deployment, metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = replicas
		_, err = c.Client.AppsV1().Deployments(c.Namespace).UpdateScale(c.t.Context(), deployment, scale, metav1.UpdateOptions{})
		return err
	})
}

// NodePool returns a pool, with defaults filled in, that allows all instance types of the fake cloud. The caller may change it before
// creating it. Its nodes are never consolidated unless a test changes this.
func NodePool(name string) *v1.NodePool {
	pool := &v1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{Spec: v1.NodeClaimTemplateSpec{
			NodeClassRef: v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"},
			Requirements: []v1.NodeSelectorRequirementWithMinValues{},
		}}},
	}
	pool.Spec.Disruption.ConsolidateAfter = v1.Never()
	pool.Default()
	return pool
}

// CreateNodePool creates a pool.
func (c *Cluster) CreateNodePool(pool *v1.NodePool) *v1.NodePool {
	c.t.Helper()
	var created *v1.NodePool
	// For a moment after its definition is stored, a kind may be unknown.
	c.Retry("creating nodepool "+pool.Name, func() (err error) {
		created, err = c.NodePools.Create(c.t.Context(), pool, metav1.CreateOptions{})
		return err
	})
	return created
}
