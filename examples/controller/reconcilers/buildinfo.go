package reconcilers

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// Build is the version of the program's module and the commit it was built from, "unknown" where the toolchain did not note
// them, as when tests run. "-dirty" stands behind a commit whose files had been changed.
func Build() (version, commit string) {
	version, commit = "unknown", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, commit
	}
	if info.Main.Version != "" {
		version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			commit += "-dirty"
		}
	}
	return version, commit
}

// newBuildInfo is a metric that is always 1 and bears what the program was built from.
func newBuildInfo() prometheus.Collector {
	version, commit := Build()
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "What the program was built from.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version(), "goarch": runtime.GOARCH, "commit": commit},
	})
	g.Set(1)
	return g
}
