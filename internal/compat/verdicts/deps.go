//go:build peers

package verdicts

// These imports belong to the plugins' tests. They are here so that go.mod and go.sum contain their modules.
import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/component-base/featuregate/testing"
	_ "k8s.io/csi-translation-lib"
	_ "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	_ "k8s.io/klog/v2/ktesting/init"
	_ "k8s.io/kubernetes/pkg/controller"
	_ "k8s.io/kubernetes/pkg/controller/volume/persistentvolume/testing"
	_ "k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	_ "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	_ "k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	_ "k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	_ "k8s.io/kubernetes/pkg/scheduler/testing/framework"
	_ "k8s.io/kubernetes/test/utils/ktesting"
)
