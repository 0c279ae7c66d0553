// Package settings reads the settings of a controller from flags, the environment and a file, in the names that users of
// all three API generations know: today's, those of the ConfigMap karpenter-global-settings, of chart values of every
// layout, and of the environment and flags of old releases.
//
// The smallest use, in a program's main:
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
// A flag beats the environment, the environment beats the file, the file beats the ConfigMap, and that beats the
// default. Nothing here reads flags, the environment or files unless it is handed in, so that tests need no process state.
// Settings are read once and are then plain data. Everything in this package is safe for concurrent use on different
// values.
//
// Programs with settings of their own beside these use the parts of Load: ParseEnv, NewFlags, ParseFile,
// ParseLegacyConfigMap and ParseLoggingConfigMap read one source each into a Layer, and Combine puts layers on top of each
// other.
//
// # Deliberate differences
//
// What differs from Karpenter's settings, and why, is listed in docs/differences.md under "Settings".
package settings
