// Package mock has gomock mocks of the interfaces of package cloudprovider. They are for tests of code that calls a provider and must see
// one exact call or error. For a provider that behaves like a cloud, use package fake.
//
//	ctrl := gomock.NewController(t)
//	provider := mock.NewMockCloudProvider(ctrl)
//	provider.EXPECT().Get(gomock.Any(), "aws:///a/i-1").
//		Return(nil, cloudprovider.NewNodeClaimNotFoundError("aws:///a/i-1", nil))
//
// Stability: beta.
package mock
