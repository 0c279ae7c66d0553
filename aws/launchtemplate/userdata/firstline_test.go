package userdata

import (
	"strings"
	"testing"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// AWN-185, AWN-198: text that is no archive bears the type that cloud-init would give it by its first line.
func TestTypesByFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"#!/bin/sh\nls\n":                            "text/x-shellscript",
		"\n\n#!/usr/bin/env python3\n":               "text/x-shellscript",
		"#cloud-config\nruncmd: [ls]\n":              "text/cloud-config",
		"## template: jinja\n#cloud-config\na: b\n":  "text/jinja2",
		"## template: jinja \n#!/bin/sh\n{{ v1 }}\n": "text/jinja2",
		"#include\nhttps://example.com/a\n":          "text/x-include-url",
		"#include-once\nhttps://example.com/a\n":     "text/x-include-once-url",
		"#cloud-config-archive\n- a\n":               "text/cloud-config-archive",
		"#cloud-config-jsonp\n[]\n":                  "text/cloud-config-jsonp",
		"#cloud-boothook\nls\n":                      "text/cloud-boothook",
		"#part-handler\nx = 1\n":                     "text/part-handler",
		"#included by hand\nls\n":                    "text/x-shellscript",
		"## template: none\nls\n":                    "text/x-shellscript",
	} {
		for _, family := range []awsv1.AMIFamily{awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023} {
			rendered, err := Render(with(demo(family), serviceCIDR, user(text)))
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			parts := readByStandardLibrary(t, rendered.Text)
			if len(parts) != 2 || parts[0].contentType != want+`; charset="us-ascii"` || parts[0].body != text {
				t.Errorf("%s: %q became %+v, want %s", family, text, parts[0], want)
			}
			warned := len(rendered.Warnings) == 1 && strings.Contains(rendered.Warnings[0], "does not begin with #!")
			if wantWarning := want == "text/x-shellscript" && !strings.Contains(text, "#!"); warned != wantWarning {
				t.Errorf("%s: %q: warnings are %q", family, text, rendered.Warnings)
			}
		}
	}
}
