package aws

import (
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/discovery"
)

// ObserveMemory takes note of the memory, status.capacity in bytes, that a registered node of a type and class has, and reports
// whether that changes what the provider assumes of such nodes. Of several nodes of one type and the same images the one with
// the least memory counts.
func (p *Provider) ObserveMemory(class *awsv1.EC2NodeClass, instanceType string, bytes int64) bool {
	return p.memory.Observe(discovery.Sighting{
		InstanceType: instanceType, Family: string(class.Spec.EffectiveAMIFamily()), Images: imageKey(class), Bytes: bytes,
	})
}

// ExportMemory is all that ObserveMemory has learned, in a fixed order, to be saved across restarts.
func (p *Provider) ExportMemory() ([]byte, error) { return p.memory.Export() }

// ImportMemory takes over what ExportMemory gave, in this process or another one. What is known since then already stays. Text of
// another form is an error, and nothing is taken over.
func (p *Provider) ImportMemory(text []byte) error { return p.memory.Import(text) }
