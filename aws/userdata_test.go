package aws_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// taintsOf reads the taints that a node registers with out of user data as EC2 is given it: base64, perhaps compressed, a MIME
// archive, a script or TOML. What it finds twice it reports twice. It shares nothing with the code that writes user data.
func taintsOf(userData string) ([]corev1.Taint, error) {
	data, err := base64.StdEncoding.DecodeString(userData)
	if err != nil {
		return nil, fmt.Errorf("it is not base64: %w", err)
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(r, 1<<20)); err != nil {
			return nil, err
		}
	}
	taints := []corev1.Taint{}
	if !bytes.HasPrefix(data, []byte("MIME-Version:")) {
		return appendTaints(taints, "", data)
	}
	message, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return taints, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		if taints, err = appendTaints(taints, part.Header.Get("Content-Type"), content); err != nil {
			return nil, err
		}
	}
}

// registerWithTaints is the kubelet's flag in a script, quoted or not.
var registerWithTaints = regexp.MustCompile(`--register-with-taints="?([^"'\s]+)`)

// appendTaints adds those of a document of that media type; what has none is told by its looks.
func appendTaints(taints []corev1.Taint, mediaType string, data []byte) ([]corev1.Taint, error) {
	switch {
	case strings.HasPrefix(mediaType, "application/node.eks.aws"):
		var config struct {
			Spec struct {
				Kubelet struct {
					Config struct {
						RegisterWithTaints []corev1.Taint `json:"registerWithTaints"`
					} `json:"config"`
				} `json:"kubelet"`
			} `json:"spec"`
		}
		err := yaml.Unmarshal(data, &config)
		return append(taints, config.Spec.Kubelet.Config.RegisterWithTaints...), err
	case bytes.HasPrefix(data, []byte("[settings]")):
		var config struct {
			Settings struct {
				Kubernetes struct {
					NodeTaints map[string][]string `toml:"node-taints"`
				} `toml:"kubernetes"`
			} `toml:"settings"`
		}
		err := toml.Unmarshal(data, &config)
		for key, list := range config.Settings.Kubernetes.NodeTaints {
			for _, each := range list {
				value, effect, _ := strings.Cut(each, ":")
				taints = append(taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
			}
		}
		return taints, err
	}
	for _, flag := range registerWithTaints.FindAllSubmatch(data, -1) {
		for _, each := range strings.Split(string(flag[1]), ",") {
			text, effect, ok := strings.Cut(each, ":")
			if !ok {
				return nil, fmt.Errorf("taint %q has no effect", each)
			}
			key, value, _ := strings.Cut(text, "=")
			taints = append(taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
		}
	}
	return taints, nil
}

// The reader that CP-CREATE-04 is held to reads what bootstraps read.
func TestTaintsOf(t *testing.T) {
	want := []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: "NoSchedule"}, v1.UnregisteredTaint()}
	archive := func(mediaType, body string) string {
		return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: " + mediaType + "\n\n" + body + "\n--//--\n"
	}
	flags := `--kubelet-extra-args '--node-labels="a=b" --register-with-taints="dedicated=batch:NoSchedule,karpenter.sh/unregistered:NoExecute"'`
	for name, text := range map[string]string{
		"node config": archive("application/node.eks.aws", "kind: NodeConfig\nspec: {kubelet: {config: {registerWithTaints: [{key: dedicated, value: batch, effect: NoSchedule}, {key: karpenter.sh/unregistered, effect: NoExecute}]}}}"),
		"script":      archive(`text/x-shellscript; charset="us-ascii"`, "#!/bin/bash\n/etc/eks/bootstrap.sh demo "+flags),
		"PowerShell":  "<powershell>\nStart " + flags + "\n</powershell>",
		"TOML":        "[settings]\n[settings.kubernetes.node-taints]\ndedicated = ['batch:NoSchedule']\n'karpenter.sh/unregistered' = [':NoExecute']\n",
	} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{[]byte(text), packed.Bytes()} {
			got, err := taintsOf(base64.StdEncoding.EncodeToString(data))
			slices.SortFunc(got, func(a, b corev1.Taint) int { return strings.Compare(a.Key, b.Key) })
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
		}
	}
	if got, err := taintsOf(""); len(got) != 0 || err != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
	for _, bad := range []string{"%", base64.StdEncoding.EncodeToString([]byte("MIME-Version: 1.0\nContent-Type: x/\n\n"))} {
		if got, err := taintsOf(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
