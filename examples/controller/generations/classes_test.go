package generations

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
)

// API-080, API-236, API-262, API-285, API-303: a pool of the first generation refers to a node class of that generation, which is its
// node template, the same with its kubelet block, or its inline block; what is found out about it is kept with it, and an
// EC2NodeClass of the name is another.
func TestNodeClasses(t *testing.T) {
	template := &awsv1alpha1.AWSNodeTemplate{}
	read(t, "../../../aws/api/v1alpha1/testdata/full.yaml", template)
	template.Name, template.UID, template.Generation = "default", "uid-t", 2
	full := provisioned(t)
	plain, inline := full.DeepCopy(), full.DeepCopy()
	plain.Name, plain.UID, plain.Spec.KubeletConfiguration = "plain", "uid-plain", nil
	inline.Name, inline.UID, inline.Spec.KubeletConfiguration, inline.Spec.ProviderRef = "inline", "uid-inline", nil, nil
	inline.Spec.Provider = &runtime.RawExtension{Raw: []byte(`{"instanceProfile":"p","subnetSelector":{"a":"b"},"securityGroupSelector":{"a":"b"}}`)}
	for _, p := range []*v1alpha5.Provisioner{full, plain} {
		p.Spec.ProviderRef = &v1alpha5.MachineTemplateRef{Name: "default"}
	}
	c, _ := stored(t, template, full, plain, inline)
	for name, want := range map[string]string{"web": "v1alpha5/default/web", "plain": "v1alpha5/default", "inline": "v1alpha5//inline"} {
		pool := &v1.NodePool{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: string(v1.GenerationV1Alpha5), Name: name}, pool); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		class := &awsv1.EC2NodeClass{}
		if got := pool.Spec.Template.Spec.NodeClassRef.Name; got != want {
			t.Errorf("%s refers to %s, want %s", name, got, want)
		} else if err := c.Get(t.Context(), client.ObjectKey{Name: got}, class); err != nil || class.Name != want || (class.Spec.Kubelet != nil) != (name == "web") {
			t.Errorf("%s: %v, kubelet %+v", want, err, class.Spec.Kubelet)
		}
		next := class.DeepCopy()
		next.Finalizers = []string{"f"}
		if err := c.Patch(t.Context(), next, locked(class)); err != nil {
			t.Fatal(err)
		}
		class = next.DeepCopy()
		next.Status.InstanceProfile = "made for " + name
		if err := c.Status().Patch(t.Context(), next, locked(class)); err != nil {
			t.Fatal(err)
		}
		again := &awsv1.EC2NodeClass{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: want}, again); err != nil || again.Status.InstanceProfile != "made for "+name || len(again.Finalizers) != 1 {
			t.Errorf("%s after writes: %v, %+v", want, err, again.ObjectMeta)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "default"}, &awsv1.EC2NodeClass{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("an EC2NodeClass of the node template's name: %v", err)
	}
	var list awsv1.EC2NodeClassList
	if err := c.List(t.Context(), &list); err != nil || len(list.Items) != 3 {
		t.Errorf("%d node classes, %v", len(list.Items), err)
	}
	if class, warnings := c.reader.class(nil, plain); class != nil || len(warnings) != 0 {
		t.Errorf("of nothing: %v %v", class, warnings)
	}
}
