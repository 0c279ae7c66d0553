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
//	AL2           MIME multipart: the user's parts, then a script that calls /etc/eks/bootstrap.sh
//	AL2023        MIME multipart: the user's parts, then a NodeConfig for nodeadm
//	Bottlerocket  TOML: the user's settings, overlaid with the generated ones
//	Windows*      one PowerShell block: the user's commands, then a call of Start-EKSBootstrap.ps1
//	Custom        the user's bytes, untouched
//
// Any other name behaves as AL2 (AWN-173); Ubuntu, a family of former times, as AL2 that leaves local disks alone
// (AWN-231).
//
// # Deliberate differences
//
//   - Text for AL2023 is a NodeConfig only if its apiVersion and kind say so: a script may look like YAML (AWN-198). What
//     was plainly meant as a NodeConfig and is none is refused. Text that begins with #cloud-config is labelled as that.
//   - The parts of an archive keep all their headers (AWN-197), and the boundary gives way to parts that hold it.
//   - Maps are written in the order of their keys (AWN-061), and AL2's call has no double space without a CA (AWN-194).
//   - Bottlerocket settings that nobody knows are kept (AWN-212), a DNS address that the user wrote there wins over the
//     discovered one (AWN-213, AWN-343), and tables that are dropped are told (AWN-211).
//   - Windows is told the service range (AWN-225, AWN-342), and user data with tags of its own is refused (AWN-223).
//   - User data that breaks its format, or is longer than EC2 takes (AWN-182), is refused before anything is launched, with
//     the line. What would leave the quotes it is put in is refused as well.
//   - Keys of the kubelet block that have no flag or setting are refused for the family rather than smuggled in by other
//     files (AWN-053, AWN-349): AL2023 takes them all, and Bottlerocket has them in the user's own TOML.
//   - The script's log goes to /var/log/user-data.log (AWN-186).
//
// What a node makes of it, and what users may write, is not ours to test: AWN-058, AWN-189, AWN-190, AWN-209.
//
// # Secrets
//
// User data may hold secrets. Errors name the line and the rule and quote nothing of it; Rendered hides its text from
// fmt and log/slog.
package userdata
