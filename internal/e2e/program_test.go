package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/internal/ports"
)

// build makes the controller's program for all tests of this process; removePrograms removes it.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "drawknife-e2e-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "controller")
	if output, err := exec.Command("go", "build", "-C", "../../examples/controller", "-ldflags=-s -w", "-o", path, ".").CombinedOutput(); err != nil {
		return path, fmt.Errorf("building the controller: %w\n%s", err, output)
	}
	return path, nil
})

// removePrograms removes what build made, if anything.
func removePrograms(built bool) error {
	if !built {
		return nil
	}
	path, _ := build()
	return os.RemoveAll(filepath.Dir(path))
}

// programBuilt says to TestMain that there is something to remove.
var programBuilt bool

// program is the controller's program as a process of its own, which reaches the API server through a wire.
type program struct {
	t       *testing.T
	cluster *harness.Cluster
	wire    *wire
	// probe is the URL of its probes.
	probe  string
	stdout *output
	stderr *output

	process *os.Process
	done    chan struct{}
	code    int
}

// startProgram starts it with the fake provider and these flags. It ends with the test.
func startProgram(t *testing.T, cluster *harness.Cluster, flags ...string) *program {
	t.Helper()
	programBuilt = true
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return startBuilt(t, cluster, built{path: path}, flags...)
}

// built is a program, with what it is run with in addition to its flags.
type built struct {
	path string
	// environment in addition to HOME.
	environment []string
	// gate is gone through by requests to the API server that change something; nil: they pass.
	gate func(request string, do func())
}

// startBuilt is startProgram for a certain program.
func startBuilt(t *testing.T, cluster *harness.Cluster, b built, flags ...string) *program {
	t.Helper()
	w := newWire(t, cluster.Config(), b.gate)
	free, err := ports.Free(2)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, cluster: cluster, wire: w, probe: fmt.Sprintf("http://127.0.0.1:%d", free[0]), stdout: &output{}, stderr: &output{}, done: make(chan struct{})}
	command := exec.Command(b.path, append([]string{
		"--provider", "fake", "--allow-simulated-nodes", "--kubeconfig", w.kubeconfig(t),
		"--leader-election-namespace", cluster.Namespace, "--system-namespace", cluster.Namespace,
		"--health-probe-port", strconv.Itoa(free[0]), "--metrics-port", strconv.Itoa(free[1]),
	}, flags...)...)
	command.Env = append([]string{"HOME=" + t.TempDir()}, b.environment...) // and no settings of the user who runs the tests
	command.Stdout, command.Stderr = p.stdout, p.stderr
	endWithParent(command)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p.process = command.Process
	go func() {
		_ = command.Wait()
		p.code = command.ProcessState.ExitCode()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("the program with %v said\n%s%s", flags, p.stdout, p.stderr)
		}
	})
	return p
}

// stop ends the program as a kubelet does, and returns its exit code.
func (p *program) stop() int {
	p.t.Helper()
	_ = p.process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		p.t.Errorf("the program did not end within %s", stopTimeout)
		_ = p.process.Kill()
		<-p.done
	}
	return p.code
}

// ends waits until the program has ended by itself, and returns its exit code.
func (p *program) ends() int {
	p.t.Helper()
	p.cluster.Eventually("the program ends", patience, func() (bool, string) {
		select {
		case <-p.done:
			return true, ""
		default:
			return false, "it runs"
		}
	})
	return p.code
}

// says waits until the program has logged the words.
func (p *program) says(words string) {
	p.t.Helper()
	p.cluster.Eventually(fmt.Sprintf("the program says %q", words), patience, func() (bool, string) {
		return strings.Contains(p.stdout.String()+p.stderr.String(), words), "it does not"
	})
}

// ready asks the probe: whether the program is ready, and what it answers.
func (p *program) ready() (bool, string) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(p.probe + "/readyz?verbose")
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return false, err.Error()
	}
	return response.StatusCode == http.StatusOK, string(text)
}

// wire is a way to the API server that notes requests.
type wire struct {
	server *httptest.Server

	mu             sync.Mutex
	reads, written []string
}

func newWire(t *testing.T, config *rest.Config, gate func(request string, do func())) *wire {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport, FlushInterval: -1, // watches are answered bit by bit
		ErrorHandler: func(out http.ResponseWriter, _ *http.Request, _ error) { out.WriteHeader(http.StatusBadGateway) },
	}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.note(r)
		if gate == nil || reads(r) {
			proxy.ServeHTTP(out, r)
			return
		}
		// An answer is handed on when the gate has let the request through and did not end the program for it.
		answer := httptest.NewRecorder()
		gate(r.Method+" "+r.URL.Path, func() { proxy.ServeHTTP(answer, r) })
		maps.Copy(out.Header(), answer.Header())
		out.WriteHeader(answer.Code)
		_, _ = out.Write(answer.Body.Bytes())
	}))
	t.Cleanup(w.close)
	return w
}

// close ends it; it may be called twice.
func (w *wire) close() {
	w.server.CloseClientConnections()
	w.server.Close()
}

// reads reports whether a request changes nothing.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func (w *wire) note(r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reads(r) {
		w.reads = append(w.reads, r.URL.RequestURI())
	} else {
		w.written = append(w.written, r.Method+" "+r.URL.Path)
	}
}

// writes are the requests so far that change something.
func (w *wire) writes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.written)
}

// asked is how many requests so far read what has the words in its address.
func (w *wire) asked(words string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, uri := range w.reads {
		if strings.Contains(uri, words) {
			n++
		}
	}
	return n
}

// kubeconfig is the path of one that leads through the wire.
func (w *wire) kubeconfig(t *testing.T) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["wire"] = &clientcmdapi.Cluster{Server: w.server.URL}
	config.Contexts["wire"] = &clientcmdapi.Context{Cluster: "wire"}
	config.CurrentContext = "wire"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// output is what a process has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to it.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is all of it.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
