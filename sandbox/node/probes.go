package node

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
)

// probes ask a running container how it does. A nil *probes belongs to a
// container that does not run.
type probes struct {
	cancel context.CancelFunc

	mu          sync.Mutex
	startupDone bool
	isReady     bool
}

// target is a container as its probes see it; unlike container it never changes.
type target struct {
	address string
	command box.Command
	box     *box.Box
	ports   []corev1.ContainerPort
	dead    func() // called when the container must be restarted
	trigger func() // called when an answer changed
}

// startProbes begins asking; the container's runner holds its lock.
func startProbes(ctx context.Context, c *container) *probes {
	ctx, cancel := context.WithCancel(ctx)
	p := &probes{cancel: cancel, startupDone: c.spec.StartupProbe == nil, isReady: c.spec.ReadinessProbe == nil}
	address, err := c.runner.agent.addresses.of(c.runner.uid)
	if err != nil {
		return p // a container that runs has an address
	}
	process := c.process
	t := target{
		address: address.String(), box: c.box, ports: c.spec.Ports, command: box.Command{Env: c.env.list(), Dir: c.workingDir()},
		dead: func() { process.Signal(9) }, trigger: c.runner.trigger, // it may have ended
	}
	go p.run(ctx, t, c.spec)
	return p
}

func (p *probes) stop() { p.cancel() }

func (p *probes) started() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.startupDone
}

func (p *probes) ready() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.startupDone && p.isReady
}

// run asks the startup probe until it succeeds, then the other two side by side.
func (p *probes) run(ctx context.Context, t target, c corev1.Container) {
	if c.StartupProbe != nil {
		ok := false
		watch(ctx, t, c.StartupProbe, func(healthy bool) bool {
			ok = healthy
			return false
		})
		if !ok {
			if ctx.Err() == nil {
				t.dead()
			}
			return
		}
		p.set(&p.startupDone, true, t)
	}
	if c.ReadinessProbe != nil {
		go watch(ctx, t, c.ReadinessProbe, func(healthy bool) bool {
			p.set(&p.isReady, healthy, t)
			return true
		})
	}
	if c.LivenessProbe != nil {
		go watch(ctx, t, c.LivenessProbe, func(healthy bool) bool {
			if !healthy {
				t.dead()
			}
			return healthy
		})
	}
}

func (p *probes) set(answer *bool, to bool, t target) {
	p.mu.Lock()
	changed := *answer != to
	*answer = to
	p.mu.Unlock()
	if changed {
		t.trigger()
	}
}

// watch runs one probe continuously and reports each time a threshold is
// reached, until report returns that it should stop.
func watch(ctx context.Context, t target, probe *corev1.Probe, report func(healthy bool) (goOn bool)) {
	if pause(ctx, time.Duration(probe.InitialDelaySeconds)*time.Second) != nil {
		return
	}
	var good, bad int32
	for {
		if t.ask(ctx, probe) {
			good, bad = good+1, 0
		} else {
			good, bad = 0, bad+1
		}
		if ctx.Err() != nil {
			return
		}
		if good >= max(1, probe.SuccessThreshold) && !report(true) || bad >= max(1, probe.FailureThreshold) && !report(false) {
			return
		}
		if pause(ctx, time.Duration(max(1, probe.PeriodSeconds))*time.Second) != nil {
			return
		}
	}
}

// ask asks once.
func (t target) ask(ctx context.Context, probe *corev1.Probe) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(1, probe.TimeoutSeconds))*time.Second)
	defer cancel()
	switch {
	case probe.TCPSocket != nil:
		return t.connects(ctx, probe.TCPSocket.Port)
	case probe.HTTPGet != nil:
		return t.answers(ctx, probe.HTTPGet)
	case probe.Exec != nil:
		return t.runs(ctx, probe.Exec.Command)
	}
	return true // gRPC: nothing of FoundationDB asks for it
}

func (t target) port(p intstr.IntOrString) string {
	for _, known := range t.ports {
		if p.Type == intstr.String && known.Name == p.StrVal {
			return strconv.Itoa(int(known.ContainerPort))
		}
	}
	return p.String()
}

func (t target) connects(ctx context.Context, port intstr.IntOrString) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(t.address, t.port(port)))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func (t target) answers(ctx context.Context, get *corev1.HTTPGetAction) bool {
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(t.address, t.port(get.Port))+get.Path, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode >= 200 && answer.StatusCode < 400
}

func (t target) runs(ctx context.Context, argv []string) bool {
	ended := make(chan error, 1)
	e := execution{argv: argv, stdout: io.Discard, stderr: io.Discard}
	go func() { ended <- e.run(t.command, t.box) }()
	select {
	case err := <-ended:
		return err == nil
	case <-ctx.Done():
		return false
	}
}
