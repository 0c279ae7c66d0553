package option_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
)

// Whatever package an option is of, what is wrong with it is told alike.
func Example() {
	_, launcher := provisioning.NewLauncher(provisioning.LauncherOptions{})
	_, board := prices.NewBoard(prices.Options{Region: "eu-west-1", MinSpotDiscount: 2})
	for _, err := range []error{launcher, board} {
		var wrong *option.Error
		if errors.As(err, &wrong) {
			fmt.Println(wrong.Package, wrong.Option, "-", wrong.Rule)
		}
	}
	// Output:
	// provisioning Launcher.Claims - there is nobody to store claims
	// prices MinSpotDiscount - must be a fraction from 0 to 1, is 2
}

// Constructors with options that can't be say so with an Error that names the option.
func TestOptionsThatCantBe(t *testing.T) {
	for want, make := range map[string]func() error{
		"provisioning Batch": func() error {
			_, err := provisioning.NewBatch(provisioning.BatchOptions{Idle: -1})
			return err
		},
		"fake LaunchLatency": func() error { _, err := fake.New(nil, fake.Options{LaunchLatency: -time.Second}); return err },
		"prices Region":      func() error { _, err := prices.NewBoard(prices.Options{}); return err },
	} {
		var wrong *option.Error
		if err := make(); !errors.As(err, &wrong) || wrong.Package+" "+wrong.Option != want || wrong.Rule == "" {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}
