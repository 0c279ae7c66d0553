//go:build peers

package main

// These imports belong to the suites of the releases. They are here so that go.mod and go.sum contain their modules.
import (
	_ "github.com/aws/karpenter-provider-aws/pkg/apis"
	_ "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	_ "github.com/awslabs/operatorpkg/test/expectations"
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/karpenter/pkg/test/expectations"
)
