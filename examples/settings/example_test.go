package settings_test

import (
	"fmt"

	"github.com/drawknife/drawknife/examples/settings"
)

// The flag wins over the environment and that over the ConfigMap of an old release, whose slips are warnings.
func Example() {
	environment := map[string]string{"CLUSTER_NAME": "blue", "BATCH_MAX_DURATION": "20s"}
	loaded, err := settings.Load(settings.Sources{
		Args:      []string{"--batch-max-duration=30s"},
		LookupEnv: func(name string) (string, bool) { text, there := environment[name]; return text, there },
		ConfigMap: map[string]string{"batchMaxDuration": "10s", "aws.reservedENIs": "1", "aws.reserveENIs": "1"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(loaded.Settings.Planning.BatchMaxDuration, loaded.Settings.AWS.ClusterName, loaded.Settings.AWS.ReservedENIs)
	for _, warning := range loaded.Warnings {
		fmt.Println(warning)
	}
	// Output:
	// 30s blue 1
	// W701 (file): unknown settings key aws.reserveENIs ignored
}
