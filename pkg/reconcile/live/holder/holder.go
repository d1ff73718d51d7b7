// Package holder identifies runs in Leases, and detects those of this machine that have ended.
package holder

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
)

// holder identifies a run in the Lease: user, host and process. On Linux it also identifies the
// process well enough to detect later, on the same machine, that it has ended, so that the same
// command again need not wait for the Lease to expire.
type holder struct {
	user, host string
	pid        int
	// started is the process' start in clock ticks since boot, machine is the boot's
	// and the PID namespace's identity; both empty where they are unknown.
	started, machine string
}

// New returns the holder of this process.
func New() string {
	h := holder{user: "unknown", host: "unknown", pid: os.Getpid(), machine: thisMachine()}
	if u, err := user.Current(); err == nil {
		h.user = u.Username
	}
	if name, err := os.Hostname(); err == nil {
		h.host = name
	}
	h.started = startOf(h.pid)
	return h.String()
}

// String is the form in which a holder is written into a Lease.
func (h holder) String() string {
	text := fmt.Sprintf("%s@%s process %d", h.user, h.host, h.pid)
	if h.started != "" && h.machine != "" {
		text += fmt.Sprintf(" (%s %s)", h.started, h.machine)
	}
	return text
}

// Ended reports whether a holder was a process of this machine that has ended. Unknown
// counts as alive.
func Ended(text string) bool {
	h, ok := parseHolder(text)
	if !ok || h.machine == "" || h.machine != thisMachine() || othersHidden() {
		return false
	}
	return startOf(h.pid) != h.started
}

// othersHidden reports whether /proc may hide other users' processes. The first process of a
// machine belongs to root: if it is visible, all are.
func othersHidden() bool { return startOf(1) == "" }

func parseHolder(text string) (holder, bool) {
	_, rest, ok := strings.Cut(text, " process ")
	if !ok {
		return holder{}, false
	}
	words := strings.Fields(rest)
	if len(words) < 3 { // a reason may follow
		return holder{}, false
	}
	pid, err := strconv.Atoi(words[0])
	if err != nil {
		return holder{}, false
	}
	return holder{pid: pid, started: strings.TrimPrefix(words[1], "("), machine: strings.TrimSuffix(words[2], ")")}, true
}

// thisMachine identifies the running kernel and the PID namespace: process numbers
// mean the same only within both. Empty without /proc.
func thisMachine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + namespace
}

// startOf is when a process started, in clock ticks since boot; empty when there is
// no such process.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses and may hold anything;
	// the start time is the 20th after it.
	const startField = 19
	_, rest, ok := cutLast(string(stat), ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) <= startField {
		return ""
	}
	const zombie = "Z"
	if fields[0] == zombie {
		return ""
	}
	return fields[startField]
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
