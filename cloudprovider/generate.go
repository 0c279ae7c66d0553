package cloudprovider

//go:generate go tool -modfile=../internal/tools/go.mod mockgen -package mock -destination mock/mock.go -write_package_comment=false . CloudProvider,DriftDetector,Repairer,InterruptionSource,NodeClassStatus,RegistrationGate,GroupCreator
