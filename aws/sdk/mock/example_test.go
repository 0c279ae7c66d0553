package mock_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/aws/sdk/mock"
)

// printer stands for a *testing.T.
type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format, args...) }
func (printer) Fatalf(format string, args ...any) { fmt.Printf(format, args...) }

func Example() {
	ctrl := gomock.NewController(printer{})
	defer ctrl.Finish()
	api := mock.NewMockEC2API(ctrl)
	api.EXPECT().TerminateInstances(gomock.Any(), gomock.Any()).
		Return(nil, &smithy.GenericAPIError{Code: "RequestLimitExceeded", Message: "Request limit exceeded."})

	_, err := api.TerminateInstances(context.Background(), &ec2.TerminateInstancesInput{InstanceIds: []string{"i-1"}})
	fmt.Println(sdk.IsThrottled(err))
	// Output: true
}
