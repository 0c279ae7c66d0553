//go:build linux || darwin

package hostile

import "testing"

// RunOne is Run for the input of that name alone, for arguments that only one command has.
func RunOne(t *testing.T, name, command string, args ...string) {
	inputs, err := Inputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		if input.Name == name {
			run(t, input, command, args)
			return
		}
	}
	t.Fatalf("no input is called %q", name)
}
