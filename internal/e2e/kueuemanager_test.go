package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/e2e/binaries"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/internal/ports"
)

// startKueue installs the released Kueue on the test's cluster and runs its manager, as the service account and with the rights that the
// release gives it. It ends with the test. The test is skipped if the manager is not built.
func startKueue(t *testing.T, cluster *harness.Cluster, api *api) {
	t.Helper()
	program, err := binaries.Kueue().Find(t.Context())
	if errors.Is(err, binaries.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	release, err := binaries.Kueue().Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	free, err := ports.Free(2)
	if err != nil {
		t.Fatal(err)
	}
	webhooks, probes := free[0], free[1]
	installKueue(t, cluster, api, release, int64(webhooks))
	dir := t.TempDir()
	config := kueueConfiguration(t, release, dir, webhooks, probes)
	log, err := os.Create(filepath.Join(t.ArtifactDir(), "kueue.log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "--config", config, "--kubeconfig", kueueKubeconfig(t, cluster, dir), "--zap-log-level=2",
		"--feature-gates=VisibilityOnDemand=false") // its server writes outside of any folder that a test may choose
	command.Env = []string{"HOME=" + dir}
	command.Stdout, command.Stderr = log, log
	endWithParent(command)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(stopTimeout):
			t.Errorf("Kueue did not end within %s", stopTimeout)
			_ = command.Process.Kill()
			<-ended
		}
		_ = log.Close()
		if t.Failed() {
			t.Logf("Kueue said last\n%s", lastLines(log.Name(), 60))
		}
	})
	mountCertificates(t, cluster, filepath.Join(dir, "certs"))
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	cluster.Eventually("Kueue is ready", patience, func() (bool, string) {
		select {
		case <-ended:
			t.Fatalf("Kueue ended: %s\n%s", command.ProcessState, lastLines(log.Name(), 60))
		default:
		}
		response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", probes))
		if err != nil {
			return false, err.Error()
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK, response.Status
	})
}

// installKueue creates the release's objects. The webhooks are removed with the test: nobody answers them any more then.
func installKueue(t *testing.T, cluster *harness.Cluster, api *api, release string, webhookPort int64) {
	t.Helper()
	objects, err := kueueManifests(release, webhookPort)
	if err != nil {
		t.Fatal(err)
	}
	_, err = cluster.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kueueNamespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	for _, object := range objects {
		api.create(object)
		if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
			t.Cleanup(func() { api.remove(object) })
		}
	}
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		plural, _, _ := unstructured.NestedString(object.Object, "spec", "names", "plural")
		cluster.Retry(plural+" are served", func() error {
			_, err := api.list(plural + ".kueue.x-k8s.io")
			return err
		})
	}
}

// kueueConfiguration is the path of the release's configuration, with addresses and a folder that are the test's.
func kueueConfiguration(t *testing.T, release, dir string, webhooks, probes int) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(release, "config", "components", "manager", "controller_manager_config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := sigsyaml.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	merge(config, map[string]any{
		"health":  map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", probes)},
		"metrics": map[string]any{"bindAddress": "0"},
		"webhook": map[string]any{"host": "127.0.0.1", "port": webhooks, "certDir": filepath.Join(dir, "certs")},
		// Nobody else leads; and the next test's manager would wait for the lease of this one.
		"leaderElection": map[string]any{"leaderElect": false},
	})
	if content, err = sigsyaml.Marshal(config); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// kueueKubeconfig is the path of one for Kueue's service account.
func kueueKubeconfig(t *testing.T, cluster *harness.Cluster, dir string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	token, err := cluster.Client.CoreV1().ServiceAccounts(kueueNamespace).CreateToken(t.Context(), kueuePrefix+"controller-manager", request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server := cluster.Config()
	config := clientcmdapi.NewConfig()
	config.Clusters["kueue"] = &clientcmdapi.Cluster{Server: server.Host, CertificateAuthorityData: server.CAData}
	config.AuthInfos["kueue"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["kueue"] = &clientcmdapi.Context{Cluster: "kueue", AuthInfo: "kueue"}
	config.CurrentContext = "kueue"
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// mountCertificates does a kubelet's part: the certificates that Kueue makes and keeps in a Secret come back to it as files.
func mountCertificates(t *testing.T, cluster *harness.Cluster, dir string) {
	t.Helper()
	var data map[string][]byte
	cluster.Eventually("Kueue has made its certificates", patience, func() (bool, string) {
		secret, err := cluster.Client.CoreV1().Secrets(kueueNamespace).Get(t.Context(), kueuePrefix+"webhook-server-cert", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		data = secret.Data
		return len(data[corev1.TLSCertKey]) > 0 && len(data[corev1.TLSPrivateKeyKey]) > 0, fmt.Sprint(len(data), " keys")
	})
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{corev1.TLSPrivateKeyKey, corev1.TLSCertKey} { // the last is what Kueue waits for
		if err := os.WriteFile(filepath.Join(dir, name), data[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// lastLines of a file.
func lastLines(path string, n int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
