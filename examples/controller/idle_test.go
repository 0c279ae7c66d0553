package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
)

// A setting that is understood and not heeded is warned of when somebody has set it; those that are heeded are not (SET-031,
// SET-049, SET-109, SET-111, SET-128, SET-131 to SET-134, SET-147).
func TestIdleSettings(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"nothing is set":       {nil, nil},
		"heeded":               {[]string{"--ami-refresh-interval=2m", "--subnet-refresh-interval=2m", "--eks-control-plane=true", "--feature-gates=NodeOverlay=true"}, nil},
		"older generations":    {[]string{"--serve-alpha=true", "--serve-beta=false"}, nil},
		"beta by itself":       {[]string{"--serve-beta=true"}, []string{"--serve-beta"}},
		"device claims":        {[]string{"--ignore-dra-requests=false"}, nil},
		"what is done anyway":  {[]string{"--ignore-dra-requests=true", "--disable-webhook=true"}, nil},
		"webhook":              {[]string{"--disable-webhook=false", "--webhook-port=9443", "--serve-beta=true"}, nil},
		"webhook for nothing":  {[]string{"--disable-webhook=false", "--serve-beta=false", "--webhook-port=9443"}, []string{"--webhook-port", "--disable-webhook"}},
		"webhook not on":       {[]string{"--webhook-service=x", "--webhook-cert-dir=/x"}, []string{"--webhook-service", "--webhook-cert-dir"}},
		"partition":            {[]string{"--aws-partition=aws-cn"}, []string{"--aws-partition"}},
		"of node templates":    {[]string{"--aws-default-instance-profile=p", "--aws-enable-pod-eni=true"}, []string{"--aws-enable-pod-eni"}},
		"without them":         {[]string{"--serve-alpha=false", "--aws-default-instance-profile=p"}, []string{"--aws-default-instance-profile"}},
		"of the other planner": {[]string{"--disruption-planner=reference", "--disruption-robustness=4", "--disruption-validation-delay=1s"}, []string{"--disruption-robustness"}},
		"of this planner":      {[]string{"--disruption-robustness=4", "--disruption-validation-delay=1s"}, nil},
		"more of them":         {[]string{"--aws-eni-limited-pod-density=false", "--aws-node-name-convention=ip-name"}, []string{"--aws-node-name-convention"}},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := settings.Load(settings.Sources{Args: append([]string{"--cluster-name=blue"}, c.args...)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range idle(loaded) {
				got = append(got, p.Name)
				if p.Code != settings.CodeNoEffect || p.Message == "" {
					t.Errorf("%+v", p)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every name is a setting's.
func TestIdleSettingsAreSettings(t *testing.T) {
	loaded, err := settings.Load(settings.Sources{Args: []string{"--cluster-name=blue"}})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, v := range loaded.Effective() {
		known[v.Name] = true
	}
	for name := range idleSettings {
		if !known[name] {
			t.Errorf("there is no setting %s", name)
		}
	}
}
