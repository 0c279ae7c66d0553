//go:build peers

package main

// What the peers' suites import: named here so that go.mod and go.sum know it.
import (
	_ "github.com/aws/karpenter-provider-aws/pkg/apis"
	_ "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	_ "github.com/awslabs/operatorpkg/test/expectations"
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/karpenter/pkg/test/expectations"
)
