package aws

import (
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/discovery"
)

// ObserveMemory records the memory (status.capacity, in bytes) of a registered node of a type and class. It reports whether the provider
// now assumes another amount for such nodes. For nodes of the same type and images, the provider uses the smallest recorded value.
func (p *Provider) ObserveMemory(class *awsv1.EC2NodeClass, instanceType string, bytes int64) bool {
	return p.memory.Observe(discovery.Sighting{
		InstanceType: instanceType, Family: string(class.Spec.EffectiveAMIFamily()), Images: imageKey(class), Bytes: bytes,
	})
}

// ExportMemory returns all records of ObserveMemory, in a fixed order, to save them across restarts.
func (p *Provider) ExportMemory() ([]byte, error) { return p.memory.Export() }

// ImportMemory loads a result of ExportMemory, from this or another process. Newer records stay. If the text is invalid it returns an error
// and loads nothing.
func (p *Provider) ImportMemory(text []byte) error { return p.memory.Import(text) }
