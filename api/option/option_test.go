package option_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
)

// Whatever package an option is of, what is wrong with it is told alike.
func Example() {
	_, launcher := provisioning.NewLauncher(provisioning.LauncherOptions{})
	_, cloud := fake.New(nil, fake.Options{LaunchLatency: -time.Second})
	for _, err := range []error{launcher, cloud} {
		var wrong *option.Error
		if errors.As(err, &wrong) {
			fmt.Println(wrong.Package, wrong.Option, "-", wrong.Rule)
		}
	}
	// Output:
	// provisioning Launcher.Claims - a function that stores NodeClaims is required
	// fake LaunchLatency - is -1s; it must not be negative
}

// Constructors with options that can't be say so with an Error that names the option.
func TestOptionsThatCantBe(t *testing.T) {
	for want, make := range map[string]func() error{
		"provisioning Batch": func() error {
			_, err := provisioning.NewBatch(provisioning.BatchOptions{Idle: -1})
			return err
		},
		"fake LaunchLatency": func() error { _, err := fake.New(nil, fake.Options{LaunchLatency: -time.Second}); return err },
	} {
		var wrong *option.Error
		if err := make(); !errors.As(err, &wrong) || wrong.Package+" "+wrong.Option != want || wrong.Rule == "" {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}
