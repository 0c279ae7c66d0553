package settings

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/spelling"
)

// Sources are the inputs of Load.
type Sources struct {
	// Args are the arguments of the command line without the program's name.
	Args []string
	// LookupEnv returns environment variables, like os.LookupEnv. Nil means none.
	LookupEnv func(string) (string, bool)
	// ReadFile reads the file named by --settings-file or SETTINGS_FILE, like the function ReadFile; nil means that files are not
	// supported.
	ReadFile func(string) ([]byte, error)
	// ConfigMap is the data of the ConfigMap karpenter-global-settings. Nil means none.
	ConfigMap map[string]string
	// LoggingConfigMap is the data of the ConfigMap config-logging. Nil means none.
	LoggingConfigMap map[string]string
	// ReadConfigMaps reads both ConfigMaps from the cluster if the setting Process.LegacyConfigMap names the first of them. Its argument
	// contains the process settings from flags, environment and file. The data of the logging ConfigMap may be nil. If ReadConfigMaps is
	// nil, the ConfigMaps are not read from the cluster.
	ReadConfigMaps func(Process) (behaviour, logging map[string]string, err error)
	// MoreFlags registers additional flags of the program. Nil means none.
	MoreFlags func(*flag.FlagSet)
}

// fileFlag names the settings file; it is not a setting itself.
const fileFlag = "settings-file"

// HelpError is returned by Load if the command line asks for help. For it, errors.Is(err, flag.ErrHelp) is true.
type HelpError struct {
	// Usage is the text to print.
	Usage string
}

// Error is flag.ErrHelp's.
func (e *HelpError) Error() string { return flag.ErrHelp.Error() }

// Is makes errors.Is(err, flag.ErrHelp) true.
func (e *HelpError) Is(target error) bool { return target == flag.ErrHelp }

// Load reads all sources and combines them: flags override the environment, which overrides the file, which overrides the ConfigMaps. The
// error is an *Error with all problems, a *HelpError, or the error of the FlagSet for a command line that can't be read.
func Load(from Sources) (*Loaded, error) {
	var layers []Layer
	lookup := from.LookupEnv
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	env := ParseEnv(lookup)
	args := Arguments(from.Args)
	path, source, name := fileFrom(args, lookup)
	file, err := readFile(from.ReadFile, path)
	if err != nil {
		file.Problems = append(file.Problems, &Problem{CodeInvalid, source, name, fmt.Sprintf("%s: %q is not a valid settings file: %v", name, shorten(path), err)})
	}
	layers = append(layers, env, file)

	fs := flag.NewFlagSet("controller", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	old, logging := ParseLegacyConfigMap(from.ConfigMap), ParseLoggingConfigMap(from.LoggingConfigMap)
	flags := NewFlags(fs, append(slices.Clone(layers), old, logging)...)
	fs.String(fileFlag, "", "file with chart values, or with a ConfigMap of settings")
	if from.MoreFlags != nil {
		from.MoreFlags(fs)
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, &HelpError{Usage: usage(fs)}
	case err != nil:
		return nil, fmt.Errorf("reading the command line: %w; -help lists the flags", spelling.Flag(err, fs))
	case fs.NArg() > 0:
		return nil, fmt.Errorf("reading the command line: %q is not a flag; -help lists the flags", fs.Arg(0))
	}
	layers = append([]Layer{flags.Layer()}, layers...)
	if known := laidOn(layers); known.Process.LegacyConfigMap != "" && from.ReadConfigMaps != nil {
		behaviour, log, err := from.ReadConfigMaps(known.Process)
		if err != nil {
			return nil, fmt.Errorf("reading configmap %s/%s with the settings of an old release of Karpenter: %w", known.Process.SystemNamespace, known.Process.LegacyConfigMap, err)
		}
		old, logging = ParseLegacyConfigMap(behaviour), ParseLoggingConfigMap(log)
	}
	return Combine(append(layers, old, logging)...)
}

// fileFrom finds the name of the settings file before flags are parsed, because the file determines the defaults in the usage text.
func fileFrom(args []string, lookup func(string) (string, bool)) (path string, source Source, name string) {
	if p, there := lookup(environmentName(fileFlag)); there && p != "" {
		path, source, name = p, SourceEnv, environmentName(fileFlag)
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		flagName, value, hasValue := strings.Cut(arg, "=")
		if flagName != "--"+fileFlag && flagName != "-"+fileFlag {
			continue
		}
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		path, source, name = value, SourceFlag, "--"+fileFlag
	}
	return path, source, name
}

func readFile(read func(string) ([]byte, error), path string) (Layer, error) {
	if path == "" {
		return Layer{Source: SourceFile}, nil
	}
	if read == nil {
		return Layer{Source: SourceFile}, errors.New("files are not supported here")
	}
	data, err := read(path)
	if err != nil {
		return Layer{Source: SourceFile}, err
	}
	return ParseFile(data), nil
}

func usage(fs *flag.FlagSet) string {
	var out strings.Builder
	out.WriteString("Flags, each of which is also a variable of the environment, --log-level as LOG_LEVEL:\n")
	fs.SetOutput(&out)
	fs.PrintDefaults()
	return out.String()
}
