package harness

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
)

// crdTimeout is how long the API server may take to serve the new kinds.
const crdTimeout = 2 * time.Minute

// installCRDs defines the project's kinds, and waits until the API server serves them.
func installCRDs(ctx context.Context, config *rest.Config, client kubernetes.Interface) error {
	extensions, err := apiextensions.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, crdTimeout)
	defer cancel()
	for _, crd := range crds.All() {
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(crd.YAML(), &definition); err != nil {
			return fmt.Errorf("%s: %w", crd.Name(), err)
		}
		_, err := extensions.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, &definition, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%s: %w", crd.Name(), err)
		}
	}
	for _, crd := range crds.All() {
		for _, version := range crd.Versions {
			if err := served(ctx, client, crd.Group, version, crd.Plural); err != nil {
				return err
			}
		}
	}
	return nil
}

// served waits until objects of a kind can be listed. The definition's condition Established is not enough: the API server may return 404
// for some time after that.
func served(ctx context.Context, client kubernetes.Interface, group, version, plural string) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		err := client.Discovery().RESTClient().Get().AbsPath("/apis", group, version, plural).Do(ctx).Error()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s.%s/%s is not served: %w", plural, group, version, err)
		case <-poll.C:
		}
	}
}
