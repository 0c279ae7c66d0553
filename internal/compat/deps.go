//go:build peers

package main

// The imports of the peers' suites, so that go.mod and go.sum contain them.
import (
	_ "github.com/aws/karpenter-provider-aws/pkg/apis"
	_ "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	_ "github.com/awslabs/operatorpkg/test/expectations"
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/karpenter/pkg/test/expectations"
)
