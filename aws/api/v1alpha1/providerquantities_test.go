package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/api/v1alpha1"
)

// A quantity that would take minutes to read is refused before it is, with its path and what to write.
func TestDecodeProviderBoundsQuantities(t *testing.T) {
	block := `{"subnetSelector": {"a": "b"}, "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "1e-999999999"}}]}`
	template, errs := v1alpha1.DecodeProvider("p", []byte(block))
	if template != nil || len(errs) != 1 {
		t.Fatalf("got %v, %v; want one error", template, errs)
	}
	if text := errs[0].Error(); !strings.HasPrefix(text, "spec.provider.blockDeviceMappings[0].ebs.volumeSize: ") {
		t.Error(text)
	}
}
