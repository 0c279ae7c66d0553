package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	in := `{"kind":"NodePool","toHub":true,"object":{"spec":{"template":{"spec":{"requirements":[],"nodeClassRef":{"name":"a"}}},"disruption":{"consolidationPolicy":"WhenUnderutilized"}}}}
{"kind":"NodePool","toHub":true,"object":{"spec":[]}}`
	var out bytes.Buffer
	if err := answerAll(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "WhenEmptyOrUnderutilized") || !strings.Contains(lines[1], "error") {
		t.Errorf("got %s", out.String())
	}
}
