package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Identity is one process of this machine, distinguished from a later one with the
// same number.
type Identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // clock ticks after the machine's start, from /proc
	Boot  string `json:"boot"`  // this run of the machine
}

// ErrRunning means that a sandbox already runs in the directory.
var ErrRunning = errors.New("a sandbox already runs in this directory")

// identify is the identity of a process that exists.
func identify(pid int) (Identity, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Identity{}, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const startTime = 22 - 3 // field 22, of which the first two are cut off
	if len(fields) <= startTime {
		return Identity{}, errors.New("unknown form of /proc/PID/stat")
	}
	return Identity{PID: pid, Start: string(fields[startTime]), Boot: string(bytes.TrimSpace(boot))}, nil
}

// Alive reports whether that very process still runs.
func (i Identity) Alive() bool {
	now, err := identify(i.PID)
	return err == nil && now == i && !zombie(i.PID)
}

func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 0 && string(fields[0]) == "Z"
}

// lock makes this process the one that runs the sandbox. It returns ErrRunning
// when another one does; it does not wait.
func lock(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrRunning
		}
		return nil, fmt.Errorf("take the lock: %w", err)
	}
	me, err := identify(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("identify this process: %w", err)
	}
	data, err := json.Marshal(me)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		return nil, fmt.Errorf("write the lock: %w", err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return nil, fmt.Errorf("write the lock: %w", err)
	}
	return f, nil
}

// Running is the process that runs the sandbox in the directory; ok is false
// when none does.
func Running(p Paths) (id Identity, ok bool, err error) {
	data, err := os.ReadFile(p.Lock())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return id, false, nil
	}
	if err != nil {
		return id, false, fmt.Errorf("read the lock: %w", err)
	}
	if err := json.Unmarshal(data, &id); err != nil {
		return id, false, fmt.Errorf("read the lock: %w", err)
	}
	return id, id.Alive(), nil
}
