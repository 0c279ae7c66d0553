// Package launchtemplate makes the EC2 launch templates that nodes boot from: their content is a pure function of a node class, the cluster
// and a claim. It needs no cluster, no credentials and no network.
//
//	result, err := launchtemplate.Build(launchtemplate.Request{
//		Cluster:       launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
//		NodeClass:     class, // with its status: images, security groups, instance profile
//		NodeClaim:     claim,
//		InstanceTypes: types,
//		CapacityType:  v1.CapacityTypeSpot,
//	})
//	for _, template := range result.Templates {
//		_, err := client.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
//			LaunchTemplateName: &template.Name,
//			LaunchTemplateData: template.Data,
//		})
//	}
//
// One claim may need several templates: the image, the number of pods, the EFA interfaces and the capacity reservation are part of a
// template, and the claim's instance types may differ in them. All types that need the same template have one template.
//
// A template's name is derived from its content, so equal templates have the same name, and a changed template has a new name. Names change
// between versions of this package only if NameVersion changes.
//
// The provider (package aws) creates the templates, keeps them while they are used and deletes them; package userdata in this folder has
// the formats of user data.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// # Secrets
//
// User data may contain secrets: a Template shows only its name and size to fmt and log/slog.
//
// Stability: beta.
package launchtemplate
