package main

import (
	"context"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/settings"
)

// nodeClassReader reads EC2NodeClasses from the manager's cache.
type nodeClassReader struct{ client client.Reader }

// NodeClass implements aws.NodeClassReader.
func (r nodeClassReader) NodeClass(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
	class := &awsv1.EC2NodeClass{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: name}, class); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	return class, nil
}

func newAWS(ctx context.Context, mgr ctrl.Manager, s settings.Settings, log *slog.Logger) (cloudprovider.CloudProvider, error) {
	return nil, nil
}
