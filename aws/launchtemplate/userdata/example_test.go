package userdata_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate/userdata"
)

// What a Bottlerocket instance is told, merged with a setting of the user's.
func ExampleRender() {
	rendered, err := userdata.Render(userdata.Config{
		Family:      awsv1.AMIFamilyBottlerocket,
		ClusterName: "demo",
		Endpoint:    "https://api.demo.example",
		Labels:      map[string]string{"team": "infra"},
		Taints:      []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}},
		UserData:    "[settings.ntp]\ntime-servers = ['169.254.169.123']\n",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(rendered.Text)
	// Output:
	// [settings]
	// [settings.kubernetes]
	// api-server = 'https://api.demo.example'
	// cluster-name = 'demo'
	//
	// [settings.kubernetes.node-labels]
	// team = 'infra'
	//
	// [settings.kubernetes.node-taints]
	// dedicated = ['batch:NoSchedule']
	//
	// [settings.ntp]
	// time-servers = ['169.254.169.123']
}
