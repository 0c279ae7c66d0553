// Package launchtemplate makes the EC2 launch templates that nodes boot from: a pure function of a node class, the
// cluster and a claim. It needs no cluster, no credentials and no network.
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
// One claim may need several templates: the image, the number of pods, the EFA interfaces and the capacity reservation
// are part of a template, and the claim's instance types may differ in them. Types that agree share one (AWN-233).
//
// A template's name is made from its content, so that equal templates are one and a changed one is new (AWN-236 to
// AWN-240). Names change between versions of this package only together with NameVersion.
//
// Package launchtemplates creates them, keeps them for as long as they are used and deletes them; package userdata in
// this folder has the formats of user data.
//
// # Deliberate differences
//
//   - A name hashes what EC2 is told, in a canonical order, with NameVersion before it (AWN-237, AWN-240): requests that
//     come to the same template share it.
//   - Types are set apart only by what is written: a class that gives maxPods has one pod limit, Custom has none, and EFA
//     counts only where the class lists no interfaces (AWN-233). Reservations need no groups of their own.
//   - In a reserved launch a type without a reservation that has room gets no template, so that no launch becomes
//     on-demand unasked (AWN-235).
//   - Expressions of the kubelet block are not evaluated here (AWN-063 to AWN-070): their results are those the instance
//     type was planned with, so that scheduler and node see the same numbers.
//   - Metadata options have the one default of the API (AWN-036), and no object is changed on the way (AWN-038).
//   - The cluster's IP family can be said outright and is the same for user data and interfaces (AWN-180, AWN-344,
//     AWN-345).
//   - The version of Bottlerocket is that of the image in use before that of others (AWN-138).
//   - User data and tags are text, not templates (AWN-334): a program fills the class in before it hands it over.
//   - Enclaves are on for claims that ask for the resource; a class has no field for them (AWN-348). Request.Extend may
//     turn them on.
//   - Ubuntu is an image of family AL2 or Custom with terms and volumes of its own (AWN-231).
//   - Members that no class has a field for can be added by Request.Extend (AWN-248, AWN-347).
//
// # Secrets
//
// User data may hold secrets: a Template shows only its name and size to fmt and log/slog.
package launchtemplate
