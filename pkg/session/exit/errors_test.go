package exit

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// hanging is the error of a request that ran out of time.
type hanging struct{}

func (hanging) Error() string { return "net/http: TLS handshake timeout" }
func (hanging) Timeout() bool { return true }

func TestAServerThatHangsIsNamedWithTheLimitAndWhatToDo(t *testing.T) {
	err := fmt.Errorf("read FoundationDBCluster sample: %w", &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/apis/apps", Err: hanging{}})
	got := Explain(err)
	for _, want := range []string{"no answer from the server 10.0.0.1:6443", "10s", "--request-timeout", "--context", "TLS handshake timeout"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if Code(err) != ExitUnreachable {
		t.Errorf("exit code %d", Code(err))
	}
}
