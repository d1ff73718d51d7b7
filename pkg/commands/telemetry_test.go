package commands_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// There is no telemetry: whatever a command does, it connects to the API server of its kubeconfig
// and resolves no other name. Every example of --help is run, with clients of the real program.
func TestCommandsConnectToTheAPIServerOnly(t *testing.T) {
	server := httptest.NewServer(status(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`))
	defer server.Close()
	opened := recordConnections(t)
	v, dir, ran := commandstest.NewVault(t), t.TempDir(), 0
	for _, example := range offeredExamples(commands.NewRoot(commandstest.NewGiven(t).Environment())) {
		words, _ := v.ExampleWords(example, dir)
		if words == nil {
			continue
		}
		env, _, _ := realEnv(t)
		limited := env.Kube.WrapConfigFn
		env.Kube.WrapConfigFn = func(c *rest.Config) *rest.Config {
			c = limited(c)
			c.Dial = opened.dial
			return c
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, &exit.InterruptedError{Signal: os.Interrupt})
		env.Kube.APIServer = &server.URL
		commands.Run(ctx, env, words)
		cancel()
		ran++
	}
	if ran < 50 {
		t.Errorf("only %d examples were run", ran)
	}
	want := []string{strings.TrimPrefix(server.URL, "http://")}
	if got := opened.all(); !slices.Equal(want, got) {
		t.Errorf("connected to %v, want %v", got, want)
	}
}

// The recorder notices connections of the standard clients and lookups of names.
func TestTheConnectionRecorderDetectsConnectionsAndDNSQueries(t *testing.T) {
	opened := recordConnections(t)
	if answer, err := http.Get("http://192.0.2.1/usage"); err == nil {
		_ = answer.Body.Close()
	}
	_, _ = new(net.Dialer).DialContext(t.Context(), "tcp", "telemetry.example.com:443")
	if got := opened.all(); len(got) < 2 || !slices.Contains(got, "192.0.2.1:80") {
		t.Errorf("noticed %v", got)
	}
}

// offeredExamples are the lines of the examples of a command and of all below it that can be run here.
func offeredExamples(cmd *cobra.Command) []string {
	var lines []string
	if notRunHere[cmd.CommandPath()] == "" && !endless(cmd) {
		for line := range strings.Lines(cmd.Example) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for _, child := range cmd.Commands() {
		lines = append(lines, offeredExamples(child)...)
	}
	return lines
}

// connections records addresses that were dialed.
type connections struct {
	mu        sync.Mutex
	addresses map[string]bool
}

// recordConnections makes the default HTTP transport and the default resolver record and refuse
// what is dialed, until the test ends.
func recordConnections(t *testing.T) *connections {
	t.Helper()
	c := &connections{addresses: map[string]bool{}}
	transport, resolver := http.DefaultTransport, net.DefaultResolver
	refuse := func(_ context.Context, _, address string) (net.Conn, error) {
		c.note(address)
		return nil, errors.New("refused by the test")
	}
	http.DefaultTransport = &http.Transport{DialContext: refuse}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: refuse}
	t.Cleanup(func() { http.DefaultTransport, net.DefaultResolver = transport, resolver })
	return c
}

func (c *connections) note(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addresses[address] = true
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.note(address)
	return new(net.Dialer).DialContext(ctx, network, address)
}

func (c *connections) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for address := range c.addresses {
		all = append(all, address)
	}
	slices.Sort(all)
	return all
}
