package simulate

import (
	"fmt"

	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// nodeClasses are the EC2NodeClasses of an input by name. The keys contain the generation, so that a class of v1alpha5 and a later class
// with the same name have different keys.
type nodeClasses map[v1.PoolKey]*awsv1.EC2NodeClass

func classesOf(loaded *manifests.Result) nodeClasses {
	classes := make(nodeClasses, len(loaded.NodeClasses)+len(loaded.FirstNodeClasses))
	for _, born := range []struct {
		generation v1.Generation
		classes    []kinds.NodeClass
	}{{v1.GenerationV1, loaded.NodeClasses}, {v1.GenerationV1Alpha5, loaded.FirstNodeClasses}} {
		for _, object := range born.classes {
			if class, ok := object.(*awsv1.EC2NodeClass); ok {
				classes[v1.PoolKey{Generation: born.generation, Name: class.Name}] = class
			}
		}
	}
	return classes
}

// named returns the class that the pool refers to, or nil if the input does not contain it, or if it belongs to another provider.
func (c nodeClasses) named(pool *scheduling.NodePool) *awsv1.EC2NodeClass {
	ref := nodeClassOf(pool)
	if ref.Group != awsv1.Group || ref.Kind != awsv1.KindEC2NodeClass {
		return nil
	}
	key := pool.Key
	key.Name = ref.Name
	return c[key]
}

// effective returns the class with which the pool's nodes are launched. A kubelet block from a v1beta1 or v1alpha5 version of the pool
// replaces the block of the class. effective returns nil if the class is not known and the pool has no such block.
func (c nodeClasses) effective(pool *scheduling.NodePool) (*awsv1.EC2NodeClass, error) {
	class := c.named(pool)
	if _, ok := pool.Object.Annotations[v1beta1.KubeletAnnotationKey]; !ok {
		return class, nil
	}
	block, err := convert.EffectiveKubelet(nil, pool.Object, class)
	if err != nil {
		return nil, fmt.Errorf("NodePool %s: metadata: %w", pool.Key, err)
	}
	if class == nil {
		class = &awsv1.EC2NodeClass{}
		class.Name = nodeClassOf(pool).Name
		class.Spec.AMIFamily = awsv1.AMIFamilyAL2023
	}
	class = class.DeepCopy()
	class.Spec.Kubelet = block
	return class, nil
}
