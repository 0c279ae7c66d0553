package kinds_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/kinds"
	"github.com/drawknife/drawknife/aws/convert"
)

// RackNodeClass is a cloud's own kind of node class.
type RackNodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Row string `json:"row"`
	} `json:"spec"`
}

func (c *RackNodeClass) DeepCopyObject() runtime.Object { out := *c; return &out }

// Default puts machines into the first row.
func (c *RackNodeClass) Default() {
	if c.Spec.Row == "" {
		c.Spec.Row = "a"
	}
}

// Validate knows rows of one letter.
func (c *RackNodeClass) Validate() field.ErrorList {
	if len(c.Spec.Row) != 1 {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "row"), c.Spec.Row, "a row is one letter")}
	}
	return nil
}

// A tool that plans for AWS and for machines in racks reads the node classes of both.
func Example() {
	racks := kinds.Set{NodeClasses: []kinds.NodeClassKind{{
		GroupVersionKind: schema.GroupVersionKind{Group: "rack.example.com", Version: "v1", Kind: "RackNodeClass"},
		New:              func() kinds.NodeClass { return &RackNodeClass{} },
	}}}
	for _, kind := range convert.Kinds().Join(racks).NodeClasses {
		class := kind.New()
		class.Default()
		fmt.Println(kind.GroupVersionKind.String(), len(class.Validate()) == 0)
	}
	// Output:
	// karpenter.k8s.aws/v1, Kind=EC2NodeClass false
	// rack.example.com/v1, Kind=RackNodeClass true
}
