package v1

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// AWN-013, AWN-025, AWN-026, API-203.
func TestParseAlias(t *testing.T) {
	for text, want := range map[string]Alias{
		"al2023@latest":        {AMIFamilyAL2023, "latest"},
		"al2@v20240625":        {AMIFamilyAL2, "v20240625"},
		"bottlerocket@1.10.0":  {AMIFamilyBottlerocket, "1.10.0"},
		"bottlerocket@v1.20.4": {AMIFamilyBottlerocket, "v1.20.4"},
		"windows2019@latest":   {AMIFamilyWindows2019, "latest"},
		"windows2022@latest":   {AMIFamilyWindows2022, "latest"},
		"windows2025@latest":   {AMIFamilyWindows2025, "latest"},
	} {
		got, err := ParseAlias(text)
		if err != nil || got != want {
			t.Errorf("%s is %+v (%v), want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"":                   "write it like",
		"@latest":            "write it like",
		"al2023":             "write it like",
		"al2023@":            "write it like",
		"al2023-latest":      "write it like",
		"al2023@v1@x":        "write it like",
		"ubuntu@latest":      "use one of al2, al2023, bottlerocket",
		"custom@latest":      "use one of",
		"AL2023@latest":      "unknown family",
		"windows2022@v1.0.0": "use windows2022@latest",
	} {
		if got, err := ParseAlias(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %+v, error %v does not say %q", text, got, err, want)
		}
	}
}

func FuzzParseAlias(f *testing.F) {
	for _, seed := range []string{"al2023@latest", "@", "al2@v@1", "windows2022@v1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		alias, err := ParseAlias(text)
		if err == nil && alias.String() != text {
			t.Fatalf("%q was read as %+v", text, alias)
		}
	})
}

// AWN-012, AWN-014, API-204.
func TestEffectiveFamily(t *testing.T) {
	for _, tc := range []struct {
		name   string
		family AMIFamily
		alias  string
		want   AMIFamily
	}{
		{"the field", AMIFamilyAL2, "", AMIFamilyAL2},
		{"the alias", "", "bottlerocket@latest", AMIFamilyBottlerocket},
		{"the field before the alias", AMIFamilyCustom, "al2023@latest", AMIFamilyCustom},
		{"neither", "", "", AMIFamilyCustom},
		{"an alias that can't be read", "", "al2023", AMIFamilyCustom},
	} {
		spec := &EC2NodeClassSpec{AMIFamily: tc.family, AMISelectorTerms: []AMISelectorTerm{{Alias: tc.alias}}}
		if got := spec.EffectiveAMIFamily(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// The types of a class's volumes: its own mappings', or else its family's; one without a type is the image's to say.
func TestVolumeTypes(t *testing.T) {
	kind := func(v VolumeType) *VolumeType { return &v }
	for name, c := range map[string]struct {
		spec EC2NodeClassSpec
		want []string
	}{
		"defaults":  {EC2NodeClassSpec{AMIFamily: AMIFamilyAL2023}, []string{"gp3"}},
		"the image": {EC2NodeClassSpec{AMIFamily: AMIFamilyCustom}, nil},
		"its own": {EC2NodeClassSpec{BlockDeviceMappings: []BlockDeviceMapping{
			{EBS: &BlockDevice{VolumeType: kind(VolumeTypeIO2)}}, {EBS: &BlockDevice{VolumeType: kind(VolumeTypeGP3)}}, {EBS: &BlockDevice{VolumeType: kind(VolumeTypeIO2)}}, {EBS: &BlockDevice{}}, {},
		}}, []string{"gp3", "io2"}},
	} {
		if got := c.spec.VolumeTypes(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// API-068, AWN-174.
func TestDefaultBlockDeviceMappings(t *testing.T) {
	for family, want := range map[AMIFamily][]string{
		AMIFamilyAL2:          {"/dev/xvda 20"},
		AMIFamilyAL2023:       {"/dev/xvda 20"},
		AMIFamilyBottlerocket: {"/dev/xvda 4", "/dev/xvdb 20"},
		AMIFamilyWindows2019:  {"/dev/sda1 50"},
		AMIFamilyWindows2022:  {"/dev/sda1 50"},
		AMIFamilyWindows2025:  {"/dev/sda1 50"},
		AMIFamilyCustom:       nil,
		"Other":               {"/dev/xvda 20"},
	} {
		var got []string
		for _, m := range DefaultBlockDeviceMappings(family) {
			if !*m.EBS.Encrypted || *m.EBS.VolumeType != VolumeTypeGP3 {
				t.Errorf("%s: %s is not encrypted gp3", family, *m.DeviceName)
			}
			got = append(got, *m.DeviceName+" "+itoa(m.EBS.VolumeSizeGiB()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", family, diff)
		}
	}
}

// AWN-031: GiB, rounded up.
func TestVolumeSizeGiB(t *testing.T) {
	for text, want := range map[string]int64{"100G": 94, "4Ti": 4096, "20Gi": 20, "1G": 1, "64T": 59605} {
		if got := (&BlockDevice{VolumeSize: quantity(text)}).VolumeSizeGiB(); got != want {
			t.Errorf("%s is %d GiB, want %d", text, got, want)
		}
	}
	if got := (&BlockDevice{}).VolumeSizeGiB(); got != 0 {
		t.Errorf("no size is %d GiB", got)
	}
}
