package v1

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// AMIFamily is a family of images with the same format of user data, default volumes and features.
//
// +kubebuilder:validation:Enum=AL2;AL2023;Bottlerocket;Custom;Windows2019;Windows2022;Windows2025
type AMIFamily string

const (
	// AMIFamilyAL2 is Amazon Linux 2.
	AMIFamilyAL2 AMIFamily = "AL2"
	// AMIFamilyAL2023 is Amazon Linux 2023.
	AMIFamilyAL2023 AMIFamily = "AL2023"
	// AMIFamilyBottlerocket is Bottlerocket.
	AMIFamilyBottlerocket AMIFamily = "Bottlerocket"
	// AMIFamilyWindows2019 is Windows Server 2019.
	AMIFamilyWindows2019 AMIFamily = "Windows2019"
	// AMIFamilyWindows2022 is Windows Server 2022.
	AMIFamilyWindows2022 AMIFamily = "Windows2022"
	// AMIFamilyWindows2025 is Windows Server 2025.
	AMIFamilyWindows2025 AMIFamily = "Windows2025"
	// AMIFamilyCustom is any image: user data is passed unchanged, and the image determines the volumes.
	AMIFamilyCustom AMIFamily = "Custom"
)

// AMIFamilies returns all families. The caller owns the slice.
func AMIFamilies() []AMIFamily {
	return []AMIFamily{
		AMIFamilyAL2, AMIFamilyAL2023, AMIFamilyBottlerocket, AMIFamilyCustom, AMIFamilyWindows2019,
		AMIFamilyWindows2022, AMIFamilyWindows2025,
	}
}

// IsWindows reports whether the family is a Windows Server.
func (f AMIFamily) IsWindows() bool {
	return f == AMIFamilyWindows2019 || f == AMIFamilyWindows2022 || f == AMIFamilyWindows2025
}

// AliasVersionLatest is the alias version for the newest image that AWS recommends.
const AliasVersionLatest = "latest"

// Alias is a parsed alias such as "al2023@latest": a family of published images and a version.
//
// +kubebuilder:object:generate=false
type Alias struct {
	// Family of the images; never Custom.
	Family AMIFamily
	// Version is AliasVersionLatest, or a release of AWS ("v20240625", "1.20.4").
	Version string
}

// String is the alias as it is written in a manifest.
func (a Alias) String() string { return strings.ToLower(string(a.Family)) + "@" + a.Version }

// ParseAlias reads "family@version". The family is al2, al2023, bottlerocket, windows2019, windows2022 or windows2025, in lower case; for
// Windows the only version is latest. There is exactly one @.
func ParseAlias(text string) (Alias, error) {
	name, version, found := strings.Cut(text, "@")
	if !found || name == "" || version == "" || strings.Contains(version, "@") {
		return Alias{}, fmt.Errorf("alias %q is not family@version: write it like al2023@latest or bottlerocket@v1.20.4", text)
	}
	var family AMIFamily
	var known []string
	for _, f := range AMIFamilies() {
		if f == AMIFamilyCustom {
			continue
		}
		lower := strings.ToLower(string(f))
		known = append(known, lower)
		if lower == name {
			family = f
		}
	}
	if family == "" {
		return Alias{}, fmt.Errorf("alias %q names the unknown family %q: use one of %s", text, name, strings.Join(known, ", "))
	}
	if family.IsWindows() && version != AliasVersionLatest {
		return Alias{}, fmt.Errorf("alias %q pins a version, which Windows images don't have: use %s@%s", text, name, AliasVersionLatest)
	}
	return Alias{Family: family, Version: version}, nil
}

// Alias returns the alias of the image terms; ok is false if no term has an alias, or if the alias is invalid.
func (s *EC2NodeClassSpec) Alias() (alias Alias, ok bool) {
	for _, term := range s.AMISelectorTerms {
		if term.Alias == "" {
			continue
		}
		if alias, err := ParseAlias(term.Alias); err == nil {
			return alias, true
		}
	}
	return Alias{}, false
}

// EffectiveAMIFamily is the family for which instances are configured: the field AMIFamily, or else the family of the alias, or else
// Custom.
func (s *EC2NodeClassSpec) EffectiveAMIFamily() AMIFamily {
	if s.AMIFamily != "" {
		return s.AMIFamily
	}
	if alias, ok := s.Alias(); ok {
		return alias.Family
	}
	return AMIFamilyCustom
}

// VolumeTypes are the types of the EBS volumes that instances of the class get, each once, sorted. Volumes without a type are left out,
// because the image determines their type. The caller owns the slice.
func (s *EC2NodeClassSpec) VolumeTypes() []string {
	mappings := s.BlockDeviceMappings
	if len(mappings) == 0 {
		mappings = DefaultBlockDeviceMappings(s.EffectiveAMIFamily())
	}
	var types []string
	for _, m := range mappings {
		if m.EBS != nil && m.EBS.VolumeType != nil && *m.EBS.VolumeType != "" {
			types = append(types, string(*m.EBS.VolumeType))
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// DefaultBlockDeviceMappings returns the volumes of a family when the node class has no mapping of its own. All of them are encrypted gp3
// volumes; the last volume holds the kubelet's files. The result is nil for Custom, because the image determines the volumes. An unknown
// family gets the volumes of AL2. The caller owns the slice and what it points to.
func DefaultBlockDeviceMappings(family AMIFamily) []BlockDeviceMapping {
	volume := func(device, size string) BlockDeviceMapping {
		encrypted, kind, quantity := true, VolumeTypeGP3, resource.MustParse(size)
		return BlockDeviceMapping{
			DeviceName: &device,
			EBS:        &BlockDevice{Encrypted: &encrypted, VolumeType: &kind, VolumeSize: &quantity},
		}
	}
	switch {
	case family == AMIFamilyCustom:
		return nil
	case family == AMIFamilyBottlerocket:
		return []BlockDeviceMapping{volume("/dev/xvda", "4Gi"), volume("/dev/xvdb", "20Gi")}
	case family.IsWindows():
		return []BlockDeviceMapping{volume("/dev/sda1", "50Gi")}
	default:
		return []BlockDeviceMapping{volume("/dev/xvda", "20Gi")}
	}
}
