package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind parses and formats the values of a type of settings.
type kind[T any] struct {
	name   string // name in messages
	parse  func(string) (T, error)
	format func(T) string
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New(`write "true" or "false"`)
}

func parseDuration(text string) (time.Duration, error) {
	if number, err := strconv.ParseFloat(text, 64); err == nil && text != "0" && !math.IsInf(number, 0) && !math.IsNaN(number) {
		return 0, fmt.Errorf("it has no unit; write %ss for seconds, or use m, h, ms, us or ns", text)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("write a number with a unit of ns, us, ms, s, m or h, as in 10s")
	}
	return d, nil
}

func parseLevel(text string) (slog.Level, error) {
	switch text {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, errors.New("write debug, info, warn or error")
}

// parseTags reads a JSON object of strings.
func parseTags(text string) (map[string]string, error) {
	var tags map[string]string
	if err := json.Unmarshal([]byte(text), &tags); err != nil {
		return nil, errors.New(`write a JSON object of strings, as in {"team":"a"}`)
	}
	for key := range tags {
		if key == "" {
			return nil, errors.New("a tag's key must not be empty")
		}
	}
	return tags, nil
}

func formatTags(tags map[string]string) string {
	text, err := json.Marshal(tags)
	if err != nil || len(tags) == 0 {
		return ""
	}
	return string(text)
}

// parsePairs reads "a=b,c=d".
func parsePairs(text string) (map[string]string, error) {
	pairs := make(map[string]string)
	for piece := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(piece), "=")
		if !ok || key == "" || value == "" {
			return nil, errors.New("write NAME=VALUE, separated by commas")
		}
		if _, twice := pairs[key]; twice {
			return nil, fmt.Errorf("%s is given twice: give it once", key)
		}
		pairs[key] = value
	}
	return pairs, nil
}

func formatPairs(pairs map[string]string) string {
	var pieces []string
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		pieces = append(pieces, key+"="+pairs[key])
	}
	return strings.Join(pieces, ",")
}

func parsePaths(text string) ([]string, error) {
	var paths []string
	for piece := range strings.SplitSeq(text, ",") {
		piece = strings.TrimSpace(piece)
		if piece == "" {
			return nil, errors.New("separate paths by single commas, as in stdout,/var/log/controller.log")
		}
		if !slices.Contains(paths, piece) {
			paths = append(paths, piece)
		}
	}
	return paths, nil
}

func texts() kind[string] {
	return kind[string]{"text", func(text string) (string, error) { return text, nil }, func(s string) string { return s }}
}

func bools() kind[bool] {
	return kind[bool]{"boolean", parseBool, strconv.FormatBool}
}

// inverted is the kind of a setting whose field has the opposite meaning of the setting's name.
func inverted() kind[bool] {
	return kind[bool]{
		"boolean",
		func(text string) (bool, error) { on, err := parseBool(text); return !on, err },
		func(on bool) string { return strconv.FormatBool(!on) },
	}
}

func integers[T int | int64](name string) kind[T] {
	return kind[T]{
		name,
		func(text string) (T, error) {
			n, err := strconv.ParseInt(text, 10, strconv.IntSize)
			if err != nil {
				return 0, errors.New("write a whole number in digits that fits into 64 bits")
			}
			return T(n), nil
		},
		func(n T) string { return strconv.FormatInt(int64(n), 10) },
	}
}

func floats[T float32 | float64](name string) kind[T] {
	return kind[T]{
		name,
		func(text string) (T, error) {
			bits := 64
			if any(T(0)) == any(float32(0)) {
				bits = 32
			}
			f, err := strconv.ParseFloat(text, bits)
			if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
				return 0, errors.New("write a number such as 0.075")
			}
			return T(f), nil
		},
		func(f T) string {
			if any(T(0)) == any(float32(0)) {
				return strconv.FormatFloat(float64(f), 'g', -1, 32)
			}
			return strconv.FormatFloat(float64(f), 'g', -1, 64)
		},
	}
}

func durations() kind[time.Duration] {
	return kind[time.Duration]{"duration", parseDuration, time.Duration.String}
}

func choices[T ~string](name string, values ...T) kind[T] {
	return kind[T]{
		name,
		func(text string) (T, error) {
			if !slices.Contains(values, T(text)) {
				var known []string
				for _, v := range values {
					known = append(known, string(v))
				}
				return "", fmt.Errorf("write one of %s", strings.Join(known, ", "))
			}
			return T(text), nil
		},
		func(v T) string { return string(v) },
	}
}

func levels() kind[slog.Level] {
	return kind[slog.Level]{"log level", parseLevel, func(l slog.Level) string { return strings.ToLower(l.String()) }}
}

func paths() kind[[]string] {
	return kind[[]string]{"list of paths", parsePaths, func(p []string) string { return strings.Join(p, ",") }}
}

func gatesKind() kind[FeatureGates] {
	return kind[FeatureGates]{"list of feature gates", ParseFeatureGates, FeatureGates.String}
}

func pairsKind() kind[map[string]string] {
	return kind[map[string]string]{"list of pairs", parsePairs, formatPairs}
}

func tagsKind() kind[map[string]string] {
	return kind[map[string]string]{"set of tags", parseTags, formatTags}
}
