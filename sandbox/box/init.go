package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// helperSocket is the descriptor on which the helper receives its requests.
const helperSocket = 3

// helper is the init process of a box.
type helper struct {
	conn *net.UnixConn

	mu  sync.Mutex  // also held from a fork until its child is known
	ids map[int]int // process ID in the box to request ID
}

// Main is the helper program. It returns when its host has ended, and
// everything in the box ends when it returns to its caller and exits.
func Main() error {
	file := os.NewFile(helperSocket, "box")
	conn, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("open the helper's socket: %w", err)
	}
	file.Close()
	h := &helper{conn: conn.(*net.UnixConn), ids: map[int]int{}}
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	go func() {
		for range children {
			h.reap()
		}
	}()
	return h.serve()
}

func (h *helper) serve() error {
	data, rights := make([]byte, maxMessage), make([]byte, syscall.CmsgSpace(3*4))
	for {
		n, oob, _, _, err := h.conn.ReadMsgUnix(data, rights)
		if err != nil || n == 0 {
			return nil //nolint:nilerr // the host ended, which is how a box ends
		}
		var r request
		if err := json.Unmarshal(data[:n], &r); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		files, err := receivedFiles(rights[:oob])
		if err != nil {
			return fmt.Errorf("receive descriptors: %w", err)
		}
		h.answer(r, files)
		for _, f := range files {
			f.Close()
		}
	}
}

func receivedFiles(rights []byte) ([]*os.File, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, m := range messages {
		descriptors, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		for _, d := range descriptors {
			syscall.CloseOnExec(d)
			files = append(files, os.NewFile(uintptr(d), "stream"))
		}
	}
	return files, nil
}

func (h *helper) answer(r request, files []*os.File) {
	switch {
	case r.Spec != nil:
		h.reply(reply{ID: r.ID, Error: text(enter(*r.Spec))})
	case r.Start != nil:
		h.start(r.ID, *r.Start, files)
	default:
		h.reply(reply{ID: r.ID, Error: text(h.signal(r.Target, r.Signal))})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (h *helper) reply(r reply) {
	data, err := json.Marshal(r)
	if err != nil {
		return // a reply of plain numbers and a string always encodes
	}
	h.conn.Write(data) // a host that has ended ends serve
}

// start forks with the lock held, so that a child that ends at once is known
// when it is reaped.
func (h *helper) start(id int, c command, files []*os.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pid, err := fork(c, files)
	if err != nil {
		h.reply(reply{ID: id, Error: err.Error()})
		return
	}
	h.ids[pid] = id
	h.reply(reply{ID: id, PID: pid})
}

func fork(c command, files []*os.File) (int, error) {
	if len(files) != 3 {
		return 0, errors.New("a process needs three streams")
	}
	program, err := lookUp(c.Argv[0], c.Env)
	if err != nil {
		return 0, err
	}
	attributes := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: c.Terminal}}
	for _, f := range files {
		attributes.Files = append(attributes.Files, f.Fd())
	}
	pid, err := syscall.ForkExec(program, c.Argv, attributes)
	if err != nil {
		return 0, fmt.Errorf("exec: %q: %w", c.Argv[0], err)
	}
	return pid, nil
}

// lookUp finds a program as a shell would, with the PATH of the command's own environment.
func lookUp(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, executable(name, name)
	}
	for _, dir := range filepath.SplitList(variable(env, "PATH")) {
		file := filepath.Join(dir, name)
		if executable(name, file) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("exec: %q: executable file not found in $PATH", name)
}

func executable(name, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("exec: %q: stat %s: no such file or directory", name, file)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("exec: %q: permission denied", name)
	}
	return nil
}

func variable(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

func (h *helper) signal(id int, s syscall.Signal) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for pid, known := range h.ids {
		if known == id {
			return syscall.Kill(pid, s)
		}
	}
	return syscall.ESRCH
}

// reap collects every child that ended, those of dead parents included.
func (h *helper) reap() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if id, ours := h.ids[pid]; ours {
			delete(h.ids, pid)
			h.reply(ending(id, status))
		}
	}
}

func ending(id int, status syscall.WaitStatus) reply {
	if status.Signaled() {
		return reply{ID: id, Ended: true, Code: 128 + int(status.Signal()), Signal: int(status.Signal())}
	}
	return reply{ID: id, Ended: true, Code: status.ExitStatus()}
}
