// Package userdata makes what a machine is told when it boots: how to join its cluster, as the image's family wants to
// hear it, merged with the user's own. It is pure: the same configuration gives the same bytes.
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
// The formats, by family (AWN-172):
//
//	AL2         MIME multipart: the user's parts, then a script that calls /etc/eks/bootstrap.sh
//	AL2023      MIME multipart: the user's parts, then a NodeConfig for nodeadm
//	Bottlerocket  TOML: the user's settings, overlaid with the generated ones
//	Windows*    one PowerShell block: the user's commands, then a call of Start-EKSBootstrap.ps1
//	Custom      the user's bytes, untouched
//
// Any other name behaves as AL2 (AWN-173); Ubuntu, a family of former times, as AL2 that leaves local disks alone
// (AWN-231).
//
// It differs from the reference on purpose: text for AL2023 is a NodeConfig only if it says so, a script may look like
// YAML (AWN-198); parts keep all their headers (AWN-197); unknown Bottlerocket settings are kept (AWN-212) and a DNS
// address the user wrote there wins over the discovered one (AWN-343); Windows is told the service CIDR (AWN-342); user
// data that breaks its format, or is too long for EC2, is refused here instead of on the machine.
//
// User data may hold secrets. Errors name the line and the rule and quote nothing of it; Rendered hides its text from
// fmt and log/slog.
package userdata
