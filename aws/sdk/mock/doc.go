// Package mock has gomock mocks of the interfaces of package aws/sdk, for tests that must see one exact call or answer
// with one exact error. For tests with a working EC2, package aws uses a moto server.
//
//	api := mock.NewMockEC2API(gomock.NewController(t))
//	api.EXPECT().TerminateInstances(gomock.Any(), gomock.Any()).
//		Return(nil, &smithy.GenericAPIError{Code: "RequestLimitExceeded"})
//
// Stability: beta.
package mock
