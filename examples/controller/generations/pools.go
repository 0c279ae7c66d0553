package generations

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/convert"
)

// translator converts objects from v1alpha5 to v1 and back. It may be called from any number of goroutines.
type translator struct {
	has     kinds
	options convert.Options

	mu sync.Mutex
	// pools and classes contain facts that are not stored: pools has facts about pools, by UID; classes has facts about node classes, by
	// name.
	pools   map[types.UID]poolNotes
	classes map[string]classNotes
}

// poolNotes are the fields of a pool's status that a Provisioner lacks.
type poolNotes struct {
	nodes           *int64
	classGeneration int64
}

func newTranslator(has kinds, legacy *convert.LegacySettings) *translator {
	return &translator{has: has, options: convert.Options{Legacy: legacy}, pools: map[types.UID]poolNotes{}, classes: map[string]classNotes{}}
}

// read returns the result of converting one stored object.
func (t *translator) read(object convert.Object, kind schema.GroupVersionKind, options convert.Options) convert.Result {
	copied, _ := object.DeepCopyObject().(convert.Object)
	copied.GetObjectKind().SetGroupVersionKind(kind)
	return convert.Read([]convert.Document{{Object: copied}}, options)
}

// pool converts a Provisioner to a pool. It returns nil if the Provisioner can't be converted; the warnings explain why.
func (t *translator) pool(p *v1alpha5.Provisioner) (*v1.NodePool, conversion.Warnings) {
	result := t.read(p, provisionerKind, t.options)
	for _, converted := range result.Objects {
		pool, ok := converted.Object.(*v1.NodePool)
		if !ok {
			continue
		}
		t.placePool(pool, p)
		return pool, result.Warnings
	}
	return nil, result.Warnings
}

// placePool sets the pool's generation, the name of its node class, and its status. The fields of the status that a Provisioner lacks come
// from t.pools.
func (t *translator) placePool(pool *v1.NodePool, p *v1alpha5.Provisioner) {
	v1.SetGenerationOf(pool, v1.GenerationV1Alpha5)
	if ref := &pool.Spec.Template.Spec.NodeClassRef; ours(*ref) {
		ref.Name = classOfProvisioner(p, pool.Annotations[v1beta1.KubeletAnnotationKey] != "").String()
	}
	delete(pool.Annotations, v1beta1.KubeletAnnotationKey) // in v1 the node class has the kubelet block
	pool.Status.Conditions = conditionsOfPool(p.Status.Conditions, p.Generation)
	t.mu.Lock()
	defer t.mu.Unlock()
	notes := t.pools[p.UID]
	pool.Status.Nodes, pool.Status.NodeClassObservedGeneration = notes.nodes, notes.classGeneration
}

// noteStatus remembers the fields of a pool's status that a Provisioner lacks.
func (t *translator) noteStatus(pool *v1.NodePool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pools[pool.UID] = poolNotes{pool.Status.Nodes, pool.Status.NodeClassObservedGeneration}
}

// forgetPool forgets a deleted Provisioner.
func (t *translator) forgetPool(p *v1alpha5.Provisioner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pools, p.UID)
}

// provisioner converts the pool back to the form of the stored Provisioner.
func (t *translator) provisioner(pool *v1.NodePool, stored *v1alpha5.Provisioner) *v1alpha5.Provisioner {
	in := pool.DeepCopy()
	v1.SetGenerationOf(in, v1.GenerationV1)
	plainReference(&in.Spec.Template.Spec.NodeClassRef)
	options := t.options.ProvisionerOptions()
	options.Force = true // the stored values were validated when they were stored
	out, _ := v1alpha5.ProvisionerFromV1(in, stored.Provenance(), options)
	out.Status.Conditions = conditionsOfProvisioner(pool.Status.Conditions, stored.Status.Conditions)
	return out
}

// ours reports whether a reference names the kind of node class that AWSNodeTemplates are converted to.
func ours(ref v1.NodeClassReference) bool {
	return ref.Group == awsv1.Group && ref.Kind == awsv1.KindEC2NodeClass
}
