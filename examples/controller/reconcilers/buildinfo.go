package reconcilers

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/drawknife/drawknife/internal/version"
)

// newBuildInfo returns a metric that is always 1. Its labels describe the build of the program.
func newBuildInfo() prometheus.Collector {
	release, commit := version.Build()
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "What the program was built from.",
		ConstLabels: prometheus.Labels{"version": release, "goversion": runtime.Version(), "goarch": runtime.GOARCH, "commit": commit},
	})
	g.Set(1)
	return g
}
