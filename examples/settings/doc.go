// Package settings reads the settings of a controller from flags, the environment and a file. It accepts the names of all three API
// generations: current names, keys of the ConfigMap karpenter-global-settings, paths of chart values in every layout, and environment
// variables and flags of old releases.
//
// The shortest way to use the package, in a program's main:
//
//	loaded, err := settings.Load(settings.Sources{Args: os.Args[1:], LookupEnv: os.LookupEnv, ReadFile: settings.ReadFile})
//	if err != nil {
//		return err // every problem at once, each with the source and the name as the user wrote it
//	}
//	for _, warning := range loaded.Warnings {
//		logger.Warn(warning.Message, "code", warning.Code)
//	}
//	fmt.Println(loaded.Settings.Planning.BatchMaxDuration)
//
// Flags override the environment, which overrides the file, which overrides the ConfigMap, which overrides defaults. The package
// reads flags, the environment and files only through its arguments, so tests need no process state. Settings are read once, and are plain
// data from then on. Everything in this package is safe for concurrent use on different values.
//
// Programs with additional settings use the parts of Load: ParseEnv, NewFlags, ParseFile, ParseLegacyConfigMap and ParseLoggingConfigMap
// each read one source into a Layer, and Combine merges layers.
//
// # Deliberate differences
//
// docs/differences.md lists differences from Karpenter's settings under "Settings".
package settings
