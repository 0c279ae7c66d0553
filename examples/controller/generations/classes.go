package generations

import (
	"encoding/json"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	"github.com/drawknife/drawknife/aws/convert"
)

// className identifies a node class of v1alpha5: an AWSNodeTemplate, an AWSNodeTemplate with the kubelet block of a Provisioner,
// or a Provisioner's inline provider block. The zero value is not a node class.
type className struct{ template, provisioner string }

const classPrefix = string(v1.GenerationV1Alpha5) + "/"

// String returns the name that the v1 node class of this v1alpha5 class has in the controller's memory.
func (n className) String() string {
	if n.provisioner == "" {
		return classPrefix + n.template
	}
	return classPrefix + n.template + "/" + n.provisioner
}

// parseClass parses a result of className.String. For other names, it returns the zero value.
func parseClass(name string) className {
	rest, first := strings.CutPrefix(name, classPrefix)
	if !first {
		return className{}
	}
	template, provisioner, _ := strings.Cut(rest, "/")
	return className{template, provisioner}
}

// classOfProvisioner returns the node class of a Provisioner's Machines. kubelet says whether the Provisioner has a kubelet block.
func classOfProvisioner(p *v1alpha5.Provisioner, kubelet bool) className {
	if p.Spec.Provider != nil || p.Spec.ProviderRef == nil {
		return className{provisioner: p.Name}
	}
	if !kubelet {
		return className{template: p.Spec.ProviderRef.Name}
	}
	return className{p.Spec.ProviderRef.Name, p.Name}
}

// classOfMachine returns the node class that a Machine was made from. A Machine's kubelet block comes from its Provisioner.
func classOfMachine(m *v1alpha5.Machine) className {
	owner := v1.PoolOf(m.Labels).Name
	if m.Spec.MachineTemplateRef == nil {
		return className{provisioner: owner}
	}
	if m.Spec.Kubelet == nil {
		owner = ""
	}
	return className{m.Spec.MachineTemplateRef.Name, owner}
}

// plainReference changes the name in a reference to the name that is stored.
func plainReference(ref *v1.NodeClassReference) {
	if n := parseClass(ref.Name); n != (className{}) {
		ref.Name = n.template
		if n.template == "" {
			ref.Name = n.provisioner // an inline block is referred to by the name of its Provisioner
		}
	}
}

// classNotes are facts about a node class that are only kept in memory. They can be computed again from stored objects and the AWS account.
type classNotes struct {
	of          types.UID
	annotations map[string]string
	finalizers  []string
	status      awsv1.EC2NodeClassStatus
}

// kubeletOf returns the kubelet block of a Provisioner's Machines, including global settings.
func (t *translator) kubeletOf(p *v1alpha5.Provisioner) *v1alpha5.KubeletConfiguration {
	out := p.Spec.KubeletConfiguration.DeepCopy()
	if s := t.options.Legacy; s != nil && s.ENILimitedPodDensity != nil && !*s.ENILimitedPodDensity && (out == nil || out.MaxPods == nil) {
		if out == nil {
			out = &v1alpha5.KubeletConfiguration{}
		}
		out.MaxPods = new(int32(unlimitedDensity))
	}
	return out
}

// unlimitedDensity is the pod limit of a node if network interfaces don't limit it.
const unlimitedDensity = 110

// classKubelet returns the kubelet block of a Provisioner as that of a node class, or nil if the Provisioner has none.
func (t *translator) classKubelet(p *v1alpha5.Provisioner) *awsv1.KubeletConfiguration {
	for _, converted := range t.read(p, provisionerKind, t.options).Objects {
		if pool, ok := converted.Object.(*v1.NodePool); ok && pool.Annotations[v1beta1.KubeletAnnotationKey] != "" {
			block := &awsv1.KubeletConfiguration{}
			if err := json.Unmarshal([]byte(pool.Annotations[v1beta1.KubeletAnnotationKey]), block); err == nil {
				return block
			}
		}
	}
	return nil
}

// class returns a node class of v1alpha5. It returns nil if the class's objects don't exist or can't be converted; the warnings explain
// why.
func (t *translator) class(template *awsv1alpha1.AWSNodeTemplate, p *v1alpha5.Provisioner) (*awsv1.EC2NodeClass, conversion.Warnings) {
	var result convert.Result
	switch {
	case template != nil:
		result = t.read(template, templateKind, t.options)
	case p != nil && p.Spec.Provider != nil:
		result = t.read(p, provisionerKind, t.options)
	default:
		return nil, nil
	}
	for _, converted := range result.Objects {
		class, ok := converted.Object.(*awsv1.EC2NodeClass)
		if !ok {
			continue
		}
		t.placeClass(class, template, p)
		return class, result.Warnings
	}
	return nil, result.Warnings
}

// placeClass sets the node class's name, UID, generation and kubelet block, and restores its facts from t.classes.
func (t *translator) placeClass(class *awsv1.EC2NodeClass, template *awsv1alpha1.AWSNodeTemplate, p *v1alpha5.Provisioner) {
	var name className
	class.UID, class.Generation = "", 0
	if template != nil {
		name.template = template.Name
		class.UID, class.Generation = template.UID, template.Generation
	}
	if p != nil {
		name.provisioner = p.Name
		class.Spec.Kubelet = t.classKubelet(p)
		class.Generation += p.Generation
		if template == nil {
			class.UID, class.ResourceVersion = p.UID, p.ResourceVersion
		} else {
			class.UID += "-" + p.UID
		}
	}
	class.Name, class.Namespace = name.String(), ""
	class.Status = awsv1.EC2NodeClassStatus{}
	t.mu.Lock()
	defer t.mu.Unlock()
	notes := t.classes[class.Name]
	if notes.of != class.UID {
		return // the class was deleted and created again with the same name
	}
	class.Finalizers = append([]string(nil), notes.finalizers...)
	if len(notes.annotations) > 0 && class.Annotations == nil {
		class.Annotations = map[string]string{}
	}
	maps.Copy(class.Annotations, notes.annotations)
	class.Status = *notes.status.DeepCopy()
}

// noteClass remembers the status, the annotations and the finalizers of a node class in t.classes.
func (t *translator) noteClass(class *awsv1.EC2NodeClass) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.classes[class.Name] = classNotes{
		of: class.UID, annotations: maps.Clone(class.Annotations), finalizers: append([]string(nil), class.Finalizers...), status: *class.Status.DeepCopy(),
	}
}

// forgetClass forgets a deleted node class.
func (t *translator) forgetClass(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.classes, name)
}
