package modelhttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/internal/secret"
)

// TestProxyPasswordStaysHidden runs itself again, because net/http reads the proxy variables once per process.
func TestProxyPasswordStaysHidden(t *testing.T) {
	const password = "proxy-canary-51d0"
	if os.Getenv("GEORAG_TEST_PROXY_CHILD") != "" {
		callThroughProxy(t)
		return
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Proxy-Authorization"), "Basic ") {
			t.Errorf("the proxy got no password: %v", r.Header)
		}
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer refusing.Close()
	for name, proxy := range map[string]string{
		"refuses": "http://user:" + password + "@" + refusing.Listener.Addr().String(),
		"absent":  "http://user:" + password + "@127.0.0.1:1",
		"no URL":  "http://user:" + password + "@%zz",
		"socks":   "socks5://user:" + password + "@127.0.0.1:1",
	} {
		child := exec.Command(os.Args[0], "-test.run=^TestProxyPasswordStaysHidden$", "-test.v")
		child.Env = append(os.Environ(), "GEORAG_TEST_PROXY_CHILD=1", "GEORAG_TEST_KEY="+key,
			"HTTP_PROXY="+proxy, "HTTPS_PROXY="+proxy, "NO_PROXY=", "http_proxy=", "https_proxy=", "no_proxy=")
		out, err := child.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if !strings.Contains(string(out), "the error is: ") {
			t.Errorf("%s: the child did not call:\n%s", name, out)
		}
		for _, hidden := range []string{password, key} {
			if strings.Contains(string(out), hidden) {
				t.Errorf("%s: %q shows in\n%s", name, hidden, out)
			}
		}
	}
}

func callThroughProxy(t *testing.T) {
	for _, base := range []string{"http://model.invalid/v1", "https://model.invalid/v1"} {
		client, err := New(Config{BaseURL: base, Source: secret.Source{Env: "GEORAG_TEST_KEY"}}, "", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		err = client.PostJSON(t.Context(), "/x", nil, new(any))
		if err == nil {
			t.Fatal("no error")
		}
		fmt.Printf("the error is: %v\n%+v\n%#v\n", err, err, err)
		_ = client.Close()
	}
}
