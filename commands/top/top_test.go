package top

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/top/clusterreport"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// sample is a report with all that a view shows.
func sample() *clusterreport.Report {
	at := func(ago time.Duration) time.Time { return noon.Add(-ago) }
	node := func(name, pool, kind, capacity string, state clusterreport.NodeState, price float64, pods int, cpu, memory float64) clusterreport.Node {
		n := clusterreport.Node{
			Name: name, NodeClaim: name, NodePool: pool, InstanceType: kind, Zone: "us-east-1a", CapacityType: capacity, State: state, Since: at(50 * time.Hour), Pods: pods,
			Allocatable: clusterreport.Amounts{CPU: 4, Memory: 16e9}, Requested: clusterreport.Amounts{CPU: cpu, Memory: memory},
		}
		if price > 0 {
			n.Price = &price
		}
		return n
	}
	r := &clusterreport.Report{
		APIVersion: clusterreport.APIVersion, Kind: clusterreport.Kind, Time: noon, Leader: true,
		Totals: clusterreport.Totals{
			HourlyCost: 0.2144, ByCapacityType: map[string]float64{"on-demand": 0.1632, "spot": 0.0512}, WithoutPrice: 1, Nodes: 4, Pods: 32, Pending: 102, Commands: 1,
			Allocatable: clusterreport.Amounts{CPU: 12, Memory: 48e9}, Requested: clusterreport.Amounts{CPU: 6, Memory: 20e9},
		},
		Saved: clusterreport.Saved{PerHour: 0.31, Commands: 4, Since: at(5 * time.Hour)},
		Commands: []clusterreport.Command{{
			ID: "c1", Reason: "Underutilized", State: "Waiting", Nodes: []string{"node-2"}, Saves: 0.0123, Since: at(40 * time.Second),
			Replacements: []clusterreport.Replacement{{NodePool: "default", InstanceType: "m7g.large", Zone: "us-east-1b", CapacityType: "spot"}},
		}},
		Pending: []clusterreport.Pod{
			{Namespace: "shop", Name: "web-0", Since: at(12 * time.Second), Planned: "a new node of NodePool default, such as m7g.large in us-east-1b, spot"},
			{Namespace: "shop", Name: "train", Since: at(3 * time.Minute), Reason: "incompatible with nodepool \"default\", no instance type has 9 GPUs"},
		},
		Nodes: []clusterreport.Node{
			node("node-1", "default", "m7g.xlarge", "on-demand", clusterreport.StateReady, 0.1632, 20, 3.9, 12e9),
			node("node-2", "default", "m7g.xlarge", "spot", clusterreport.StateLeaving, 0.0512, 12, 1, 2e9),
			node("default-x7", "default", "", "", clusterreport.StateLaunching, 0, 0, 0, 0),
			node("own", "", "", "", clusterreport.StateReady, 0, 3, 1.1, 6e9),
		},
	}
	r.Nodes[1].Command, r.Nodes[1].Reason = "c1", "Underutilized"
	r.Nodes[2].Allocatable = clusterreport.Amounts{}
	return r
}

// serving is a controller that answers with the handler.
func serving(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// reporting is a controller with the report.
func reporting(t *testing.T, report any) string {
	t.Helper()
	return serving(t, func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path != clusterreport.Path || request.Method != http.MethodGet {
			http.NotFound(w, request)
			return
		}
		_ = json.NewEncoder(w).Encode(report)
	})
}

type answer struct {
	status      int
	out, errors string
}

func top(ctx context.Context, args ...string) answer {
	var out, messages bytes.Buffer
	run := Command().Begin()
	if err := run.Flags.Parse(args); err != nil {
		return answer{1, "", err.Error()}
	}
	status := run.Do(ctx, run.Flags.Args(), commands.Streams{In: strings.NewReader(""), Out: &out, Err: &messages})
	return answer{status, out.String(), messages.String()}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestOnce(t *testing.T) {
	url := reporting(t, sample())
	got := top(t.Context(), "--url", url, "--once")
	if got.status != 0 || got.errors != "" {
		t.Errorf("%+v", got)
	}
	golden(t, "once.txt", got.out)
	if again := top(t.Context(), "--url", url+"/"); again != got { // not on a terminal
		t.Errorf("without --once: %+v", again)
	}
	printed := top(t.Context(), "--url", url, "-o", "json")
	var report clusterreport.Report
	if err := json.Unmarshal([]byte(printed.out), &report); err != nil || printed.status != 0 {
		t.Fatalf("%v: %+v", err, printed)
	}
	if diff := cmp.Diff(sample(), &report); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// On a terminal a view has no more lines and columns than the terminal, with and without colours.
func TestSizes(t *testing.T) {
	r := sample()
	for i := range 200 {
		n := r.Nodes[0]
		n.Name = fmt.Sprintf("ip-10-0-%d-17.eu-central-1.compute.internal-with-a-long-name", i)
		r.Nodes = append(r.Nodes, n)
	}
	r.Totals.Nodes = 5200
	narrow := view{width: 80, height: 24, colors: true, signs: true}
	golden(t, "terminal.txt", narrow.text(r))
	for _, width := range []int{1, 10, 39, 80, 200, 1000} {
		for _, height := range []int{1, 5, 10, 24, 100} {
			v := view{width: width, height: height, signs: true}
			lines := v.lines(r)
			if len(lines) > max(height, 4) {
				t.Errorf("%d lines on a terminal of %d x %d", len(lines), width, height)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%d characters in a line of %d: %q", n, width, line)
				}
			}
		}
	}
	if lines := (view{}).lines(&clusterreport.Report{}); len(lines) != 7 {
		t.Errorf("an empty report: %q", lines)
	}
}

// Text of the controller can't control the terminal, wherever it is.
func TestHostileNames(t *testing.T) {
	const bad = "\x1b[2J\u202e\u009b31m\x07\nx\r\ty\xff"
	r := sample()
	r.Note = bad
	r.Totals.ByCapacityType = map[string]float64{bad: 1}
	r.Commands = []clusterreport.Command{{ID: bad, Reason: bad, State: bad, Nodes: []string{bad}, Replacements: []clusterreport.Replacement{{NodePool: bad, InstanceType: bad, Zone: bad, CapacityType: bad}}}}
	r.Pending = []clusterreport.Pod{{Namespace: bad, Name: bad, Planned: bad}, {Reason: bad}}
	r.Nodes = []clusterreport.Node{{Name: bad, NodeClaim: bad, NodePool: bad, InstanceType: bad, Zone: bad, CapacityType: bad, State: bad, Command: bad, Reason: bad}}
	url := reporting(t, r)
	for _, args := range [][]string{{"--once"}, {"-o", "json"}} {
		got := top(t.Context(), append(args, "--url", url)...)
		if got.status != 0 {
			t.Errorf("%+v", got)
		}
		for _, c := range []string{"\x1b", "\u202e", "\u009b", "\x07", "\r", "\t", "\xff"} {
			if strings.Contains(got.out, c) {
				t.Errorf("%v prints %q: %q", args, c, got.out)
			}
		}
	}
	for _, line := range (view{width: 80, height: 40, problem: bad}).lines(r) {
		if strings.ContainsAny(line, "\x1b\n\r\t\x07") {
			t.Errorf("a line has a control character: %q", line)
		}
	}
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"unexpected argument \"x\"":                     {"x"},
		"--url \"ftp://x\": not a URL":                  {"--url", "ftp://x"},
		"--url \"localhost:8080\": not a URL":           {"--url", "localhost:8080"},
		"--url \"http://x/?a=b\": not a URL":            {"--url", "http://x/?a=b"},
		"--interval 10ms: at least 1s":                  {"--interval", "10ms"},
		"--output \"yaml\"":                             {"-o", "yaml"},
		"--context has an effect only with --forward":   {"--context", "blue"},
		"--namespace has an effect only with --forward": {"-n", "x"},
		"--url and --forward":                           {"--forward", "--url", "http://x"},
		"--port 0":                                      {"--forward", "--port", "0"},
	} {
		got := top(t.Context(), args...)
		if got.status != exitInput || !strings.Contains(got.errors, want) || got.out != "" {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
}

// Whatever answers, the command ends with a message and status 4.
func TestBadControllers(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	text := func(status int, body string) string {
		return serving(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = io.WriteString(w, body) })
	}
	for name, c := range map[string]struct{ url, want string }{
		"nobody listens": {closed.URL, "cannot reach the controller"},
		"not found":      {text(404, ""), `answers "404 Not Found"`},
		"redirect": {serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != clusterreport.Path {
				t.Error("the redirect is followed")
			}
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}), `answers "302 Found"`},
		"no JSON":     {text(200, "<html>"), "is not a report"},
		"empty":       {text(200, ""), "is not a report"},
		"other kind":  {text(200, `{"apiVersion": "v1", "kind": "`+strings.Repeat("P", 1000)+`"}`), `with apiVersion "v1"`},
		"other types": {text(200, `{"apiVersion": "drawknife.dev/v1", "kind": "ClusterReport", "nodes": 7}`), "is not a report"},
		"deep":        {text(200, strings.Repeat("[", 1<<20)), "is not a report"},
		"a cut answer": {serving(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}), "reading the answer"},
		"not the leader": {reporting(t, clusterreport.Report{APIVersion: clusterreport.APIVersion, Kind: clusterreport.Kind}), "not the leader"},
		"endless": {serving(t, func(w http.ResponseWriter, _ *http.Request) {
			for chunk := bytes.Repeat([]byte(" "), 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}), "more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			got := top(t.Context(), "--once", "--url", c.url)
			if got.status != exitController || !strings.Contains(got.errors, c.want) || got.out != "" || len(got.errors) > 2000 {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// A controller that hangs is given up after a while, and at once when the user interrupts.
func TestHangs(t *testing.T) {
	hang := make(chan struct{})
	url := serving(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(hang) })
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	if got := top(ctx, "--once", "--url", url); got.status != 130 || !strings.Contains(got.errors, program+": enough") {
		t.Errorf("%+v", got)
	}
	c := newClient(url)
	if c.http.Timeout != answerTimeout {
		t.Errorf("the time-out is %s", c.http.Timeout)
	}
	c.http.Timeout = 50 * time.Millisecond
	if _, err := c.report(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot reach") {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestOutputFails(t *testing.T) {
	for _, args := range [][]string{{"--once"}, {"-o", "json"}} {
		run := Command().Begin()
		if err := run.Flags.Parse(append(args, "--url", reporting(t, sample()))); err != nil {
			t.Fatal(err)
		}
		var messages bytes.Buffer
		status := run.Do(t.Context(), nil, commands.Streams{Out: failing{}, Err: &messages})
		if status != exitOutput || !strings.Contains(messages.String(), "disk full") {
			t.Errorf("%d, %q", status, &messages)
		}
	}
}

// drawn collects what is drawn on a terminal.
type drawn struct {
	mu   sync.Mutex
	text strings.Builder
	seen func(string)
}

func (d *drawn) Write(data []byte) (int, error) {
	d.mu.Lock()
	d.text.Write(data)
	text := d.text.String()
	d.mu.Unlock()
	if d.seen != nil {
		d.seen(text)
	}
	return len(data), nil
}

// The live view goes on when the controller is away for a while, and restores the screen when the user interrupts.
func TestLive(t *testing.T) {
	var mu sync.Mutex
	requests := 0
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests++
		n := requests
		mu.Unlock()
		if n == 2 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		report := sample()
		report.Totals.Pods = 1000 + n
		_ = json.NewEncoder(w).Encode(report)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	to := &drawn{seen: func(text string) {
		if strings.Contains(text, "1003 pods") {
			cancel(errors.New("ctrl-c"))
		}
	}}
	o := &options{
		url: url, interval: time.Millisecond, output: outputText, getenv: func(string) string { return "" },
		screen: func(io.Writer) *screen { return &screen{to, func() (int, int) { return 100, 30 }} },
	}
	if err := o.watch(ctx, to); err == nil || err.Error() != "ctrl-c" {
		t.Error(err)
	}
	got := to.text.String()
	if !strings.HasPrefix(got, enter+home) || !strings.HasSuffix(got, leave) || !strings.Contains(got, "1001 pods") || !strings.Contains(got, "The view is old. Trying again: ") {
		t.Errorf("%q", got)
	}
	if strings.Count(got, "The view is old") != 1 || !strings.Contains(got, "\x1b[1m") || strings.Contains(got, "█") {
		t.Errorf("%q", got)
	}
}

func TestColors(t *testing.T) {
	for name, c := range map[string]struct {
		env           map[string]string
		colors, signs bool
	}{
		"usual":    {map[string]string{"LANG": "en_GB.UTF-8"}, true, true},
		"no color": {map[string]string{"NO_COLOR": "1", "LANG": "en_GB.UTF-8"}, false, true},
		"dumb":     {map[string]string{"TERM": "dumb"}, false, false},
		"latin":    {map[string]string{"LC_ALL": "C", "LANG": "en_GB.UTF-8"}, true, false},
	} {
		o := &options{getenv: func(key string) string { return c.env[key] }}
		if o.colors() != c.colors || speaksUTF8(o.getenv) != c.signs {
			t.Errorf("%s: %v %v", name, o.colors(), speaksUTF8(o.getenv))
		}
	}
	if terminalOf(&bytes.Buffer{}) != nil {
		t.Error("a buffer is a terminal")
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if terminalOf(file) != nil {
		t.Error("a file is a terminal")
	}
}

// kubectl is a script in place of kubectl.
func kubectl(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	file := filepath.Join(t.TempDir(), "kubectl")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}

// With --forward, kubectl forwards a port to the pod that holds the Lease, and is ended at the end.
func TestForward(t *testing.T) {
	url := reporting(t, sample())
	_, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	log := filepath.Join(t.TempDir(), "log")
	script := `echo "$@" >> ` + log + `
case $1 in
get) printf 'drawknife-7f8-abcde_1b2c-uuid' ;;
port-forward) echo $$ >> ` + log + `; echo "Forwarding from 127.0.0.1:` + port + ` -> 8080"; exec sleep 600 ;;
esac
`
	var out, messages bytes.Buffer
	o := &options{interval: time.Second, output: outputText, getenv: os.Getenv, screen: terminalOf, url: "http://localhost:1"}
	o.forward = forward{on: true, namespace: "ops", context: "blue", kubeconfig: "/k", lease: "l", target: "deploy/drawknife", port: 9090, kubectl: kubectl(t, script)}
	began := time.Now()
	if status := o.run(t.Context(), nil, map[string]bool{}, &out, &messages); status != 0 || !strings.Contains(out.String(), "Nodes: 4") {
		t.Errorf("%d, %q, %q", status, &out, &messages)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	want := []string{
		"get lease l -o jsonpath={.spec.holderIdentity} --namespace=ops --context=blue --kubeconfig=/k",
		"port-forward pod/drawknife-7f8-abcde :9090 --address=127.0.0.1 --namespace=ops --context=blue --kubeconfig=/k",
	}
	if diff := cmp.Diff(want, lines[:2]); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat("/proc/" + lines[2]); runtime.GOOS == "linux" && err == nil {
		t.Errorf("kubectl, process %s, still runs", lines[2])
	}
}

func TestForwardFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"refused":        {"echo 'pods \"x\" is forbidden' >&2; exit 1\n", `exit status 1: pods "x" is forbidden`},
		"ends":           {"echo hello\n", "it has ended"},
		"another target": {"[ $1 = get ] && { echo '../../x_y'; exit; }; echo \"$2\" >&2; exit 1\n", "deploy/drawknife"},
	} {
		t.Run(name, func(t *testing.T) {
			f := forward{lease: "l", target: "deploy/drawknife", port: 8080, kubectl: kubectl(t, c.script)}
			if _, err := f.open(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	f := forward{kubectl: "no-such-kubectl"}
	if _, err := f.open(t.Context()); err == nil || !strings.Contains(err.Error(), "--forward needs kubectl") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f = forward{lease: "l", kubectl: kubectl(t, "[ $1 = get ] || exec sleep 600\n")}
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := f.open(ctx); err == nil {
		t.Error("it does not end")
	}
	// A tunnel that ends later is noticed.
	f.kubectl = kubectl(t, "[ $1 = get ] || { echo 'Forwarding from 127.0.0.1:1 -> 8080'; sleep 0.2; echo lost connection to pod >&2; exit 1; }\n")
	tunnel, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-tunnel.done
	if err := tunnel.ended(); err == nil || !strings.Contains(err.Error(), "lost connection to pod") {
		t.Error(err)
	}
	tunnel.close()
}
