package launchtemplate_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/launchtemplate"
)

// The user data with which a node of a class boots.
func Example() {
	const class = `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiFamily: Bottlerocket
  amiSelectorTerms: [{alias: bottlerocket@latest}]
  role: demo-nodes
  subnetSelectorTerms: [{id: subnet-0123456789abcdef0}]
  securityGroupSelectorTerms: [{id: sg-0123456789abcdef0}]
`
	run := launchtemplate.Command().Begin()
	if err := run.Flags.Parse([]string{"-o", "userdata"}); err != nil {
		fmt.Println(err)
		return
	}
	streams := commands.Streams{In: strings.NewReader(class), Out: os.Stdout, Err: os.Stdout}
	status := run.Do(context.Background(), []string{"-"}, streams)
	fmt.Println("status", status)
	// Output:
	// [settings]
	// [settings.kubernetes]
	// api-server = 'https://api.demo.example'
	// cluster-dns-ip = '172.20.0.10'
	// cluster-name = 'demo'
	// max-pods = 29
	//
	// [settings.kubernetes.node-labels]
	// 'karpenter.k8s.aws/ec2nodeclass' = 'default'
	// 'karpenter.sh/capacity-type' = 'on-demand'
	// 'karpenter.sh/do-not-sync-taints' = 'true'
	//
	// [settings.kubernetes.node-taints]
	// 'karpenter.sh/unregistered' = [':NoExecute']
	// status 0
}
