package commandstest

import (
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"time"

	"go.uber.org/goleak"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ServedMetrics runs `metrics --metrics-addr`. At each pause it takes the next step, with what the page has then; the
// signal comes after the last one.
func (g *Given) ServedMetrics(signal os.Signal, args []string, steps ...func(code int, page string)) int {
	g.T.Helper()
	defer goleak.VerifyNone(g.T, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(g.T.Context())
	defer cancel(nil)
	address, next := regexp.MustCompile(`metrics on (http://\S+/metrics)`), 0
	g.Clock.OnTimer = func(d time.Duration) bool {
		if d != 30*time.Second {
			return false
		}
		if next == len(steps) {
			cancel(&exit.InterruptedError{Signal: signal})
			return true
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Get(address.FindStringSubmatch(g.Err.String())[1])
		if err != nil {
			g.T.Error(err)
			return false
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		next++
		steps[next-1](answer.StatusCode, string(text))
		return false
	}
	code := g.RunIn(ctx, args...)
	if next < len(steps) {
		g.T.Errorf("ended after %d of %d steps: %s", next, len(steps), &g.Err)
	}
	return code
}
