// Package settings reads the settings of a controller from flags, the environment and a file, in the names that users of
// all three API generations know: today's, those of the ConfigMap karpenter-global-settings, of chart values of every
// layout, and of the environment and flags of old releases.
//
// The smallest use, in a program's main:
//
//	loaded, err := settings.Load(settings.Sources{Args: os.Args[1:], LookupEnv: os.LookupEnv, ReadFile: os.ReadFile})
//	if err != nil {
//		return err // every problem at once, each with the source and the name as the user wrote it
//	}
//	for _, warning := range loaded.Warnings {
//		logger.Warn(warning.Message, "code", warning.Code)
//	}
//	fmt.Println(loaded.Settings.Planning.BatchMaxDuration)
//
// A flag beats the environment, the environment beats the file, the file beats the ConfigMap, and that beats the default
// (SET-158). Nothing here reads flags, the environment or files unless it is handed in, so that tests need no process
// state. Settings are read once and are then plain data (SET-168). Everything in this package is safe for concurrent use
// on different values.
//
// Programs with settings of their own beside these use the parts of Load: ParseEnv, NewFlags, ParseFile,
// ParseLegacyConfigMap and ParseLoggingConfigMap read one source each into a Layer, and Combine puts layers on top of each
// other.
//
// # Deliberate differences
//
//   - SET-006: a boolean flag that stands alone means true; "true" and "false" may follow it, as they must in Karpenter.
//   - SET-010: what the windows mean is the planner's, and tested there; here are their lengths.
//   - SET-037: a list of gates that does not name Drift leaves it at its default, on (SET-163).
//   - SET-044: an unknown gate is an error (SET-110), since a slip in its name would go unnoticed.
//   - SET-066: log records are those of log/slog in the encoding that is set, with the field names of the specification,
//     never sampled. The look of an old release's console is not copied.
//   - SET-067: which records are errors is up to whoever writes them; the controller's own tests count them.
//   - SET-112, SET-113, SET-114, SET-115: clock, logger, metrics and events are options of the packages that use them; here
//     is what can be written down.
//   - SET-130: Legacy is also set by the environment and the flags of 0.18, not by a ConfigMap alone.
//   - SET-159: ParseEnv returns a Layer rather than writing into a struct, so that Effective knows where each value is from.
package settings
