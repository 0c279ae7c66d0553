package fake

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// SetNodeClassStatus sets the readiness of a node class. All other node classes of a supported kind are ready, also if no such object
// exists.
func (c *Cloud) SetNodeClassStatus(ref v1.NodeClassReference, readiness cloudprovider.NodeClassReadiness) {
	_ = c.lever(Event{Name: "SetNodeClassStatus", NodeClass: &ref, Readiness: &readiness}, func(time.Time) error {
		c.nodeClasses[ref] = readiness
		return nil
	})
}

// NodeClassStatus returns the readiness that SetNodeClassStatus has set.
func (c *Cloud) NodeClassStatus(ctx context.Context, ref v1.NodeClassReference) (readiness cloudprovider.NodeClassReadiness, err error) {
	err = c.call(ctx, &Event{Name: string(MethodNodeClassStatus), NodeClass: &ref}, func(time.Time) error {
		if err := c.checkNodeClass(ref); err != nil {
			return err
		}
		readiness = c.readiness(ref)
		return nil
	})
	if err != nil {
		return cloudprovider.NodeClassReadiness{}, err
	}
	return readiness, nil
}

func (a *account) readiness(ref v1.NodeClassReference) cloudprovider.NodeClassReadiness {
	if readiness, known := a.nodeClasses[ref]; known {
		return readiness
	}
	return cloudprovider.NodeClassReadiness{Status: metav1.ConditionTrue}
}

// checkNodeClass refuses kinds that the cloud does not support. An empty reference means the default kind, so that tests need not set one.
func (a *account) checkNodeClass(ref v1.NodeClassReference) error {
	if ref == (v1.NodeClassReference{}) || a.capabilities.SupportsNodeClass(ref) {
		return nil
	}
	return cloudprovider.NewPermanentError(fmt.Errorf("node class %s %q of group %q is of a kind that the cloud does not support: use one of %v",
		ref.Kind, ref.Name, ref.Group, a.capabilities.NodeClasses))
}

func (a *account) nodeClassReady(ref v1.NodeClassReference) error {
	readiness := a.readiness(ref)
	if readiness.Ready() {
		return nil
	}
	return cloudprovider.NewNodeClassNotReadyError(ref.Kind+" "+ref.Name, readiness.Reason+": "+readiness.Message, nil)
}
