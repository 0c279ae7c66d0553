package convert

import (
	"github.com/drawknife/drawknife/api/kinds"
	api "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// Kinds returns the kinds of AWS's node classes: EC2NodeClasses of v1 and v1beta1, and AWSNodeTemplates. Pass them to
// scheduling/manifests.Options to read manifests with these objects. The caller owns the set.
func Kinds() kinds.Set {
	return kinds.Set{
		NodeClasses: []kinds.NodeClassKind{{
			GroupVersionKind: awsv1.GroupVersion().WithKind(awsv1.KindEC2NodeClass),
			New:              func() kinds.NodeClass { return &awsv1.EC2NodeClass{} },
		}},
		Older: []kinds.OlderKind{
			{GroupVersionKind: nodeClass(), New: func() kinds.Object { return &awsv1beta1.EC2NodeClass{} }},
			{GroupVersionKind: nodeTemplate(), New: func() kinds.Object { return &awsv1alpha1.AWSNodeTemplate{} }},
		},
	}
}

// Conversion returns the conversion of objects of older generations on AWS. It works like Read with Options.Unadmitted. It ignores Target.
func Conversion(options Options) kinds.Conversion {
	options.Unadmitted = true
	return func(older []kinds.Object, pools []*api.NodePool) []kinds.Converted {
		documents := make([]Document, 0, len(older)+len(pools))
		for _, object := range older {
			documents = append(documents, Document{Object: object})
		}
		for _, pool := range pools {
			documents = append(documents, Document{Object: pool})
		}
		result := Read(documents, options)
		converted := make([]kinds.Converted, len(older))
		for i := range converted {
			converted[i].Warnings = result.ByDocument[i]
		}
		for _, c := range result.Objects {
			if c.Document < len(older) {
				of := &converted[c.Document]
				of.Objects = append(of.Objects, kinds.Born{Object: c.Object, Generation: c.Generation()})
			}
		}
		return converted
	}
}
