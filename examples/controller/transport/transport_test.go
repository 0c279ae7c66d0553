package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/examples/controller/transport"
)

const bad = "1e-999999999"

// Whatever form an object comes in, its quantities are bounded and its name is logged once; everything else is as it was.
func TestBounded(t *testing.T) {
	const pool = `{"metadata":{"name":%q,"annotations":{"a":"1e-999999999"}},"spec":{"limits":{"cpu":%q}}}`
	for name, c := range map[string]struct{ path, answer, want, object, field string }{
		"object":   {"/apis/karpenter.sh/v1/nodepools/web", fmt.Sprintf(pool, "web", bad), fmt.Sprintf(pool, "web", "0"), "web", "spec.limits[cpu]"},
		"list":     {"/apis/karpenter.sh/v1/nodepools", `{"items":[` + fmt.Sprintf(pool, "a", "5") + "," + fmt.Sprintf(pool, "web", bad) + `]}`, `{"items":[` + fmt.Sprintf(pool, "a", "5") + "," + fmt.Sprintf(pool, "web", "0") + `]}`, "web", "spec.limits[cpu]"},
		"subpath":  {"/proxy/apis/karpenter.sh/v1beta1/nodepools", `{"items":[` + fmt.Sprintf(pool, "web", bad) + `]}`, `{"items":[` + fmt.Sprintf(pool, "web", "0") + `]}`, "web", "spec.limits[cpu]"},
		"status":   {"/apis/karpenter.sh/v1/nodeclaims/c/status", `{"metadata":{"name":"c"},"status":{"capacity":{"cpu":"` + bad + `"}}}`, `{"metadata":{"name":"c"},"status":{"capacity":{"cpu":"0"}}}`, "c", "status.capacity[cpu]"},
		"buffer":   {"/apis/autoscaling.x-k8s.io/v1beta1/namespaces/ns/capacitybuffers/b", `{"metadata":{"name":"b","namespace":"ns"},"spec":{"limits":{"cpu":"` + bad + `"}}}`, `{"metadata":{"name":"b","namespace":"ns"},"spec":{"limits":{"cpu":"0"}}}`, "ns/b", "spec.limits[cpu]"},
		"class":    {"/apis/karpenter.k8s.aws/v1/ec2nodeclasses/c", `{"metadata":{"name":"c"},"spec":{"blockDeviceMappings":[{"ebs":{"volumeSize":"` + bad + `"}}]}}`, `{"metadata":{"name":"c"},"spec":{"blockDeviceMappings":[{"ebs":{"volumeSize":"0"}}]}}`, "c", "spec.blockDeviceMappings[0].ebs.volumeSize"},
		"of other": {"/api/v1/pods", `{"items":[{"x":"` + bad + `"}]}`, `{"items":[{"x":"` + bad + `"}]}`, "", ""},
		"fine":     {"/apis/karpenter.sh/v1/nodepools/web", fmt.Sprintf(pool, "web", "5"), fmt.Sprintf(pool, "web", "5"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				_, _ = io.WriteString(w, c.answer)
			}))
			defer server.Close()
			var log bytes.Buffer
			client := &http.Client{Transport: transport.Bounded(slog.New(slog.NewJSONHandler(&log, nil)))(server.Client().Transport)}
			for range 2 {
				response, err := client.Get(server.URL + c.path)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(response.Body)
				if err != nil || string(got) != c.want {
					t.Errorf("%v, got  %s\nwant %s", err, got, c.want)
				}
				_ = response.Body.Close()
			}
			want := fmt.Sprintf(`"object":%q,"field":%q,"value":%q`, c.object, c.field, bad)
			switch {
			case c.object == "" && log.Len() > 0:
				t.Errorf("logged: %s", &log)
			case c.object != "" && strings.Count(log.String(), want) != 1:
				t.Errorf("not logged once: %s\n%s", want, &log)
			}
		})
	}
}

// A watch hands each event on as soon as it is there.
func TestWatch(t *testing.T) {
	const event = `{"type":"MODIFIED","object":{"metadata":{"name":"web"},"spec":{"limits":{"cpu":%q}}}}` + "\n"
	next := make(chan string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		for text := range next {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	client := &http.Client{Transport: transport.Bounded(nil)(server.Client().Transport), Timeout: time.Minute}
	response, err := client.Get(server.URL + "/apis/karpenter.sh/v1/nodepools?watch=true")
	if err != nil {
		close(next)
		t.Fatal(err)
	}
	for _, value := range []string{"5", bad, "7"} {
		next <- fmt.Sprintf(event, value)
		want := fmt.Sprintf(event, strings.Replace(value, bad, "0", 1))
		got := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
			t.Errorf("%v, got %s, want %s", err, got, want)
		}
	}
	close(next)
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
	_ = response.Body.Close()
}
