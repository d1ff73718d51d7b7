package commandstest

import (
	"context"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// Tool is what programs meet in a pod.
type Tool struct {
	g      *Given
	pod    string
	result admin.Result
	err    error
}

// Run implements admin.Transport.
func (p *Tool) Run(_ context.Context, c admin.Command) (admin.Result, error) {
	p.g.Ran = append(p.g.Ran, p.pod+": "+strings.Join(c.Argv, " "))
	return p.result, p.err
}

// Open implements admin.Transport.
func (p *Tool) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	r, err := p.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	read := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(reader)
		read <- string(text)
	}()
	return &admin.Session{
		Stdin: writer, Stdout: strings.NewReader(string(r.Stdout)), Stderr: strings.NewReader(string(r.Stderr)),
		Wait: func() (int, error) {
			p.g.Read = <-read
			return r.ExitCode, nil
		},
		Close: func() {},
	}, nil
}

// Answers makes programs in pods end so.
func (g *Given) Answers(r admin.Result, err error) {
	g.Tool = func(pod *corev1.Pod, _ string) (admin.Transport, error) {
		return &Tool{g: g, pod: pod.Name, result: r, err: err}, nil
	}
}
