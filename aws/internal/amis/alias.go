package amis

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// UnsupportedAliasError says that AWS publishes no images of an alias for the cluster's version.
type UnsupportedAliasError struct {
	// Alias is the alias in the node class.
	Alias awsv1.Alias
	// Kubernetes is the cluster's version, "1.33".
	Kubernetes string
	// Problem says for which versions AWS has images, and what to do.
	Problem string
}

// Error names the alias and the version, and says what to do.
func (e *UnsupportedAliasError) Error() string {
	return fmt.Sprintf("alias %s on Kubernetes %s: %s", e.Alias, e.Kubernetes, e.Problem)
}

// variant is the kind of instance that an image of an alias is made for.
type variant string

const (
	variantStandard variant = "standard"
	variantNVIDIA   variant = "nvidia"
	variantNeuron   variant = "neuron"
)

// requirements returns the labels that instances of the variant must have or lack.
func (v variant) requirements() []corev1.NodeSelectorRequirement {
	label := func(key string, operator corev1.NodeSelectorOperator) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: operator}
	}
	switch v {
	case variantStandard:
		return []corev1.NodeSelectorRequirement{
			label(awsv1.LabelInstanceGPUCount, corev1.NodeSelectorOpDoesNotExist),
			label(awsv1.LabelInstanceAcceleratorCount, corev1.NodeSelectorOpDoesNotExist),
		}
	case variantNVIDIA:
		return []corev1.NodeSelectorRequirement{label(awsv1.LabelInstanceGPUCount, corev1.NodeSelectorOpExists)}
	case variantNeuron:
		return []corev1.NodeSelectorRequirement{label(awsv1.LabelInstanceAcceleratorCount, corev1.NodeSelectorOpExists)}
	}
	return nil
}

// parameter is an SSM parameter that names an image of an alias.
type parameter struct {
	name string
	// variants are the kinds of instance that the image serves; each has its own set of requirements.
	variants []variant
	// further contains requirements that apply to every variant.
	further []corev1.NodeSelectorRequirement
}

// minor reads "1.33".
func minor(kubernetes string) (int, error) {
	text, ok := strings.CutPrefix(kubernetes, "1.")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 0 || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%q is not a version of Kubernetes: write major.minor, like 1.33", kubernetes)
	}
	return n, nil
}

const (
	// lastAL2 is the last minor version for which AWS made AL2 images.
	lastAL2 = 32
	// firstWindows2025 is the first minor version for which AWS made Windows Server 2025 images.
	firstWindows2025 = 35
)

// parametersOf returns the parameters of an alias.
func parametersOf(alias awsv1.Alias, kubernetes string) ([]parameter, error) {
	version, err := minor(kubernetes)
	if err != nil {
		return nil, err
	}
	switch alias.Family {
	case awsv1.AMIFamilyAL2:
		if version > lastAL2 {
			return nil, &UnsupportedAliasError{alias, kubernetes, fmt.Sprintf("there are images up to 1.%d: use al2023", lastAL2)}
		}
		return al2(alias, kubernetes), nil
	case awsv1.AMIFamilyAL2023:
		return al2023(alias, kubernetes), nil
	case awsv1.AMIFamilyBottlerocket:
		return bottlerocket(alias, kubernetes), nil
	case awsv1.AMIFamilyWindows2025:
		if version < firstWindows2025 {
			return nil, &UnsupportedAliasError{alias, kubernetes, fmt.Sprintf("there are images from 1.%d: use windows2022", firstWindows2025)}
		}
		return windows("2025", "10.0.26100", kubernetes), nil
	case awsv1.AMIFamilyWindows2022:
		return windows("2022", "10.0.20348", kubernetes), nil
	case awsv1.AMIFamilyWindows2019:
		return windows("2019", "10.0.17763", kubernetes), nil
	}
	return nil, &UnsupportedAliasError{alias, kubernetes, "there are no images of this family"}
}

func latest(alias awsv1.Alias) bool { return alias.Version == awsv1.AliasVersionLatest }

func al2(alias awsv1.Alias, kubernetes string) []parameter {
	name := func(folder, image string) string {
		release := "recommended"
		if !latest(alias) {
			release = fmt.Sprintf("%s-%s-%s", image, kubernetes, alias.Version)
		}
		return fmt.Sprintf("/aws/service/eks/optimized-ami/%s/%s/%s/image_id", kubernetes, folder, release)
	}
	return []parameter{
		{name: name("amazon-linux-2", "amazon-eks-node"), variants: []variant{variantStandard}},
		{name: name("amazon-linux-2-arm64", "amazon-eks-arm64-node"), variants: []variant{variantStandard}},
		{name: name("amazon-linux-2-gpu", "amazon-eks-gpu-node"), variants: []variant{variantNeuron, variantNVIDIA}},
	}
}

func al2023(alias awsv1.Alias, kubernetes string) []parameter {
	var parameters []parameter
	for _, image := range []struct {
		arch string
		variant
	}{
		{"x86_64", variantStandard}, {"x86_64", variantNVIDIA}, {"x86_64", variantNeuron},
		{"arm64", variantStandard}, {"arm64", variantNVIDIA},
	} {
		release := "recommended"
		if !latest(alias) {
			release = fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-%s", image.arch, image.variant, kubernetes, alias.Version)
		}
		parameters = append(parameters, parameter{
			name:     fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/%s/image_id", kubernetes, image.arch, image.variant, release),
			variants: []variant{image.variant},
		})
	}
	return parameters
}

func bottlerocket(alias awsv1.Alias, kubernetes string) []parameter {
	release := awsv1.AliasVersionLatest
	if !latest(alias) {
		release = strings.TrimPrefix(alias.Version, "v")
	}
	name := func(flavour, arch string) string {
		return fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s%s/%s/%s/image_id", kubernetes, flavour, arch, release)
	}
	return []parameter{
		{name: name("", "x86_64"), variants: []variant{variantStandard, variantNeuron}},
		{name: name("", "arm64"), variants: []variant{variantStandard}},
		{name: name("-nvidia", "x86_64"), variants: []variant{variantNVIDIA}},
		{name: name("-nvidia", "arm64"), variants: []variant{variantNVIDIA}},
	}
}

// windows returns the parameters of a Windows image. These parameters have no variants; their requirements are in the field further.
func windows(year, build, kubernetes string) []parameter {
	return []parameter{{
		name: fmt.Sprintf("/aws/service/ami-windows-latest/Windows_Server-%s-English-Core-EKS_Optimized-%s/image_id", year, kubernetes),
		further: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"windows"}},
			{Key: corev1.LabelWindowsBuild, Operator: corev1.NodeSelectorOpIn, Values: []string{build}},
		},
		variants: []variant{""},
	}}
}
