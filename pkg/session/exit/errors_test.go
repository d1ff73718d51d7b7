package exit

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// hanging is the error of a request that ran out of time.
type hanging struct{}

func (hanging) Error() string { return "net/http: TLS handshake timeout" }
func (hanging) Timeout() bool { return true }

func TestAServerThatHangsIsNamedWithTheLimitAndWhatToDo(t *testing.T) {
	err := fmt.Errorf("read FoundationDBCluster sample: %w", &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/apis/apps", Err: hanging{}})
	got := Explain(err)
	for _, want := range []string{"no answer from the server 10.0.0.1:6443", handshakeTimeout.String(), RequestTimeout.String(), "--request-timeout", "--context", "TLS handshake timeout"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if Code(err) != ExitUnreachable {
		t.Errorf("exit code %d", Code(err))
	}
}

// The sentence names a limit that client-go sets by itself.
func TestTheHandshakeLimitIsThatOfTheClient(t *testing.T) {
	transport, err := rest.TransportFor(&rest.Config{Host: "https://10.0.0.1:6443", TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		wrapper, is := transport.(interface{ WrappedRoundTripper() http.RoundTripper })
		if !is {
			break
		}
		transport = wrapper.WrappedRoundTripper()
	}
	own, is := transport.(*http.Transport)
	if !is || own.TLSHandshakeTimeout != handshakeTimeout {
		t.Errorf("%T: %+v", transport, own)
	}
}
