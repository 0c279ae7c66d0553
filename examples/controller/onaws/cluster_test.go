package onaws

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws"
)

// ofEKS answers as EKS does.
type ofEKS struct {
	info aws.ClusterInfo
	err  error
}

func (e *ofEKS) ClusterInfo(context.Context) (aws.ClusterInfo, error) { return e.info, e.err }

// SET-117, SET-118: what the settings say wins over EKS, and serves where EKS does not answer; that it does not is said, not
// hidden, and not at every launch.
func TestCluster(t *testing.T) {
	var log bytes.Buffer
	now := time.Unix(1.7e9, 0)
	eks := &ofEKS{info: aws.ClusterInfo{Version: "1.35", Endpoint: "https://eks", CABundle: "ZWtz", ServiceCIDR: "172.20.0.0/16"}}
	plain := &Cluster{Found: eks}
	given := &Cluster{
		Found: eks, Endpoint: "https://given", CABundle: "Z2l2ZW4=", Logger: slog.New(slog.NewTextHandler(&log, nil)), Clock: option.ClockFunc(func() time.Time { return now }),
	}
	if info, err := plain.ClusterInfo(t.Context()); err != nil || info != eks.info {
		t.Errorf("%+v, %v", info, err)
	}
	want := aws.ClusterInfo{Version: "1.35", Endpoint: "https://given", CABundle: "Z2l2ZW4=", ServiceCIDR: "172.20.0.0/16"}
	if info, err := given.ClusterInfo(t.Context()); err != nil || info != want || log.Len() > 0 {
		t.Errorf("%+v, %v, told %q", info, err, &log)
	}

	eks.err = errors.New("not authorised")
	if _, err := plain.ClusterInfo(t.Context()); !errors.Is(err, eks.err) {
		t.Errorf("got %v", err)
	}
	want.Version, want.ServiceCIDR = "", ""
	for _, told := range []int{1, 1, 2} {
		if info, err := given.ClusterInfo(t.Context()); err != nil || info != want {
			t.Errorf("%+v, %v", info, err)
		}
		if n := strings.Count(log.String(), "not authorised"); n != told {
			t.Errorf("told %d times, want %d: %s", n, told, &log)
		}
		if told == 1 {
			now = now.Add(reportEvery / 2)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := given.ClusterInfo(ended); err == nil {
		t.Error("an end is taken for EKS's answer")
	}
}

// SET-119: unless EKS is to be asked for it, the version is the API server's.
func TestVersionOfTheCluster(t *testing.T) {
	now := time.Unix(1.7e9, 0)
	eks := &ofEKS{info: aws.ClusterInfo{Version: "1.34", Endpoint: "https://eks"}}
	api := &apiServer{info: version.Info{Major: "1", Minor: "35+"}}
	c := &Cluster{Found: eks, Version: ServerVersion(api), Clock: option.ClockFunc(func() time.Time { return now })}
	check := func(want string, asked int) {
		t.Helper()
		info, err := c.ClusterInfo(t.Context())
		if got := info.Version; got != want || (err != nil) != (want == "") || api.asked != asked {
			t.Errorf("version %q after %d questions, %v; want %q after %d", got, api.asked, err, want, asked)
		}
	}
	api.err = errors.New("no answer")
	check("1.34", 1)
	eks.info.Version = ""
	check("", 2)
	api.err = nil
	check("1.35", 3)
	check("1.35", 3)
	api.info.Minor, now = "36", now.Add(versionEvery)
	check("1.36", 4)
	api.err, now = errors.New("no answer"), now.Add(versionEvery)
	check("1.36", 5)
	api.err, api.info = nil, version.Info{}
	check("1.36", 6)
}

type apiServer struct {
	info  version.Info
	err   error
	asked int
}

func (a *apiServer) ServerVersion() (*version.Info, error) {
	a.asked++
	return &a.info, a.err
}
