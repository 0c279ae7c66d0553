package mock_test

import (
	"context"
	"fmt"

	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/mock"
)

// printer stands in for the *testing.T that a test hands to gomock.
type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A provider that must be asked for one instance, and says that it is gone.
func Example() {
	ctrl := gomock.NewController(printer{})
	provider := mock.NewMockCloudProvider(ctrl)
	provider.EXPECT().Get(gomock.Any(), "fake:///a/i-1").
		Return(nil, cloudprovider.NewNodeClaimNotFoundError("fake:///a/i-1", nil))

	_, err := provider.Get(context.Background(), "fake:///a/i-1")
	fmt.Println(cloudprovider.IsNodeClaimNotFound(err), err)
	ctrl.Finish()
	// Output: true no instance has provider id "fake:///a/i-1"
}
