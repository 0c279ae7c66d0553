package sdk

//go:generate go tool -modfile=../../internal/tools/go.mod mockgen -package mock -destination mock/mock.go -write_package_comment=false . EC2API,EC2MigrationAPI,EC2CapacityBlockAPI,IAMMigrationAPI,SSMAPI,EKSAPI,PricingAPI,IAMAPI,SQSAPI,ZonalShiftAPI
