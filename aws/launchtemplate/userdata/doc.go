// Package userdata creates the user data with which an instance joins its cluster, in the format of the image family, merged with
// the user's own. It is pure: the same configuration gives the same bytes.
//
//	rendered, err := userdata.Render(userdata.Config{
//		Family:      awsv1.AMIFamilyAL2023,
//		ClusterName: "demo",
//		Endpoint:    "https://api.demo.example",
//		ServiceCIDR: "172.20.0.0/16",
//	})
//	var malformed *userdata.MalformedError
//	switch {
//	case errors.As(err, &malformed):
//		// the user's own user data: malformed.Line says where
//	case err != nil:
//		return err
//	}
//	input.UserData = aws.String(rendered.Base64())
//
// The formats, by family:
//
//	AL2           MIME multipart: the user's parts, then a script that calls /etc/eks/bootstrap.sh
//	AL2023        MIME multipart: the user's parts, then a NodeConfig for nodeadm
//	Bottlerocket  TOML: the user's settings, overlaid with the generated ones
//	Windows*      one PowerShell block: the user's commands, then a call of Start-EKSBootstrap.ps1
//	Custom        the user's bytes, untouched
//
// Any other name behaves like AL2. Ubuntu, a former family, behaves like AL2 without the use of local disks.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// # Secrets
//
// User data may contain secrets. Errors name the line and the rule but never quote the text; Rendered hides its text from fmt and log/slog.
//
// Stability: beta.
package userdata
