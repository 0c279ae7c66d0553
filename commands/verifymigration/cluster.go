package verifymigration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// maxInput limits the size of one file, and of kubectl's output.
const maxInput = 256 << 20

// objects are the objects of the cluster.
type objects struct {
	classes []*awsv1.EC2NodeClass
	pools   []*v1.NodePool
	claims  []*v1.NodeClaim
	// dns is the address of the Service kube-dns; empty if it was not read.
	dns string
}

// readCluster reads the objects from the files of the options, or through kubectl.
func readCluster(ctx context.Context, o options, stdin io.Reader) (objects, error) {
	var all objects
	if len(o.files) == 0 {
		text, err := o.get(ctx, "ec2nodeclasses.karpenter.k8s.aws,nodepools.karpenter.sh,nodeclaims.karpenter.sh")
		if err != nil {
			return all, err
		}
		if err := all.add("the output of kubectl", text); err != nil {
			return all, err
		}
		if o.dns != "" {
			return all, nil
		}
		if text, err = o.get(ctx, "services", "kube-dns", "--namespace", "kube-system", "--ignore-not-found"); err != nil {
			return all, err
		}
		return all, all.add("the output of kubectl", text)
	}
	for _, name := range o.files {
		text, err := readFile(name, stdin)
		if err != nil {
			return all, err
		}
		if err := all.add(name, text); err != nil {
			return all, err
		}
	}
	return all, nil
}

// get runs kubectl get.
func (o options) get(ctx context.Context, args ...string) ([]byte, error) {
	args = append([]string{"get", "-o", "json"}, args...)
	for _, handed := range [][2]string{{"--kubeconfig", o.kubeconfig}, {"--context", o.kubeContext}} {
		if handed[1] != "" {
			args = append(args, handed[0], handed[1])
		}
	}
	command := exec.CommandContext(ctx, o.kubectl, args...)
	out, problems := &limited{left: maxInput}, &limited{left: 4 << 10, cut: true}
	command.Stdout, command.Stderr = out, problems
	if err := command.Run(); err != nil {
		if detail := strings.TrimSpace(problems.String()); detail != "" {
			return nil, fmt.Errorf("%s %s: %w: %s", o.kubectl, strings.Join(args, " "), err, detail)
		}
		cure := "read the cluster from files with --filename"
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			cure = "install kubectl, or " + cure
		}
		return nil, fmt.Errorf("%s %s: %w: %s", o.kubectl, strings.Join(args, " "), err, cure)
	}
	return out.Bytes(), nil
}

// limited is a buffer with a maximum number of bytes. If there are more bytes, Write fails or, if cut is true, drops them.
type limited struct {
	bytes.Buffer
	left int
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		if !l.cut {
			return 0, fmt.Errorf("has more than %d bytes", maxInput)
		}
		l.Buffer.Write(p[:l.left])
		l.left = 0
		return len(p), nil
	}
	l.left -= len(p)
	return l.Buffer.Write(p)
}

// readFile reads a file, or standard input for "-".
func readFile(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err == nil && len(text) > maxInput {
		err = fmt.Errorf("has more than %d bytes", maxInput)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return text, nil
}

// add adds the objects in the documents of a text.
func (all *objects) add(name string, text []byte) error {
	reader := yamlreader.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for n := 1; ; n++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			document, err = yaml.YAMLToJSON(document)
		}
		if err == nil {
			err = all.object(document, false)
		}
		if err != nil {
			return fmt.Errorf("%s, document %d: %w", name, n, err)
		}
	}
}

// object reads one object, or a list as kubectl prints it. Unknown fields are ignored: the objects are those that the API server
// accepted, possibly of a newer version. Objects of other kinds are ignored.
func (all *objects) object(document []byte, inList bool) error {
	var kind struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(document, &kind); err != nil {
		return err
	}
	switch {
	case kind.Kind == "List" && !inList:
		for i, item := range kind.Items {
			if err := all.object(item, true); err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
	case kind.Kind == "EC2NodeClass" && kind.APIVersion == awsv1.APIVersion:
		class := &awsv1.EC2NodeClass{}
		all.classes = append(all.classes, class)
		return json.Unmarshal(document, class)
	case kind.Kind == "NodePool" && kind.APIVersion == v1.APIVersion:
		pool := &v1.NodePool{}
		all.pools = append(all.pools, pool)
		return json.Unmarshal(document, pool)
	case kind.Kind == "NodeClaim" && kind.APIVersion == v1.APIVersion:
		claim := &v1.NodeClaim{}
		all.claims = append(all.claims, claim)
		return json.Unmarshal(document, claim)
	case slices.Contains([]string{"EC2NodeClass", "NodePool", "NodeClaim"}, kind.Kind):
		return fmt.Errorf("%s of %s: only v1 is read: ask kubectl for v1, or upgrade Karpenter to v1 first", kind.Kind, kind.APIVersion)
	case kind.Kind == "Service" && kind.APIVersion == "v1":
		service := &corev1.Service{}
		if err := json.Unmarshal(document, service); err != nil {
			return err
		}
		if service.Name == "kube-dns" && service.Namespace == metav1.NamespaceSystem {
			all.dns = service.Spec.ClusterIP
		}
	}
	return nil
}

// metricType finds the instance type in a metric of Karpenter about instance types.
var metricType = regexp.MustCompile(`^karpenter_cloudprovider_instance_type_[a-z_]+\{(?:[^}]*,)?instance_type="([a-z0-9.-]+)"`)

// karpenterTypes reads the names of the instance types from Karpenter's metrics, in the text format of Prometheus.
func karpenterTypes(text []byte) ([]string, error) {
	var out []string
	for line := range bytes.Lines(text) {
		if m := metricType.FindSubmatch(line); m != nil {
			out = append(out, string(m[1]))
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		return nil, errors.New("has no metrics karpenter_cloudprovider_instance_type_…: read them from the leader of Karpenter's replicas")
	}
	return out, nil
}
