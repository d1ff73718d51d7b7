package fdbtools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
)

// program is one FoundationDB program running in a container.
type program struct {
	conn      *wire.Conn
	run       wire.Run
	container node.Container
	input     *input
	gone      chan struct{} // closed when the program has ended

	mu      sync.Mutex
	last    int
	waiting map[int]chan wire.FileAnswer
}

func newProgram(conn *wire.Conn, run wire.Run, c node.Container) *program {
	return &program{
		conn: conn, run: run, container: c, input: newInput(), gone: make(chan struct{}), waiting: map[int]chan wire.FileAnswer{},
	}
}

// receive receives the program's messages until it has ended.
func (p *program) receive(ended context.CancelFunc) {
	defer ended()
	defer close(p.gone)
	defer p.input.end()
	for {
		var m wire.FromProgram
		if p.conn.Receive(&m) != nil {
			return
		}
		switch {
		case m.File != nil:
			p.answered(*m.File)
		case m.StdinEnd:
			p.input.end()
		case len(m.Stdin) > 0:
			p.input.add(m.Stdin)
		}
	}
}

func (p *program) answered(a wire.FileAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.waiting[a.ID]; w != nil {
		delete(p.waiting, a.ID)
		w <- a
	}
}

// run carries out the program's command.
func (b *Bridge) run(ctx context.Context, p *program) int {
	name := path.Base(p.run.Argv[0])
	if name == "fdbserver" && !requestsHelp(p.run.Argv[1:]) {
		return b.runServer(ctx, p)
	}
	w := b.realm(p.container.Namespace)
	defer w.use(name)()
	return w.RunTool(ctx, fdbsim.Tool{
		Name: name, Version: p.run.Version, Args: p.run.Argv[1:], Env: p.run.Env, Host: p.run.Env["FDB_SANDBOX_POD_IP"], Files: p,
		Stdin: p.input, Stdout: output{p, false}, Stderr: output{p, true}, Waits: w.waits,
	})
}

// requestsHelp reports whether a command line requests the version or help.
func requestsHelp(args []string) bool {
	for _, a := range args {
		switch a {
		case "--version", "-v", "--help", "-h", "-?":
			return true
		}
	}
	return false
}

// runServer is an fdbserver until the model or the container ends it.
func (b *Bridge) runServer(ctx context.Context, p *program) int {
	server, err := b.server(p)
	if err != nil {
		fmt.Fprintf(output{p, true}, "ERROR: %v\n", err)
		return 1
	}
	w := b.realm(p.container.Namespace)
	handle, err := w.StartServer(server)
	if err != nil {
		fmt.Fprintf(output{p, true}, "ERROR: %v\n", err)
		return 1
	}
	defer handle.Stop()
	defer w.count(&w.servers)()
	defer b.forget(b.remember(handle, p, server))
	select {
	case code := <-handle.Exited():
		return code
	case <-ctx.Done():
		return 137
	}
}

func (b *Bridge) server(p *program) (fdbsim.Server, error) {
	args, err := fdbsim.ParseServerArgs(p.run.Argv)
	if err != nil {
		return fdbsim.Server{}, err
	}
	s := fdbsim.Server{
		Args: p.run.Argv, Version: p.run.Version, Env: p.run.Env,
		DataKey: hostPath(p.container, args.DataDir), ClusterFile: file{p, args.ClusterFile}, Coordination: coordinationFiles{p, args.DataDir},
	}
	if args.SeedClusterFile != "" {
		s.Seed = file{p, args.SeedClusterFile}
	}
	if b.succeeds(p.container, s.DataKey) || b.realm(p.container.Namespace).isEstablished() {
		s.MaxUptime = b.young()
	}
	return s, nil
}

// succeeds reports whether a data directory is that of an earlier pod.
func (b *Bridge) succeeds(c node.Container, data string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, known := b.data[data]
	return known && last != c.UID
}

// youngFor is how long the age of a pod is compared with the uptimes of its processes: one that is older than its
// pod is of the pod before.
const youngFor = time.Minute

// young returns the limit of the uptime of a process that starts now in the pod that succeeded another. Pods age in real time.
func (b *Bridge) young() func() time.Duration {
	started := b.Clock.Now()
	return func() time.Duration {
		if age := b.Clock.Now().Sub(started); age < youngFor {
			return age
		}
		return math.MaxInt64
	}
}

// coordinationFiles are the pair of files with coordination state in a data directory, with names of
// FoundationDB's. The second one stays empty.
type coordinationFiles struct {
	program *program
	dir     string
}

func (f coordinationFiles) Read() ([]byte, error) {
	return f.program.ReadFile(path.Join(f.dir, "coordination-0.fdq"))
}

func (f coordinationFiles) Write(content []byte) error {
	if err := f.program.WriteFile(path.Join(f.dir, "coordination-1.fdq"), nil); err != nil {
		return err
	}
	return f.program.WriteFile(path.Join(f.dir, "coordination-0.fdq"), content)
}

// hostPath is a directory of a container as the machine knows it: two
// containers with the same volume have the same data. A directory of no volume
// is the container's own.
func hostPath(c node.Container, dir string) string {
	var best box.Mount
	for _, m := range c.Mounts {
		if within(m.Target, dir) && len(m.Target) > len(best.Target) {
			best = m
		}
	}
	if best.Target == "" {
		return fmt.Sprintf("%s/%s:%s", c.UID, c.Name, dir)
	}
	return path.Join(best.Source, strings.TrimPrefix(path.Clean(dir), path.Clean(best.Target)))
}

func within(parent, dir string) bool {
	parent, dir = path.Clean(parent), path.Clean(dir)
	return parent == dir || strings.HasPrefix(dir, strings.TrimSuffix(parent, "/")+"/")
}

// file is one file of the program's container.
type file struct {
	program *program
	name    string
}

func (f file) Read() ([]byte, error)      { return f.program.ReadFile(f.name) }
func (f file) Write(content []byte) error { return f.program.WriteFile(f.name, content) }

// fileLimit bounds the wait for a program that does not answer, such as a
// stopped one. The model is locked meanwhile.
const fileLimit = 5 * time.Second

func (p *program) ask(q wire.FileQuestion) (wire.FileAnswer, error) {
	answer := make(chan wire.FileAnswer, 1)
	p.mu.Lock()
	p.last++
	q.ID = p.last
	p.waiting[q.ID] = answer
	p.mu.Unlock()
	if err := p.conn.Send(wire.ToProgram{Ask: &q}); err != nil {
		return wire.FileAnswer{}, err
	}
	limit := time.NewTimer(fileLimit)
	defer limit.Stop()
	select {
	case a := <-answer:
		return a, answerError(q, a)
	case <-p.gone:
		return wire.FileAnswer{}, errors.New("the program has ended")
	case <-limit.C:
		return wire.FileAnswer{}, errors.New("the program does not answer")
	}
}

func answerError(q wire.FileQuestion, a wire.FileAnswer) error {
	switch {
	case a.NotFound:
		return &fs.PathError{Op: string(q.Do), Path: q.Name, Err: fs.ErrNotExist}
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// ReadFile reads a file as the program sees it.
func (p *program) ReadFile(name string) ([]byte, error) {
	a, err := p.ask(wire.FileQuestion{Do: wire.Read, Name: name})
	return a.Content, err
}

// WriteFile writes a file as the program sees it.
func (p *program) WriteFile(name string, content []byte) error {
	_, err := p.ask(wire.FileQuestion{Do: wire.Write, Name: name, Content: content})
	return err
}

// Writable reports whether the program could replace a file.
func (p *program) Writable(name string) bool {
	a, err := p.ask(wire.FileQuestion{Do: wire.Writable, Name: name})
	return err == nil && a.Yes
}

// output is one of the program's output streams.
type output struct {
	program *program
	errors  bool
}

// Write sends the text to the program, which prints it.
func (o output) Write(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	m := wire.ToProgram{Stdout: text}
	if o.errors {
		m = wire.ToProgram{Stderr: text}
	}
	if err := o.program.conn.Send(m); err != nil {
		return 0, err
	}
	return len(text), nil
}

// input is the program's standard input as far as it has come. It never makes
// the sender wait, whose answers about files must get through.
type input struct {
	mu      sync.Mutex
	arrived *sync.Cond
	data    []byte
	ended   bool
}

func newInput() *input {
	i := &input{}
	i.arrived = sync.NewCond(&i.mu)
	return i
}

func (i *input) add(data []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.data = append(i.data, data...)
	i.arrived.Broadcast()
}

func (i *input) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	i.arrived.Broadcast()
}

// Read waits for input or its end.
func (i *input) Read(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.data) == 0 && !i.ended {
		i.arrived.Wait()
	}
	if len(i.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, i.data)
	i.data = i.data[n:]
	return n, nil
}
