package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Launcher starts boxes.
type Launcher struct {
	helper string    // the helper program
	log    io.Writer // errors of helpers
	starts chan func()
}

// NewLauncher returns a launcher that uses the program helper, which must call
// Main when its argv[0] is HelperName.
func NewLauncher(helper string, log io.Writer) *Launcher {
	l := &Launcher{helper: helper, log: log, starts: make(chan func())}
	go l.startOnOneThread()
	return l
}

// startOnOneThread starts all helpers from one thread that never ends: the
// kernel kills a helper when the thread that started it ends.
func (l *Launcher) startOnOneThread() {
	runtime.LockOSThread()
	for start := range l.starts {
		start()
	}
}

// Box is the namespaces of a running container, and the helper in them that starts its programs.
type Box struct {
	helper *exec.Cmd
	conn   *net.UnixConn
	ended  chan struct{} // closed when the helper has ended

	mu        sync.Mutex
	last      int
	waiting   map[int]chan reply
	processes map[int]*Process
}

// ErrGone means that a box has ended.
var ErrGone = errors.New("the container has ended")

// Start starts a box with the file system of spec.
func (l *Launcher) Start(spec Spec) (*Box, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("create a socket pair: %w", err)
	}
	b := &Box{
		helper: l.command(theirs), conn: ours, ended: make(chan struct{}),
		waiting: map[int]chan reply{}, processes: map[int]*Process{},
	}
	err = l.start(b.helper)
	theirs.Close() // the helper's copy must be the last, so that its end is seen
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("start a container's namespaces: %w", err)
	}
	go b.receive()
	answer, err := b.ask(request{Spec: &spec})
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		b.Kill()
		return nil, fmt.Errorf("create a container's view: %w", err)
	}
	return b, nil
}

func (l *Launcher) start(c *exec.Cmd) error {
	done := make(chan error)
	l.starts <- func() { done <- c.Start() }
	return <-done
}

func (l *Launcher) command(socket *os.File) *exec.Cmd {
	c := &exec.Cmd{Path: l.helper, Args: []string{HelperName}, Env: []string{}, Stderr: l.log, ExtraFiles: []*os.File{socket}}
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
		Setsid:     true,
	}
	if os.Geteuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return c
}

func socketPair() (*net.UnixConn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "box"), os.NewFile(uintptr(fds[1]), "box")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

// receive dispatches replies until the helper has ended.
func (b *Box) receive() {
	buffer := make([]byte, maxMessage)
	for {
		n, err := b.conn.Read(buffer)
		if err != nil || n == 0 {
			break
		}
		var r reply
		if json.Unmarshal(buffer[:n], &r) != nil {
			break
		}
		b.deliver(r)
	}
	b.helper.Process.Kill() // it may have ended already
	b.helper.Wait()         // its exit code has no meaning
	_ = b.conn.Close()
	b.endAll()
}

func (b *Box) deliver(r reply) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Ended {
		if p := b.processes[r.ID]; p != nil {
			delete(b.processes, r.ID)
			p.end(Exit{Code: r.Code, Signal: syscall.Signal(r.Signal)})
		}
		return
	}
	if w := b.waiting[r.ID]; w != nil {
		delete(b.waiting, r.ID)
		w <- r
	}
}

// endAll ends everything that waits for a helper that has ended.
func (b *Box) endAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ended)
	for _, p := range b.processes {
		p.end(Exit{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL})
	}
	clear(b.processes)
}

// ask sends a request without streams and waits for its reply.
func (b *Box) ask(r request) (reply, error) {
	r.ID = b.nextID()
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.waiting[r.ID] = answer
	b.mu.Unlock()
	if err := b.send(r, nil); err != nil {
		return reply{}, err
	}
	return b.await(answer)
}

func (b *Box) nextID() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	return b.last
}

// answerLimit bounds the wait for a helper's answer, which takes milliseconds.
const answerLimit = 30 * time.Second

func (b *Box) await(answer <-chan reply) (reply, error) {
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	select {
	case <-limit.C:
		return reply{}, errors.New("the container's helper does not answer")
	case r := <-answer:
		return r, nil
	case <-b.ended:
		return reply{}, ErrGone
	}
}

func (b *Box) send(r request, descriptors []int) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var rights []byte
	if len(descriptors) > 0 {
		rights = syscall.UnixRights(descriptors...)
	}
	if _, _, err := b.conn.WriteMsgUnix(data, rights, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// Kill ends the box and every process in it, and waits until they have ended.
func (b *Box) Kill() {
	b.helper.Process.Kill() // it may have ended
	<-b.ended
}

// Ended is closed when the box has ended.
func (b *Box) Ended() <-chan struct{} { return b.ended }
